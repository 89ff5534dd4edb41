"""Lists of registrations: what is accepted, and what each mistake is called."""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.apps.declarative.callback import RunContext
from gnomon.apps.declarative.registration import Registration, read_registrations
from gnomon.errors import (
    CronExpressionInvalidError,
    DefinitionError,
    FieldParseError,
    InvalidCronExpressionError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
)
from tests.clauses import clause

DELAY = timedelta(minutes=5)
SHAPE = "Invalid registration shape: expected [string, string, function, Duration]"


async def work() -> None:
    """A callback."""


async def told(context: RunContext) -> None:
    """A callback that wants to know."""


def read(*registrations: object, zone: str = "UTC") -> list[Registration]:
    return read_registrations(list(registrations), zone=zone)


@clause("REG-1", "ERR-6")
@pytest.mark.parametrize("registrations", [None, "a", {}, {"a": 1}, 7, iter([])])
def test_what_is_no_list_is_refused(registrations: object) -> None:
    with pytest.raises(RegistrationsNotArrayError) as refusal:
        read_registrations(registrations, zone="UTC")

    assert str(refusal.value) == "Registrations must be an array"
    assert refusal.value.details == {}


@clause("REG-1", "REG-9")
@pytest.mark.parametrize("registrations", [[], ()])
def test_an_empty_list_is_a_list(registrations: object) -> None:
    assert read_registrations(registrations, zone="UTC") == []


@clause("REG-2")
def test_tuples_and_lists_are_the_same() -> None:
    (one,) = read(("backup", "0 3 * * *", work, DELAY))
    (two,) = read(["backup", "0 3 * * *", work, DELAY])

    assert one == two
    assert (one.name, one.cron, one.retry_ms) == ("backup", "0 3 * * *", 300_000)


@clause("REG-2", "ERR-6", "ERR-7")
@pytest.mark.parametrize(
    ("received", "reason"),
    [
        ("backup", "must be a list or a tuple"),
        (None, "must be a list or a tuple"),
        ((), "must have 4 elements, got 0"),
        (("backup", "0 3 * * *", work), "must have 4 elements, got 3"),
        (("backup", "0 3 * * *", work, DELAY, 1), "must have 4 elements, got 5"),
        ((None, "0 3 * * *", work, DELAY), "name must be text"),
        ((b"backup", "0 3 * * *", work, DELAY), "name must be text"),
        (("backup", 3, work, DELAY), "cron must be text or a Recurrence"),
        (("backup", None, work, DELAY), "cron must be text or a Recurrence"),
        (("backup", "0 3 * * *", "work", DELAY), "callback must be a function"),
        (("backup", "0 3 * * *", None, DELAY), "callback must be a function"),
        (("backup", "0 3 * * *", work, 300), "retry_delay must be a timedelta"),
        (("backup", "0 3 * * *", work, "5m"), "retry_delay must be a timedelta"),
        (("backup", "0 3 * * *", work, None), "retry_delay must be a timedelta"),
    ],
)
def test_a_registration_of_another_shape_is_refused(received: object, reason: str) -> None:
    with pytest.raises(RegistrationShapeError) as refusal:
        read(("first", "0 3 * * *", work, DELAY), received)

    assert str(refusal.value) == SHAPE
    assert refusal.value.details == {"registrationIndex": 1, "received": received}
    assert refusal.value.reason == reason
    assert refusal.value.index == 1
    assert refusal.value.__notes__ == [f"hint: {refusal.value.hint} (registration 1)"]


@clause("REG-2")
def test_a_registration_that_is_too_short_is_told_what_to_add() -> None:
    with pytest.raises(RegistrationShapeError) as refusal:
        read(("backup", "0 3 * * *"))

    assert refusal.value.hint == "add a callback and a retry delay"


