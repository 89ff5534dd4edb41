"""What a deployment changes, the first one and the next."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.deployment import deploy
from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    Facts,
    Handler,
    Phase,
    RunStatus,
    Script,
    Standing,
    WorkflowChange,
)
from tests.apps.workflow.facts import NOW, consumer, facts, producer, run
from tests.clauses import clause

SCRIPT = Script(0, "new", "text", "deploy", 0)
OLD = replace(producer(), state='{"cursor":5}')


def deployed(
    known: Facts | None, *handlers: Handler, zone: str = "UTC", digest: str | None = "old"
) -> WorkflowChange | None:
    return deploy(
        known, Standing(name="orders", zone=zone), handlers, SCRIPT, digest=digest, now_ms=NOW
    )


@clause("FLOW-6", "FLOW-7")
def test_the_first_deployment_makes_everything_due() -> None:
    change = deployed(None, producer(next_run_ms=None), consumer(), digest=None)

    assert change is not None
    assert (change.standing.script, change.standing.created_ms) == (1, NOW)
    assert change.script == Script(1, "new", "text", "deploy", NOW)
    assert [(one.next_run_ms, one.wake_ms) for one in change.handlers] == [
        (NOW, None), (None, NOW),
    ]  # fmt: skip


@clause("FLOW-9")
def test_the_same_script_again_changes_nothing() -> None:
    assert deployed(facts(), producer(), digest="new") is None


@clause("FLOW-6", "FLOW-8")
def test_a_producer_with_the_same_schedule_keeps_its_next_run_and_its_state() -> None:
    change = deployed(facts(OLD), producer(next_run_ms=None))

    assert change is not None
    assert change.standing.script == 2
    assert [(one.next_run_ms, one.state) for one in change.handlers] == [
        (NOW + 60_000, '{"cursor":5}')
    ]


@clause("FLOW-8")
def test_a_producer_with_another_schedule_is_due_at_once() -> None:
    change = deployed(facts(OLD), producer(schedule="every 1m0s", next_run_ms=None))

    assert change is not None
    assert [(one.next_run_ms, one.state) for one in change.handlers] == [(NOW, '{"cursor":5}')]


@clause("FLOW-8")
@pytest.mark.parametrize(
    ("schedule", "next_run_ms"), [("every 5m0s", NOW + 60_000), ("cron 0 9 * * *", NOW)]
)
def test_another_zone_is_another_schedule_for_cron_only(schedule: str, next_run_ms: int) -> None:
    old = producer(schedule=schedule)

    change = deployed(facts(old), replace(old, next_run_ms=None), zone="Europe/Berlin")

    assert change is not None
    assert change.handlers[0].next_run_ms == next_run_ms


@clause("FLOW-8")
def test_a_new_handler_is_due_and_one_that_is_gone_is_forgotten() -> None:
    change = deployed(facts(OLD, consumer()), producer("fetch", next_run_ms=None), consumer())

    assert change is not None
    assert change.removed == ["poll"]
    assert change.handlers[0].next_run_ms == NOW


@clause("FLOW-11")
def test_a_consumer_prepares_at_once_after_another_deployment() -> None:
    old = replace(consumer(wake_ms=NOW + 5_000_000), state="3")

    change = deployed(facts(old), consumer())

    assert change is not None
    assert [(one.wake_ms, one.state) for one in change.handlers] == [(NOW, "3")]


@clause("FLOW-10")
@pytest.mark.parametrize("status", [RunStatus.ACTIVE, RunStatus.RECONCILIATION, RunStatus.LOGIC])
def test_a_handler_whose_run_is_not_over_cannot_be_removed(status: RunStatus) -> None:
    known = facts(OLD, consumer(), open_run=run(Phase.MUTATING, status))

    with pytest.raises(CommandRefusedError, match="must still have sheet"):
        deployed(known, producer())


@clause("FLOW-10")
def test_a_handler_whose_run_is_not_over_cannot_become_one_of_another_kind() -> None:
    known = facts(OLD, consumer(), open_run=run(Phase.MUTATING))

    with pytest.raises(CommandRefusedError, match="must still have sheet"):
        deployed(known, producer("sheet"))


@clause("FLOW-12")
def test_a_run_that_has_failed_because_of_the_script_is_tried_again_with_the_new_one() -> None:
    failed = facts(OLD, consumer(), open_run=run(Phase.PREPARING, RunStatus.LOGIC))
    waiting = facts(OLD, consumer(), open_run=run(Phase.PREPARING, RunStatus.INTERNAL))

    first, second = (deployed(known, producer(), consumer()) for known in (failed, waiting))

    assert first is not None
    assert second is not None
    assert (first.standing.retry_ms, second.standing.retry_ms) == (NOW, None)
