"""
The environment: how compute was given, which class that looks like, and do dues ever cease?

The theory knows four classes: freezing, eventually thawing, of lower-bounded density, and burst.
All of them speak of endless traces, so a finite one decides none; this says which one it looks
like, from the longest stretch without compute and from how many of the seconds had some.

For EA5 a text of cron occurs for ever or it does not. The calendar repeats itself every 400 years,
so that a text without a year either occurs again and again or never; only a year, or a single
instant, can make it stop. What the text means is not read here: the judge must not share that with
what it judges.

Spec: THEORY-6, THEORY-16.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Environment", "EnvironmentClass", "Gauge", "recurs_for_ever"]

_FREEZE_SHARE = 0.1
_DENSE_SHARE = 0.9
_BURST_SHARE = 0.1
_SECOND_MS = 1_000

_YEAR_FIELD = 6
_ANY_YEAR = ("*", "?")


class EnvironmentClass(StrEnum):
    UNKNOWN = "unknown"
    """The trace has no Compute."""
    FREEZING = "freezing"
    """One stretch without compute takes a tenth of the trace or more."""
    DENSE = "lower-bounded density"
    """Nine of ten seconds have compute, or more."""
    BURST = "burst"
    """Fewer than one of ten seconds have compute."""
    THAWING = "eventually thawing"
    """None of the others: compute comes again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was seen of the environment."""

    kind: EnvironmentClass
    compute: int
    longest_freeze_ms: int


class Gauge:
    """Measures the surroundings, one gift of compute after the other."""

    def __init__(self) -> None:
        self.gifts = 0
        """How often compute was given."""
        self._compute = 0
        self._seconds = 0
        self._second = -1
        self._first_t: int | None = None
        self._latest_t = 0
        self._freeze_ms = 0

    def spend(self, t: int, units: int) -> None:
        self.gifts += 1
        self._compute += units
        if self._first_t is None:
            self._first_t = self._latest_t = t
        self._freeze_ms = max(self._freeze_ms, t - self._latest_t)
        self._latest_t = t
        if t // _SECOND_MS != self._second:
            self._second = t // _SECOND_MS
            self._seconds += 1

    def read(self, last_t: int) -> Environment:
        """What a trace looks like that ends at `last_t`; it begins with its first compute."""
        first_t = last_t if self._first_t is None else self._first_t
        freeze = max(self._freeze_ms, last_t - self._latest_t) if self._compute else 0
        return Environment(
            kind=self._kind(last_t - first_t, freeze),
            compute=self._compute,
            longest_freeze_ms=freeze,
        )

    def _kind(self, span: int, freeze: int) -> EnvironmentClass:
        if not self._compute:
            return EnvironmentClass.UNKNOWN
        if freeze >= max(span * _FREEZE_SHARE, 1):
            return EnvironmentClass.FREEZING
        share = self._seconds / (span // _SECOND_MS + 1)
        if share >= _DENSE_SHARE:
            return EnvironmentClass.DENSE
        return EnvironmentClass.BURST if share < _BURST_SHARE else EnvironmentClass.THAWING


def recurs_for_ever(text: str) -> bool | None:
    """True for a text without an end, False for one with an end, None for one not understood."""
    fields = text.split()
    if not fields:
        return None
    if fields[0] == "once" or fields == ["@reboot"]:
        return False
    if fields[0] == "every" or (len(fields) == 1 and text.startswith("@")):
        return True
    if len(fields) in (5, 6):
        return True
    if len(fields) == _YEAR_FIELD + 1:
        year = fields[_YEAR_FIELD]
        return year in _ANY_YEAR or year.startswith("*/")
    return None
