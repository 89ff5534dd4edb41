"""
Traces: what a scheduler and its surroundings were seen to do, one event after the other.

On disk a trace is JSON lines: a header, then one object for each position. The order of the lines
is the order of the positions, and `t`, in milliseconds, never decreases. A reader passes over
fields that it does not need, so that a recorder may write down more than is needed here.

A trace says nothing about right and wrong; that is `gnomon.theory`.

Spec: TRACE-1 to TRACE-7.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from gnomon.errors import DefinitionError

__all__ = [
    "LINE_MAX",
    "TRACE_VERSION",
    "CallId",
    "Event",
    "Header",
    "Kind",
    "Pulses",
    "Registration",
    "Reinitialize",
    "Witnesses",
    "parse_event",
    "parse_header",
    "parse_trace",
    "render_event",
    "render_header",
]

TRACE_VERSION = 1
LINE_MAX = 64 * 1024 * 1024
"""A longer line is not a trace, and is refused before it fills the memory."""

_NUMBER_MAX = 2**53
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)

CallId = int | str


class Kind(StrEnum):
    """What may happen at a position; the value is the word on the wire."""

    INIT_START = "InitStart"
    INIT_SUCCESS = "InitSuccess"
    INIT_FAILURE = "InitFailure"
    STOP_START = "StopStart"
    STOP_END = "StopEnd"
    RUN_START = "RunStart"
    RUN_SUCCESS = "RunSuccess"
    RUN_FAILURE = "RunFailure"
    CRASH = "UnexpectedShutdown"
    MINUTE_START = "MinuteStart"
    DUE = "Due"
    RETRY_DUE = "RetryDue"
    COMPUTE = "Compute"
    FAULT = "Fault"


class Pulses(StrEnum):
    """Where MinuteStart, Due and RetryDue come from."""

    EXPLICIT = "explicit"
    DERIVED = "derived"


class Reinitialize(StrEnum):
    """What `initialize` does while the scheduler is up."""

    REJECT = "reject"
    RECONCILE = "reconcile"


class Registration(NamedTuple):
    """A task as it was registered; two that differ in any field are two tasks."""

    name: str
    cron: str
    retry_ms: int


class Event(NamedTuple):
    """
    One position. Only the fields of its kind are set.

    `same` says that the recorder cannot tell this event from the one before it in time. A `Due`
    with `cron` is one of that cron text alone; without, one of the task as it is registered.
    """

    kind: Kind
    t: int
    task: str = ""
    call: CallId = 0
    registrations: tuple[Registration, ...] = ()
    valid: bool | None = None
    n: int = 0
    fault: str = ""
    cron: str = ""
    wall_ms: int | None = None
    same: bool = False


class Witnesses(NamedTuple):
    """
    What a scheduler is given to answer: `a` units of compute per bit of input and `b` besides,
    not counting the `lag_ms` busiest milliseconds.
    """

    a: float
    b: float
    lag_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a trace."""

    zone: str = "UTC"
    pulses: Pulses = Pulses.EXPLICIT
    reinitialize: Reinitialize = Reinitialize.REJECT
    witnesses: Witnesses | None = None


Json = dict[str, object]

_WALL = Event._fields.index("wall_ms")


def parse_trace(lines: Iterable[str]) -> tuple[Header, Iterator[Event]]:
    """The header, and the events as they are read; what is malformed is raised when it is met."""
    rest = iter(lines)
    header = parse_header(next(rest, ""))
    return header, _events(rest)


def parse_header(text: str) -> Header:
    """The first line of a trace."""
    fields = _object(text, 1)
    version = fields.get("gnomon_trace")
    if type(version) is not int or version != TRACE_VERSION:
        raise _wrong(
            1, f'must be a header with "gnomon_trace": {TRACE_VERSION}', version,
            'write {"gnomon_trace": 1, "zone": "UTC", "pulses": "explicit"}',
        )  # fmt: skip
    zone = fields.get("zone", "UTC")
    if type(zone) is not str or not zone:
        raise _wrong(1, '"zone" must be the name of a zone', zone, 'write e.g. "UTC"')
    return Header(
        zone=zone,
        pulses=Pulses(_word(fields, "pulses", Pulses.EXPLICIT)),
        reinitialize=Reinitialize(_word(fields, "reinitialize", Reinitialize.REJECT)),
        witnesses=_witnesses(fields.get("witnesses")),
    )


