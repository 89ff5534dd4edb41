"""
Constraints: which instants a decision may choose.

A constraint lists values by kind: hours, between (minutes of the day), dow, dom, months and dates.
As `only`, an instant must match one value of each kind that is listed; as `avoid`, one match of any
kind rejects it. All are read in the local time of the schedule's zone.

Every kind asks either about the minute of the day or about the local date, so whether a local time
is allowed falls apart into two questions, which an `Allowance` holds prepared.

This module does not know zones or look for an allowed instant (see `draw`), nor the text form (see
`constraint_text`).

Spec: CON-1 to CON-9.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from gnomon.core.civil.calendar import DAY, civil_from_days, days_from_civil, weekday
from gnomon.errors import DefinitionError

__all__ = [
    "BOUNDS",
    "ITEMS_MAX",
    "YEARS",
    "Allowance",
    "Between",
    "Constraint",
    "Dates",
    "allowance",
]

ITEMS_MAX = 256
"""How many values and ranges one constraint may list."""

BOUNDS = {"hours": (0, 23), "dow": (0, 6), "dom": (1, 31), "months": (1, 12)}
"""The least and the greatest value of each kind that is a set of numbers; dow 0 is Sunday."""

YEARS = (1970, 2200)
"""The years that a date may have."""

_MINUTES = 1440

Test = Callable[[int], bool]
"""A question about a minute of the day, or about a day by its number."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Between:
    """Whole minutes of the day, both inside; overnight when `first` is the later one."""

    first: int
    last: int

    def __post_init__(self) -> None:
        for minute in (self.first, self.last):
            if type(minute) is not int or not 0 <= minute < _MINUTES:
                raise DefinitionError(
                    "must be a minute of the day", where="constraint.between", got=minute,
                    hint="write 0 for 00:00 to 1439 for 23:59",
                )  # fmt: skip

    def __contains__(self, minute: int) -> bool:
        if self.first <= self.last:
            return self.first <= minute <= self.last
        return minute >= self.first or minute <= self.last


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Dates:
    """Local dates from `first` to `last`, both inside."""

    first: date
    last: date

    def __post_init__(self) -> None:
        for day in (self.first, self.last):
            if type(day) is not date or not YEARS[0] <= day.year <= YEARS[1]:
                raise DefinitionError(
                    "must be a date from 1970 to 2200", where="constraint.dates", got=day,
                    hint="write e.g. 2026-12-25",
                )  # fmt: skip
        if self.first > self.last:
            raise DefinitionError(
                "must not end before it starts", where="constraint.dates",
                got=f"{self.first}..{self.last}", hint=f"write {self.last}..{self.first}",
            )  # fmt: skip


_KINDS: dict[str, type] = {
    "hours": int, "dow": int, "dom": int, "months": int, "between": Between, "dates": Dates,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What `only` or `avoid` lists, by kind; an empty kind says nothing."""

    hours: frozenset[int] = frozenset()
    dow: frozenset[int] = frozenset()
    dom: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    between: frozenset[Between] = frozenset()
    dates: frozenset[Dates] = frozenset()

    def __post_init__(self) -> None:
        for kind, items in _KINDS.items():
            values: object = getattr(self, kind)
            if not isinstance(values, frozenset) or not all(isinstance(v, items) for v in values):
                raise DefinitionError(
                    f"must be a frozenset of {items.__name__}", where=f"constraint.{kind}",
                    got=values, hint='or give the constraint as text, e.g. "hours=9-17"',
                )  # fmt: skip
        for kind, (least, greatest) in BOUNDS.items():
            for value in getattr(self, kind):
                if isinstance(value, bool) or not least <= value <= greatest:
                    raise DefinitionError(
                        f"must be from {least} to {greatest}", where=f"constraint.{kind}",
                        got=value, hint=f"write whole numbers from {least} to {greatest}",
                    )  # fmt: skip
        # Only these two can grow; the others are bounded by what there is to name.
        count = len(self.between) + len(self.dates)
        if count > ITEMS_MAX or not any(getattr(self, kind) for kind in _KINDS):
            raise DefinitionError(
                f"must list 1 to {ITEMS_MAX} values", where="constraint", got=count,
                hint="name what is allowed or avoided, or leave the constraint out",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The local times that `only` and `avoid` leave, by minute of the day and by day."""

    minutes: bytes
    """One byte per minute of the day, 1 where it is allowed."""
    days: Test | None
    """Whether a day, by its number, is allowed; None when every day is."""

    def __contains__(self, local: int) -> bool:
        day, second = divmod(local, DAY)
        return bool(self.minutes[second // 60]) and (self.days is None or self.days(day))


def allowance(only: Constraint | None, avoid: Constraint | None) -> Allowance | None:
    """What the two constraints leave, or None when there is neither."""
    if only is None and avoid is None:
        return None
    return Allowance(minutes=_minutes(only, avoid), days=_days(only, avoid))


@lru_cache(1024)  # schedules share their constraints more often than not
def _minutes(only: Constraint | None, avoid: Constraint | None) -> bytes:
    return bytes(map(_both(_minute_tests(only), _minute_tests(avoid)), range(_MINUTES)))


def _days(only: Constraint | None, avoid: Constraint | None) -> Test | None:
    required, banned = _day_tests(only), _day_tests(avoid)
    if not required and not banned:
        return None
    return lru_cache(8)(_both(required, banned))  # the candidates of a window share few days


def _both(required: list[Test], banned: list[Test]) -> Test:
    def is_allowed(value: int) -> bool:
        return all(test(value) for test in required) and not any(test(value) for test in banned)

    return is_allowed


def _minute_tests(constraint: Constraint | None) -> list[Test]:
    """One question per listed kind that is about the minute of the day."""
    tests: list[Test] = []
    if constraint is not None and (hours := constraint.hours):
        tests.append(lambda minute: minute // 60 in hours)
    if constraint is not None and (between := constraint.between):
        tests.append(lambda minute: any(minute in span for span in between))
    return tests


def _day_tests(constraint: Constraint | None) -> list[Test]:
    """One question per listed kind that is about the local date."""
    tests: list[Test] = []
    if constraint is None:
        return tests
    if dow := constraint.dow:
        tests.append(lambda day: weekday(day) in dow)
    if dom := constraint.dom:
        tests.append(lambda day: civil_from_days(day)[2] in dom)
    if months := constraint.months:
        tests.append(lambda day: civil_from_days(day)[1] in months)
    if constraint.dates:
        spans = [(_day_number(span.first), _day_number(span.last)) for span in constraint.dates]
        tests.append(lambda day: any(first <= day <= last for first, last in spans))
    return tests


def _day_number(day: date) -> int:
    return days_from_civil(day.year, day.month, day.day)
