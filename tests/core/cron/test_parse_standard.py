"""The standard dialect: what it adds to posix, and what it still refuses."""

import pytest

from gnomon.core.cron.dialect import STANDARD
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.parse import TEXT_MAX, parse
from gnomon.errors import DefinitionError, InvalidCronExpressionError
from tests.clauses import clause


def read(text: str) -> Expression:
    return parse(text, STANDARD)


def values(mask: int) -> list[int]:
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def refusal(text: str) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        read(text)
    return caught.value


@clause("CRON-1")
def test_six_fields_put_the_seconds_first() -> None:
    expression = read("15,45 30 2 * * *")

    assert values(expression.second) == [15, 45]
    assert values(expression.minute) == [30]
    assert values(expression.hour) == [2]


@clause("CRON-1")
def test_five_fields_mean_second_zero() -> None:
    assert values(read("30 2 * * *").second) == [0]


@clause("CRON-1")
@pytest.mark.parametrize("text", ["* * * *", "* * * * * * *", ""])
def test_other_numbers_of_fields_are_refused(text: str) -> None:
    assert "must have 5 fields, or 6 with seconds first" in refusal(text).reason


@clause("CRON-2")
@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("*/15", [0, 15, 30, 45]),
        ("*/60", [0]),
        ("10-30/10", [10, 20, 30]),
        ("10-29/10", [10, 20]),
        ("50/5", [50, 55]),
        ("*/30,7", [0, 7, 30]),
        ("1-3/1", [1, 2, 3]),
    ],
)
def test_a_step_takes_every_nth_value(element: str, expected: list[int]) -> None:
    assert values(read(f"{element} * * * *").minute) == expected


@clause("CRON-2")
def test_a_step_over_days_begins_at_the_first() -> None:
    assert values(read("0 0 */10 */6 */3").days.day) == [1, 11, 21, 31]
    assert values(read("0 0 */10 */6 */3").days.month) == [1, 7]
    assert values(read("0 0 */10 */6 */3").days.weekday) == [0, 3, 6]


@clause("CRON-3")
@pytest.mark.parametrize("text", ["0 0 * jan-mar mon,Wed,FRI", "0 0 * 1-3 1,3,5"])
def test_months_and_weekdays_have_names(text: str) -> None:
    days = read(text).days

    assert values(days.month) == [1, 2, 3]
    assert values(days.weekday) == [1, 3, 5]


@clause("CRON-4")
@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("7", [0]), ("07", [0]), ("0,7", [0]), ("5-7", [0, 5, 6]), ("1-7/3", [0, 1, 4]),
        ("0-7", [0, 1, 2, 3, 4, 5, 6]), ("fri-sun", [0, 5, 6]), ("mon-Sun/3", [0, 1, 4]),
        ("sun-tue", [0, 1, 2]), ("sun-sun", [0]),
    ],
)  # fmt: skip
def test_seven_is_sunday(element: str, expected: list[int]) -> None:
    assert values(read(f"0 0 * * {element}").days.weekday) == expected


@clause("CRON-5")
@pytest.mark.parametrize(
    ("macro", "text"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("  @Daily\t", "0 0 * * *"),
    ],
)
def test_a_macro_stands_for_its_fields(macro: str, text: str) -> None:
    assert read(macro)[1:] == read(text)[1:]
    assert read(macro).text == macro


@clause("CRON-6")
@pytest.mark.parametrize(
    ("day", "weekday", "either"),
    [
        ("*", "1", False),
        ("L", "*", False),
        ("*/2", "1", True),
        ("1", "*/2", True),
        ("1", "0-6", True),
    ],
)
def test_anything_but_a_star_is_restricted(day: str, weekday: str, either: bool) -> None:
    assert read(f"0 0 {day} * {weekday}").days.either is either


