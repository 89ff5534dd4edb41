"""Every state of a task meets every event, and the page shows the same table."""

from dataclasses import replace
from itertools import product

import pytest

from gnomon.apps.declarative.journal_time import JournalTime
from gnomon.apps.declarative.task import (
    STEPS,
    TaskEvent,
    TaskRecord,
    TaskState,
    crashed,
    ended_for_another,
    failed,
    follow,
    started,
    succeeded,
)
from tests.clauses import clause
from tests.tidy.states import LIVES, shown

NOW = JournalTime(wall_ms=1_800_000_000_000, through_ms=1_800_000_000_000, t_ms=5_000)
RECORD = TaskRecord(
    name="a", cron="* * * * *", retry_ms=2_000, identifier="s", settled_ms=0, nominal=60, attempts=2
)


def happened(record: TaskRecord, event: TaskEvent) -> TaskRecord:
    """The record after an event, by the function that writes it."""
    match event:
        case TaskEvent.STARTED:
            return started(record, nominal=60, now=NOW)
        case TaskEvent.SUCCEEDED:
            return succeeded(record, now=NOW)
        case TaskEvent.FAILED:
            return failed(record, now=NOW)
        case TaskEvent.INTERRUPTED:
            return crashed(record, now=NOW)
        case TaskEvent.OUTDATED:
            return ended_for_another(record)


@clause("TASK-1")
@pytest.mark.parametrize(("state", "event"), [*product(TaskState, TaskEvent)])
def test_every_pair_is_a_step_of_the_table_or_an_error(state: TaskState, event: TaskEvent) -> None:
    record = replace(RECORD, state=state)
    after = STEPS.get((state, event))
    if after is None:
        with pytest.raises(ValueError, match=f"a task that is {state} cannot be {event}"):
            happened(record, event)
        return
    found = happened(record, event)
    assert found.state is after is follow(state, event)
    assert (found.retry_t_ms is not None) == (after is TaskState.AWAITING_RETRY)


@clause("TASK-1")
def test_the_page_shows_every_step_and_no_other() -> None:
    assert shown(LIVES["task"]) == LIVES["task"].drawn()
