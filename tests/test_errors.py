"""Errors: one root, stable codes, one clear line, and nothing else escapes."""

import contextlib
import copy
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon import errors
from gnomon.errors import (
    DefinitionError,
    FieldParseError,
    GnomonError,
    IncompatibleStateError,
    InvalidCronExpressionError,
    MissingExtraError,
    StoreError,
)
from tests.clauses import clause

CODES = {
    "AuthError": "workflow-auth",
    "CommandRefusedError": "workflow-refused",
    "ConflictError": "conflict",
    "CronCalculationError": "cron-calculation",
    "CronExpressionInvalidError": "registration-cron",
    "DamagedStoreError": "store-damaged",
    "DefinitionError": "definition",
    "FieldParseError": "cron-field",
    "GnomonError": "gnomon",
    "HostError": "workflow-internal",
    "IncompatibleStateError": "incompatible-state",
    "InvalidCronExpressionError": "cron-expression",
    "InvalidRegistrationError": "registration-invalid",
    "KrontabError": "krontab",
    "LogicError": "workflow-logic",
    "MissingExtraError": "missing-extra",
    "NegativeRetryDelayError": "registration-retry-delay",
    "NotFoundError": "not-found",
    "OwnershipLostError": "ownership-lost",
    "PermissionDeniedError": "workflow-permission",
    "PreconditionError": "workflow-precondition",
    "RegistrationShapeError": "registration-shape",
    "RegistrationsNotArrayError": "registrations-not-array",
    "ScheduleDuplicateTaskError": "registration-duplicate",
    "ScheduleTaskError": "schedule-task",
    "SchedulerAlreadyActiveError": "scheduler-active",
    "StopSchedulerError": "stop-scheduler",
    "StoreError": "store",
    "StoreGoneError": "store-gone",
    "StoreHeldError": "store-held",
    "TaskInvalidStructureError": "task-record-structure",
    "TaskInvalidTypeError": "task-record-type",
    "TaskInvalidValueError": "task-record-value",
    "TaskListMismatchError": "task-list",
    "TaskMissingFieldError": "task-record-field",
    "TaskTryDeserializeError": "task-record",
    "TransientError": "workflow-transient",
    "UnknownWorkflowError": "workflow-unknown",
    "WorkflowError": "workflow",
}

# Text near the grammars finds more than text from everywhere, which is drawn too.
near_texts = st.text("0123456789*/,-#@?+.:WLTZhmsjanfri \t\n\u0663µ", max_size=40)
any_texts = st.text(max_size=60) | near_texts
zones = st.sampled_from(["UTC", "Europe/Riga", "Africa/Monrovia"]) | any_texts
offsets = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59))
any_datetimes = st.datetimes(timezones=st.none() | st.just(UTC) | offsets.map(timezone))


def refusals(text: str, dialect: str) -> list[InvalidCronExpressionError]:
    """The error for a text that is refused; none for one that is read."""
    try:
        gnomon.cron(text, dialect=dialect)
    except InvalidCronExpressionError as error:
        return [error]
    return []


@clause("ERR-1")
def test_every_error_has_the_code_it_always_had() -> None:
    classes = {name: getattr(errors, name) for name in errors.__all__}

    assert {name: kind.code for name, kind in classes.items()} == CODES


@clause("ERR-1")
@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_gnomon_error(name: str) -> None:
    assert issubclass(getattr(errors, name), GnomonError)


@clause("ERR-1")
def test_every_error_class_is_listed() -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }

    assert classes == set(errors.__all__)


@clause("ERR-1")
def test_no_two_errors_share_a_code() -> None:
    codes = [getattr(errors, name).code for name in errors.__all__]

    assert len(set(codes)) == len(codes)


@clause("ERR-2")
def test_a_definition_error_says_where_why_got_and_hint_in_that_order() -> None:
    error = DefinitionError("must not be negative", where="window.length", got=-5, hint="write 5")

    assert str(error) == "window.length: must not be negative, got -5; write 5"


@clause("ERR-2")
def test_a_definition_error_says_what_was_got_once() -> None:
    error = DefinitionError("must be up to 23, got 25", where="hour", got="25 *", hint="write 3")

    assert str(error) == "hour: must be up to 23, got 25; write 3"
    assert error.got == "25 *"


@clause("ERR-2")
def test_a_definition_error_without_a_hint_ends_with_what_was_got() -> None:
    error = DefinitionError("must be text", where="salt", got=None)

    assert str(error) == "salt: must be text, got None"


@clause("ERR-2")
def test_a_definition_error_keeps_its_parts() -> None:
    error = DefinitionError("must be text", where="salt", got=7, hint="write a string")

    parts = (error.reason, error.where, error.got, error.hint)
    assert parts == ("must be text", "salt", 7, "write a string")


