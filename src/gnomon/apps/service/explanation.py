"""
Why a period ran or did not: the facts of the ledger about one instant, as sentences.

Every instant has an answer: a period with its row, one that lies in the range of an outage or a
pause, one that is still ahead, one from before the schedule was there, or no period at all. The
sentences say what the policy was and what to change; nothing is decided here, and nothing is read.

Spec: SERVICE-40.
"""

from typing import assert_never

from gnomon.apps.service.views import Explanation, instant_text, run_view
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports.ledger_rows import RunRow, ScheduleRow

__all__ = ["explain"]

_SKIPPED = {
    Reason.OVERLAP: "another run was in flight, and the overlap policy is {overlap}; "
    "to run beside it choose allow, to wait for it queue, to take its place replace",
    Reason.QUEUE_FULL: "too many periods were waiting in the queue already",
    Reason.SUPERSEDED: "a newer period took its place, because the overlap policy is {overlap}",
    Reason.PAUSED: "the schedule was paused",
    Reason.CATCHUP_LIMIT: "it was overdue, and more recent ones came first",
    Reason.WITHDRAWN: "the schedule was changed before its time came",
    Reason.DELETED: "the schedule was deleted before its time came",
    Reason.REQUESTED: "a caller asked to leave it out",
    Reason.KILLED: "a caller asked to end it before it began",
}
_MISSED = {
    Reason.DEADLINE: "it could not begin within its deadline",
    Reason.OUTAGE: "no worker was there to start it, and the catch-up policy is {catchup}; to have "
    "missed periods run choose latest, fire_immediately or spread",
    Reason.LAUNCH_FAILED: "it could not be launched, after {tries}",
}
_EXECUTED = {
    Reason.UNCERTAIN: "its end was never reported, so how it went is not known",
    Reason.REPLACED: "it was ended so that a newer one could run",
    Reason.TIMED_OUT: "it was ended because it took too long",
    Reason.LAUNCH_FAILED: "launching it again failed",
    Reason.STOPPED: "it was ended when its worker was stopped",
    Reason.KILLED: "a caller asked to end it",
}


def explain(row: ScheduleRow, run: RunRow | None, *, nominal: int, now_ms: int) -> Explanation:
    """Why the period at this instant ran or not; `run` is its row, or the range it lies in."""
    sentences = (
        _of_run(row, run, nominal, now_ms) if run is not None else _without(row, nominal, now_ms)
    )
    return Explanation(
        schedule_id=row.schedule.schedule_id,
        run_at=format_instant(nominal),
        sentences=sentences,
        facts=_facts(row, now_ms),
        run=None if run is None else run_view(run),
    )


def _of_run(row: ScheduleRow, run: RunRow, nominal: int, now_ms: int) -> list[str]:
    found = []
    if run.last_nominal:
        first, last = format_instant(run.nominal), format_instant(run.last_nominal)
        found.append(f"It is one of {run.periods} periods from {first} to {last}, with one fate.")
    match run.state:
        case State.PLANNED if run.kill_ms is not None:
            found += _to_be_ended(run, run.kill_ms)
        case State.PLANNED:
            found.append(f"It is planned to start at {instant_text(run.fire_ms)}.")
            if run.launches:
                found.append(_tried(run))
            if run.fire_ms < now_ms:
                found.append("That is past: no worker has got to it yet; is one running?")
        case State.QUEUED:
            found.append("It waits for the run in flight to end, because the policy is queue.")
        case State.CLAIMED | State.RUNNING:
            found += _in_flight(run)
        case State.DONE:
            if run.launches > 1 and run.outcome is Outcome.EXECUTED:
                found.append(_tried_before(run))
            found.append(_ended(row, run))
        case _:
            assert_never(run.state)
    return found


def _tried(run: RunRow) -> str:
    """What is known of the tries of a run that waits for another."""
    why = f": {run.detail}" if run.detail else ""
    if run.outcome is Outcome.EXECUTED:
        return f"It was tried {_times(run)}, and may have run{why}."
    return f"It was tried {_times(run)} and did not begin{why}."


def _tried_before(run: RunRow) -> str:
    """The row keeps the number of tries, and of those before the last nothing else."""
    earlier = "the first one" if run.launches == 2 else "each one before the last"
    return (
        f"It was tried {_times(run)}: {earlier} could not be launched, or what became of it was "
        "not known."
    )


def _times(run: RunRow) -> str:
    return {1: "once", 2: "twice"}.get(run.launches, f"{run.launches} times")


