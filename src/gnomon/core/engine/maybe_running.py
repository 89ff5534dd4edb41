"""
What may be running: runs that no worker holds, and whose end is not known.

A launch without an answer may have worked, and so may the run of a worker that was lost. Until its
end is known, or it is given up, such a run counts as in flight under every overlap policy but
`allow`, whether it waits for its instant or for the end of a pause.

- A run that a caller asked to end is never started again. The launcher, which every worker asks,
  says when it is over. The wait has an end, ten leases after the request or after the worker was
  lost: then the run is left as it is and holds up no other run any more.
- A lost run that certainly never began is planned again. For the others the schedule's rule for
  uncertain runs decides. What starts again is claimed at once, or goes back to being planned while
  the schedule is paused; the outcome `executed` is written with it, because it may have been. A run
  that has outlived too many workers may be what kills them, and is left alone; so is one that went
  on without its worker and sent no word. A deleted schedule starts nothing any more.
- Under `replace` it gives way to what is newer, and keeps its row until it has been ended. Where
  that fails, the newer one is not started, and ends it with its next try. When it is ten leases old
  and something newer has failed to start, it is left as it is.

Spec: ENGINE-6, ENGINE-8, ENGINE-10, ASK-9 to ASK-11, ASK-15, ASK-16.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from gnomon.core.engine.due import Candidate, Change, Due, Limits, Lineup
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, is_backfill, is_manual
from gnomon.core.schedule import Overlap, Uncertain

__all__ = [
    "LostRuns",
    "bury_lost",
    "give_way",
    "newest_in_flight",
    "newest_last",
    "settle_killed",
    "settle_lost",
    "waited_for",
    "with_unsure",
    "without_hopeless",
]

_MS = timedelta(milliseconds=1)


class LostRuns(NamedTuple):
    """What becomes of the lost runs of a schedule."""

    again: list[str]
    """The keys of runs that are started again."""
    back: list[str]
    """The keys of runs that go back to being planned."""
    facts: list[Fact]

    @property
    def has_started(self) -> bool:
        """Whether any of them starts again that counts for periods."""
        return not all(map(is_backfill, self.again))

    @property
    def busy(self) -> int:
        """How many of them count as in flight for periods: started again, or held by a pause."""
        held = [
            fact.key
            for fact in self.facts
            if fact.state is State.PLANNED and fact.outcome is Outcome.EXECUTED
        ]
        return sum(not is_backfill(key) for key in (*self.again, *held))


def settle_killed(due: Due, now_ms: int, limits: Limits) -> tuple[Due, list[Fact]]:
    """The schedule with what is to be ended among what is in flight; and what that comes to."""
    lost = [one for one in due.lost if one.run.kill_ms is None or one.never_started]
    if len(lost) == len(due.lost) and not waited_for(due):
        return due, []
    patience_ms = limits.starts_max * (due.schedule.policy.lease // _MS)
    runs, facts = list[InFlight](), list[Fact]()
    for run in due.in_flight:
        if run.state is not State.PLANNED or run.kill_ms is None or run.fire_ms > now_ms:
            runs.append(run)
        elif run.kill_ms + patience_ms > now_ms:
            runs.append(_due_at(run, run.kill_ms + patience_ms))
            facts.append(_fact(runs[-1], State.PLANNED))
        else:
            facts.append(_fact(run, State.DONE, Outcome.EXECUTED, Reason.UNCERTAIN))
    for run, never_started in due.lost:
        if run.kill_ms is not None and not never_started:
            # Taken from its worker, it has the next number, under which its end is told.
            runs.append(
                _due_at(run, now_ms + patience_ms)._replace(
                    state=State.PLANNED, fence=run.fence + 1, detached=True
                )
            )
            facts.append(_fact(runs[-1], State.PLANNED, Outcome.EXECUTED))
    return due._replace(in_flight=runs, lost=lost), facts


def _due_at(run: InFlight, fire_ms: int) -> InFlight:
    """The run to be looked at then, with the instant that was chosen for it."""
    return run._replace(fire_ms=fire_ms, chosen_ms=run.chosen_ms or run.fire_ms)


def waited_for(due: Due) -> list[int]:
    """Until when such runs are waited for, in milliseconds."""
    return [run.fire_ms for run in due.in_flight if run.state is State.PLANNED]


def settle_lost(due: Due, now_ms: int, limits: Limits) -> LostRuns:
    """Which lost runs are started again, which are planned again, and which are over."""
    again, back, facts = list[str](), list[str](), list[Fact]()
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
        elif due.is_paused(now_ms):
            facts.append(fact)
            back.append(run.key)
        else:
            tries = run.launches + 1
            facts.append(fact._replace(state=State.CLAIMED, launches=tries))
            again.append(run.key)
    return LostRuns(again, back, facts)


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


def with_unsure(due: Due, waiting: Iterable[Candidate]) -> Due:
    """What is in flight as far as periods are concerned: no backfills, and what may be running."""
    runs = [run for run in due.in_flight if not is_backfill(run.key)]
    if due.schedule.policy.overlap is not Overlap.ALLOW:
        runs += [_in_flight(one) for one in waiting if one.may_have_run]
    return due._replace(in_flight=runs)


def without_hopeless(due: Due, lineup: Lineup, now_ms: int, limits: Limits) -> Lineup:
    """The lineup without what no worker could end for so long that it is given up."""
    policy = due.schedule.policy
    if policy.overlap is not Overlap.REPLACE:
        return lineup
    # That something could not be ended shows in a launch that has failed and is to be tried again.
    is_single = policy.launches_max == 1
    others = [one for one in lineup.ready + lineup.waiting if not one.may_have_run]
    newest = max((one.nominal for one in others if one.launches or is_single), default=0)
    old = (now_ms - limits.starts_max * (policy.lease // _MS)) // 1000

    def is_hopeless(one: Candidate) -> bool:
        return one.may_have_run and one.nominal < min(newest, old)

    ready, later, held = (
        [one for one in some if not is_hopeless(one)]
        for some in (lineup.ready, lineup.later, lineup.held)
    )
    over = [
        one.becomes(State.DONE, Outcome.EXECUTED, Reason.UNCERTAIN)
        for one in lineup.ready + lineup.waiting
        if is_hopeless(one)
    ]
    return Lineup(ready, later, held, lineup.facts + over)


def give_way(due: Due, lineup: Lineup, lost: LostRuns, now_ms: int) -> Lineup:
    """
    The lineup in which, under `replace`, what may be running gives way to a newer one that ends it.

    It is put off for as long as a lease lasts: by then it is known what became of the newer one, or
    that one is lost.
    """
    overlap, lease = due.schedule.policy.overlap, due.schedule.policy.lease
    if overlap is not Overlap.REPLACE or not any(one.may_have_run for one in lineup.ready):
        return lineup
    seen = with_unsure(due, lineup.waiting)
    newest = max(lineup.ready, key=newest_last)
    starts = not newest.launches or newest.nominal >= newest_in_flight(seen)
    staying, put_off = list[Candidate](), list[Candidate]()
    for one in lineup.ready:
        gives_way = lost.busy or (starts and one is not newest) or _is_to_be_ended(one, seen)
        if gives_way and one.may_have_run and not one.queued:
            chosen_ms = one.chosen_ms or one.fire_ms
            put_off.append(one._replace(fire_ms=now_ms + lease // _MS, chosen_ms=chosen_ms))
        else:
            staying.append(one)
    facts = [one.becomes(State.PLANNED) for one in put_off]
    return Lineup(staying, lineup.later + put_off, lineup.held, lineup.facts + facts)


def newest_last(one: Candidate) -> tuple[bool, int]:
    """The newest period wins, and any period over what was asked for by hand."""
    return not is_manual(one.key), one.nominal


def newest_in_flight(due: Due) -> int:
    """Under `replace`, the nominal instant before which no launch is tried again; 0 for any."""
    return max((run.nominal for run in due.in_flight), default=0)


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


def _is_to_be_ended(one: Candidate, seen: Due) -> bool:
    """Whether something newer is on its way, and not known to run: that comes to end this one."""
    return any(
        run.nominal > one.nominal and run.state is not State.RUNNING for run in seen.in_flight
    )


def _in_flight(one: Candidate) -> InFlight:
    return InFlight(
        one.key, one.nominal, one.fire_ms, State.PLANNED, one.fence, one.launches, detached=True
    )


def _fact(
    run: InFlight, state: State, outcome: Outcome | None = None, reason: Reason | None = None
) -> Fact:
    return Fact(
        run.key, run.nominal, run.fire_ms, state, outcome, reason, run.launches,
        chosen_ms=run.chosen_ms,
    )  # fmt: skip
