"""Windows: where they lie, and how odd lengths are floored."""

from datetime import timedelta
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.decision.window import LENGTH_MAX, Placement, WindowRule, parse_window, place
from gnomon.errors import DefinitionError
from tests.clauses import clause

NOON = to_epoch(parse_instant("2026-03-05T12:00:00Z"))


def bounds(text: str) -> tuple[str, str]:
    window = place(parse_window(text), nominal=NOON)
    return format_instant(window.start), format_instant(window.end)


@clause("WIN-1")
def test_after_starts_at_the_nominal_instant() -> None:
    assert bounds("after,1h30m") == ("2026-03-05T12:00:00Z", "2026-03-05T13:30:00Z")


@clause("WIN-2")
def test_around_has_the_nominal_instant_in_its_middle() -> None:
    assert bounds("around,30m") == ("2026-03-05T11:45:00Z", "2026-03-05T12:15:00Z")


@clause("WIN-2")
def test_center_means_around() -> None:
    assert parse_window("center,30m") == parse_window("around,30m")


@clause("WIN-3")
def test_before_ends_at_the_nominal_instant() -> None:
    assert bounds("before,2h") == ("2026-03-05T10:00:00Z", "2026-03-05T12:00:00Z")


@clause("WIN-4")
@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("after,999ms", "12:00:00", "12:00:00"),
        ("after,1.999s", "12:00:00", "12:00:01"),
        ("around,1h1m1s", "11:29:29", "12:30:30"),
        ("around,1us", "11:59:59", "12:00:00"),
        ("before,1.5s", "11:59:58", "12:00:00"),
    ],
)
def test_bounds_are_floored_to_whole_seconds(text: str, start: str, end: str) -> None:
    assert bounds(text) == (f"2026-03-05T{start}Z", f"2026-03-05T{end}Z")


@clause("WIN-4")
@given(
    st.sampled_from(Placement),
    st.timedeltas(min_value=timedelta(0), max_value=LENGTH_MAX),
    st.integers(0, 7_000_000_000),
)
def test_flooring_follows_exact_arithmetic(
    placement: Placement, length: timedelta, nominal: int
) -> None:
    exact = Fraction(length // timedelta(microseconds=1), 1_000_000)
    halves = {Placement.AFTER: 0, Placement.AROUND: 1, Placement.BEFORE: 2}[placement]
    start = nominal - exact * halves / 2
    window = place(WindowRule(placement=placement, length=length), nominal=nominal)
    assert (window.start, window.end) == (floor(start), floor(start + exact))
    assert window.start in window
    assert window.end in window
    assert window.end + 1 not in window
    assert nominal in window


@clause("WIN-5")
@pytest.mark.parametrize(
    ("length", "reason"),
    [(timedelta(microseconds=-1), "must not be negative"), (timedelta(days=367), "366 days")],
)
def test_a_length_that_cannot_be_meant_is_refused(length: timedelta, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        WindowRule(placement=Placement.AFTER, length=length)


@clause("WIN-5")
def test_a_length_of_366_days_is_a_window() -> None:
    assert place(parse_window("after,8784h"), nominal=0).span == 366 * 86_400


@clause("WIN-6")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be a placement, a comma and a duration"),
        ("after", "must be a placement, a comma and a duration"),
        ("sometime,1h", "is not a known placement.*use after, around, before, center"),
        ("After,1h", "is not a known placement"),
        ("after,soon", "must be a duration"),
        ("after,-5m", r"^window\.length: must not be negative, got '-5m'"),
        ("after,9000h", r"^window\.length: must not exceed 366 days, got '9000h'"),
        ("after,", "must be a duration"),
    ],
)
def test_a_text_that_is_no_window_is_refused_with_what_to_write(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        parse_window(text)


@clause("WIN-6")
def test_spaces_around_the_parts_do_not_matter() -> None:
    assert parse_window(" around , 30m ") == parse_window("around,30m")


@clause("WIN-6")
def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(DefinitionError, match="is not a known placement"):
        WindowRule(placement="after")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="must be a timedelta"):
        WindowRule(length=60)  # type: ignore[arg-type]
