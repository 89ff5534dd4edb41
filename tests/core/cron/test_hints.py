"""
Every hint is followed, and the schedule is the one that was meant by the cron it was written for.

What was meant is said without the code under test: values are counted round the clock, Quartz's
weekdays are written as names, and what Jenkins makes of H is looked at for its spacing.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cron.dialect import DIALECTS
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.parse import parse
from gnomon.errors import InvalidCronExpressionError
from tests.clauses import clause

MONTHS = "january february march april may june july august september october november december"
WEEK = "sunday monday tuesday wednesday thursday friday saturday"
FIELDS = {
    "minute": (0, 60, ""), "hour": (0, 24, ""), "day": (1, 31, ""), "month": (1, 12, MONTHS),
    "weekday": (0, 7, WEEK),
}  # fmt: skip
PLACES = list(FIELDS)
WHOLE = re.compile(r"write the whole as ([^:]+): Quartz counts weekdays from 1 for Sunday")
ELEMENT = re.compile(
    r"write (?:e\.g\. )?([\dA-Za-z,/-]+)(?: for Sunday|: Jenkins picks .*|: L alone .*)?", re.ASCII
)
MACRO = re.compile(r"write ([\d*]+( [\d*]+){4})")
STANDARD = "use the dialect standard"
ADVICE = {
    "use the dialect vixie, where both days must match; of a list either may": "0 0 */2 * 1",
    "write a list of values": "*/0 * * * *",
    "write a list": "H(9-70) * * * *",
    f"list the days, or {STANDARD} and write thu#2 for Quartz, else fri#2": "0 0 * * 5#2",
    f"list the days, or {STANDARD}": "0 0 * * mon#2",
    "list the days": "0 0 L-3 * *",
    "write 0 to 59": "? * * * *",
    "write 0 to 23": "0 L * * *",
    "write values from 0 to 59": "1-2-3 * * * *",
    "write a macro alone, or numbers": "@daily 0 * * *",
    "remove the comma or write a value": "1,,2 * * * *",
    "write five fields": "@reboot",
    "write minute hour day month weekday": "* * * *",
    "write an earlier day, or another month": "0 0 30 2 *",
}
"""Where nothing can be written instead, with a text that is told so."""


class AdviceError(Exception):
    """A hint that leaves something to decide."""


def replaced(text: str, position: int, new: str, ends: str) -> str:
    end = next((at for at in range(position, len(text)) if text[at] in ends), len(text))
    return text[:position] + new + text[end:]


def follow(text: str, dialect: str) -> Expression:
    """Do what each refusal says until the text is read."""
    for _ in range(60):
        try:
            return parse(text, DIALECTS[dialect])
        except InvalidCronExpressionError as error:
            hint, position = error.hint, error.position
        if whole := WHOLE.fullmatch(hint) or (text.startswith("@") and MACRO.fullmatch(hint)):
            text = whole[1]
        elif hint == 'write "*" alone':
            text = replaced(text, text.rfind(" ", 0, position) + 1, "*", " ")
        elif hint == 'write "*"':
            text = replaced(text, position, "*", " ,")
        elif element := ELEMENT.fullmatch(hint):
            text = replaced(text, position, element[1], " ,")
        else:
            raise AdviceError(hint)
    raise AssertionError(f"no end of hints: {text}")


def field_of(read: Expression, name: str) -> set[int]:
    mask = getattr(read.days, name) if name in ("day", "month", "weekday") else getattr(read, name)
    return {value for value in range(64) if mask >> value & 1}


@st.composite
def elements(draw: st.DrawFn, name: str) -> tuple[str, set[int]]:
    """An element as some cron reads it, and the values it means, counted round the clock."""
    low, span, words = FIELDS[name]
    first, last = draw(st.integers(0, span - 1)), draw(st.integers(0, span - 1))
    step = draw(st.integers(1, span))
    shape = draw(st.sampled_from(["{a}", "{a}-{b}", "{a}/{n}", "*/{n}", "{a}-{b}/{n}"]))
    length = (last - first) % span if "b" in shape else 0 if shape == "{a}" else span - 1 - first
    if shape == "*/{n}":
        first, length = 0, span - 1

    # 0-7 is the whole week, and not Sunday alone.
    may_be_seven = name == "weekday" and (first, last) != (0, 0)

    def said(place: int) -> str:
        word = words.split()[place] if words else ""
        number = "7" if may_be_seven and not place and draw(st.booleans()) else str(low + place)
        return draw(st.sampled_from([number, number, word[:3], word[:3].upper(), word])) or number

    text = shape.format(a=said(first), b=said(last), n=step)
    steps = range(0, length + 1, step if "n" in shape else 1)
    return text, {low + (first + one) % span for one in steps}


@clause("CRON-18")
@given(data=st.data(), dialect=st.sampled_from(list(DIALECTS)))
@pytest.mark.parametrize("name", PLACES)
def test_names_wraps_and_steps_mean_what_they_mean_elsewhere(
    name: str, dialect: str, data: st.DataObject
) -> None:
    found = data.draw(st.lists(elements(name), min_size=1, max_size=3))
    fields = ["*"] * 5
    fields[PLACES.index(name)] = ",".join(text for text, _ in found)

    read = follow(" ".join(fields), dialect)

    assert field_of(read, name) == set().union(*(values for _, values in found))


@clause("CRON-18")
@pytest.mark.parametrize(("element", "dialect", "values"), [
    ("mon-fri", "posix", {1, 2, 3, 4, 5}), ("7-2", "posix", {0, 1, 2}), ("7-7", "posix", {0}),
    ("5-7", "posix", {5, 6, 0}), ("0-7", "posix", {0, 1, 2, 3, 4, 5, 6}),
    ("7/3", "posix", {0, 3, 6}),
    ("fri-sun", "posix", {5, 6, 0}), ("sun", "posix", {0}), ("sat-tue/2", "posix", {6, 1}),
    ("6-1", "posix", {6, 0, 1}), ("Monday-friday", "standard", {1, 2, 3, 4, 5}),
    ("fri-mon", "standard", {5, 6, 0, 1}), ("sat-mon", "standard", {6, 0, 1}),
    ("fri-mon/2", "standard", {5, 0}), ("7/2", "vixie", {0, 2, 4, 6}), ("2/2", "vixie", {2, 4, 6}),
    ("H", "vixie", {0}), ("H/2", "vixie", {1, 3, 5}), ("H(2-4)", "vixie", {3}),
])  # fmt: skip
def test_a_weekday_of_another_cron_is_the_same_days(
    element: str, dialect: str, values: set[int]
) -> None:
    assert field_of(follow(f"0 0 * * {element}", dialect), "weekday") == values


@clause("CRON-18")
@pytest.mark.parametrize("element", ["*-5", "5-", "mon-foo", "9-2", "1-9", "*/9", "0/0", "mon/0"])
def test_what_no_cron_reads_is_not_made_up(element: str) -> None:
    with pytest.raises(AdviceError):
        follow(f"0 0 * * {element}", "posix")


@clause("CRON-18")
@given(data=st.data())
def test_a_question_mark_is_read_as_quartz_reads_the_weekdays_beside_it(
    data: st.DataObject,
) -> None:
    names = [word[:3] for word in WEEK.split()]
    day = st.integers(1, 7)
    shapes = st.sampled_from(["{a}", "{a}-{b}", "{a}L", "{a}#{n}"])
    shape = ",".join(data.draw(st.lists(shapes, min_size=1, max_size=3)))
    a, b, n = data.draw(day), data.draw(day), data.draw(st.integers(1, 5))
    quartz = shape.format(a=a, b=b, n=n)
    meant = shape.format(a=names[a - 1], b=names[b - 1], n=n)

    read = follow(f"0 30 9 ? * {quartz}", "standard")

    assert read[1:] == follow(f"0 30 9 * * {meant}", "standard")[1:]


@clause("CRON-18")
@pytest.mark.parametrize(("text", "same"), [
    ("0 0 12 ? * L", "0 0 12 * * sat"),
    ("0 0 12 ? * MON-FRI", "0 0 12 * * 1-5"),
    ("0 0 12 15 * ?", "0 0 12 15 * *"),
    ("0 0 12 ? * *", "0 0 12 * * *"),
    ("0 0 12 ? * 2/2", "0 0 12 * * 1,3,5"),
    ("@daily", "0 0 * * *"),
    ("0 0 * * *,5", "0 0 * * *"),
    ("5,*,9 * * * *", "* * * * *"),
])  # fmt: skip
def test_what_other_crons_write_becomes_what_they_mean(text: str, same: str) -> None:
    assert follow(text, "standard")[2:] == parse(same, DIALECTS["standard"])[2:]


@clause("CRON-18")
@pytest.mark.parametrize(("text", "same"), [
    ("0 0 ? * 2", "0 0 * * 1"),
    ("0 0 * * L", "0 0 * * 6"),
    ("@midnight", "0 0 * * *"),
    ("0 0 * * 7", "0 0 * * 0"),
])  # fmt: skip
def test_so_it_does_in_posix(text: str, same: str) -> None:
    assert follow(text, "posix")[2:] == parse(same, DIALECTS["posix"])[2:]


@clause("CRON-18")
@given(data=st.data(), dialect=st.sampled_from(list(DIALECTS)))
@pytest.mark.parametrize("name", PLACES)
def test_an_h_becomes_values_as_far_apart_as_jenkins_would_put_them(
    name: str, dialect: str, data: st.DataObject
) -> None:
    low, span, _ = FIELDS[name]
    high = 28 if name == "day" else low + span - 1
    text = "H"
    if data.draw(st.booleans()):
        low, high = sorted(data.draw(st.tuples(*[st.integers(low, high)] * 2)))
        text = f"H({low}-{high})"
    step = data.draw(st.none() | st.integers(1, high - low + 1))
    fields = ["*"] * 5
    fields[PLACES.index(name)] = text if step is None else f"{text}/{step}"

    values = sorted(field_of(follow(" ".join(fields), dialect), name))

    assert low <= values[0] < low + (step or high - low + 1)
    assert values == list(range(values[0], high + 1, step or 1_000))


@clause("CRON-18")
@pytest.mark.parametrize(("hint", "text"), list(ADVICE.items()))
def test_where_nothing_can_be_written_instead_the_hint_says_what_to_decide(
    hint: str, text: str
) -> None:
    with pytest.raises(AdviceError, match=re.escape(hint)):
        follow(text, "posix")


@clause("CRON-18", "CRON-17")
@pytest.mark.parametrize("text", ["0 0 */2 * 1", "0 0 1 * */2"])
def test_where_both_days_must_match_the_dialect_that_is_named_says_so(text: str) -> None:
    with pytest.raises(AdviceError, match="use the dialect vixie"):
        follow(text, "posix")

    assert not parse(text, DIALECTS["vixie"]).days.either
