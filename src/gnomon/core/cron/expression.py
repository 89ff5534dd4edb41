"""
What a cron expression says, once it has been read: sets of values as bit masks.

In `second`, `minute` and `hour` the bit `1 << v` stands for the value `v`. The day fields of a
`DayRule` hold, besides plain days and weekdays, the days that depend on the month; each of those
has a bit of its own, so that a rule stays three integers that can be hashed and compared.

Spec: CRON-1, CRON-6.
"""

from typing import NamedTuple

__all__ = [
    "EVERY_DAY",
    "EVERY_HOUR",
    "EVERY_MINUTE",
    "EVERY_MONTH",
    "EVERY_WEEKDAY",
    "LAST_DAY",
    "LAST_WORKDAY",
    "ON_THE_MINUTE",
    "DayRule",
    "Expression",
    "last_weekday_bit",
    "nearest_workday_bit",
    "nth_weekday_bit",
]

EVERY_MINUTE = (1 << 60) - 1
EVERY_HOUR = (1 << 24) - 1
EVERY_DAY = (1 << 32) - 2
EVERY_MONTH = (1 << 13) - 2
EVERY_WEEKDAY = (1 << 7) - 1
ON_THE_MINUTE = 1
"""The set of seconds of an expression that has no field for them: second 0."""

LAST_DAY = 1 << 32
"""`L` in the day field."""
LAST_WORKDAY = 1 << 33
"""`LW` in the day field."""


def nearest_workday_bit(day: int) -> int:
    """`nW` in the day field: the Monday to Friday nearest to day `n`, within the month."""
    return 1 << 34 + day


def last_weekday_bit(weekday: int) -> int:
    """`dL` in the weekday field: the last such weekday of the month."""
    return 1 << 8 + weekday


def nth_weekday_bit(weekday: int, nth: int) -> int:
    """`d#n` in the weekday field: the n-th such weekday of the month, n from 1 to 5."""
    return 1 << 16 + weekday * 5 + nth - 1


class DayRule(NamedTuple):
    """Which days match: the months, and day of month and day of week together."""

    day: int
    month: int
    weekday: int
    either: bool
    """Whether one of day and weekday suffices; else both must match."""

    @property
    def is_daily(self) -> bool:
        """Whether every day of every year matches."""
        whole_month = self.day & EVERY_DAY == EVERY_DAY
        whole_week = self.weekday & EVERY_WEEKDAY == EVERY_WEEKDAY
        matches = whole_month or whole_week if self.either else whole_month and whole_week
        return matches and self.month == EVERY_MONTH


class Expression(NamedTuple):
    """A cron expression that has been read and can match."""

    text: str
    dialect: str
    second: int
    minute: int
    hour: int
    days: DayRule
    wildcard: bool
    """Whether the minute or the hour text begins with `*`."""
