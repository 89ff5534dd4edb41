"""
What may be running: which runs that wait for their next try count as in flight?

A launch without an answer may have worked, and so may the run of a worker that was lost. Until its
end is known, or it is given up, such a run counts as in flight under every overlap policy but
`allow`, whether it waits for its instant or for the end of a pause. No worker holds it, so the
worker that takes its place can end it, and has to.

Under `replace` it gives way to what is newer, and keeps its row until it has been ended: where that
fails, the newer one is not started, and ends it with its next try. That has an end: when it is ten
leases old and something newer has failed to start, it is left as it is.

Spec: ENGINE-6.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from gnomon.core.engine.judging import newest_in_flight, newest_last
from gnomon.core.engine.terms import Candidate, Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, is_backfill
from gnomon.core.schedule import Overlap

__all__ = ["give_way", "with_unsure", "without_hopeless"]

_MS = timedelta(milliseconds=1)


def with_unsure(due: Due, waiting: Iterable[Candidate]) -> Due:
    """What is in flight as far as periods are concerned: no backfills, and what may be running."""
    runs = [run for run in due.in_flight if not is_backfill(run.key)]
    if due.schedule.policy.overlap is not Overlap.ALLOW:
        runs += [_in_flight(one) for one in waiting if one.may_have_run]
    return due._replace(in_flight=runs)


def without_hopeless(
    due: Due, waiting: Sequence[list[Candidate]], facts: list[Fact], now_ms: int, limits: Limits
) -> list[list[Candidate]]:
    """These, without the runs that no worker could end in time and that are given up."""
    policy = due.schedule.policy
    if policy.overlap is not Overlap.REPLACE:
        return list(waiting)
    # That something could not be ended shows in a launch that has failed and is to be tried again.
    is_single = policy.launches_max == 1
    others = [one for some in waiting for one in some if not one.may_have_run]
    newest = max((one.nominal for one in others if one.launches or is_single), default=0)
    old = (now_ms - limits.starts_max * (policy.lease // _MS)) // 1000
    left = []
    for some in waiting:
        hopeless = [one for one in some if one.may_have_run and one.nominal < min(newest, old)]
        facts += [one.becomes(State.DONE, Outcome.EXECUTED, Reason.UNCERTAIN) for one in hopeless]
        left.append([one for one in some if one not in hopeless])
    return left


def give_way(
    seen: Due, wanting: list[Candidate], later: list[Candidate], again: int, facts: list[Fact],
    now_ms: int,
) -> list[Candidate]:  # fmt: skip
    """
    Those that want to start, without those under `replace` that a newer one comes to end.

    These are put off into `later` for as long as a lease lasts: by then it is known what became of
    the newer one, or it is lost.
    """
    overlap, lease = seen.schedule.policy.overlap, seen.schedule.policy.lease
    if overlap is not Overlap.REPLACE or not any(one.may_have_run for one in wanting):
        return wanting
    newest = max(wanting, key=newest_last)
    starts = not newest.launches or newest.nominal >= newest_in_flight(seen)
    staying = []
    for one in wanting:
        gives_way = again or (starts and one is not newest) or _is_to_be_ended(one, seen)
        if gives_way and one.may_have_run and not one.queued:
            chosen_ms = one.chosen_ms or one.fire_ms
            later.append(one._replace(fire_ms=now_ms + lease // _MS, chosen_ms=chosen_ms))
            facts.append(later[-1].becomes(State.PLANNED))
        else:
            staying.append(one)
    return staying


def _is_to_be_ended(one: Candidate, seen: Due) -> bool:
    """Whether something newer is on its way, and not known to run: that comes to end this one."""
    return any(
        run.nominal > one.nominal and run.state is not State.RUNNING for run in seen.in_flight
    )


def _in_flight(one: Candidate) -> InFlight:
    return InFlight(
        one.key, one.nominal, one.fire_ms, State.PLANNED, one.fence, one.launches, detached=True
    )
