"""Why it ran, or why not: each fate of a period has its sentence."""

import pytest

from gnomon.apps.service.explanation import explain
from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import REASONS, Outcome, Reason, State, Status
from gnomon.ports.ledger_rows import RunRow
from tests.apps.service.rows import DAY, NOON, THREE, run_row, schedule_row
from tests.clauses import clause

NOW_MS = NOON * 1000


def sentences(run: RunRow | None, nominal: int = THREE) -> str:
    return " ".join(explain(schedule_row(), run, nominal=nominal, now_ms=NOW_MS).sentences)


@clause("SERVICE-40")
@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (run_row(),
         "It ran and ended well. It began at 2026-03-01T03:00:00.012Z, 12 ms after its planned "
         "instant."),
        (run_row(started_ms=THREE * 1000 - 40),
         "It ran and ended well. It began at 2026-03-01T02:59:59.960Z, 40 ms before its planned "
         "instant."),
        (run_row(status=Status.FAILED, detail="exit 3"),
         "It ran and failed: exit 3. It began at 2026-03-01T03:00:00.012Z, 12 ms after its "
         "planned instant."),
        (run_row(reason=Reason.UNCERTAIN, started_ms=None),
         "It ran: its end was never reported, so how it went is not known."),
        (run_row(outcome=Outcome.MISSED, reason=Reason.LAUNCH_FAILED, status=Status.FAILED,
                 launches=3, detail="no such DAG"),
         "It was missed: it could not be launched, after 3 tries (no such DAG)."),
        (run_row(outcome=Outcome.MISSED, reason=Reason.LAUNCH_FAILED, status=Status.FAILED,
                 detail="no such DAG"),
         "It was missed: it could not be launched, after 1 try (no such DAG)."),
        (run_row(outcome=Outcome.UNSCHEDULABLE, reason=Reason.CONSTRAINTS, status=Status.SKIPPED),
         "It could not be placed: no second of its window meets the constraints."),
        (run_row(state=State.PLANNED, outcome=None, status=None, launches=0,
                 fire_ms=NOW_MS + 5_000),
         "It is planned to start at 2026-03-01T12:00:05.000Z."),
        (run_row(state=State.PLANNED, outcome=None, status=None, launches=0),
         "It is planned to start at 2026-03-01T03:00:00.000Z. That is past: no worker has got to "
         "it yet; is one running?"),
        (run_row(state=State.QUEUED, outcome=None, status=None),
         "It waits for the run in flight to end, because the policy is queue."),
        (run_row(state=State.RUNNING, status=Status.STARTED, lease_ms=NOW_MS + 60_000),
         "It began at 2026-03-01T03:00:00.012Z and has not ended. It counts as in flight until "
         "2026-03-01T12:01:00.000Z, if nothing more is heard of it."),
        (run_row(state=State.CLAIMED, outcome=None, status=Status.ENQUEUED, kill_ms=NOW_MS,
                 kill_by="ada", started_ms=None),
         "It is being launched. ada asked to end it at "
         "2026-03-01T12:00:00.000Z."),
        (run_row(state=State.PLANNED, outcome=Outcome.EXECUTED, status=None, kill_ms=NOW_MS,
                 kill_by="ada", started_ms=None),
         "ada asked to end it at 2026-03-01T12:00:00.000Z. It may be running, and is not started "
         "again: the launcher is asked to end it."),
    ],
)  # fmt: skip
def test_what_became_of_a_period_is_said_in_words(run: RunRow, expected: str) -> None:
    assert sentences(run) == expected


