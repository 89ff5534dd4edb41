"""Distributions: the shape that a draw is given."""

import math
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.decision import Decider, parse_distribution, parse_window
from gnomon.core.decision.distribution import (
    Anchor,
    Direction,
    Distribution,
    Exponential,
    Normal,
    SkewEarly,
    SkewLate,
    Uniform,
    offset_of,
    resolve,
    unit_map,
)
from gnomon.errors import DefinitionError
from tests.clauses import clause

HOUR = parse_window("after,1h")
UNIT = 2.0**-53
UNITS = st.integers(0, 2**53 - 1).map(lambda bits: bits * UNIT)
FACTORS = st.floats(0.001, 1000.0)
DISTRIBUTIONS: st.SearchStrategy[Distribution] = st.one_of(
    st.just(Uniform()),
    FACTORS.map(lambda shape: SkewEarly(shape=shape)),
    FACTORS.map(lambda shape: SkewLate(shape=shape)),
    st.builds(
        Normal,
        mu=st.none() | st.sampled_from(Anchor),
        sigma=st.none() | st.timedeltas(timedelta(microseconds=1), timedelta(days=366)),
    ),
    st.builds(Exponential, rate=FACTORS, direction=st.sampled_from(Direction)),
)


def place(text: str, u: float, window: str = "after,1h") -> float:
    return unit_map(parse_distribution(text), parse_window(window))(u)


@clause("DIST-1")
@given(UNITS)
def test_uniform_leaves_the_draw_as_it_is(u: float) -> None:
    assert place("uniform", u) == u


@clause("DIST-2")
@pytest.mark.parametrize(
    ("x", "span", "offset"),
    [(0.0, 3600, 0), (0.5, 1, 1), (0.4999, 1, 0), (1 - 2**-53, 3600, 3600), (1.0, 3600, 3600)],
)
def test_a_place_becomes_one_of_the_seconds(x: float, span: int, offset: int) -> None:
    assert offset_of(x, span) == offset


@clause("DIST-2")
@given(st.integers(1, 366 * 86_400))
def test_the_greatest_draw_is_the_last_second(span: int) -> None:
    greatest = (2**53 - 1) * UNIT
    assert offset_of(greatest, span) == span
    # The integer path scales first and relies on staying below the number of seconds.
    assert math.floor((2**53 - 1) * ((span + 1) * UNIT)) == span


@clause("DIST-3")
def test_skew_early_raises_the_draw_to_its_shape() -> None:
    assert place("skewEarly", 0.5) == 0.25
    assert place("skewEarly,shape=3", 0.5) == 0.125


@clause("DIST-4")
def test_skew_late_is_the_mirror_of_skew_early() -> None:
    assert place("skewLate", 0.5) == 0.75
    assert place("skewLate,shape=3", 0.5) == 0.875


@clause("DIST-5")
@pytest.mark.parametrize(
    ("text", "u", "x"),
    [
        ("normal,mu=mid,sigma=10m", 0.5, 0.5),
        ("normal,mu=start,sigma=10m", 0.0, 0.0),
        # Half of the right half of a bell lies within 0.6745 sigma of its peak.
        ("normal,mu=start,sigma=10m", 0.5, 0.67449 / 6),
        ("normal,mu=end,sigma=10m", 0.5, 1 - 0.67449 / 6),
    ],
)
def test_normal_is_cut_at_both_ends_of_the_window(text: str, u: float, x: float) -> None:
    assert place(text, u) == pytest.approx(x, abs=1e-5)


@clause("DIST-5")
@given(UNITS.filter(bool))
def test_a_needle_stays_at_its_peak(u: float) -> None:
    assert abs(place("normal,mu=mid,sigma=1us", u) * 3600 - 1800) < 0.001


@clause("DIST-5")
def test_the_ends_of_a_needle_are_the_ends_of_the_window() -> None:
    assert place("normal,mu=mid,sigma=1us", 0.0) == 0.0
    assert place("normal,mu=mid,sigma=1us", 1.0) == 1 - 2**-53


@clause("DIST-6")
@pytest.mark.parametrize(
    ("window", "mu", "sigma"),
    [
        ("after,1h", Anchor.MID, timedelta(minutes=10)),
        ("before,1h", Anchor.MID, timedelta(minutes=10)),
        ("around,1h", Anchor.NOMINAL, timedelta(minutes=10)),
        ("after,10s", Anchor.MID, timedelta(microseconds=1_666_666)),
        ("after,0s", Anchor.MID, timedelta(microseconds=1)),
    ],
)
def test_normal_has_defaults_that_depend_on_the_window(
    window: str, mu: Anchor, sigma: timedelta
) -> None:
    assert resolve(Normal(), parse_window(window)) == Normal(mu=mu, sigma=sigma)


@clause("DIST-6")
def test_given_parameters_stay_as_they_are() -> None:
    given_by_author = Normal(mu=Anchor.END, sigma=timedelta(seconds=1))
    assert resolve(given_by_author, HOUR) == given_by_author