def _in_flight(run: RunRow) -> list[str]:
    found = [_tried_before(run)] if run.launches > 1 else []
    if run.started_ms is not None:
        found.append(f"{_began(run, run.started_ms)} and has not ended.")
    else:
        found.append("It is being launched.")
    if run.lease_ms is not None:
        until = instant_text(run.lease_ms)
        found.append(f"It counts as in flight until {until}, if nothing more is heard of it.")
    if run.kill_ms is not None:
        found.append(_asked_to_end(run, run.kill_ms))
    return found


def _to_be_ended(run: RunRow, kill_ms: int) -> list[str]:
    return [
        _asked_to_end(run, kill_ms),
        "It may be running, and is not started again: the launcher is asked to end it.",
    ]


def _asked_to_end(run: RunRow, kill_ms: int) -> str:
    return f"{run.kill_by} asked to end it at {instant_text(kill_ms)}."


def _ended(row: ScheduleRow, run: RunRow) -> str:
    policy = row.schedule.policy
    words = {
        "overlap": policy.overlap.value,
        "catchup": policy.catchup.value,
        "tries": "1 try" if run.launches == 1 else f"{run.launches} tries",
    }
    match run.outcome:
        case Outcome.EXECUTED | None:
            return _ran(run)
        case Outcome.SKIPPED:
            because = _SKIPPED.get(run.reason, str(run.reason)) if run.reason else "of a policy"
            return f"It was skipped: {because.format(**words)}."
        case Outcome.MISSED:
            because = _MISSED.get(run.reason, str(run.reason)) if run.reason else "it was late"
            detail = f" ({run.detail})" if run.detail else ""
            return f"It was missed: {because.format(**words)}{detail}."
        case Outcome.UNSCHEDULABLE:
            return "It could not be placed: no second of its window meets the constraints."
        case _:
            assert_never(run.outcome)


def _ran(run: RunRow) -> str:
    began = ""
    if run.started_ms is not None:
        drift = run.started_ms - run.nominal * 1000
        late = f"{drift} ms after" if drift >= 0 else f"{-drift} ms before"
        began = f" {_began(run, run.started_ms)}, {late} its planned instant."
    if run.reason is not None:
        return f"It ran: {_EXECUTED.get(run.reason, run.reason)}.{began}"
    if run.status is Status.FAILED:
        return f"It ran and failed: {run.detail or 'without saying why'}.{began}"
    return f"It ran and ended well.{began}"


def _began(run: RunRow, started_ms: int) -> str:
    which = "It" if run.launches <= 1 else "The last try"
    return f"{which} began at {instant_text(started_ms)}"


def _without(row: ScheduleRow, nominal: int, now_ms: int) -> list[str]:
    recurrence, shown = row.schedule.recurrence, format_instant(nominal)
    if recurrence.latest_epoch(nominal) != nominal:
        return [f"The schedule has no period at {shown}.", *_neighbours(row, nominal)]
    if nominal in row.skips:
        return ["It lies ahead, and a caller asked to leave it out."]
    if nominal * 1000 > now_ms:
        found = ["It lies ahead; whether it runs is judged when its time comes."]
        if row.pause is not None and row.pause.lasts(nominal * 1000):
            found.append("As things are it will be skipped, because the schedule is paused then.")
        return found
    if nominal > row.cursor:
        return ["It is due, and no worker has got to it yet; is one running?"]
    if nominal * 1000 < row.created_ms:
        at = instant_text(row.created_ms)
        return [f"The schedule was registered at {at}; nothing before that is owed."]
    return ["The ledger has no row for it: what ended long ago is forgotten after a while."]


def _neighbours(row: ScheduleRow, nominal: int) -> list[str]:
    before = row.schedule.recurrence.latest_epoch(nominal)
    after = row.schedule.recurrence.next_epoch(nominal)
    found = []
    if before is not None:
        found.append(f"The one before it is at {format_instant(before)}.")
    if after is not None:
        found.append(f"The one after it is at {format_instant(after)}.")
    return found


def _facts(row: ScheduleRow, now_ms: int) -> dict[str, str | int | bool | None]:
    policy = row.schedule.policy
    paused = row.pause is not None and row.pause.lasts(now_ms)
    return {
        "overlap_policy": policy.overlap.value,
        "catchup_policy": policy.catchup.value,
        "paused": paused,
        "in_flight": row.in_flight,
        "revision": row.revision,
        "decided_through": format_instant(row.cursor),
        "description": row.schedule.recurrence.describe(),
    }
