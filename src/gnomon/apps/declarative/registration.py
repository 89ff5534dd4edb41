"""
Is this a list of registrations, what does it register, and what becomes of the tasks before it?

Everything is checked before anything happens, in the order of the list and, for each registration,
shape, name, callback, duplicate, cron, retry delay; the first problem found is the one reported. A
cron text is read in the dialect `posix` and follows the rule `strict` at clock changes.

When a list is applied, each task is new, preserved, overridden or removed. A preserved task goes on
where it was. An overridden one begins anew, and so does a new one: what its cron expression asked
for in the past is not owed, except in the present minute. A run that a crash cut off is owed under
its name, whether its definition is the same or not.

Spec: REG-1 to REG-9, OVERRIDE-1 to OVERRIDE-4, INIT-2 to INIT-4.
"""

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from gnomon.apps.declarative.callback import Callback, is_generator_function, read_callback
from gnomon.apps.declarative.journal_time import Back, JournalTime
from gnomon.apps.declarative.task import TaskRecord, TaskState, crashed, gone_back
from gnomon.core.recurrence import Recurrence, cron
from gnomon.errors import (
    CronExpressionInvalidError,
    InvalidCronExpressionError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
)

__all__ = [
    "NAME_MAX",
    "Fate",
    "Registration",
    "classify",
    "read_registration",
    "read_registrations",
    "resume",
    "set_back",
]

NAME_MAX = 500
"""How many characters a name may have."""

_MILLISECOND = timedelta(milliseconds=1)
_PARTS = ("a name", "a cron expression", "a callback", "a retry delay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What a task is: when, what, and how long to wait after a failure."""

    name: str
    cron: str
    """The text that says when; two registrations are identical if name, text and delay are."""
    recurrence: Recurrence
    callback: Callback
    retry_ms: int


def read_registrations(registrations: object, *, zone: str) -> list[Registration]:
    """The registrations as values, or the error for the first one that is wrong."""
    if not isinstance(registrations, list | tuple):
        raise RegistrationsNotArrayError(registrations)
    found: dict[str, Registration] = {}
    for index, received in enumerate(registrations):
        one = read_registration(index, received, found, zone=zone)
        found[one.name] = one
    return list(found.values())


def read_registration(
    index: int, received: object, before: Container[str], *, zone: str
) -> Registration:
    """One registration as a value; `before` has the names that are taken."""
    name, when, function, delay = _parts(index, received)
    _check_name(index, name)
    callback = read_callback(function)
    if callback is None:
        raise InvalidRegistrationError(
            index, "callback", function, reason="must take no argument, or one for the context",
            hint="write async def callback(): or async def callback(context):",
        )  # fmt: skip
    if is_generator_function(function):
        raise InvalidRegistrationError(
            index, "callback", function,
            reason="must not be a generator function: a call of it does nothing",
            hint="return instead of yield, or loop over it in a function of its own",
        )  # fmt: skip
    if name in before:
        raise ScheduleDuplicateTaskError(index, name)
    recurrence, text = _recurrence(index, when, zone)
    retry_ms = delay // _MILLISECOND
    if retry_ms < 0:
        raise NegativeRetryDelayError(index, retry_ms)
    return Registration(
        name=name, cron=text, recurrence=recurrence, callback=callback, retry_ms=retry_ms
    )


class Fate(StrEnum):
    """What becomes of a task."""

    NEW = "new"
    PRESERVED = "preserved"
    OVERRIDDEN = "overridden"
    REMOVED = "removed"


def classify(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord]
) -> dict[str, Fate]:
    """The fate of every task in either."""
    fates = dict.fromkeys(records, Fate.REMOVED)
    for one in registrations:
        record = records.get(one.name)
        if record is None:
            fates[one.name] = Fate.NEW
        elif (record.cron, record.retry_ms) == (one.cron, one.retry_ms):
            fates[one.name] = Fate.PRESERVED
        else:
            fates[one.name] = Fate.OVERRIDDEN
    return fates


