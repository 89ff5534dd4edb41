"""What a workflow does next: calls, queues, priority, and one run at a time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.workflow.next_step import (
    Begin,
    Continue,
    Flags,
    Reconcile,
    Rest,
    Retry,
    choose,
    flags,
)
from gnomon.ports.workflow_facts import Facts, Mode, MutationStatus, Pending, Phase, RunStatus
from tests.apps.workflow.facts import NOW, consumer, facts, mutation, producer, run
from tests.clauses import clause


def next_of(known: Facts, now_ms: int = NOW, **seen: int) -> object:
    return choose(known, seen, now_ms=now_ms, repairs=True)


@clause("WHEN-4")
def test_a_producer_starts_when_its_time_has_come() -> None:
    known = facts(producer(next_run_ms=NOW + 60_000))

    assert next_of(known, NOW + 59_999) == Rest(NOW + 60_000)
    assert next_of(known, NOW + 60_000) == Begin("poll")


@clause("WHEN-5", "WHEN-6")
def test_a_producer_whose_time_comes_during_a_run_is_queued_and_starts_after_it() -> None:
    busy = facts(producer(next_run_ms=NOW), consumer(), open_run=run())

    assert next_of(busy) == Continue()
    assert flags(busy, {}, now_ms=NOW)["poll"] == Flags(dirty=False, queued=True)
    assert next_of(facts(producer(next_run_ms=NOW), consumer())) == Begin("poll")


@clause("WHEN-7")
def test_a_consumer_starts_for_an_event_that_it_has_not_seen() -> None:
    known = facts(consumer(), orders=(4, 9))

    assert flags(known, {"sheet": 8}, now_ms=NOW)["sheet"] == Flags(dirty=True, queued=False)
    assert next_of(known, sheet=8) == Begin("sheet")


@clause("WHEN-11")
def test_a_consumer_that_has_seen_every_pending_event_rests() -> None:
    known = facts(consumer(), orders=(4, 9))

    assert flags(known, {"sheet": 9}, now_ms=NOW)["sheet"] == Flags(dirty=False, queued=False)
    assert next_of(known, sheet=9) == Rest(None)


@clause("WHEN-7", "WAKE-6")
def test_a_consumer_starts_at_the_instant_it_has_wished_for() -> None:
    known = facts(consumer(wake_ms=NOW + 30_000), orders=(4, 9))

    assert next_of(known, NOW + 29_999, sheet=9) == Rest(NOW + 30_000)
    assert next_of(known, NOW + 30_000, sheet=9) == Begin("sheet")


@clause("WHEN-8")
def test_a_consumer_that_is_called_during_a_run_is_queued() -> None:
    busy = facts(
        producer(), consumer(), orders=(4, 9),
        open_run=run(handler="poll"),
    )  # fmt: skip

    assert next_of(busy) == Continue()
    assert flags(busy, {}, now_ms=NOW)["sheet"] == Flags(dirty=True, queued=True)


@clause("WHEN-9")
def test_consumers_go_before_producers() -> None:
    known = facts(producer(next_run_ms=0), consumer(), orders=(4, 9))

    assert next_of(known) == Begin("sheet")


@clause("WHEN-9")
def test_a_consumer_that_only_wakes_goes_before_producers_too() -> None:
    known = facts(producer(next_run_ms=0), consumer(wake_ms=NOW))

    assert next_of(known) == Begin("sheet")


@clause("WHEN-10")
def test_the_consumer_with_the_oldest_pending_event_goes_first() -> None:
    first, second = consumer("first", topic="a", place=1), consumer("second", topic="b", place=2)

    assert next_of(facts(first, second, a=(5, 5), b=(4, 9))) == Begin("second")
    assert next_of(facts(first, second, a=(3, 3), b=(4, 9))) == Begin("first")


@clause("WHEN-4")
def test_of_two_producers_that_are_due_the_one_that_waits_longer_goes_first() -> None:
    late, later = producer("late", next_run_ms=NOW - 5), producer("later", next_run_ms=NOW - 9)

    assert next_of(facts(late, later)) == Begin("later")


@clause("RECOVER-6")
def test_with_nothing_in_memory_due_producers_and_consumers_with_pending_events_are_called() -> (
    None
):
    known = facts(producer(next_run_ms=NOW - 1), consumer(), orders=(4, 9))

    assert flags(known, {}, now_ms=NOW)["sheet"].dirty
    assert next_of(known) == Begin("sheet")
    assert next_of(facts(producer(next_run_ms=NOW - 1), consumer())) == Begin("poll")


@clause("WASK-1")
@pytest.mark.parametrize("status", [None, RunStatus.ACTIVE, RunStatus.TRANSIENT])
def test_a_paused_workflow_starts_nothing(status: RunStatus | None) -> None:
    open_run = None if status is None else run(Phase.PREPARING, status)
    known = facts(
        producer(next_run_ms=0), consumer(), open_run=open_run, mode=Mode.PAUSED, retry_ms=0,
        orders=(4, 9),
    )  # fmt: skip

    assert next_of(known) == Rest(None)


@clause("FAIL-13")
@pytest.mark.parametrize(
    ("status", "retry_ms", "then"),
    [
        (RunStatus.TRANSIENT, NOW + 10_000, Rest(NOW + 10_000)),
        (RunStatus.TRANSIENT, NOW, Retry()),
        (RunStatus.TRANSIENT, None, Retry()),  # an earlier Gnomon had given up
        (RunStatus.APPROVAL, None, Rest(None)),
        (RunStatus.INTERNAL, None, Rest(None)),
        (RunStatus.INTERNAL, NOW, Retry()),
    ],
)
def test_while_a_run_waits_or_has_failed_nothing_else_runs(
    status: RunStatus, retry_ms: int | None, then: object
) -> None:
    known = facts(
        producer(next_run_ms=0), consumer(), open_run=run(Phase.PREPARING, status),
        retry_ms=retry_ms, orders=(4, 9),
    )  # fmt: skip

    assert next_of(known) == then
    assert flags(known, {}, now_ms=NOW) == {"poll": Flags(False, True), "sheet": Flags(True, True)}


@clause("FAIL-13", "MUTATE-4", "MUTATE-18")
@pytest.mark.parametrize(
    ("reconcilable", "next_ms", "then"),
    [
        (False, None, Rest(None)),
        (True, NOW + 5, Rest(NOW + 5)),
        (True, NOW, Reconcile()),
        (True, None, Reconcile()),  # an earlier Gnomon had given up
    ],
)
def test_while_a_mutation_is_uncertain_nothing_else_runs(
    reconcilable: bool, next_ms: int | None, then: object
) -> None:
    waiting = run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7)
    asked = mutation(MutationStatus.INDETERMINATE, reconcilable=reconcilable)
    asked = replace(asked, next_ms=next_ms)

    assert next_of(facts(open_run=waiting, of=asked, orders=(4, 9))) == then


@clause("WHEN-5", "WHEN-9", "WHEN-10")
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20), st.integers(-20, 20)), max_size=6),
    st.booleans(),
)
def test_whatever_is_called_at_most_one_starts_and_it_is_the_one_that_comes_first(
    handlers: list[tuple[bool, int, int]], busy: bool
) -> None:
    made = [
        consumer(f"h{place}", topic=f"t{place}", place=place) if consumes
        else producer(f"h{place}", next_run_ms=NOW + offset, place=place)
        for place, (consumes, _, offset) in enumerate(handlers)
    ]  # fmt: skip
    pending = {
        f"t{place}": (oldest, oldest + 1)
        for place, (consumes, oldest, _) in enumerate(handlers)
        if consumes and oldest
    }
    waiting = {topic: Pending(1, *numbers) for topic, numbers in pending.items()}
    known = replace(facts(*made, open_run=run() if busy else None), pending=waiting)

    found = next_of(known)

    if busy:
        assert found == Continue()
    elif pending:
        topic = min(pending, key=lambda one: (pending[one][0], int(one[1:])))
        assert found == Begin(f"h{topic[1:]}")
    elif made and any(not consumes and offset <= 0 for consumes, _, offset in handlers):
        assert isinstance(found, Begin)
    else:
        assert isinstance(found, Rest)