@clause("DIST-6")
def test_the_nominal_peak_of_a_window_before_is_its_end() -> None:
    before = place("normal,mu=nominal,sigma=10m", 0.5, window="before,1h")
    assert before == place("normal,mu=end,sigma=10m", 0.5, window="before,1h")


@clause("DIST-7")
def test_exponential_decays_from_one_end() -> None:
    expected = -math.log(1 - 0.5 * (1 - math.exp(-1)))
    assert place("exponential", 0.5) == pytest.approx(expected, abs=1e-12)
    assert place("exponential,dir=late", 0.5) == pytest.approx(1 - expected, abs=1e-12)


@clause("DIST-7")
def test_a_small_rate_is_nearly_uniform() -> None:
    assert place("exponential,lambda=0.001", 0.25) == pytest.approx(0.25, abs=1e-3)


@clause("DIST-8")
@given(
    DISTRIBUTIONS, UNITS, st.sampled_from(["after,1h", "around,1s", "before,90m", "after,8784h"])
)
def test_no_draw_leaves_the_window(distribution: Distribution, u: float, window: str) -> None:
    rule = parse_window(window)
    x = unit_map(distribution, rule)(u)
    assert 0.0 <= x < 1.0
    assert 0 <= offset_of(x, rule.span) <= rule.span


@clause("DIST-8")
@given(DISTRIBUTIONS, UNITS, UNITS)
def test_a_greater_draw_is_never_earlier(distribution: Distribution, u: float, v: float) -> None:
    shape = unit_map(distribution, HOUR)
    late_first = isinstance(distribution, Exponential) and distribution.direction is Direction.LATE
    low, high = sorted((u, v), reverse=late_first)
    # Rounding in the last bits of a quantile may turn two neighbours round.
    assert shape(low) <= shape(high) + 1e-12


def bell(mu: float, sigma: float) -> Callable[[float], float]:
    def cut(x: float) -> float:
        low, high, at = (math.erf((t - mu) / (sigma * math.sqrt(2))) for t in (0.0, 1.0, x))
        return (at - low) / (high - low)

    return cut


@pytest.mark.parametrize(
    ("text", "cdf"),
    [
        pytest.param("uniform", lambda x: x, marks=clause("DIST-1")),
        pytest.param("skewEarly", math.sqrt, marks=clause("DIST-3")),
        pytest.param("skewEarly,shape=0.5", lambda x: x**2, marks=clause("DIST-3")),
        pytest.param("skewLate,shape=3", lambda x: 1 - (1 - x) ** (1 / 3), marks=clause("DIST-4")),
        pytest.param("normal", bell(0.5, 1 / 6), marks=clause("DIST-6")),
        pytest.param("normal,mu=start,sigma=30m", bell(0.0, 0.5), marks=clause("DIST-5")),
        pytest.param(
            "exponential,lambda=3",
            lambda x: (1 - math.exp(-3 * x)) / (1 - math.exp(-3)),
            marks=clause("DIST-7"),
        ),
        pytest.param(
            "exponential,dir=late",
            lambda x: 1 - (1 - math.exp(x - 1)) / (1 - math.exp(-1)),
            marks=clause("DIST-7"),
        ),
    ],
)
def test_ten_thousand_schedules_follow_the_shape(text: str, cdf: Callable[[float], float]) -> None:
    """
    Chi-square over 20 bins of equal width: the identities are fixed, so the answer is too.

    43.82 is exceeded by chance once in a thousand with 19 degrees of freedom.
    """
    bins, total = 20, 10_000
    counts = [0] * bins
    rule, distribution = parse_window("after,3599s"), parse_distribution(text)
    for number in range(total):
        decider = Decider(identity=f"fleet/{number}", window=rule, distribution=distribution)
        chosen = decider.choose(1772323200)
        assert chosen is not None
        counts[(chosen - 1772323200) * bins // 3600] += 1
    expected = [total * (cdf((k + 1) / bins) - cdf(k / bins)) for k in range(bins)]
    assert sum(expected) == pytest.approx(total)
    assert sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True)) < 43.82


@clause("DIST-10")
@pytest.mark.parametrize("value", [0, -1, 0.0009, 1000.1, math.nan, math.inf, 10**400, "2", True])
def test_a_factor_that_cannot_be_meant_is_refused(value: float) -> None:
    for kind in (SkewEarly, SkewLate):
        with pytest.raises(DefinitionError, match=r"distribution\.shape"):
            kind(shape=value)
    with pytest.raises(DefinitionError, match=r"distribution\.lambda"):
        Exponential(rate=value)


@clause("DIST-10")
@pytest.mark.parametrize("sigma", [timedelta(0), timedelta(seconds=-1), timedelta(days=367), 5])
def test_a_sigma_that_cannot_be_meant_is_refused(sigma: timedelta) -> None:
    with pytest.raises(DefinitionError, match=r"distribution\.sigma"):
        Normal(sigma=sigma)


@clause("DIST-10")
def test_a_word_that_is_not_of_the_list_is_refused_with_the_list() -> None:
    with pytest.raises(DefinitionError, match="use nominal, start, mid, end"):
        Normal(mu="center")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="use early, late"):
        Exponential(direction="up")  # type: ignore[arg-type]
