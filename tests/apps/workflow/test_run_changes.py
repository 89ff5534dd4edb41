"""What each step of a run writes, as a whole."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.run_changes import (
    NONE,
    SKIPPED,
    Emission,
    Preparation,
    Request,
    after,
    ask_approval,
    asked,
    begin,
    commit,
    mutated,
    prepared,
    settled_without,
)
from gnomon.ports.workflow_facts import (
    Asked,
    EventStatus,
    HandlerKind,
    Input,
    MutationStatus,
    Phase,
    Publication,
    RunStatus,
)
from tests.apps.workflow.facts import NOW, consumer, facts, mutation, producer, run
from tests.clauses import clause

FOUND = Preparation((("orders", "o1"), ("orders", "o2")), '{"data":1}', "2 orders", NOW + 60_000)


@clause("PHASE-11", "WHEN-5")
def test_a_run_begins_active_and_preparing_under_a_number_of_its_own() -> None:
    change = begin(facts(script=4), consumer(), now_ms=NOW)

    (first,) = change.runs
    assert (first.number, first.handler, first.script) == (8, "sheet", 4)
    assert (first.phase, first.status, first.retry_of) == (Phase.PREPARING, RunStatus.ACTIVE, None)
    assert (change.standing.runs, change.standing.current) == (8, 8)


@clause("PHASE-7", "WAKE-2")
def test_prepared_is_written_with_its_result_reservations_and_wish_to_wake() -> None:
    before = run()

    change = prepared(facts(open_run=before), before, FOUND, now_ms=NOW)

    assert (change.runs[0].phase, change.runs[0].prepared) == (Phase.PREPARED, '{"data":1}')
    assert change.reserve == (7, (("orders", "o1"), ("orders", "o2")))
    assert [(one.name, one.wake_ms) for one in change.handlers] == [("sheet", NOW + 60_000)]


@clause("WAKE-1", "WAKE-2")
@pytest.mark.parametrize("wake_ms", [None, NOW + 60_000])
def test_a_wish_to_wake_is_recorded_or_forgotten_also_when_nothing_is_reserved(
    wake_ms: int | None,
) -> None:
    before = run()
    known = facts(consumer(wake_ms=NOW - 5), open_run=before)

    change = prepared(known, before, Preparation((), "{}", "", wake_ms), now_ms=NOW)

    assert change.reserve is None
    assert [one.wake_ms for one in change.handlers] == [wake_ms]


@clause("FLOW-23")
def test_without_a_mutation_the_outcome_is_none() -> None:
    done = settled_without(run(Phase.PREPARED))

    assert (done.phase, done.mutated) == (Phase.MUTATED, NONE)


@clause("MUTATE-15")
def test_a_mutation_that_wants_approval_waits_at_prepared() -> None:
    before = run(Phase.PREPARED)
    wanted = asked(Request("pay", "{}", "Pay 5 EUR", False, True, "orders/7-t1"), before)

    change = ask_approval(facts(open_run=before), before, wanted, now_ms=NOW)

    (waiting,) = change.runs
    assert (waiting.phase, waiting.status) == (Phase.PREPARED, RunStatus.APPROVAL)
    assert waiting.error == "wants to: Pay 5 EUR"
    assert waiting.asked == Asked("pay", "{}", "orders/7-t1", "Pay 5 EUR", False, 1, 7)
    assert (change.mutations, change.settle) == ((), None)


@clause("PHASE-8")
def test_mutated_is_written_together_with_the_result() -> None:
    before = run(Phase.MUTATING, mutation=7)

    change = mutated(facts(open_run=before, of=mutation()), before, "[1]", now_ms=NOW)

    assert change.runs[0].phase is Phase.MUTATED
    assert change.runs[0].mutated == '{"status": "applied", "result": [1]}'
    assert change.mutations[0].status is MutationStatus.APPLIED
    assert change.mutations[0].result == "[1]"


@clause("PHASE-9", "FLOW-15", "INPUT-1")
def test_committed_is_written_with_state_publications_and_what_became_of_events() -> None:
    before = run(Phase.EMITTING)
    emission = Emission((Publication("done", "d1", "{}"),), (), '{"seen":2}', "did it")

    change = commit(facts(open_run=before, repairs=2), before, emission, now_ms=NOW)

    (done,), (handler,) = change.runs, change.handlers
    assert (done.phase, done.status, done.note) == (
        Phase.COMMITTED, RunStatus.COMMITTED, "did it",
    )  # fmt: skip
    assert handler.state == '{"seen":2}'
    assert (change.publish, change.publisher, change.inherits) == (emission.publications, 7, True)
    assert change.settle == (7, EventStatus.CONSUMED)
    assert (change.standing.current, change.standing.repairs) == (None, 0)


@clause("FLOW-15")
def test_without_a_new_state_the_old_one_stays() -> None:
    before, handler = run(Phase.EMITTING), replace(consumer(), state='{"seen":1}')

    change = commit(facts(handler, open_run=before), before, Emission(), now_ms=NOW)

    assert change.handlers[0].state == '{"seen":1}'


@clause("MUTATE-9", "PHASE-9")
def test_a_skipped_mutation_marks_its_events_as_skipped() -> None:
    before = replace(run(Phase.EMITTING), mutated=SKIPPED)

    change = commit(facts(open_run=before), before, Emission(), now_ms=NOW)

    assert change.settle == (7, EventStatus.SKIPPED)


@clause("WHEN-1", "WHEN-3", "FAIL-21")
def test_the_next_run_of_an_interval_is_counted_from_the_commit() -> None:
    before = run(handler="poll", kind=HandlerKind.PRODUCER)
    late = producer(next_run_ms=NOW - 3_600_000)
    known = facts(late, open_run=before, failures=3, retry_ms=NOW)

    change = commit(known, before, Emission(inputs=(Input(id="a"),)), now_ms=NOW + 7)

    assert change.handlers[0].next_run_ms == NOW + 7 + 300_000
    assert (change.settle, change.inherits) == (None, False)
    assert change.inputs == (Input(id="a"),)
    assert (change.standing.failures, change.standing.retry_ms) == (0, None)


@clause("WHEN-2", "WHEN-3")
def test_the_next_run_of_a_cron_expression_is_in_the_zone_of_the_workflow() -> None:
    before = run(handler="poll", kind=HandlerKind.PRODUCER)
    known = facts(producer(schedule="cron 0 9 * * *", next_run_ms=0), open_run=before)
    berlin = replace(known, standing=replace(known.standing, zone="Europe/Berlin"))

    assert commit(known, before, Emission(), now_ms=NOW).handlers[0].next_run_ms == (
        NOW + 9 * 3_600_000
    )
    assert commit(berlin, before, Emission(), now_ms=NOW).handlers[0].next_run_ms == (
        NOW + 8 * 3_600_000
    )


def test_the_facts_after_a_change_are_those_that_were_written() -> None:
    before = run()
    known = facts(open_run=before)

    change = prepared(known, before, FOUND, now_ms=NOW)
    then = after(known, change, number=5)

    assert (then.standing.version, then.standing.writes) == (4, 5)
    assert then.run == change.runs[0]
    assert then.handler("sheet").wake_ms == NOW + 60_000
    assert then.handler("poll") == known.handler("poll")
