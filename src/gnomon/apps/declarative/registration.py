"""
Is this a list of registrations, and what does it register?

Everything is checked before anything happens, in the order of the list and, for each registration,
shape, name, callback, duplicate, cron, retry delay; the first problem found is the one reported. A
cron text is read in the dialect `posix` and follows the rule `strict` at clock changes.

Spec: REG-1 to REG-9.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from datetime import timedelta

from gnomon.apps.declarative.callback import Callback, is_generator_function, read_callback
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

__all__ = ["NAME_MAX", "Registration", "read_registration", "read_registrations"]

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
