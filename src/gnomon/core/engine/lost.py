"""
Runs whose worker is gone: which of them are started again?

One that certainly never began is planned again. For the others the schedule's rule for uncertain
runs decides. What is to be started again is claimed at once, or goes back to being planned while
the schedule is paused; the outcome `executed` is written with it, because it may have been. A run
that has outlived too many workers may be what kills them, and is left alone; so is one that went on
without its worker and sent no word. Of the runs that a caller asked to end, only those that never
began come here; the others are ended first (see `ending`).

A schedule that was deleted starts nothing any more: what of it is lost is over.

Spec: ENGINE-8, ENGINE-10, ASK-9, ASK-11.
"""

from gnomon.core.engine.terms import Change, Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, is_backfill
from gnomon.core.schedule import Overlap, Uncertain

__all__ = ["bury_lost", "settle_lost"]


def settle_lost(
    due: Due, facts: list[Fact], limits: Limits, *, paused: bool
) -> tuple[list[str], list[str]]:
    """The keys of runs that are started again, and of those that go back to being planned."""
    again, back = list[str](), list[str]()
    newest = _newest_to_run(due)
    for run, never_started in due.lost:
        fact = _fact(run, State.PLANNED)
        if never_started and run.state is State.CLAIMED:
            if run.kill_ms is not None:
                fact = fact._replace(
                    state=State.DONE, outcome=Outcome.SKIPPED, reason=Reason.KILLED
                )
            else:
                back.append(run.key)
            facts.append(fact)
            continue
        fact = fact._replace(outcome=Outcome.EXECUTED)  # it may have been
        reason = _why_not_again(due, run, newest, limits)
        if reason is not None:
            facts.append(fact._replace(state=State.DONE, reason=reason))
        elif paused:
            facts.append(fact)
            back.append(run.key)
        else:
            tries = run.launches + 1
            facts.append(fact._replace(state=State.CLAIMED, launches=tries))
            again.append(run.key)
    return again, back


def bury_lost(due: Due) -> Change:
    """What is to become of the lost runs of a schedule that was deleted."""
    facts = []
    for run, never_started in due.lost:
        fact = _fact(run, State.DONE)
        if never_started:
            facts.append(fact._replace(outcome=Outcome.SKIPPED, reason=Reason.DELETED))
        else:
            facts.append(fact._replace(outcome=Outcome.EXECUTED, reason=Reason.UNCERTAIN))
    return Change(due.schedule, due.version, due.cursor, None, None, facts, (), False, due.revision)


def _fact(run: InFlight, state: State) -> Fact:
    return Fact(
        run.key, run.nominal, run.fire_ms, state, launches=run.launches, chosen_ms=run.chosen_ms
    )


def _why_not_again(due: Due, run: InFlight, newest: int, limits: Limits) -> Reason | None:
    policy = due.schedule.policy
    if run.detached or policy.uncertain is Uncertain.ABANDON:
        return Reason.UNCERTAIN
    if run.nominal < newest and not is_backfill(run.key):
        return Reason.REPLACED
    starts_max = max(limits.starts_max, policy.launches_max)
    return Reason.UNCERTAIN if run.launches >= starts_max else None


def _newest_to_run(due: Due) -> int:
    """Under `replace`, the nominal instant before which nothing is started again; else 0."""
    if due.schedule.policy.overlap is not Overlap.REPLACE:
        return 0
    lost = [lost.run for lost in due.lost if not lost.never_started]
    runs = [run.nominal for run in (*lost, *due.in_flight) if not is_backfill(run.key)]
    runs += [one.nominal for one in due.waiting if one.may_have_run and not is_backfill(one.key)]
    return max(runs, default=0)