@clause("SERVICE-40")
@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (run_row(launches=2),
         "It was tried twice: the first one could not be launched, or what became of it was not "
         "known. It ran and ended well. The last try began at 2026-03-01T03:00:00.012Z, 12 ms "
         "after its planned instant."),
        (run_row(launches=3, reason=Reason.UNCERTAIN, started_ms=None),
         "It was tried 3 times: each one before the last could not be launched, or what became of "
         "it was not known. It ran: its end was never reported, so how it went is not known."),
        (run_row(state=State.RUNNING, status=Status.STARTED, launches=2),
         "It was tried twice: the first one could not be launched, or what became of it was not "
         "known. The last try began at 2026-03-01T03:00:00.012Z and has not ended."),
        (run_row(state=State.CLAIMED, status=Status.ENQUEUED, launches=2, started_ms=None),
         "It was tried twice: the first one could not be launched, or what became of it was not "
         "known. It is being launched."),
        (run_row(state=State.PLANNED, outcome=None, status=None, launches=1,
                 fire_ms=NOW_MS + 5_000, detail="no such DAG"),
         "It is planned to start at 2026-03-01T12:00:05.000Z. It was tried once and did not begin: "
         "no such DAG."),
        (run_row(state=State.PLANNED, status=None, launches=2, fire_ms=NOW_MS + 5_000),
         "It is planned to start at 2026-03-01T12:00:05.000Z. It was tried twice, and may have "
         "run."),
    ],
)  # fmt: skip
def test_a_run_that_was_tried_more_than_once_says_so(run: RunRow, expected: str) -> None:
    assert sentences(run) == expected


@clause("SERVICE-40")
def test_a_skipped_period_names_the_policy_and_what_to_change() -> None:
    run = run_row(outcome=Outcome.SKIPPED, reason=Reason.OVERLAP, status=Status.SKIPPED)

    assert sentences(run) == (
        "It was skipped: another run was in flight, and the overlap policy is skip; to run beside "
        "it choose allow, to wait for it queue, to take its place replace."
    )


@clause("SERVICE-40")
@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(outcome, one) for outcome, reasons in REASONS.items() for one in sorted(reasons, key=str)],
)
def test_every_outcome_with_every_reason_has_a_sentence(
    outcome: Outcome, reason: Reason | None
) -> None:
    found = sentences(run_row(outcome=outcome, reason=reason))

    assert found.endswith(".")
    assert "{" not in found
    assert reason is None or f": {reason}." not in found


@clause("SERVICE-40")
def test_a_range_says_how_many_periods_share_its_fate() -> None:
    run = run_row(
        outcome=Outcome.MISSED, reason=Reason.OUTAGE, status=Status.SKIPPED, periods=3,
        last_nominal=THREE + 2 * DAY,
    )  # fmt: skip

    assert sentences(run).startswith(
        "It is one of 3 periods from 2026-03-01T03:00:00Z to 2026-03-03T03:00:00Z, with one fate. "
        "It was missed: no worker was there to start it, and the catch-up policy is none;"
    )


@clause("SERVICE-40")
def test_an_instant_that_is_no_period_says_which_are_near() -> None:
    assert sentences(None, THREE + 60) == (
        "The schedule has no period at 2026-03-01T03:01:00Z. The one before it is at "
        "2026-03-01T03:00:00Z. The one after it is at 2026-03-02T03:00:00Z."
    )


@clause("SERVICE-40")
@pytest.mark.parametrize(
    ("nominal", "expected"),
    [
        (THREE + DAY, "It lies ahead; whether it runs is judged when its time comes."),
        (THREE - 30 * DAY, "The schedule was registered at 2026-02-24T03:00:00.000Z; nothing "
                           "before that is owed."),
        (THREE - DAY, "The ledger has no row for it: what ended long ago is forgotten after a "
                      "while."),
    ],
)  # fmt: skip
def test_a_period_without_a_row_has_an_answer_too(nominal: int, expected: str) -> None:
    assert sentences(None, nominal) == expected


@clause("SERVICE-40")
def test_a_period_that_is_due_and_unseen_asks_for_a_worker() -> None:
    row = schedule_row(cursor=THREE - DAY)

    found = explain(row, None, nominal=THREE, now_ms=NOW_MS)

    assert found.sentences == ["It is due, and no worker has got to it yet; is one running?"]
    assert found.facts["decided_through"] == "2026-02-28T03:00:00Z"


@clause("SERVICE-40")
def test_a_period_ahead_that_will_not_run_says_so() -> None:
    paused = explain(schedule_row(pause=Pause(None)), None, nominal=THREE + DAY, now_ms=NOW_MS)
    left_out = explain(schedule_row(skips=(THREE + DAY,)), None, nominal=THREE + DAY, now_ms=NOW_MS)

    assert "it will be skipped, because the schedule is paused" in paused.sentences[1]
    assert left_out.sentences == ["It lies ahead, and a caller asked to leave it out."]
