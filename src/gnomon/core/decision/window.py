"""
Windows: when, relative to its nominal instant, a period may run.

A rule is a placement and a length; a window is two whole seconds, both of which may be chosen.
Bounds are computed exactly in microseconds and then floored, so the same rule gives windows of
the same span at every nominal instant.

Placement is arithmetic on instants only: zones are `recurrence`'s business and allowed hours are
`constraint`'s.

Spec: WIN-1 to WIN-7.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from gnomon.core.civil.duration import parse_duration
from gnomon.errors import DefinitionError

__all__ = ["LENGTH_MAX", "Placement", "Window", "WindowRule", "parse_window", "place"]

LENGTH_MAX = timedelta(days=366)

_SECOND_US = 1_000_000
_MICROSECOND = timedelta(microseconds=1)


class Placement(StrEnum):
    AFTER = "after"
    AROUND = "around"
    BEFORE = "before"


_PLACEMENTS = {placement.value: placement for placement in Placement} | {
    "center": Placement.AROUND,  # a synonym that definitions for Kron use
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRule:
    """What the author wrote: a placement and a length, at most LENGTH_MAX."""

    placement: Placement = Placement.AFTER
    length: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        if not isinstance(self.placement, Placement):
            raise _unknown_placement(self.placement, where="window.placement")
        if not isinstance(self.length, timedelta):
            raise DefinitionError(
                "must be a timedelta", where="window.length", got=self.length,
                hint='or give the window as text, e.g. "after,1h"',
            )  # fmt: skip
        _check_length(self.length, where="window.length", got=self.length)

    @property
    def lead(self) -> int:
        """Seconds from the start of a window to its nominal instant; zero or more."""
        return -self._shifted()[0]

    @property
    def span(self) -> int:
        """Seconds from the start of a window to its end; a span of n offers n + 1 seconds."""
        start, end = self._shifted()
        return end - start

    def _shifted(self) -> tuple[int, int]:
        """Both bounds in seconds from the nominal instant, floored after exact placement."""
        length = self.length // _MICROSECOND
        match self.placement:
            case Placement.AFTER:
                twice_start = 0
            case Placement.AROUND:
                twice_start = -length  # half a microsecond is the unit: an odd length has a half
            case Placement.BEFORE:
                twice_start = -2 * length
            case _:
                assert_never(self.placement)
        unit = 2 * _SECOND_US
        return twice_start // unit, (twice_start + 2 * length) // unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Two instants in epoch seconds, both inside; equal when there is nothing to choose."""

    start: int
    end: int

    def __post_init__(self) -> None:
        assert self.start <= self.end

    @property
    def span(self) -> int:
        return self.end - self.start

    def __contains__(self, instant: int) -> bool:
        return self.start <= instant <= self.end


def place(rule: WindowRule, *, nominal: int) -> Window:
    """The window of the period whose nominal instant is `nominal`, in epoch seconds."""
    start = nominal - rule.lead
    return Window(start=start, end=start + rule.span)


def parse_window(text: str, *, where: str = "window") -> WindowRule:
    """`MODE,DURATION`, e.g. `after,1h`, `around,30m`, `before,90s`."""
    mode, comma, length = text.partition(",")
    if not comma:
        raise DefinitionError(
            "must be a placement, a comma and a duration", where=where, got=text,
            hint='write e.g. "after,1h", "around,30m" or "before,90s"',
        )  # fmt: skip
    placement = _PLACEMENTS.get(mode.strip())
    if placement is None:
        raise _unknown_placement(mode.strip(), where=where)
    found = parse_duration(length.strip(), where=where)
    _check_length(found, where=f"{where}.length", got=length.strip())
    return WindowRule(placement=placement, length=found)


def _check_length(length: timedelta, *, where: str, got: object) -> None:
    """Refuse a length that no window has, naming it as it was written."""
    if length < timedelta(0):
        raise DefinitionError(
            "must not be negative", where=where, got=got,
            hint="write a length of zero or more; the placement says which side",
        )  # fmt: skip
    if length > LENGTH_MAX:
        raise DefinitionError(
            "must not exceed 366 days", where=where, got=got,
            hint="a window belongs to one period; write at most 8784h",
        )  # fmt: skip


def _unknown_placement(got: object, *, where: str) -> DefinitionError:
    known = ", ".join(_PLACEMENTS)
    return DefinitionError("is not a known placement", where=where, got=got, hint=f"use {known}")