@clause("REG-3", "ERR-6")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "must not be empty"),
        ("x" * 501, "must have at most 500 characters"),
        ("half \ud800", "must be text that can be stored"),
        ("nothing\0", "must be text that can be stored"),
    ],
)
def test_a_name_that_cannot_be_kept_is_refused(name: str, reason: str) -> None:
    with pytest.raises(InvalidRegistrationError) as refusal:
        read((name, "0 3 * * *", work, DELAY))

    assert refusal.value.details == {"field": "name", "value": name, "reason": reason}
    assert str(refusal.value).startswith(f"Invalid registration: name {reason}, got ")


@clause("REG-3")
def test_case_and_spaces_make_another_name() -> None:
    names = ["backup", "Backup", " backup", "backup ", "back up", "bäckup", "x" * 500]

    found = read(*((name, "0 3 * * *", work, DELAY) for name in names))

    assert [one.name for one in found] == names


@clause("REG-4", "ERR-6")
def test_a_name_that_comes_twice_is_refused() -> None:
    with pytest.raises(ScheduleDuplicateTaskError) as refusal:
        read(("backup", "0 3 * * *", work, DELAY), ("backup", "0 4 * * *", told, DELAY))

    assert str(refusal.value) == 'Task with name "backup" is already scheduled'
    assert refusal.value.details == {"taskName": "backup"}
    assert refusal.value.index == 1


@clause("REG-5", "ERR-6", "ERR-7")
def test_a_wrong_cron_expression_is_told_with_its_causes() -> None:
    with pytest.raises(CronExpressionInvalidError) as refusal:
        read(("backup", "*/15 * * * *", work, DELAY))

    error = refusal.value
    assert str(error) == (
        'Invalid cron expression "*/15 * * * *": minute field must not use step syntax ("*/15")'
    )
    assert error.details == {
        "expression": "*/15 * * * *",
        "field": "minute",
        "reason": 'must not use step syntax ("*/15")',
    }
    assert error.hint == "write 0,15,30,45"
    assert isinstance(error.__cause__, InvalidCronExpressionError)
    assert isinstance(error.__cause__.__cause__, FieldParseError)
    assert error.__cause__.__cause__.details == {"fieldValue": "*/15", "fieldName": "minute"}


@clause("REG-5")
@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "* * * * * *", "*/5 * * * *", "0 0 * jan *", "0 0 * * mon", "@daily",
     "0 0 ? * *", "0 0 L * *", "0 0 15W * *", "0 0 * * 1#2", "0 0 * * 7", "50-10 * * * *",
     "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 32 * *", "0 0 * 13 *", "1e1 * * * *",
     "0x1 * * * *", "+1 * * * *", "-1 * * * *", "*,5 * * * *", "1,,2 * * * *", "0 0 31 4 *"],
)  # fmt: skip
def test_what_the_grammar_excludes_is_refused(text: str) -> None:
    with pytest.raises(CronExpressionInvalidError):
        read(("backup", text, work, DELAY))


@clause("REG-5")
def test_a_cron_text_is_read_in_the_zone_of_the_scheduler_under_the_strict_policy() -> None:
    (one,) = read(("backup", "30 2 * * *", work, DELAY), zone="Europe/Berlin")

    assert repr(one.recurrence) == (
        "cron('30 2 * * *', zone='Europe/Berlin', dialect='posix', dst='strict')"
    )


@clause("REG-6", "ERR-6")
@pytest.mark.parametrize(
    ("delay", "ms"), [(timedelta(seconds=-1), -1000), (timedelta(microseconds=-1), -1)]
)
def test_a_negative_retry_delay_is_refused(delay: timedelta, ms: int) -> None:
    with pytest.raises(NegativeRetryDelayError) as refusal:
        read(("backup", "0 3 * * *", work, delay))

    assert str(refusal.value) == "Retry delay must be non-negative"
    assert refusal.value.details == {"retryDelayMs": ms}


@clause("REG-6")
@pytest.mark.parametrize(
    ("delay", "ms"),
    [(timedelta(0), 0), (timedelta(microseconds=999), 0), (timedelta.max, 86_399_999_999_999_999)],
)
def test_any_other_retry_delay_is_accepted(delay: timedelta, ms: int) -> None:
    (one,) = read(("backup", "0 3 * * *", work, delay))

    assert one.retry_ms == ms