@clause("CRON-11", "CRON-13")
@pytest.mark.parametrize(
    ("text", "field", "position", "reason"),
    [
        ("0 22-2 * * *", "hour", 2, 'must not have a range that wraps around ("22-2")'),
        ("0 0 * * fri-mon", "weekday", 8, 'must not have a range that wraps around ("fri-mon")'),
        ("*/0 * * * *", "minute", 0, 'must step by 1 to 60 over a valid range ("*/0")'),
        ("*/61 * * * *", "minute", 0, 'must step by 1 to 60 over a valid range ("*/61")'),
        ("5-1/2 * * * *", "minute", 0, 'must step by 1 to 60 over a valid range ("5-1/2")'),
        ("*/ * * * *", "minute", 0, 'must step by 1 to 60 over a valid range ("*/")'),
        ("*/1/2 * * * *", "minute", 0, 'must step by 1 to 60 over a valid range ("*/1/2")'),
        ("0 0 ? * *", "day", 4, 'must not use "?"'),
        ("*,5 * * * *", "minute", 0, 'must not mix "*" with other elements'),
        ("0 0 * * L", "weekday", 8, 'must not use "L"'),
        ("0 0 * * 5#6", "weekday", 8, 'must not use "5#6"'),
        ("0 0 * * 5#0", "weekday", 8, 'must not use "5#0"'),
        ("0 0 32W * *", "day", 4, 'must not use "32W"'),
        ("0 0 L-3 * *", "day", 4, 'must not use "L-3"'),
        ("0 L * * *", "hour", 2, 'must not use L, W or # ("L")'),
        ("0 0 * 5#2 *", "month", 6, 'must not use L, W or # ("5#2")'),
        ("0 0 * * monday", "weekday", 8, 'must use three-letter names ("monday")'),
        ("0 0 * * mop", "weekday", 8, 'must be numbers, ranges or lists of them ("mop")'),
        ("0 0 * mon *", "month", 6, 'must not use names ("mon")'),
        ("@reboot", "expression", 0, 'must not be the unknown macro "@reboot"'),
        ("0 0 31 feb *", "day", 4,
         'must name a day that exists ("31" never occurs in the months chosen)'),
        ("0 0 31W feb *", "day", 4,
         'must name a day that exists ("31W" never occurs in the months chosen)'),
        ("61 * * * * *", "second", 0, "must lie between 0 and 59, got 61"),
        ("0 0 0 1,32 * *", "day", 8, "must lie between 1 and 31, got 32"),
    ],
)  # fmt: skip
def test_mistakes_are_refused_with_their_place_and_reason(
    text: str, field: str, position: int, reason: str
) -> None:
    error = refusal(text)

    assert (error.field, error.position, error.reason) == (field, position, reason)
    assert error.hint
    assert error.__notes__ == [f"hint: {error.hint} (position {position})"]


@clause("CRON-13")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0 0 * * fri-mon", "write fri-sat,sun-mon"),
        ("0 0 * * sat-tue", "write sat,sun-tue"),
        ("0 0 * nov-jan *", "write nov-dec,jan"),
        ("0 0 * * fri-mone", "write 0 to 7"),
        ("0 22-2 * * *", "write 22-23,0-2"),
    ],
)
def test_the_hint_for_a_range_that_wraps_is_what_to_write(text: str, hint: str) -> None:
    assert refusal(text).hint == hint


@clause("CRON-12")
@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 * 2 5#5", "0 0 29W 2 *", "0 0 L 2 *"])
def test_rare_days_are_accepted(text: str) -> None:
    assert read(text).text == text


@clause("CRON-14")
def test_a_text_beyond_the_limit_is_refused() -> None:
    longest = "0 0 * * *".ljust(TEXT_MAX)
    assert read(longest).minute == 1

    error = refusal(longest + " ")
    assert error.reason == "must have at most 1024 characters, got 1025"


@clause("CRON-14")
def test_long_elements_are_cut_in_messages() -> None:
    error = refusal("x" * 500 + " * * * *")

    assert error.reason == f'must be numbers, ranges or lists of them ("{"x" * 39}…")'


@clause("CRON-13")
@pytest.mark.parametrize("value", [None, 5, b"* * * * *"])
def test_what_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(DefinitionError, match="must be text, got"):
        parse(value, STANDARD)  # type: ignore[arg-type]
