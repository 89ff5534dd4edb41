"""The posix dialect: each production of the grammar, and each rule of refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cron.dialect import POSIX, Dialect
from gnomon.core.cron.expression import (
    EVERY_DAY,
    EVERY_HOUR,
    EVERY_MINUTE,
    EVERY_MONTH,
    EVERY_WEEKDAY,
    Expression,
)
from gnomon.core.cron.parse import parse
from gnomon.errors import FieldParseError, InvalidCronExpressionError
from tests.clauses import clause


def read(text: str) -> Expression:
    return parse(text, POSIX)


def values(mask: int) -> list[int]:
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def refusal(text: str, dialect: Dialect = POSIX) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        parse(text, dialect)
    return caught.value


@clause("POSIX-1")
@pytest.mark.parametrize(
    "text", ["0 3 * * *", " 0 3 * * * ", "0\t3\t*\t*\t*", "\t 0  3 \t*   * *\t"]
)
def test_fields_are_separated_by_any_number_of_spaces_and_tabs(text: str) -> None:
    assert read(text)[1:] == read("0 3 * * *")[1:]


@clause("POSIX-2")
def test_a_star_means_every_value() -> None:
    expression = read("* * * * *")

    assert (expression.minute, expression.hour) == (EVERY_MINUTE, EVERY_HOUR)
    assert expression.days == (EVERY_DAY, EVERY_MONTH, EVERY_WEEKDAY, False)
    assert expression.second == 1


@clause("POSIX-2")
def test_a_list_means_each_of_its_elements() -> None:
    expression = read("0,30,5-7,30 1,2 1,15 1,12 0,6")

    assert values(expression.minute) == [0, 5, 6, 7, 30]
    assert values(expression.hour) == [1, 2]
    assert values(expression.days.day) == [1, 15]
    assert values(expression.days.month) == [1, 12]
    assert values(expression.days.weekday) == [0, 6]


@clause("POSIX-3")
@pytest.mark.parametrize(
    "text", ["5 0 * * *", "05 00 * * *", "0005 000 * * *", "0" * 900 + "5 0 * * *"]
)
def test_leading_zeros_do_not_matter(text: str) -> None:
    assert values(read(text).minute) == [5]


@clause("POSIX-4")
@pytest.mark.parametrize(
    ("element", "expected"), [("1-5", [1, 2, 3, 4, 5]), ("7-7", [7]), ("00-003", [0, 1, 2, 3])]
)
def test_a_range_includes_both_ends(element: str, expected: list[int]) -> None:
    assert values(read(f"{element} * * * *").minute) == expected


@clause("POSIX-5")
def test_each_field_takes_its_whole_range() -> None:
    expression = read("0-59 0-23 1-31 1-12 0-6")

    assert (expression.minute, expression.hour) == (EVERY_MINUTE, EVERY_HOUR)
    assert expression.days[:3] == (EVERY_DAY, EVERY_MONTH, EVERY_WEEKDAY)


@clause("POSIX-6")
@pytest.mark.parametrize("count", [0, 1, 4, 6, 7, 100])
def test_any_other_number_of_fields_is_refused(count: int) -> None:
    error = refusal(" ".join(["*"] * count))

    assert error.field == "expression"
    assert error.reason == (f"must have exactly 5 fields, separated by spaces or tabs, got {count}")
    assert error.hint == "write minute hour day month weekday"


REFUSALS = [
    pytest.param("*/15 * * * *", "minute", 0, 'must not use step syntax ("*/15")',
                 "write 0,15,30,45", marks=clause("POSIX-7")),
    pytest.param("0 1-9/4 * * *", "hour", 2, 'must not use step syntax ("1-9/4")',
                 "write 1,5,9", marks=clause("POSIX-7")),
    pytest.param("0 0 20/5 * *", "day", 4, 'must not use step syntax ("20/5")',
                 "write 20,25,30", marks=clause("POSIX-7")),
    pytest.param("*/0 * * * *", "minute", 0, 'must not use step syntax ("*/0")',
                 "write a list of values", marks=clause("POSIX-7")),
    pytest.param("0 0 * * mon", "weekday", 8, 'must not use names ("mon")', "write 1",
                 marks=clause("POSIX-8")),
    pytest.param("0 0 * JAN *", "month", 6, 'must not use names ("JAN")', "write 1",
                 marks=clause("POSIX-8")),
    pytest.param("0 0 * * sunday", "weekday", 8, 'must not use names ("sunday")', "write 0",
                 marks=clause("POSIX-8")),
    pytest.param("0 0 * * mon-fri", "weekday", 8, 'must not use names ("mon-fri")', "write 1-5",
                 marks=clause("POSIX-8")),
    pytest.param("mon 0 * * *", "minute", 0, 'must not use names ("mon")', "write 0 to 59",
                 marks=clause("POSIX-8")),
    pytest.param("@daily", "expression", 0, 'must not be a macro ("@daily")', "write 0 0 * * *",
                 marks=clause("POSIX-9")),
    pytest.param(" @Hourly", "expression", 1, 'must not be a macro ("@Hourly")',
                 "write 0 * * * *", marks=clause("POSIX-9")),
    pytest.param("@reboot", "expression", 0, 'must not be a macro ("@reboot")',
                 "write five fields", marks=clause("POSIX-9")),
    pytest.param("@daily 0 * * *", "minute", 0, 'must not contain a macro ("@daily")',
                 "write a macro alone, or numbers", marks=clause("POSIX-9")),
    pytest.param("0 0 ? * *", "day", 4, 'must not use "?"', 'write "*"',
                 marks=clause("POSIX-10")),
    pytest.param("0 0 L * *", "day", 4, 'must not use L, W or # ("L")',
                 "list the days, or use the dialect standard", marks=clause("POSIX-10")),
    pytest.param("0 0 15W * *", "day", 4, 'must not use L, W or # ("15W")',
                 "list the days, or use the dialect standard", marks=clause("POSIX-10")),
    pytest.param("0 0 * * 5#2", "weekday", 8, 'must not use L, W or # ("5#2")',
                 "list the days, or use the dialect standard and write thu#2 for Quartz, "
                 "else fri#2",
                 marks=clause("POSIX-10")),
    pytest.param("0 0 * * 7", "weekday", 8, "must not be 7", "write 0 for Sunday",
                 marks=clause("POSIX-11")),
    pytest.param("0 0 * * 5-7", "weekday", 8, "must not be 7", "write 5-6,0",
                 marks=clause("POSIX-11")),
    pytest.param("0 22-2 * * *", "hour", 2, 'must not have a range that wraps around ("22-2")',
                 "write 22-23,0-2", marks=clause("POSIX-12")),
    pytest.param("0 0 * * 5-1", "weekday", 8, 'must not have a range that wraps around ("5-1")',
                 "write 5-6,0-1", marks=clause("POSIX-12")),
    pytest.param("60 * * * *", "minute", 0, "must lie between 0 and 59, got 60",
                 "write 0 to 59", marks=clause("POSIX-13")),
    pytest.param("0 24 * * *", "hour", 2, "must lie between 0 and 23, got 24",
                 "write 0 to 23", marks=clause("POSIX-13")),
    pytest.param("0 0 0 * *", "day", 4, "must lie between 1 and 31, got 0",
                 "write 1 to 31", marks=clause("POSIX-13")),
    pytest.param("0 0 1,2,32 * *", "day", 8, "must lie between 1 and 31, got 32",
                 "write 1 to 31", marks=clause("POSIX-13")),
    pytest.param("0 0 * 13 *", "month", 6, "must lie between 1 and 12, got 13",
                 "write 1 to 12", marks=clause("POSIX-13")),
    pytest.param("0 0 * * 8", "weekday", 8, "must lie between 0 and 6, got 8",
                 "write 0 to 6", marks=clause("POSIX-13")),
    pytest.param("0-600 * * * *", "minute", 0, "must lie between 0 and 59, got 600",
                 "write 0 to 59", marks=clause("POSIX-13")),
    pytest.param("+5 * * * *", "minute", 0, 'must be plain decimal digits ("+5")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("-5 * * * *", "minute", 0, 'must be plain decimal digits ("-5")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("1e1 * * * *", "minute", 0, 'must be plain decimal digits ("1e1")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("0x1F * * * *", "minute", 0, 'must be plain decimal digits ("0x1F")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("1.5 * * * *", "minute", 0, 'must be plain decimal digits ("1.5")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("1_0 * * * *", "minute", 0, 'must be plain decimal digits ("1_0")',
                 "write 0 to 59", marks=clause("POSIX-14")),
    pytest.param("0 ٣ * * *", "expression", 2,
                 "must be printable ASCII with spaces and tabs, got '٣'",
                 "write the digits 0 to 9", marks=clause("POSIX-14")),
    pytest.param("*,5 * * * *", "minute", 0, 'must not mix "*" with other elements',
                 'write "*" alone', marks=clause("POSIX-15")),
    pytest.param("1,,2 * * * *", "minute", 2, "must not have an empty list element",
                 "remove the comma or write a value", marks=clause("POSIX-15")),
    pytest.param("1, * * * *", "minute", 2, "must not have an empty list element",
                 "remove the comma or write a value", marks=clause("POSIX-15")),
    pytest.param("0 0 * *\n*", "expression", 7,
                 "must be printable ASCII with spaces and tabs, got '\\n'",
                 "separate fields with spaces", marks=clause("POSIX-15")),
    pytest.param("0 0 * *\u00a0*", "expression", 7,
                 "must be printable ASCII with spaces and tabs, got '\\xa0'",
                 "separate fields with spaces", marks=clause("POSIX-15")),
    pytest.param("1-2-3 * * * *", "minute", 0,
                 'must be numbers, ranges or lists of them ("1-2-3")',
                 "write values from 0 to 59", marks=clause("POSIX-15")),
]  # fmt: skip


@clause("CRON-13")
@pytest.mark.parametrize(("text", "field", "position", "reason", "hint"), REFUSALS)
def test_a_refusal_says_where_why_and_what_to_write(
    text: str, field: str, position: int, reason: str, hint: str
) -> None:
    error = refusal(text)

    assert (error.field, error.position, error.reason, error.hint) == (
        field, position, reason, hint,
    )  # fmt: skip
    shown = text.replace("\n", "\\n").replace("\u00a0", "\\xa0")
    assert str(error) == f'Invalid cron expression "{shown}": {field} field {reason}'
    assert isinstance(error.__cause__, FieldParseError)


@clause("POSIX-16")
@pytest.mark.parametrize(
    ("day", "weekday", "either"),
    [
        ("*", "*", False),
        ("*", "1", False),
        ("15", "*", False),
        ("1,15", "1", True),
        ("1", "0-6", True),
    ],
)
def test_one_of_day_and_weekday_suffices_when_both_are_restricted(
    day: str, weekday: str, either: bool
) -> None:
    assert read(f"0 0 {day} * {weekday}").days.either is either


@clause("CRON-12")
@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 30,31 2 *"])
def test_a_day_that_never_comes_is_refused(text: str) -> None:
    error = refusal(text)

    assert (error.field, error.position) == ("day", 4)
    assert error.reason.startswith("must name a day that exists")


@clause("CRON-12")
@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 31 1,2 *", "0 0 30 2 1"])
def test_a_day_that_comes_rarely_is_not(text: str) -> None:
    assert read(text).text == text


NUMBERS = st.integers(0, 59).map(str)
ELEMENTS = st.one_of(
    NUMBERS, st.tuples(st.integers(0, 30), st.integers(30, 59)).map(lambda ab: f"{ab[0]}-{ab[1]}")
)


@clause("POSIX-2", "POSIX-3", "POSIX-4")
@given(st.lists(ELEMENTS, min_size=1, max_size=20))
def test_any_sentence_of_the_grammar_is_read_as_the_union_of_its_elements(
    elements: list[str],
) -> None:
    expected = set()
    for element in elements:
        low, _, high = element.partition("-")
        expected |= set(range(int(low), int(high or low) + 1))

    assert values(read(f"{','.join(elements)} * * * *").minute) == sorted(expected)
