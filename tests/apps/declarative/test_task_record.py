"""Records: what is kept of a task, and what is said of one that was damaged."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.declarative.task import TaskRecord, TaskState, read_record, write_record
from gnomon.errors import (
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskListMismatchError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from tests.clauses import clause

GOOD: dict[str, object] = {
    "name": "backup",
    "cronExpression": "0 3 * * *",
    "retryDelayMs": 300_000,
    "schedulerIdentifier": "4f2a",
    "state": "AwaitingRetry",
    "lastAttemptAt": "2026-03-01T03:00:00.000Z",
    "lastSuccessAt": None,
    "lastFailureAt": "2026-03-01T03:00:07.250Z",
    "pendingRetryUntil": "2026-03-01T03:05:07.250Z",
    "pendingRetryT": 307_250,
    "interrupted": False,
    "settledThrough": "2026-03-01T03:00:00.000Z",
    "period": "2026-03-01T03:00:00Z",
    "attempts": 1,
}

instants = st.none() | st.integers(0, 253_402_300_799_999)


@st.composite
def records(draw: st.DrawFn) -> TaskRecord:
    state = draw(st.sampled_from(list(TaskState)))
    waits = state is TaskState.AWAITING_RETRY
    return TaskRecord(
        name=draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)),
        cron=draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
        retry_ms=draw(st.integers(0, 10**17)),
        identifier=draw(st.text("0123456789abcdef", max_size=12)),
        settled_ms=draw(st.integers(0, 253_402_300_799_999)),
        state=state,
        attempt_ms=draw(instants),
        success_ms=draw(instants),
        failure_ms=draw(instants),
        retry_until_ms=draw(st.integers(0, 253_402_300_799_999)) if waits else None,
        retry_t_ms=draw(st.integers(0, 10**15)) if waits else None,
        interrupted=waits and draw(st.booleans()),
        nominal=draw(st.none() | st.integers(0, 253_402_300_799)),
        attempts=draw(st.integers(0, 1000)),
    )


@clause("RECORD-1", "TASK-1")
def test_a_record_stands_in_the_store_under_the_names_of_the_contract() -> None:
    record = TaskRecord(
        name="backup", cron="0 3 * * *", retry_ms=300_000, identifier="4f2a",
        settled_ms=1_772_334_000_000, state=TaskState.AWAITING_RETRY,
        attempt_ms=1_772_334_000_000, failure_ms=1_772_334_007_250,
        retry_until_ms=1_772_334_307_250, retry_t_ms=307_250, nominal=1_772_334_000, attempts=1,
    )  # fmt: skip

    assert json.loads(write_record(record)) == GOOD
    assert read_record("backup", json.dumps(GOOD)) == record


@clause("RECORD-1")
@given(record=records())
def test_reading_what_was_written_gives_the_same_record(record: TaskRecord) -> None:
    assert read_record(record.name, write_record(record)) == record


@clause("RECORD-1")
def test_a_field_that_the_reader_does_not_know_is_passed_over() -> None:
    assert read_record("backup", json.dumps(GOOD | {"colour": "red"})).attempts == 1


@clause("RECORD-2", "ERR-6")
@pytest.mark.parametrize("field", GOOD)
def test_a_missing_field_is_named(field: str) -> None:
    record = {key: value for key, value in GOOD.items() if key != field}

    with pytest.raises(TaskMissingFieldError) as refusal:
        read_record("backup", json.dumps(record))

    assert str(refusal.value) == f"Missing required field: {field}"
    assert refusal.value.details == {"field": field}
    assert refusal.value.task == "backup"
    assert "'backup'" in refusal.value.__notes__[0]


@clause("RECORD-2", "ERR-6")
@pytest.mark.parametrize(
    ("field", "value", "expected", "actual"),
    [
        ("name", 7, "string", "number"),
        ("cronExpression", None, "string", "null"),
        ("retryDelayMs", "300000", "integer", "string"),
        ("retryDelayMs", 1.5, "integer", "number"),
        ("retryDelayMs", True, "integer", "boolean"),
        ("schedulerIdentifier", [], "string", "array"),
        ("state", {}, "string", "object"),
        ("lastAttemptAt", 1_772_334_000, "string", "number"),
        ("lastSuccessAt", False, "string", "boolean"),
        ("pendingRetryUntil", [], "string", "array"),
        ("pendingRetryT", "soon", "integer", "string"),
        ("interrupted", 0, "boolean", "number"),
        ("settledThrough", None, "string", "null"),
        ("period", 1, "string", "number"),
        ("attempts", None, "integer", "null"),
    ],
)
def test_a_wrong_type_is_named(field: str, value: object, expected: str, actual: str) -> None:
    with pytest.raises(TaskInvalidTypeError) as refusal:
        read_record("backup", json.dumps(GOOD | {field: value}))

    assert str(refusal.value) == (
        f"Invalid type for field '{field}': expected {expected}, got {actual}"
    )
    assert refusal.value.details == {
        "field": field, "value": value, "expectedType": expected, "actualType": actual,
    }  # fmt: skip


@clause("RECORD-2", "ERR-6")
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("retryDelayMs", -1, "must not be negative"),
        ("attempts", -3, "must not be negative"),
        ("state", "Sleeping", "must be one of AwaitingRun, Running, AwaitingRetry"),
        ("state", "awaitingRetry", "must be one of AwaitingRun, Running, AwaitingRetry"),
        ("lastAttemptAt", "yesterday", "must be an RFC 3339 instant in UTC"),
        ("lastAttemptAt", "2026-02-30T00:00:00.000Z", "must be an RFC 3339 instant in UTC"),
        ("lastAttemptAt", "1969-12-31T23:59:59.000Z", "must be an RFC 3339 instant in UTC"),
        ("lastAttemptAt", "2026-03-01T03:00:00.000+01:00", "must be an RFC 3339 instant in UTC"),
        ("settledThrough", "", "must be an RFC 3339 instant in UTC"),
        ("period", "2026-03-01T25:00:00Z", "must be an RFC 3339 instant in UTC"),
        ("pendingRetryUntil", None, "must be there in state AwaitingRetry"),
        ("pendingRetryT", None, "must be there in state AwaitingRetry"),
    ],
)
def test_an_impossible_value_is_named(field: str, value: object, reason: str) -> None:
    with pytest.raises(TaskInvalidValueError) as refusal:
        read_record("backup", json.dumps(GOOD | {field: value}))

    assert str(refusal.value) == f"Invalid value for field '{field}': {reason}"
    assert refusal.value.details == {"field": field, "value": value, "reason": reason}


@clause("RECORD-2")
def test_a_retry_that_no_state_waits_for_is_an_impossible_value() -> None:
    with pytest.raises(TaskInvalidValueError, match="must be null in state Running"):
        read_record("backup", json.dumps(GOOD | {"state": "Running"}))


@clause("RECORD-2", "ERR-6")
@pytest.mark.parametrize(
    ("text", "value"),
    [("", ""), ("{", "{"), ("[" * 100_000, None), ("null", None), ("[1]", [1]), ('"a"', "a")],
)
def test_what_is_no_record_at_all_is_said_to_be_none(text: str, value: object) -> None:
    with pytest.raises(TaskInvalidStructureError) as refusal:
        read_record("backup", text)

    assert refusal.value.details == {"value": text if value is None and text[0] == "[" else value}
    assert len(str(refusal.value)) < 200


@clause("RECORD-3", "ERR-6")
def test_a_record_under_the_name_of_another_is_a_mismatch() -> None:
    with pytest.raises(TaskListMismatchError) as refusal:
        read_record("restore", json.dumps(GOOD))

    assert refusal.value.details == {"expected": "restore", "actual": "backup"}


odd_values = st.none() | st.integers() | st.text(max_size=3) | st.booleans()
damaged = st.dictionaries(st.sampled_from(list(GOOD)), odd_values).map(
    lambda changes: json.dumps(GOOD | changes)
)


@clause("RECORD-2")
@given(text=st.text(max_size=40) | damaged)
def test_whatever_stands_there_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(TaskTryDeserializeError, TaskListMismatchError):
        assert read_record("backup", text).name == "backup"
