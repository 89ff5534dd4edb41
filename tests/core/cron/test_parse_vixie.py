"""What the crons of Unix read, and no more."""

from datetime import UTC, datetime

import pytest

from gnomon import cron
from gnomon.errors import InvalidCronExpressionError
from tests.clauses import clause


def days_of_march(text: str) -> list[int]:
    """The days of March 2026, which begins on a Sunday."""
    recurrence = cron(text, dialect="vixie")
    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    return [at.day for at in recurrence.between(start, end)]


@clause("CRON-17")
@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 */2 * mon", [9, 23]),
        ("0 0 1-7 * */7", [1]),
        ("0 0 */10 * */3", [1, 11, 21]),
        ("0 0 1,15 * mon", [1, 2, 9, 15, 16, 23, 30]),
        ("0 0 * * sat,7", [1, 7, 8, 14, 15, 21, 22, 28, 29]),
        ("0 0 10-12 * *", [10, 11, 12]),
    ],
)
def test_a_day_field_that_begins_with_a_star_is_joined_by_and(text: str, days: list[int]) -> None:
    assert days_of_march(text) == days


@clause("CRON-17")
def test_both_day_fields_are_said() -> None:
    said = cron("0 0 */2 * mon", dialect="vixie").describe()

    assert "every second day" in said or "every 2nd day" in said
    assert "but only on Mondays" in said


@clause("CRON-16")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0/5 * * * *", "write 0-59/5"),
        ("0 0 * * 1/2", "write 1-6/2"),
        ("0 0 L * *", "list the days, or use the dialect standard"),
        ("0 0 15W * *", "list the days, or use the dialect standard"),
        ("0 0 * * 1#2", "list the days, or use the dialect standard"),
        ("0 0 0 * * *", "write minute hour day month weekday"),
        ("@reboot", "write one of @hourly, @daily, @weekly, @monthly, @yearly, @midnight"),
    ],
)
def test_what_no_cron_of_unix_reads_is_refused(text: str, hint: str) -> None:
    with pytest.raises(InvalidCronExpressionError) as refused:
        cron(text, dialect="vixie")

    assert hint in refused.value.hint


@clause("CRON-16")
def test_the_hint_for_a_step_without_a_range_is_read() -> None:
    assert days_of_march("0 0 1-31/10 * *") == [1, 11, 21, 31]


@clause("CRON-15")
@pytest.mark.parametrize(
    ("macro", "same"), [("@midnight", "@daily"), ("@annually", "@yearly"), ("@Midnight", "@daily")]
)
@pytest.mark.parametrize("dialect", ["standard", "vixie"])
def test_a_macro_has_a_second_name(macro: str, same: str, dialect: str) -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 2, 1, tzinfo=UTC)
    found = cron(macro, dialect=dialect).between(start, end)

    assert list(found) == list(cron(same, dialect=dialect).between(start, end))