@clause("REG-7")
@pytest.mark.parametrize(
    ("received", "expected"),
    [
        (("", "*", 7, None), RegistrationShapeError),
        (("", "*", lambda a, b: None, -DELAY), InvalidRegistrationError),
        (("first", "*", lambda a, b: None, -DELAY), InvalidRegistrationError),
        (("first", "*", work, -DELAY), ScheduleDuplicateTaskError),
        (("second", "*", work, -DELAY), CronExpressionInvalidError),
        (("second", "* * * * *", work, -DELAY), NegativeRetryDelayError),
    ],
)
def test_the_first_problem_of_a_registration_is_the_one_reported(
    received: object, expected: type[DefinitionError]
) -> None:
    with pytest.raises(expected):
        read(("first", "0 3 * * *", work, DELAY), received)


@clause("REG-7")
def test_the_first_registration_with_a_problem_is_the_one_reported() -> None:
    with pytest.raises(NegativeRetryDelayError) as refusal:
        read(("a", "* * * * *", work, -DELAY), None, ("a", "* * * * *", work, DELAY))

    assert refusal.value.index == 0


@clause("REG-8")
def test_a_recurrence_brings_its_own_dialect_zone_and_policy() -> None:
    often = gnomon.cron("*/15 * * * *", zone="Asia/Tokyo")
    (one,) = read(("often", often, work, DELAY), zone="Europe/Berlin")

    assert one.recurrence is often
    assert one.cron == "cron('*/15 * * * *', zone='Asia/Tokyo', dialect='standard', dst='vixie')"


class Nameless(gnomon.Recurrence):
    """A recurrence that does not say what it is."""

    __repr__ = object.__repr__
    next_epoch = None  # type: ignore[assignment]

    def latest_epoch(self, at: int) -> int | None:
        return None

    def iterate_epochs(self, after: int):  # type: ignore[no-untyped-def]
        return iter(())

    def describe(self) -> str:
        return ""


@clause("REG-8")
def test_a_recurrence_that_cannot_be_told_from_another_is_refused() -> None:
    with pytest.raises(InvalidRegistrationError) as refusal:
        read(("often", Nameless(), work, DELAY))

    assert refusal.value.details["field"] == "cron"


@clause("CALL-2")
@pytest.mark.parametrize(
    ("function", "takes_context"),
    [
        (work, False),
        (told, True),
        (lambda: None, False),
        (lambda context: None, True),
        (lambda context=None: None, False),
        (lambda *all_of_them, **others: None, False),
        (partial(told, RunContext("a", 0, 1, "due")), False),
        (dict, False),
    ],
)
def test_a_callback_gets_a_context_if_it_must_be_given_one(
    function: Callable[..., object], takes_context: bool
) -> None:
    (one,) = read(("backup", "0 3 * * *", function, DELAY))

    assert one.callback.takes_context is takes_context


@clause("CALL-3", "ERR-6")
@pytest.mark.parametrize("function", [lambda a, b: None, lambda *, named: None])
def test_a_callback_that_needs_more_than_a_context_is_refused(
    function: Callable[..., object],
) -> None:
    with pytest.raises(InvalidRegistrationError) as refusal:
        read(("backup", "0 3 * * *", function, DELAY))

    assert refusal.value.details == {
        "field": "callback",
        "value": function,
        "reason": "must take no argument, or one for the context",
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.timedeltas()
    | st.sampled_from([work, told, "* * * * *"]),
    lambda inner: st.lists(inner, max_size=5) | st.tuples(inner, inner, inner, inner),
    max_leaves=12,
)  # fmt: skip


@clause("REG-7")
@given(registrations=values)
def test_whatever_is_handed_over_is_read_or_refused(registrations: object) -> None:
    with contextlib.suppress(DefinitionError):
        found = read_registrations(registrations, zone="UTC")
        assert isinstance(registrations, list | tuple)
        assert len(found) == len(registrations)
