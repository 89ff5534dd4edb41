"""A workflow in numbers: what is open, what waits and for how long, and how late it is."""

import pytest

from gnomon.apps.workflow.overview import Seen, Waiting, stats_of
from gnomon.ports.workflow_facts import Event, Facts, Mode, RunStatus
from tests.apps.workflow.facts import NOW, consumer, facts, producer, run
from tests.clauses import clause

MINUTE_MS = 60_000


def event(*, minutes_ago: int) -> Event:
    return Event(topic="orders", id="o1", payload="1", created_ms=NOW - minutes_ago * MINUTE_MS)


@clause("WHTTP-10")
def test_a_workflow_at_rest_has_nothing_open_and_nothing_that_waits() -> None:
    found = stats_of(facts(), {}, now_ms=NOW)

    assert (found.name, found.seen, found.open_run) == ("orders", Seen.IDLE, None)
    assert (found.runs, found.failures, found.late_ms) == (7, 0, 0)
    assert found.waiting == {"orders": Waiting(0, 0)}


@clause("WHTTP-10")
def test_the_oldest_event_says_how_long_a_topic_waits() -> None:
    found = stats_of(facts(orders=(1, 5)), {"orders": event(minutes_ago=5)}, now_ms=NOW)

    assert found.waiting == {"orders": Waiting(1, 300_000)}


@clause("WHTTP-10")
def test_an_event_of_a_clock_that_is_ahead_has_not_waited_at_all() -> None:
    found = stats_of(facts(orders=(1, 5)), {"orders": event(minutes_ago=-5)}, now_ms=NOW)

    assert found.waiting == {"orders": Waiting(1, 0)}


@clause("WHTTP-10")
def test_what_no_consumer_subscribes_to_does_not_wait() -> None:
    known = facts(producer(), consumer(topic="mail"), orders=(1, 5))

    found = stats_of(known, {"orders": event(minutes_ago=5)}, now_ms=NOW)

    assert found.waiting == {"mail": Waiting(0, 0)}


@clause("WHTTP-10")
@pytest.mark.parametrize(
    ("known", "late_ms"),
    [
        (facts(producer(next_run_ms=NOW - 90_000)), 90_000),
        (facts(producer(next_run_ms=NOW + 90_000)), 0),
        (facts(producer(next_run_ms=NOW - 90_000), mode=Mode.PAUSED), 0),
        (facts(producer(next_run_ms=NOW - 90_000), open_run=run()), 0),
        (facts(open_run=run(status=RunStatus.TRANSIENT), retry_ms=NOW - 4_000), 4_000),
    ],
)
def test_a_workflow_is_late_after_the_instant_at_which_it_looks_again(
    known: Facts, late_ms: int
) -> None:
    assert stats_of(known, {}, now_ms=NOW).late_ms == late_ms
