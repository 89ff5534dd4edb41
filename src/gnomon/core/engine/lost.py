"""
Runs whose worker is gone: which of them are started again?

One that certainly never began is planned again. For the others the schedule's rule for uncertain
runs decides. What is to be started again is claimed at once, or goes back to being planned while
the schedule is paused; the outcome `executed` is written with it, because it may have been. A run
that has outlived too many workers may be what kills them, and is left alone.

Spec: ENGINE-8.
"""

from gnomon.core.engine.terms import Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight
from gnomon.core.schedule import Overlap, Uncertain

__all__ = ["settle_lost"]


def settle_lost(due: Due, facts: list[Fact], limits: Limits, *, paused: bool) -> tuple[int, int]:
    """How many runs are started again, and how many go back to being planned."""
    again = back = 0
    newest = _newest_to_run(due)
    for run, never_started in due.lost:
        fact = Fact(run.key, run.nominal, run.fire_ms, State.PLANNED, launches=run.launches)
        if never_started and run.state is State.CLAIMED:
            facts.append(fact)
            back += 1
            continue
        fact = fact._replace(outcome=Outcome.EXECUTED)  # it may have been
        reason = _why_not_again(due, run, newest, limits)
        if reason is not None:
            facts.append(fact._replace(state=State.DONE, reason=reason))
        elif paused:
            facts.append(fact)
            back += 1
        else:
            tries = run.launches + 1
            facts.append(fact._replace(state=State.CLAIMED, launches=tries))
            again += 1
    return again, back


def _why_not_again(due: Due, run: InFlight, newest: int, limits: Limits) -> Reason | None:
    policy = due.schedule.policy
    if policy.uncertain is Uncertain.ABANDON:
        return Reason.UNCERTAIN
    if run.nominal < newest:
        return Reason.REPLACED
    starts_max = max(limits.starts_max, policy.launches_max)
    return Reason.UNCERTAIN if run.launches >= starts_max else None


def _newest_to_run(due: Due) -> int:
    """Under `replace`, the nominal instant before which nothing is started again; else 0."""
    if due.schedule.policy.overlap is not Overlap.REPLACE:
        return 0
    lost = [lost.run.nominal for lost in due.lost if not lost.never_started]
    return max([*lost, *(run.nominal for run in due.in_flight)], default=0)