@clause("ERR-2")
def test_what_was_got_is_cut_when_it_is_long() -> None:
    error = DefinitionError("must be a duration", where="interval", got="9" * 10_000)

    assert str(error) == "interval: must be a duration, got '" + "9" * 78 + "…"


@clause("ERR-2")
@given(got=any_texts)
def test_a_definition_error_is_one_line_whatever_was_got(got: str) -> None:
    line = str(DefinitionError("must be known", where="dialect", got=got, hint="write posix"))

    assert len(line.splitlines()) == 1


@clause("ERR-2")
def test_a_definition_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^zone: must be a zone of the IANA database, got 'Riga'"):
        gnomon.cron("0 3 * * *", zone="Riga")


@clause("ERR-3")
@given(text=any_texts, zone=zones, dialect=st.sampled_from(["standard", "posix"]) | any_texts)
def test_cron_answers_or_raises_a_gnomon_error(text: str, zone: str, dialect: str) -> None:
    with contextlib.suppress(GnomonError):
        gnomon.cron(text, zone=zone, dialect=dialect)


@clause("ERR-3")
@given(dst=any_texts)
def test_cron_refuses_an_unknown_policy_with_a_gnomon_error(dst: str) -> None:
    with contextlib.suppress(GnomonError):
        gnomon.cron("0 3 * * *", dst=dst)


@clause("ERR-3")
@given(interval=any_texts | st.timedeltas(), anchor=st.none() | any_datetimes)
def test_every_answers_or_raises_a_gnomon_error(
    interval: str | timedelta, anchor: datetime | None
) -> None:
    with contextlib.suppress(GnomonError):
        gnomon.every(interval, anchor=anchor)


@clause("ERR-3")
@given(at=any_texts | any_datetimes)
def test_once_answers_or_raises_a_gnomon_error(at: str | datetime) -> None:
    with contextlib.suppress(GnomonError):
        gnomon.once(at)


@clause("ERR-3")
@given(
    identity=any_texts, nominal_at=any_datetimes | st.integers(), zone=zones, salt=any_texts
)  # fmt: skip
def test_decide_answers_or_raises_a_gnomon_error_whatever_the_period(
    identity: str, nominal_at: datetime | int, zone: str, salt: str
) -> None:
    with contextlib.suppress(GnomonError):
        gnomon.decide(identity=identity, nominal_at=nominal_at, zone=zone, salt=salt)


@clause("ERR-3")
@given(window=any_texts, distribution=any_texts, seed=any_texts, only=any_texts, avoid=any_texts)
def test_decide_answers_or_raises_a_gnomon_error_whatever_the_texts(
    window: str, distribution: str, seed: str, only: str, avoid: str
) -> None:
    texts = {
        "window": window, "distribution": distribution, "seed": seed, "only": only, "avoid": avoid,
    }  # fmt: skip
    for name, text in texts.items():
        with contextlib.suppress(GnomonError):
            gnomon.decide(identity="backup", nominal_at=0, **{name: text})


@clause("ERR-3")
@given(after=any_datetimes)
def test_a_recurrence_answers_or_raises_a_gnomon_error_at_the_ends_of_time(after: datetime) -> None:
    hourly = gnomon.cron("0 * * * *", zone="Europe/Riga")

    with contextlib.suppress(GnomonError):
        hourly.next_after(after)
    with contextlib.suppress(GnomonError):
        hourly.latest_at(after)


@clause("ERR-3")
@pytest.mark.parametrize("wrong", [None, 5, 1.5, b"0 3 * * *", ["0 3 * * *"], object])
def test_values_of_a_wrong_type_are_refused_with_a_gnomon_error(wrong: object) -> None:
    for refuse in (
        lambda: gnomon.cron(wrong),  # type: ignore[arg-type]
        lambda: gnomon.cron("0 3 * * *", zone=wrong),  # type: ignore[arg-type]
        lambda: gnomon.cron("0 3 * * *", dialect=wrong),  # type: ignore[arg-type]
        lambda: gnomon.every("1h", anchor=wrong or 0),  # type: ignore[arg-type]
        lambda: gnomon.every(wrong),  # type: ignore[arg-type]
        lambda: gnomon.once(wrong),  # type: ignore[arg-type]
        lambda: gnomon.cron("0 3 * * *").next_after(wrong),  # type: ignore[arg-type]
    ):
        with pytest.raises(DefinitionError):
            refuse()


