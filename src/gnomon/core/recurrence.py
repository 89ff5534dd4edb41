"""
Recurrences: what yields the nominal instants of a schedule.

A recurrence is a cron expression in a zone, an interval, or one instant, possibly bounded; or the
boots of a machine, which have no instants that could be known before. It is a value: it can be
compared, hashed and pickled, it holds no position, and it never looks at a clock.
Every question has an integer form, in whole seconds since 1970, and a form with aware datetimes,
which answers in UTC. `None` means that there is no such occurrence up to the end of 2200.

Spec: REC-1 to REC-9, REC-11, ZONE-1.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice, takewhile

from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.duration import DURATION_MAX, parse_duration
from gnomon.core.civil.instant import (
    check_epoch,
    format_instant,
    from_epoch,
    parse_instant,
    to_epoch,
)
from gnomon.core.civil.zone import Zone, load_zone
from gnomon.core.cron.dialect import Dst, find_dialect
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.fast_next import NextEpoch, fast_next
from gnomon.core.cron.parse import parse
from gnomon.core.cron.search import Search
from gnomon.core.cron.sentence import explain
from gnomon.errors import DefinitionError

__all__ = [
    "BETWEEN_MAX",
    "Boot",
    "Bounded",
    "Cron",
    "Every",
    "Once",
    "Recurrence",
    "cron",
    "every",
    "once",
]

BETWEEN_MAX = 1_000_000
"""The most occurrences that `between` returns; a longer list is an error, not a surprise."""

_SECOND = timedelta(seconds=1)


class Recurrence(ABC):
    """The nominal instants of a schedule."""

    @property
    @abstractmethod
    def next_epoch(self) -> NextEpoch:
        """`next_epoch(s)`: the first occurrence strictly later than `s`."""

    @abstractmethod
    def latest_epoch(self, at: int) -> int | None:
        """The last occurrence no later than `at`."""

    @abstractmethod
    def iterate_epochs(self, after: int) -> Iterator[int]:
        """Every occurrence strictly later than `after`, in order."""

    @abstractmethod
    def describe(self) -> str:
        """An English sentence."""

    def between_epochs(self, start: int, end: int) -> list[int]:
        """The occurrences with `start <= occurrence < end`, `BETWEEN_MAX` at most."""
        start, end = check_epoch(start, where="start"), check_epoch(end, where="end")
        within = takewhile(lambda epoch: epoch < end, self.iterate_epochs(start - 1))
        found = list(islice(within, BETWEEN_MAX + 1))
        if len(found) > BETWEEN_MAX:
            raise DefinitionError(
                f"has more than {BETWEEN_MAX} occurrences", where="between",
                got=f"{format_instant(start)} to {format_instant(end)}",
                hint="ask for a shorter time, or use iterate()",
            )  # fmt: skip
        return found

    def next_after(self, after: datetime) -> datetime | None:
        """The first occurrence strictly later than `after`."""
        found = self.next_epoch(to_epoch(after, where="after"))
        return None if found is None else from_epoch(found)

    def latest_at(self, at: datetime) -> datetime | None:
        """The last occurrence no later than `at`."""
        found = self.latest_epoch(to_epoch(at, where="at"))
        return None if found is None else from_epoch(found)

    def between(self, start: datetime, end: datetime) -> list[datetime]:
        """The occurrences with `start <= occurrence < end`, `BETWEEN_MAX` at most."""
        first, last = _round_up(start, where="start"), _round_up(end, where="end")
        return [from_epoch(epoch) for epoch in self.between_epochs(first, last)]

    def iterate(self, after: datetime) -> Iterator[datetime]:
        """Every occurrence strictly later than `after`, in order."""
        return map(from_epoch, self.iterate_epochs(to_epoch(after, where="after")))

    def bounded(
        self, *, start_at: datetime | None = None, end_at: datetime | None = None
    ) -> "Recurrence":
        """The same occurrences, those with `start_at <= occurrence <= end_at`."""
        start = HORIZON_START if start_at is None else _round_up(start_at, where="start_at")
        end = HORIZON_END - 1 if end_at is None else to_epoch(end_at, where="end_at")
        # What lies outside the horizon on the harmless side is no bound at all.
        start, end = max(start, HORIZON_START), min(end, HORIZON_END - 1)
        _check_horizon(start, where="start_at")
        _check_horizon(end, where="end_at")
        if start > end:
            raise DefinitionError(
                "must not be later than end_at", where="start_at", got=start_at,
                hint="swap the two, or leave one out",
            )  # fmt: skip
        return Bounded(self, start, end)


@dataclass(frozen=True)
class Cron(Recurrence):
    """The instants whose local time matches a cron expression."""

    expression: Expression
    zone: Zone
    dst: Dst

    def __repr__(self) -> str:
        text, dialect = self.expression.text, self.expression.dialect
        return (
            f"cron({text!r}, zone={self.zone.name!r}, dialect={dialect!r}, dst={self.dst.value!r})"
        )

    def __reduce__(self) -> tuple[Callable[..., Recurrence], tuple[str, ...]]:
        text, dialect = self.expression.text, self.expression.dialect
        return _restore_cron, (text, self.zone.name, dialect, self.dst.value)

    @cached_property
    def search(self) -> Search:
        return Search(self.expression, self.zone, self.dst)

    @cached_property
    def next_epoch(self) -> NextEpoch:
        # A function made for this expression and zone: several times as fast as a search.
        return fast_next(self.search)

    def latest_epoch(self, at: int) -> int | None:
        return self.search.latest_epoch(at)

    def iterate_epochs(self, after: int) -> Iterator[int]:
        return self.search.epochs_after(after)

    def describe(self) -> str:
        return explain(self.expression)


@dataclass(frozen=True)
class Every(Recurrence):
    """The instants at whole multiples of an interval before and after an anchor."""

    interval: int
    anchor: int

    @property
    def next_epoch(self) -> NextEpoch:
        return self._next

    def _next(self, after: int) -> int | None:
        after = max(check_epoch(after, where="after"), HORIZON_START - 1)
        found = after + self.interval - (after - self.anchor) % self.interval
        return found if found < HORIZON_END else None

    def latest_epoch(self, at: int) -> int | None:
        at = min(check_epoch(at, where="at"), HORIZON_END - 1)
        found = at - (at - self.anchor) % self.interval
        return found if found >= HORIZON_START else None

    def iterate_epochs(self, after: int) -> Iterator[int]:
        first = self._next(after)
        return iter(()) if first is None else iter(range(first, HORIZON_END, self.interval))

    def describe(self) -> str:
        sentence = f"Every {_words(self.interval)}"
        if self.anchor % self.interval == 0:
            return sentence
        return f"{sentence}, counted from {format_instant(self.anchor)}"


@dataclass(frozen=True)
class Once(Recurrence):
    """One instant."""

    at: int

    @property
    def next_epoch(self) -> NextEpoch:
        return self._next

    def _next(self, after: int) -> int | None:
        return self.at if check_epoch(after, where="after") < self.at else None

    def latest_epoch(self, at: int) -> int | None:
        return self.at if check_epoch(at, where="at") >= self.at else None

    def iterate_epochs(self, after: int) -> Iterator[int]:
        return iter((self.at,) if check_epoch(after, where="after") < self.at else ())

    def describe(self) -> str:
        return f"Once, at {format_instant(self.at)}"


@dataclass(frozen=True)
class Boot(Recurrence):
    """Each boot of a machine: it has no instants, and what runs it is told of each boot."""

    @property
    def next_epoch(self) -> NextEpoch:
        return self.latest_epoch

    def latest_epoch(self, at: int) -> int | None:
        check_epoch(at, where="at")
        return None

    def iterate_epochs(self, after: int) -> Iterator[int]:
        return iter(())

    def describe(self) -> str:
        return "At each boot of the machine"


@dataclass(frozen=True)
class Bounded(Recurrence):
    """The occurrences of another recurrence within two instants, both included."""

    inner: Recurrence
    start: int
    end: int

    @property
    def next_epoch(self) -> NextEpoch:
        return self._next

    def _next(self, after: int) -> int | None:
        found = self.inner.next_epoch(max(check_epoch(after, where="after"), self.start - 1))
        return found if found is not None and found <= self.end else None

    def latest_epoch(self, at: int) -> int | None:
        found = self.inner.latest_epoch(min(check_epoch(at, where="at"), self.end))
        return found if found is not None and found >= self.start else None

    def iterate_epochs(self, after: int) -> Iterator[int]:
        first = max(check_epoch(after, where="after"), self.start - 1)
        found = self.inner.iterate_epochs(first)
        return takewhile(lambda epoch: epoch <= self.end, found)

    def describe(self) -> str:
        bounds = []
        if self.start > HORIZON_START:
            bounds.append(f"from {format_instant(self.start)}")
        if self.end < HORIZON_END - 1:
            bounds.append(f"until {format_instant(self.end)}")
        return ", ".join([self.inner.describe(), *bounds])


def cron(
    text: str, *, zone: str = "UTC", dialect: str = "standard", dst: str | None = None
) -> Cron:
    """
    The recurrence of a cron expression.

    `dialect` is `standard`, `posix` or `vixie`. `dst` is `strict`, `vixie` or `civil` and says what
    happens to local times that a zone skips or repeats; left out, it is the dialect's own default.
    """
    rules = find_dialect(dialect)
    return Cron(parse(text, rules), load_zone(zone), rules.dst if dst is None else _dst(dst))


def every(interval: timedelta | str, *, anchor: datetime | str | None = None) -> Every:
    """
    The recurrence of an interval of whole seconds, such as `"15m"`.

    `anchor` is an instant of the series, which runs both ways from it; left out, it is
    1970-01-01T00:00:00Z, so that `every("1h")` falls on whole hours UTC.
    """
    length = parse_duration(interval, where="interval") if isinstance(interval, str) else interval
    if not isinstance(length, timedelta):
        raise DefinitionError(
            "must be a timedelta or a duration", where="interval", got=interval,
            hint='write timedelta(minutes=15) or "15m"',
        )  # fmt: skip
    if length < _SECOND or length % _SECOND or length > DURATION_MAX:
        raise DefinitionError(
            "must be whole seconds, at least one and at most a century", where="interval",
            got=interval, hint='write e.g. "30s" or "1h30m"',
        )  # fmt: skip
    if isinstance(anchor, str):
        anchor = parse_instant(anchor, where="anchor")
    start = HORIZON_START if anchor is None else _round_up(anchor, where="anchor")
    return Every(length // _SECOND, start)


def once(at: datetime | str) -> Once:
    """The recurrence of a single instant; a fraction of a second is rounded up."""
    instant = parse_instant(at, where="at") if isinstance(at, str) else at
    epoch = _round_up(instant, where="at")
    _check_horizon(epoch, where="at")
    return Once(epoch)


def _restore_cron(text: str, zone: str, dialect: str, dst: str) -> Recurrence:
    return cron(text, zone=zone, dialect=dialect, dst=dst)


def _dst(name: str) -> Dst:
    try:
        return Dst(name)
    except ValueError:
        raise DefinitionError(
            "must be a known DST policy", where="dst", got=name,
            hint=f"write one of {', '.join(Dst)}",
        ) from None  # fmt: skip


def _check_horizon(epoch: int, *, where: str) -> None:
    if not HORIZON_START <= epoch < HORIZON_END:
        raise DefinitionError(
            "must lie between 1970 and 2200", where=where, got=format_instant(epoch),
            hint="write an instant in range",
        )  # fmt: skip


def _words(seconds: int) -> str:
    """`90` as `1 minute 30 seconds`, and `60` as `minute`."""
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return parts[0].removeprefix("1 ") if len(parts) == 1 else " ".join(parts)


def _round_up(at: datetime, *, where: str) -> int:
    """Whole seconds, never earlier than what was asked."""
    epoch = to_epoch(at, where=where)
    return epoch + 1 if at.microsecond else epoch