def parse_event(text: str, *, line: int = 2) -> Event:
    """One line of a trace; `line` is its number, for the message."""
    return _event(_object(text, line), line)


def render_header(header: Header) -> str:
    """The header as a line, without its end."""
    fields: Json = {
        "gnomon_trace": TRACE_VERSION,
        "zone": header.zone,
        "pulses": header.pulses,
        "reinitialize": header.reinitialize,
    }
    if header.witnesses is not None:
        fields["witnesses"] = header.witnesses._asdict()
    return json.dumps(fields)


def render_event(event: Event) -> str:
    """The event as a line, without its end; `parse_event` gives the same event again."""
    fields: Json = {"t": event.t}
    if event.wall_ms is not None:
        wall = _EPOCH + timedelta(milliseconds=event.wall_ms)
        fields["wall"] = wall.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    fields["e"] = event.kind
    fields |= _FORMS[event.kind][2](event)
    if event.same:
        fields["same"] = True
    return json.dumps(fields)


def _events(lines: Iterator[str]) -> Iterator[Event]:
    latest = 0
    for number, line in enumerate(lines, 2):
        event = _event(_object(line, number), number)
        if event.t < latest:
            raise _wrong(
                number, f'"t" must not be less than on the line before, which has {latest}',
                event.t, "write the events in the order in which they happened",
            )  # fmt: skip
        if event.same and (number == 2 or event.t != latest):
            raise _wrong(number, '"same" needs a line before it with the same "t"', event.t)
        latest = event.t
        yield event


def _object(text: str, line: int) -> Json:
    if len(text) > LINE_MAX:
        raise _wrong(line, "is too long", f"{len(text)} characters", f"write at most {LINE_MAX}")
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError):  # a number of too many digits, a nest too deep
        fields = None
    if not isinstance(fields, dict):
        raise _wrong(
            line, "must be one JSON object", text.rstrip("\n"), 'write e.g. {"t": 0, "e": ...}'
        )
    return fields


def _event(fields: Json, line: int) -> Event:
    word = fields.get("e")
    form = _FORMS.get(word) if isinstance(word, str) else None
    if form is None:
        raise _wrong(line, '"e" must name an event', word, f"write one of {', '.join(Kind)}")
    kind, read, _ = form
    t = fields.get("t")
    if type(t) is not int or not 0 <= t <= _NUMBER_MAX:
        raise _wrong(line, '"t" must be a whole number of milliseconds', t, 'write e.g. "t": 60000')
    event = read(kind, t, fields, line)
    if "wall" in fields or "same" in fields:
        wall_ms = None if fields.get("wall") is None else _wall(fields["wall"], line)
        same = fields.get("same", False)
        if type(same) is not bool:
            raise _wrong(line, '"same" must be true or false', same)
        return Event._make((*event[:_WALL], wall_ms, same))  # quicker than _replace
    return event


def _read_plain(kind: Kind, t: int, fields: Json, line: int) -> Event:
    return Event(kind, t)


def _read_task(kind: Kind, t: int, fields: Json, line: int) -> Event:
    task = fields.get("task")
    if type(task) is not str or not task:
        raise _wrong(
            line, f'{kind} needs "task", the name of a task', task, 'write e.g. "task": "backup"'
        )
    return Event(kind, t, task)


def _read_due(kind: Kind, t: int, fields: Json, line: int) -> Event:
    event = _read_task(kind, t, fields, line)
    cron = fields.get("cron", "")
    if type(cron) is not str:
        raise _wrong(line, '"cron" must be a cron text', cron)
    return event._replace(cron=cron) if cron else event


def _read_call(kind: Kind, t: int, fields: Json, line: int) -> Event:
    call = fields.get("call")
    if type(call) is not int and type(call) is not str:
        raise _wrong(line, f'{kind} needs "call", a number or a text', call, 'write e.g. "call": 1')
    return Event(kind, t, "", call)


def _read_init_start(kind: Kind, t: int, fields: Json, line: int) -> Event:
    event = _read_call(kind, t, fields, line)
    listed = fields.get("registrations")
    if not isinstance(listed, list):
        raise _wrong(line, f'{kind} needs "registrations", a list', listed, _REGISTRATION_HINT)
    valid = fields.get("valid")
    if valid is not None and type(valid) is not bool:
        raise _wrong(line, '"valid" must be true or false', valid)
    return event._replace(
        registrations=tuple(_registration(one, line) for one in listed), valid=valid
    )


