"""
From events to positions: which atoms of the theory are true where.

A trace speaks of tasks by their names, the theory of tasks as they are registered. A start is one
of the task that is registered under the name, an end is one of the task that was started last, and
a `Due` without a cron text is one of the registered task, or of every task of that name while none
is registered. In a list that has a name twice, the last entry counts.

Spec: THEORY-1, THEORY-3.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gnomon.trace import CallId, Event, Kind, Registration

__all__ = ["ACTIONS", "Domain", "Position", "by_name", "is_valid", "join", "positions_of"]

List = tuple[Registration, ...]
Fact = tuple[str, Hashable]

ACTIONS = {
    Kind.INIT_START: "IS",
    Kind.INIT_SUCCESS: "IEs",
    Kind.INIT_FAILURE: "IEf",
    Kind.STOP_START: "SS",
    Kind.STOP_END: "SE",
    Kind.RUN_START: "RS",
    Kind.RUN_SUCCESS: "REs",
    Kind.RUN_FAILURE: "REf",
}


@dataclass(frozen=True, slots=True)
class Position:
    """The atoms that are true at a position, its time, and the compute that was given there."""

    atoms: frozenset[Fact]
    t: int
    compute: int = 0


@dataclass(slots=True)
class Domain:
    """What the quantifiers of the theory range over: all that a trace speaks of."""

    tasks: list[Registration] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    init_calls: list[CallId] = field(default_factory=list)
    stop_calls: list[CallId] = field(default_factory=list)
    lists: list[List] = field(default_factory=list)


def is_valid(event: Event) -> bool:
    """Whether a list may be accepted: names that are there and unlike, delays that are possible."""
    listed = event.registrations
    return (
        event.valid is not False
        and len({one.name for one in listed}) == len(listed)
        and all(one.name and one.cron and one.retry_ms >= 0 for one in listed)
    )


def by_name(listed: List) -> dict[str, Registration]:
    return {one.name: one for one in listed}


def positions_of(events: Sequence[Event]) -> tuple[Domain, list[Position]]:
    """One position for each event, and what the trace speaks of."""
    domain = _domain_of(events)
    walk = _Walk(domain)
    return domain, [
        Position(frozenset(walk.atoms(event)), event.t, event.n) for event in events
    ]  # fmt: skip


def join(events: Sequence[Event], positions: Sequence[Position]) -> list[Position]:
    """The positions with those that are marked as simultaneous put together."""
    joined: list[Position] = []
    for event, position in zip(events, positions, strict=True):
        if event.same and joined:
            position = _both(joined.pop(), position)
        joined.append(position)
    return joined


def _both(one: Position, other: Position) -> Position:
    crowded = ("action", None) in one.atoms & other.atoms
    extra: frozenset[Fact] = frozenset([("crowded", None)] if crowded else [])
    return Position(one.atoms | other.atoms | extra, other.t, one.compute + other.compute)


def _domain_of(events: Iterable[Event]) -> Domain:
    # Dictionaries, because sets forget the order.
    tasks: dict[Registration, None] = {}
    names: dict[str, None] = {}
    init_calls: dict[CallId, None] = {}
    stop_calls: dict[CallId, None] = {}
    lists: dict[List, None] = {(): None}
    for event in events:
        if event.kind is Kind.INIT_START:
            lists[event.registrations] = None
            tasks |= dict.fromkeys(by_name(event.registrations).values())
            names |= dict.fromkeys(one.name for one in event.registrations)
        if event.task:
            names[event.task] = None
        if event.kind in (Kind.INIT_START, Kind.INIT_SUCCESS, Kind.INIT_FAILURE):
            init_calls[event.call] = None
        if event.kind in (Kind.STOP_START, Kind.STOP_END):
            stop_calls[event.call] = None
    return Domain(list(tasks), list(names), list(init_calls), list(stop_calls), list(lists))


class _Walk:
    """What must be remembered to say which task an event is about."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._initializing: dict[CallId, Event] = {}
        self._registered: dict[str, Registration] = {}
        self._started: dict[str, Registration | None] = {}

    def atoms(self, event: Event) -> Iterator[Fact]:
        """The atoms of an event; each is there for its subject, and once for any."""
        if event.same:
            yield "same", None
        if word := ACTIONS.get(event.kind):
            yield "action", None
            yield word, None
            yield from ((word, subject) for subject in self._subjects(event))
        match event.kind:
            case Kind.CRASH:
                self._initializing.clear()
                yield "Crash", None
            case Kind.MINUTE_START:
                yield "Min", None
            case Kind.COMPUTE:
                yield "Compute", None
            case Kind.FAULT:
                yield "Fault", None
            case Kind.DUE:
                yield from (("Due", task) for task in self._due(event))
            case Kind.RETRY_DUE if event.task in self._registered:
                yield "RetryPulse", self._registered[event.task]

    def _subjects(self, event: Event) -> Iterator[Hashable]:
        match event.kind:
            case Kind.RUN_START:
                self._started[event.task] = self._registered.get(event.task)
                yield from (event.task, self._started[event.task])
            case Kind.RUN_SUCCESS | Kind.RUN_FAILURE:
                yield from (event.task, self._started.get(event.task))
            case Kind.INIT_START:
                self._initializing[event.call] = event
                yield from (event.call, event.registrations)
                yield ("valid" if is_valid(event) else "invalid",)
            case Kind.INIT_SUCCESS | Kind.INIT_FAILURE:
                yield from self._ended(event)
            case _:
                yield event.call

    def _ended(self, event: Event) -> Iterator[Hashable]:
        begun = self._initializing.pop(event.call, None)
        listed = begun.registrations if begun else ()
        if event.kind is Kind.INIT_SUCCESS:
            self._registered = by_name(listed)
        yield from (event.call, listed)
        if begun:
            word = "valid" if is_valid(begun) else "invalid"
            yield from ((word,), (word, event.call))

    def _due(self, event: Event) -> list[Registration]:
        named = [task for task in self._domain.tasks if task.name == event.task]
        if event.cron:
            return [task for task in named if task.cron == event.cron]
        registered = self._registered.get(event.task)
        return [registered] if registered else named
