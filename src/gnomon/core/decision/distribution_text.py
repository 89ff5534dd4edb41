"""
Distributions as text and as JSON: `normal,mu=mid,sigma=10m`, or a name with a map of parameters.

Each name takes a fixed set of parameters, and anything else is refused with the list of what is
allowed. `params_of` gives the parameters back in the form of records and logs.

What the parameters mean is told in `distribution`.

Spec: DIST-9, DIST-10.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar, assert_never

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.decision.distribution import (
    Anchor,
    Direction,
    Distribution,
    Exponential,
    Normal,
    SkewEarly,
    SkewLate,
    Uniform,
    check_factor,
    check_sigma,
    is_number,
    not_a_number,
    not_one_of,
)
from gnomon.errors import DefinitionError

__all__ = ["PARAMS", "TEXT_MAX", "make_distribution", "name_of", "params_of", "parse_distribution"]

TEXT_MAX = 256

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_Word = TypeVar("_Word", bound=StrEnum)

PARAMS: dict[str, tuple[str, ...]] = {
    "uniform": (),
    "skewEarly": ("shape",),
    "skewLate": ("shape",),
    "normal": ("mu", "sigma"),
    "exponential": ("lambda", "dir"),
}


def parse_distribution(text: str, *, where: str = "distribution") -> Distribution:
    """`NAME[,key=value...]`, e.g. `uniform`, `skewLate,shape=3`, `normal,mu=mid,sigma=10m`."""
    if len(text) > TEXT_MAX:
        raise DefinitionError(
            f"is longer than {TEXT_MAX} characters", where=where, got=text, hint=_known_names()
        )
    name, *pairs = (part.strip() for part in text.split(","))
    params: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not (key and equals and value):
            raise DefinitionError(
                "must list parameters as key=value", where=where, got=text,
                hint='write e.g. "normal,mu=mid,sigma=10m"',
            )  # fmt: skip
        if key in params:
            raise DefinitionError(f"gives {key} twice", where=where, got=text, hint="give it once")
        params[key] = value
    return make_distribution(name, params, where=where)


def make_distribution(
    name: str, params: Mapping[str, object], *, where: str = "distribution"
) -> Distribution:
    """A distribution from its name and its parameters, as text or as JSON values."""
    known = PARAMS.get(name)
    if known is None:
        raise DefinitionError(
            "is not a known distribution", where=where, got=name, hint=_known_names()
        )
    for key in params:
        if key not in known:
            allowed = f"{name} takes {' and '.join(known) if known else 'no parameters'}"
            raise DefinitionError(
                "is not a known parameter", where=f"{where}.{key}", got=key, hint=allowed
            )
    match name:
        case "uniform":
            return Uniform()
        case "skewEarly":
            return SkewEarly(shape=_number(params.get("shape", 2.0), where=f"{where}.shape"))
        case "skewLate":
            return SkewLate(shape=_number(params.get("shape", 2.0), where=f"{where}.shape"))
        case "normal":
            return _make_normal(params, where=where)
        case _:
            return Exponential(
                rate=_number(params.get("lambda", 1.0), where=f"{where}.lambda"),
                direction=_member(Direction, params.get("dir", "early"), where=f"{where}.dir"),
            )


def name_of(distribution: Distribution) -> str:
    """The name by which texts and records call the distribution."""
    match distribution:
        case Uniform():
            return "uniform"
        case SkewEarly():
            return "skewEarly"
        case SkewLate():
            return "skewLate"
        case Normal():
            return "normal"
        case Exponential():
            return "exponential"
        case _:
            assert_never(distribution)


def params_of(distribution: Distribution) -> dict[str, str | float]:
    """The parameters as JSON values; `make_distribution` takes them back."""
    match distribution:
        case Uniform():
            return {}
        case SkewEarly(shape=shape) | SkewLate(shape=shape):
            return {"shape": float(shape)}
        case Normal(mu=mu, sigma=sigma):
            written: dict[str, str | float] = {} if mu is None else {"mu": mu.value}
            return written if sigma is None else written | {"sigma": format_duration(sigma)}
        case Exponential(rate=rate, direction=direction):
            return {"lambda": float(rate), "dir": direction.value}
        case _:
            assert_never(distribution)


def _make_normal(params: Mapping[str, object], *, where: str) -> Normal:
    mu, sigma = params.get("mu"), params.get("sigma")
    if isinstance(sigma, str):
        sigma = parse_duration(sigma, where=f"{where}.sigma")
    if "sigma" in params and not isinstance(sigma, timedelta):
        raise DefinitionError(
            "must be a duration", where=f"{where}.sigma", got=sigma, hint='write e.g. "10m"'
        )
    if isinstance(sigma, timedelta):
        check_sigma(sigma, where=f"{where}.sigma", got=params["sigma"])
    return Normal(
        mu=_member(Anchor, mu, where=f"{where}.mu") if "mu" in params else None,
        sigma=sigma if isinstance(sigma, timedelta) else None,
    )


def _number(value: object, *, where: str) -> float:
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
    if not is_number(number):
        raise not_a_number(value, where=where)
    check_factor(number, where=where, got=value)
    return number


def _member(kind: type[_Word], value: object, *, where: str) -> _Word:
    for member in kind:
        if value == member.value:
            return member
    raise not_one_of(kind, value, where=where)


def _known_names() -> str:
    return f"use {', '.join(PARAMS)}"
