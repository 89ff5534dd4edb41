"""
The surroundings: how compute was given, and which class of environment that looks like.

The theory knows four classes: freezing, eventually thawing, of lower-bounded density, and burst.
All of them speak of endless traces, so a finite one decides none; this says which one it looks
like, from the longest stretch without compute and from how many of the seconds had some.

Spec: THEORY-16.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["EnvironmentClass", "Gauge", "Surroundings"]

_FREEZE_SHARE = 0.1
_DENSE_SHARE = 0.9
_BURST_SHARE = 0.1
_SECOND_MS = 1_000


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
class Surroundings:
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

    def read(self, last_t: int) -> Surroundings:
        """What a trace looks like that ends at `last_t`; it begins with its first compute."""
        first_t = last_t if self._first_t is None else self._first_t
        freeze = max(self._freeze_ms, last_t - self._latest_t) if self._compute else 0
        return Surroundings(
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
