"""The sentence for an expression: what it says, and that it says neither more nor less."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.calendar import KINDS
from gnomon.core.cron.day_words import simplest
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.dialect import DIALECTS, POSIX, STANDARD
from gnomon.core.cron.expression import EVERY_MONTH, EVERY_WEEKDAY, DayRule, Expression
from gnomon.core.cron.parse import parse
from gnomon.core.cron.sentence import explain
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.oracle.random_cases import posix_text, standard_text

LENGTH_MAX = 1_500

TIMES = {
    "* * * * *": "Every minute",
    "*/5 * * * *": "Every 5 minutes",
    "0,30 * * * *": "Every 30 minutes",
    "*/7 * * * *": "Every 7 minutes from 0 to 56 minutes past every hour",
    "1-59/2 * * * *": "Every 2 minutes from 1 to 59 minutes past every hour",
    "10-20 * * * *": "Every minute from 10 to 20 minutes past every hour",
    "1 * * * *": "At 1 minute past every hour",
    "5,35 * * * *": "At 5 and 35 minutes past every hour",
    "1-3,20 * * * *": "At 1 to 3 and 20 minutes past every hour",
    "@hourly": "Every hour",
    "0 */2 * * *": "Every 2 hours",
    "0 1-23/2 * * *": "Every 2 hours from 01:00 to 23:00",
    "0 9-17 * * *": "Every hour from 09:00 to 17:00",
    "30 */2 * * *": "At 30 minutes past every 2nd hour",
    "30 9-17 * * *": "At 30 minutes past every hour from 09:00 to 17:59",
    "5,35 9-17 * * *": "At 5 and 35 minutes past every hour from 09:00 to 17:59",
    "0,10,25 1,5,13 * * *": "At 0, 10 and 25 minutes past 01:00, 05:00 and 13:00",
    "15 0,3-23 * * *": "At 15 minutes past every hour from 00:00 to 00:59 and 03:00 to 23:59",
    "* 9 * * *": "Every minute from 09:00 to 09:59",
    "10-20 9 * * *": "Every minute from 09:10 to 09:20",
    "* 9-17 * * *": "Every minute from 09:00 to 17:59",
    "*/5 0-5,22-23 * * *": "Every 5 minutes from 00:00 to 05:59 and 22:00 to 23:59",
    "* */2 * * *": "Every minute in every 2nd hour",
    "15 3 * * *": "At 03:15 every day",
    "0 */6 * * *": "At 00:00, 06:00, 12:00 and 18:00 every day",
    "15,45 8,20 * * *": "At 08:15, 08:45, 20:15 and 20:45 every day",
    "0 1,5,6,13,20 * * *": "At 01:00, 05:00, 06:00, 13:00 and 20:00 every day",
}

SECONDS = {
    "* * * * * *": "Every second",
    "*/10 * * * * *": "Every 10 seconds",
    "0 */5 * * * *": "Every 5 minutes",
    "30 * * * * *": "At 30 seconds past every minute",
    "30 15 3 * * *": "At 03:15:30 every day",
    "0,30 15 3 * * *": "At 03:15:00 and 03:15:30 every day",
    "*/10 15 3 * * *": "Every 10 seconds from 03:15:00 to 03:15:59",
    "* 15 3 * * *": "Every second from 03:15:00 to 03:15:59",
    "10-20 0 12 * * *": "Every second from 12:00:10 to 12:00:20",
    "5-50/5 0 12 * * *": "Every 5 seconds from 12:00:05 to 12:00:50",
    "1-3,20,40 0 12 * * *": "At 1 to 3, 20 and 40 seconds past 12:00",
    "10-20 0-4 12 * * *": (
        "Every second from 10 to 20 seconds past every minute from 12:00:00 to 12:04:59"
    ),
    "* * 9-17 * * *": "Every second from 09:00:00 to 17:59:59",
    "5,10 */5 9-17 * * *": "At 5 and 10 seconds past every 5th minute from 09:00:00 to 17:59:59",
    "*/10 */15 * * * *": "Every 10 seconds in every 15th minute",
    "*/10 5,35 9-17 * * *": (
        "Every 10 seconds in minutes 5 and 35 of every hour from 09:00:00 to 17:59:59"
    ),
    "30 5 9,12 * * 1-5": "At 09:05:30 and 12:05:30 on weekdays",
    "*/10 5,35 9,12 * * *": "Every 10 seconds in minutes 5 and 35 of hours 9 and 12",
}

DAYS = {
    "0 0 * * 1-5": "on weekdays",
    "0 0 * * 0": "on Sundays",
    "0 0 * * sat,sun": "on Saturdays and Sundays",
    "0 0 * * mon,wed,fri": "on Mondays, Wednesdays and Fridays",
    "0 0 * * 1-4": "from Monday to Thursday",
    "0 0 * * 5-7": "from Friday to Sunday",
    "0 0 1 * *": "on the 1st of the month",
    "0 0 1,15 * *": "on the 1st and 15th of the month",
    "0 0 1-7 * *": "from the 1st to the 7th of the month",
    "0 0 1-7,22,31 * *": "on the 1st to 7th, 22nd and 31st of the month",
    "0 0 */2 * *": "on every 2nd day from the 1st to the 31st of the month",
    "0 0 14 2 *": "on 14 February",
    "0 0 1 1,7 *": "on the 1st of January and July",
    "0 0 1,15 12 *": "on the 1st and 15th of December",
    "0 0 1 3-5 *": "on the 1st of each month from March to May",
    "0 0 1 11,12,1,2 *": "on the 1st of each month from November to February",
    "0 0 1 1,3-12 *": "on the 1st of every month except February",
    "0 0 * 2 *": "every day in February",
    "0 0 * 3-5 *": "every day from March to May",
    "0 0 * 3-5 1-5": "on weekdays from March to May",
    "0 0 * 6,12 1": "on Mondays in June and December",
}

DAYS_OF_THE_MONTH = {
    "0 0 L * *": "on the last day of the month",
    "0 0 L 2 *": "on the last day of February",
    "0 0 1,L * *": "on the 1st and the last day of the month",
    "0 0 LW * *": "on the last weekday (Monday to Friday) of the month",
    "0 0 15W * *": "on the weekday (Monday to Friday) nearest the 15th of the month",
    "0 0 1W,15W * *": "on the weekdays (Monday to Friday) nearest the 1st and 15th of the month",
    "0 0 15W,L * *": (
        "on the last day and the weekday (Monday to Friday) nearest the 15th of the month"
    ),
    "0 0 1W,LW,20 * *": (
        "on the 20th, the last weekday (Monday to Friday) "
        "and the weekday (Monday to Friday) nearest the 1st of the month"
    ),
    "0 0 * * tue#2": "on the second Tuesday of the month",
    "0 0 * * 5L": "on the last Friday of the month",
    "0 0 * 11 thu#4": "on the fourth Thursday of November",
    "0 0 * * 1#1,1#3": "on the first and third Monday of the month",
    "0 0 * * 1#1,3#1": "on the first Monday and the first Wednesday of the month",
    "0 0 * * 1,5L": "on Mondays and on the last Friday of the month",
}

EITHER = {
    "0 0 1 * 1": "on the 1st of the month or on Mondays",
    "0 0 1,15 * 1-5": "on the 1st and 15th of the month or on weekdays",
    "0 0 1-7 * 1-4": "from the 1st to the 7th of the month or from Monday to Thursday",
    "0 0 13 * 5#2": "on the 13th of the month or on the second Friday of the month",
    "0 0 L * 0": "on the last day of the month or on Sundays",
    "0 0 1 3 1": "on the 1st of the month or on Mondays, in March",
    "0 0 1 3-5 1": "on the 1st of the month or on Mondays, from March to May",
}

SAME = [
    ("0,15,30,45 * * * *", "*/15 * * * *"),
    ("@weekly", "0 0 * * 7"),
    ("0 0 * * *", "0 0 1-31 * 1"),
    ("0 0 * * *", "0 0 13 * 0-6"),
    ("0 0 31 1 *", "0 0 L 1 *"),
    ("0 0 31 1 *", "0 0 31 1,4 *"),
    ("0 0 28,29 2 *", "0 0 28,L 2 *"),
    ("0 0 * 2 1", "0 0 30 2 1"),
    ("0 0 * 2 *", "0 0 1-29 2 *"),
    ("0 0 31 * *", "0 0 31 1,3,5,7,8,10,12 *"),
    ("0 0 L * *", "0 0 31,L * *"),
    ("0 0 LW 1 *", "0 0 31W 1 *"),
    ("0 0 * * 1", "0 0 * * 1#1,1#2,1#3,1#4,1#5"),
    ("0 0 * * 1", "0 0 * * 1,1L,1#2"),
    ("0 0 * * 5#4,5#5", "0 0 * * 5#4,5L"),
    ("0 0 1-7 * *", "0 0 * * 0#1,1#1,2#1,3#1,4#1,5#1,6#1"),
    ("0 0 * * 1-5", "0 0 1W,LW * 1-5"),
]


def sentence(text: str, dialect: str = "standard") -> str:
    return explain(parse(text, DIALECTS[dialect]))


def meaning(expression: Expression) -> tuple[object, ...]:
    """Every time of day and every day of every kind of year that the expression matches."""
    days = tuple(year_mask(expression.days, kind) for kind in range(KINDS))
    return expression.second, expression.minute, expression.hour, days


@clause("DESC-1", "DESC-5")
@pytest.mark.parametrize(("text", "expected"), [*TIMES.items(), *SECONDS.items()])
def test_the_sentence_says_the_times_of_day(text: str, expected: str) -> None:
    assert sentence(text) == expected


@clause("DESC-1", "DESC-5")
@pytest.mark.parametrize(("text", "expected"), DAYS.items())
def test_the_sentence_says_the_days(text: str, expected: str) -> None:
    assert sentence(text) == f"At 00:00 {expected}"


@clause("DESC-4")
@pytest.mark.parametrize(("text", "expected"), DAYS_OF_THE_MONTH.items())
def test_the_sentence_says_which_day_of_the_month_is_meant(text: str, expected: str) -> None:
    assert sentence(text) == f"At 00:00 {expected}"


@clause("DESC-3")
@pytest.mark.parametrize(("text", "expected"), EITHER.items())
def test_the_sentence_says_or_when_either_day_field_suffices(text: str, expected: str) -> None:
    assert sentence(text) == f"At 00:00 {expected}"


@clause("DESC-3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0 1-31 * 1", "every day"),
        ("0 0 1W,LW * 1-5", "on weekdays"),
        ("0 0 1-7 * 1#1", "from the 1st to the 7th of the month"),
    ],
)
def test_a_day_field_that_adds_no_day_to_the_other_is_not_said(text: str, expected: str) -> None:
    assert sentence(text) == f"At 00:00 {expected}"


@clause("DESC-1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * 2 *", "Every minute in February"),
        ("15 * * 2 *", "At 15 minutes past every hour in February"),
        ("* 9-17 * * 1-5", "Every minute from 09:00 to 17:59 on weekdays"),
        ("* 9-17 * * 1-4", "Every minute from 09:00 to 17:59, from Monday to Thursday"),
        ("*/5 9-17 * 3-5 *", "Every 5 minutes from 09:00 to 17:59, from March to May"),
    ],
)
def test_times_and_days_read_on_from_each_other(text: str, expected: str) -> None:
    assert sentence(text) == expected


# Sentences that agree exactly when the times do could still call every Tuesday a Wednesday.
@clause("DESC-1")
def test_every_weekday_has_its_own_name() -> None:
    assert [sentence(f"0 0 * * {weekday}") for weekday in range(8)] == [
        f"At 00:00 on {name}"
        for name in (
            "Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays",
            "Sundays",
        )
    ]  # fmt: skip


@clause("DESC-1")
def test_every_month_has_its_own_name() -> None:
    assert [sentence(f"0 0 2 {month} *") for month in range(1, 13)] == [
        f"At 00:00 on 2 {name}"
        for name in (
            "January", "February", "March", "April", "May", "June", "July", "August", "September",
            "October", "November", "December",
        )
    ]  # fmt: skip


@clause("DESC-1")
def test_every_day_of_the_month_has_its_own_ordinal() -> None:
    ordinals = (
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th 17th 18th 19th "
        "20th 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th 31st"
    )

    assert [sentence(f"0 0 {day} * *") for day in range(1, 32)] == [
        f"At 00:00 on the {ordinal} of the month" for ordinal in ordinals.split()
    ]


@clause("DESC-4")
def test_every_week_of_the_month_has_its_own_word() -> None:
    assert [sentence(f"0 0 * * wed#{nth}") for nth in range(1, 6)] == [
        f"At 00:00 on the {word} Wednesday of the month"
        for word in ("first", "second", "third", "fourth", "fifth")
    ]


@clause("DESC-1")
@given(st.integers(0, 23), st.integers(0, 59), st.integers(1, 59))
def test_a_single_time_is_said_as_a_clock_shows_it(hour: int, minute: int, second: int) -> None:
    assert sentence(f"{minute} {hour} * * *") == f"At {hour:02d}:{minute:02d} every day"
    assert sentence(f"{second} {minute} {hour} * * *") == (
        f"At {hour:02d}:{minute:02d}:{second:02d} every day"
    )


@clause("DESC-1")
def test_both_dialects_have_the_same_sentences() -> None:
    assert sentence("0 9 1 * 1", "posix") == sentence("0 9 1 * 1", "standard")


@clause("DESC-2")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_times_have_the_same_sentence(one: str, other: str) -> None:
    assert sentence(one) == sentence(other)


@clause("DESC-2", "DESC-6")
def test_sentences_agree_exactly_when_the_times_do() -> None:
    draw = random.Random("sentences agree")
    meanings: dict[str, tuple[object, ...]] = {}
    sentences: dict[tuple[object, ...], str] = {}
    for expression in _some_expressions(draw, 6_000):
        said, meant = explain(expression), meaning(expression)

        assert meanings.setdefault(said, meant) == meant, expression.text
        assert sentences.setdefault(meant, said) == said, expression.text
        assert said.isprintable(), expression.text
        assert len(said) <= LENGTH_MAX, expression.text


@clause("DESC-2")
def test_different_seconds_of_a_minute_have_different_sentences() -> None:
    meant: dict[str, str] = {}
    for first in range(60):
        for step in range(1, 60 - first):
            for last in range(first + step, 60, step):
                seconds = _listed(list(range(first, last + 1, step)))
                for minutes in ("5", "5,6", "5-7"):
                    text = f"{seconds} {minutes} 9 * * *"
                    assert meant.setdefault(sentence(text), text) == text


FIELD = st.sets(st.integers(0, 59), min_size=1)


@clause("DESC-2", "DESC-6")
@given(FIELD, FIELD, st.sets(st.integers(0, 23), min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_a_list_does_not_matter_and_a_value_more_does(
    seconds: set[int], minutes: set[int], hours: set[int], draw: random.Random
) -> None:
    said = sentence(f"{_listed(seconds)} {_listed(minutes)} {_listed(hours)} * * *")
    shuffled = [draw.sample(sorted(values), len(values)) for values in (seconds, minutes, hours)]
    other = minutes ^ {draw.randrange(60)} or {0}

    assert sentence(" ".join([*map(_listed, shuffled), "* * *"])) == said
    assert len(said) <= LENGTH_MAX
    if other != minutes:
        assert sentence(f"{_listed(seconds)} {_listed(other)} {_listed(hours)} * * *") != said


@clause("DESC-2")
@given(st.randoms(use_true_random=False))
def test_the_simplest_rule_has_the_same_days(draw: random.Random) -> None:
    for expression in _some_expressions(draw, 5):
        found = simplest(expression.days)

        assert [year_mask(found, kind) for kind in range(KINDS)] == [
            year_mask(expression.days, kind) for kind in range(KINDS)
        ]
        assert simplest(found) == found


@clause("DESC-1")
def test_two_fields_that_must_both_match_are_said_as_such() -> None:
    friday = 1 << 5
    both = DayRule(1 << 13, EVERY_MONTH, friday, False)
    expression = parse("0 0 13 * 5", STANDARD)._replace(days=both)

    assert explain(expression) == "At 00:00 on the 13th of the month, but only on Fridays"


@clause("DESC-1")
def test_two_fields_of_which_one_is_full_are_said_as_the_other() -> None:
    both = DayRule(1 << 13, EVERY_MONTH, EVERY_WEEKDAY, False)
    expression = parse("0 0 13 * 5", STANDARD)._replace(days=both)

    assert explain(expression) == "At 00:00 on the 13th of the month"


def _listed(values: set[int] | list[int]) -> str:
    return ",".join(map(str, values))


def _some_expressions(draw: random.Random, count: int) -> list[Expression]:
    """Random expressions of both dialects, many of them alike enough to be confused."""
    found: list[Expression] = []
    while len(found) < count:
        text, dialect = (
            (posix_text(draw), POSIX) if draw.random() < 0.3 else (standard_text(draw), STANDARD)
        )
        fields = text.split()
        if len(fields) == 5 and draw.random() < 0.6:
            fields[:2] = "0", draw.choice("0012")
        if len(fields) == 5 and draw.random() < 0.3:
            fields[3] = draw.choice("124")
        try:
            found.append(parse(" ".join(fields), dialect))
        except DefinitionError:
            continue  # a date that never comes
    return found