@clause("ERR-4")
def test_a_wrong_cron_expression_is_reported_in_the_form_of_the_seed() -> None:
    with pytest.raises(InvalidCronExpressionError) as raised:
        gnomon.cron("0 24 * * *", dialect="posix")

    assert str(raised.value) == (
        'Invalid cron expression "0 24 * * *": hour field must lie between 0 and 23, got 24'
    )


@clause("ERR-4")
def test_the_details_of_a_wrong_cron_expression_are_the_parts_of_its_message() -> None:
    with pytest.raises(InvalidCronExpressionError) as raised:
        gnomon.cron("0 24 * * *", dialect="posix")

    assert raised.value.details == {
        "expression": "0 24 * * *",
        "field": "hour",
        "reason": "must lie between 0 and 23, got 24",
    }


@clause("ERR-4")
def test_the_cause_of_a_wrong_cron_expression_is_the_error_of_its_field() -> None:
    with pytest.raises(InvalidCronExpressionError) as raised:
        gnomon.cron("0 3 * 1,13 *", dialect="posix")

    cause = raised.value.__cause__
    assert isinstance(cause, FieldParseError)
    assert cause.details == {"fieldValue": "1,13", "fieldName": "month"}


@clause("ERR-4")
def test_the_position_is_that_of_the_offending_element() -> None:
    with pytest.raises(InvalidCronExpressionError) as raised:
        gnomon.cron("0 3 * 1,13 *", dialect="posix")

    assert raised.value.position == "0 3 * 1,13 *".index("13")


@clause("ERR-4")
@given(text=any_texts, dialect=st.sampled_from(["standard", "posix"]))
def test_every_refused_text_is_reported_in_the_form_of_the_seed(text: str, dialect: str) -> None:
    for error in refusals(text, dialect):
        field, reason = error.details["field"], error.details["reason"]
        if text.isprintable() and len(text) <= 200:
            assert str(error) == f'Invalid cron expression "{text}": {field} field {reason}'
        assert str(error).endswith(f'": {field} field {reason}')
        assert error.hint
        assert 0 <= error.position <= len(text)


@clause("API-3")
def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("gnomon.batch", extra="fast")

    assert str(error) == (
        'gnomon.batch needs an extra; install it with: pip install "gnomon[fast]"'
    )
    assert isinstance(error, ImportError)


@clause("ERR-5")
def test_a_store_error_says_where_what_and_what_to_do() -> None:
    error = StoreError("is locked", where="a.sqlite3", hint="wait", transient=True)

    assert str(error) == "a.sqlite3: is locked; wait"
    parts = (error.where, error.reason, error.hint, error.transient)
    assert parts == ("a.sqlite3", "is locked", "wait", True)


@clause("ERR-5")
def test_an_incompatible_state_says_where_what_and_what_to_do() -> None:
    error = IncompatibleStateError("has schema 9", where="a.sqlite3")

    assert str(error) == "a.sqlite3: has schema 9"
    assert (error.where, error.reason, error.hint) == ("a.sqlite3", "has schema 9", "")


@clause("ERR-2")
@pytest.mark.parametrize("text", ["\x00 * * * *", "\ud800 * * * *", "\u2028", "x" * 9_000_000])
def test_a_cron_error_is_one_bearable_line_that_any_terminal_takes(text: str) -> None:
    with pytest.raises(InvalidCronExpressionError) as caught:
        gnomon.cron(text)

    line = str(caught.value)
    assert line.isprintable()
    assert len(line.encode()) < 1_000
    assert caught.value.details["expression"] == text


RAISED: list[GnomonError] = [
    GnomonError("something"),
    DefinitionError("is wrong", where="here", got=5, hint="write 6"),
    FieldParseError("is wrong", field_name="day", field_value="x", offset=1, hint="write 1"),
    InvalidCronExpressionError("x", field="day", reason="is wrong", position=1, hint="write 1"),
    MissingExtraError("gnomon.batch", extra="fast"),
    StoreError("is locked", where="a.sqlite3", hint="wait", transient=True),
    IncompatibleStateError("has schema 9", where="a.sqlite3"),
]


@clause("ERR-1")
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "twin_of", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_an_error_can_be_copied_and_sent_to_another_process(
    error: GnomonError, twin_of: Callable[[GnomonError], GnomonError]
) -> None:
    twin = twin_of(error)

    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)


@clause("ERR-2", "ERR-3")
def test_a_value_that_cannot_be_shown_is_still_refused() -> None:
    with pytest.raises(DefinitionError, match="got a int that cannot be shown"):
        gnomon.decide(identity="a", nominal_at=10**5000)


@clause("ERR-2")
def test_a_place_with_control_characters_is_still_one_line() -> None:
    error = DefinitionError("is wrong", where="a\nb", got=1, hint="write 2")

    assert str(error).isprintable()
