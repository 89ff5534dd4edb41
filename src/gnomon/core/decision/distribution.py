"""
Distributions: where in its window a period tends to run.

A distribution maps one draw u in [0, 1) to one place x in [0, 1), and x to one of the seconds of
the window. Every form is an inverse cumulative distribution function, so an attempt costs exactly
one draw and no value outside the window can come out.

Here nothing is drawn (see `prng`) and nothing is rejected (see `constraint`); the text form is in
`distribution_text`.

Spec: DIST-1 to DIST-8.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from statistics import NormalDist
from typing import TypeGuard, assert_never

from gnomon.core.decision.window import LENGTH_MAX, Placement, WindowRule
from gnomon.errors import DefinitionError

__all__ = [
    "FACTOR_MAX",
    "FACTOR_MIN",
    "Anchor",
    "Direction",
    "Distribution",
    "Exponential",
    "Normal",
    "SkewEarly",
    "SkewLate",
    "Uniform",
    "check_factor",
    "check_sigma",
    "is_number",
    "not_a_number",
    "not_one_of",
    "offset_of",
    "resolve",
    "unit_map",
]

FACTOR_MIN = 0.001
FACTOR_MAX = 1000.0
"""Bounds of `shape` and `lambda`: beyond them every draw falls on one end of the window."""

_BELOW_ONE = 1.0 - 2.0**-53
_STANDARD = NormalDist()
_MICROSECOND = timedelta(microseconds=1)


class Anchor(StrEnum):
    """Where the peak of a normal distribution lies."""

    NOMINAL = "nominal"
    START = "start"
    MID = "mid"
    END = "end"


class Direction(StrEnum):
    """Towards which end of the window an exponential distribution leans."""

    EARLY = "early"
    LATE = "late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """Every second alike: x = u."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewEarly:
    """x = u^shape: a shape above 1 leans to the start of the window, one below 1 to its end."""

    shape: float = 2.0

    def __post_init__(self) -> None:
        check_factor(self.shape, where="distribution.shape", got=self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewLate:
    """x = 1 - (1 - u)^shape, the mirror of SkewEarly."""

    shape: float = 2.0

    def __post_init__(self) -> None:
        check_factor(self.shape, where="distribution.shape", got=self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A bell with its peak at `mu`, cut at both ends of the window; None means the default."""

    mu: Anchor | None = None
    sigma: timedelta | None = None

    def __post_init__(self) -> None:
        if self.mu is not None and not isinstance(self.mu, Anchor):
            raise not_one_of(Anchor, self.mu, where="distribution.mu")
        if self.sigma is not None and not isinstance(self.sigma, timedelta):
            raise DefinitionError(
                "must be a duration", where="distribution.sigma", got=self.sigma,
                hint='write e.g. "10m"',
            )  # fmt: skip
        if self.sigma is not None:
            check_sigma(self.sigma, where="distribution.sigma", got=self.sigma)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Decay from one end of the window; `rate` is written `lambda` and `direction` `dir`."""

    rate: float = 1.0
    direction: Direction = Direction.EARLY

    def __post_init__(self) -> None:
        check_factor(self.rate, where="distribution.lambda", got=self.rate)
        if not isinstance(self.direction, Direction):
            raise not_one_of(Direction, self.direction, where="distribution.dir")


Distribution = Uniform | SkewEarly | SkewLate | Normal | Exponential


def resolve(distribution: Distribution, rule: WindowRule) -> Distribution:
    """The distribution with the defaults that depend on the window filled in."""
    if not isinstance(distribution, Normal):
        return distribution
    peak = Anchor.NOMINAL if rule.placement is Placement.AROUND else Anchor.MID
    # A sixth of the span, in whole microseconds, so that its text says exactly what was used.
    spread = max(_MICROSECOND, timedelta(microseconds=rule.span * 1_000_000 // 6))
    return replace(distribution, mu=distribution.mu or peak, sigma=distribution.sigma or spread)


def unit_map(distribution: Distribution, rule: WindowRule) -> Callable[[float], float]:
    """The function from a draw to a place in the window; the window must have a span."""
    match resolve(distribution, rule):
        case Uniform():
            return lambda u: u
        case SkewEarly(shape=shape):
            return lambda u: _clamp(u**shape)
        case SkewLate(shape=shape):
            return lambda u: _clamp(1.0 - (1.0 - u) ** shape)
        case Normal(mu=mu, sigma=sigma):
            assert mu is not None
            assert sigma is not None
            return _normal_map(_peak(mu, rule), sigma / timedelta(seconds=1), rule.span)
        case Exponential(rate=rate, direction=direction):
            return _exponential_map(rate, direction)
        case unreachable:
            assert_never(unreachable)


def offset_of(place: float, span: int) -> int:
    """The second of the window, counted from its start, at `place` in [0, 1)."""
    return min(int(place * (span + 1)), span)


def _clamp(place: float) -> float:
    return min(max(place, 0.0), _BELOW_ONE)


def _peak(mu: Anchor, rule: WindowRule) -> float:
    """Seconds from the start of the window to the peak."""
    match mu:
        case Anchor.NOMINAL:
            return float(rule.lead)
        case Anchor.START:
            return 0.0
        case Anchor.MID:
            return rule.span / 2
        case Anchor.END:
            return float(rule.span)
        case _:
            assert_never(mu)


def _normal_map(mu: float, sigma: float, span: int) -> Callable[[float], float]:
    low = _standard_cdf((0.0 - mu) / sigma)
    mass = _standard_cdf((span - mu) / sigma) - low

    def place(u: float) -> float:
        p = low + u * mass
        # Both tails have mass zero in a double when sigma is tiny; there the quantile is infinite.
        if p <= 0.0:
            return 0.0
        if p >= 1.0:
            return _BELOW_ONE
        return _clamp((mu + sigma * _STANDARD.inv_cdf(p)) / span)

    return place


def _standard_cdf(z: float) -> float:
    # Not NormalDist.cdf: Python versions compute it differently, and a decision must not move.
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def _exponential_map(rate: float, direction: Direction) -> Callable[[float], float]:
    mass = math.expm1(-rate)  # the negative of 1 - e^-rate, exact for small rates too
    match direction:
        case Direction.EARLY:
            return lambda u: _clamp(-math.log1p(u * mass) / rate)
        case Direction.LATE:
            return lambda u: _clamp(1.0 + math.log1p(u * mass) / rate)
        case _:
            assert_never(direction)


def check_factor(value: object, *, where: str, got: object) -> None:
    """Refuse what cannot be a `shape` or `lambda`, naming it as it was written."""
    if not is_number(value):
        raise not_a_number(got, where=where)
    if not FACTOR_MIN <= value <= FACTOR_MAX:  # nan compares false
        raise DefinitionError(
            "must be from 0.001 to 1000", where=where, got=got, hint="write e.g. 2 or 1.5"
        )


def check_sigma(sigma: timedelta, *, where: str, got: object) -> None:
    """Refuse what cannot be a `sigma`, naming it as it was written."""
    if not timedelta(0) < sigma <= LENGTH_MAX:
        raise DefinitionError(
            "must be above zero and at most 366 days", where=where, got=got,
            hint="write e.g. 10m, or leave it out for a sixth of the window",
        )  # fmt: skip


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def not_a_number(got: object, *, where: str) -> DefinitionError:
    return DefinitionError("must be a number", where=where, got=got, hint="write e.g. 2 or 1.5")


def not_one_of(kind: type[StrEnum], got: object, *, where: str) -> DefinitionError:
    allowed = ", ".join(member.value for member in kind)
    return DefinitionError("is not a known word", where=where, got=got, hint=f"use {allowed}")