def _read_compute(kind: Kind, t: int, fields: Json, line: int) -> Event:
    n = fields.get("n")
    if type(n) is not int or not 1 <= n <= _NUMBER_MAX:
        raise _wrong(line, f'{kind} needs "n", a whole number of units', n, 'write e.g. "n": 25')
    return Event(kind, t, n=n)


def _read_fault(kind: Kind, t: int, fields: Json, line: int) -> Event:
    fault = fields.get("kind")
    if type(fault) is not str or not fault:
        raise _wrong(line, f'{kind} needs "kind", a word', fault, 'write e.g. "kind": "store"')
    return Event(kind, t, fault=fault)


_REGISTRATION_HINT = 'write e.g. [["backup", "0 2 * * *", 60000]]'


def _registration(listed: object, line: int) -> Registration:
    match listed:
        case [str(name), str(cron), int(retry_ms)] if type(retry_ms) is int:
            return Registration(name, cron, retry_ms)
        case _:
            raise _wrong(
                line, "a registration must be [name, cron, retry_ms]", listed, _REGISTRATION_HINT
            )


def _wall(text: object, line: int) -> int:
    try:
        if isinstance(text, str):
            return (datetime.fromisoformat(text) - _EPOCH) // _MS
    except (ValueError, TypeError, OverflowError):  # no instant, or one without an offset
        pass
    raise _wrong(
        line, '"wall" must be an instant', text, "write RFC 3339, e.g. 2026-03-01T00:00:00Z"
    )


def _word(fields: Json, name: str, default: Pulses | Reinitialize) -> str:
    words = list(type(default))
    word = fields.get(name, default)
    if word not in words:
        raise _wrong(1, f'"{name}" must be {" or ".join(words)}', word)
    return str(word)


def _witnesses(found: object) -> Witnesses | None:
    match found:
        case None:
            return None
        case {"a": int(a) | float(a), "b": int(b) | float(b), "lag_ms": int(lag_ms)} if (
            0 <= a < _NUMBER_MAX and 0 <= b < _NUMBER_MAX and 0 <= lag_ms < _NUMBER_MAX
        ):
            return Witnesses(a, b, lag_ms)
        case _:
            raise _wrong(
                1, '"witnesses" must have a, b and lag_ms, none of them negative', found,
                'write e.g. {"a": 0.5, "b": 100, "lag_ms": 1000}',
            )  # fmt: skip


def _wrong(line: int, reason: str, got: object, hint: str = "") -> DefinitionError:
    return DefinitionError(reason, where=f"line {line}", got=got, hint=hint)


def _no_fields(event: Event) -> Json:
    return {}


def _task_fields(event: Event) -> Json:
    return {"task": event.task, "cron": event.cron} if event.cron else {"task": event.task}


def _call_fields(event: Event) -> Json:
    fields: Json = {"call": event.call}
    if event.kind is Kind.INIT_START:
        fields["registrations"] = event.registrations
        if event.valid is not None:
            fields["valid"] = event.valid
    return fields


def _compute_fields(event: Event) -> Json:
    return {"n": event.n}


def _fault_fields(event: Event) -> Json:
    return {"kind": event.fault}


_Read = Callable[[Kind, int, Json, int], Event]
_Rendered = Callable[[Event], Json]

_FORMS: dict[str, tuple[Kind, _Read, _Rendered]] = {
    form[0].value: form
    for form in (
        (Kind.INIT_START, _read_init_start, _call_fields),
        (Kind.INIT_SUCCESS, _read_call, _call_fields),
        (Kind.INIT_FAILURE, _read_call, _call_fields),
        (Kind.STOP_START, _read_call, _call_fields),
        (Kind.STOP_END, _read_call, _call_fields),
        (Kind.RUN_START, _read_task, _task_fields),
        (Kind.RUN_SUCCESS, _read_task, _task_fields),
        (Kind.RUN_FAILURE, _read_task, _task_fields),
        (Kind.CRASH, _read_plain, _no_fields),
        (Kind.MINUTE_START, _read_plain, _no_fields),
        (Kind.DUE, _read_due, _task_fields),
        (Kind.RETRY_DUE, _read_task, _task_fields),
        (Kind.COMPUTE, _read_compute, _compute_fields),
        (Kind.FAULT, _read_fault, _fault_fields),
    )
}
"""For each word on the wire: the kind, how its fields are read, and how they are written."""