def set_back(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord],
    backs: Sequence[tuple[int, Back]],
) -> dict[str, TaskRecord]:  # fmt: skip
    """The records of tasks that go on and are others now that the clock was set back."""
    found = {}
    for one in registrations:
        record = records.get(one.name)
        if record is None or (record.cron, record.retry_ms) != (one.cron, one.retry_ms):
            continue
        for _, back in backs:
            record = gone_back(record, one.recurrence, back)
        if record != records[one.name]:
            found[one.name] = record
    return found


def resume(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord], *, now: JournalTime,
    identifier: str, running: Collection[str],
) -> dict[str, TaskRecord]:  # fmt: skip
    """
    The records of all registered tasks.

    `running` has the names of the runs that are going on in this process; any other run that the
    records speak of was cut off.
    """
    found = {}
    for one in registrations:
        former = records.get(one.name)
        same = former is not None and (former.cron, former.retry_ms) == (one.cron, one.retry_ms)
        record = former if same and former is not None else _anew(one, now)
        record = replace(record, identifier=identifier)
        if one.name in running:
            record = replace(record, state=TaskState.RUNNING)
        elif former is not None and (former.state is TaskState.RUNNING or former.interrupted):
            record = _owed_again(record, former, now)
        found[one.name] = record
    return found


def _parts(
    index: int, received: object
) -> tuple[str, str | Recurrence, Callable[..., object], timedelta]:
    if not isinstance(received, list | tuple):
        raise RegistrationShapeError(
            index, received, reason="must be a list or a tuple",
            hint="write (name, cron, callback, retry_delay)",
        )  # fmt: skip
    if len(received) != len(_PARTS):
        raise RegistrationShapeError(
            index, received, reason=f"must have 4 elements, got {len(received)}",
            hint=_missing(received),
        )  # fmt: skip
    name, when, function, delay = received
    if not isinstance(name, str):
        raise _wrong(index, received, "name", "text", 'write e.g. "backup"')
    if not isinstance(when, str | Recurrence):
        raise _wrong(index, received, "cron", "text or a Recurrence", 'write e.g. "0 3 * * *"')
    if not callable(function):
        raise _wrong(index, received, "callback", "a function", "write its name without calling it")
    if not isinstance(delay, timedelta):
        raise _wrong(index, received, "retry_delay", "a timedelta", "write timedelta(minutes=5)")
    return name, when, function, delay


def _missing(received: Sequence[object]) -> str:
    if len(received) < len(_PARTS):
        return f"add {' and '.join(_PARTS[len(received) :])}"
    return "write (name, cron, callback, retry_delay)"


def _wrong(
    index: int, received: object, field: str, wanted: str, hint: str
) -> RegistrationShapeError:
    return RegistrationShapeError(index, received, reason=f"{field} must be {wanted}", hint=hint)


def _check_name(index: int, name: str) -> None:
    reason = ""
    if not name:
        reason = "must not be empty"
    elif len(name) > NAME_MAX:
        reason = f"must have at most {NAME_MAX} characters"
    elif "\0" in name or not _can_be_written(name):
        reason = "must be text that can be stored"
    if reason:
        raise InvalidRegistrationError(
            index, "name", name, reason=reason, hint='write a short text, e.g. "backup"'
        )


def _can_be_written(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _recurrence(index: int, when: str | Recurrence, zone: str) -> tuple[Recurrence, str]:
    if isinstance(when, Recurrence):
        if type(when).__repr__ is object.__repr__:
            raise InvalidRegistrationError(
                index, "cron", when, reason="must have a repr that says what it is",
                hint="define __repr__: it tells whether a task has changed since the last start",
            )  # fmt: skip
        return when, repr(when)
    try:
        return cron(when, zone=zone, dialect="posix"), when
    except InvalidCronExpressionError as error:
        raise CronExpressionInvalidError(
            index, when, field=error.field, reason=error.reason, hint=error.hint
        ) from error


def _anew(registration: Registration, now: JournalTime) -> TaskRecord:
    return TaskRecord(
        name=registration.name,
        cron=registration.cron,
        retry_ms=registration.retry_ms,
        identifier="",
        settled_ms=max(now.new_ms, 0),
    )


def _owed_again(record: TaskRecord, former: TaskRecord, now: JournalTime) -> TaskRecord:
    kept = replace(record, nominal=former.nominal, attempts=former.attempts)
    return crashed(kept, now=now)
