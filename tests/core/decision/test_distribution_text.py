"""Distributions as text and as JSON."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.decision.distribution import (
    Anchor,
    Direction,
    Distribution,
    Exponential,
    Normal,
    SkewEarly,
    SkewLate,
    Uniform,
)
from gnomon.core.decision.distribution_text import (
    make_distribution,
    name_of,
    params_of,
    parse_distribution,
)
from gnomon.errors import DefinitionError
from tests.clauses import clause


@clause("DIST-9")
@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("uniform", Uniform()),
        ("skewEarly", SkewEarly(shape=2.0)),
        ("skewLate,shape=1.5", SkewLate(shape=1.5)),
        ("normal", Normal()),
        ("normal,mu=mid,sigma=10m", Normal(mu=Anchor.MID, sigma=timedelta(minutes=10))),
        ("normal, sigma = 90s", Normal(sigma=timedelta(seconds=90))),
        ("exponential", Exponential(rate=1.0, direction=Direction.EARLY)),
        ("exponential,dir=late,lambda=.5", Exponential(rate=0.5, direction=Direction.LATE)),
        ("exponential,lambda=1e1", Exponential(rate=10.0)),
    ],
)
def test_a_text_is_a_name_and_parameters(text: str, distribution: Distribution) -> None:
    assert parse_distribution(text) == distribution


@clause("DIST-9")
@given(
    st.sampled_from(
        [
            Uniform(),
            SkewEarly(shape=3),
            SkewLate(shape=0.1),
            Normal(),
            Normal(mu=Anchor.START),
            Normal(sigma=timedelta(microseconds=1)),
            Normal(mu=Anchor.END, sigma=timedelta(hours=30, microseconds=7)),
            Exponential(rate=0.3, direction=Direction.LATE),
        ]
    )
)
def test_name_and_parameters_give_the_distribution_back(distribution: Distribution) -> None:
    assert make_distribution(name_of(distribution), params_of(distribution)) == distribution


@clause("DIST-9")
def test_parameters_may_be_numbers_and_durations() -> None:
    assert make_distribution("skewLate", {"shape": 3}) == SkewLate(shape=3.0)
    sigma = timedelta(minutes=1)
    assert make_distribution("normal", {"sigma": sigma}) == Normal(sigma=sigma)


@clause("DIST-10")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a known distribution.*use uniform, skewEarly, skewLate, normal, exponential"),
        ("gauss", "is not a known distribution"),
        ("Uniform", "is not a known distribution"),
        ("uniform,shape=2", r"distribution\.shape: is not a known parameter.*takes no parameters"),
        ("normal,shape=2", "is not a known parameter.*normal takes mu and sigma"),
        ("skewEarly,shape=", "must list parameters as key=value"),
        ("skewEarly,2", "must list parameters as key=value"),
        ("skewEarly,", "must list parameters as key=value"),
        ("skewEarly,shape=2,shape=3", "gives shape twice"),
        ("skewEarly,shape=nan", "must be a number"),
        ("skewEarly,shape=inf", "must be a number"),
        ("skewEarly,shape=1_0", "must be a number"),
        ("skewEarly,shape=٣", "must be a number"),
        ("skewEarly,shape=0", r"^distribution\.shape: must be from 0\.001 to 1000, got '0'"),
        ("skewLate,shape=1e9", r"from 0\.001 to 1000"),
        ("exponential,lambda=-1", r"from 0\.001 to 1000"),
        ("exponential,lambda=1e999", r"from 0\.001 to 1000"),
        ("exponential,dir=sideways", "use early, late"),
        ("normal,mu=center", "use nominal, start, mid, end"),
        ("normal,sigma=wide", r"distribution\.sigma: must be a duration"),
        ("normal,sigma=0s", "must be above zero and at most 366 days, got '0s'"),
        ("normal,sigma=-5s", "must be above zero and at most 366 days, got '-5s'"),
        ("uniform" + " " * 300, "is longer than 256 characters"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_is_allowed(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        parse_distribution(text)


@clause("DIST-10")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("skewEarly", {"shape": None}),
        ("skewEarly", {"shape": True}),
        ("skewEarly", {"shape": [2]}),
        ("normal", {"sigma": 600}),
        ("normal", {"sigma": None}),
        ("normal", {"mu": None}),
        ("exponential", {"dir": 1}),
    ],
)
def test_a_parameter_of_the_wrong_type_is_refused(name: str, params: dict[str, object]) -> None:
    with pytest.raises(DefinitionError, match=rf"distribution\.{next(iter(params))}"):
        make_distribution(name, params)
