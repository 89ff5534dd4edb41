"""
Judging: of the periods that are due, which start, which wait, and which are over?

The policies are asked in order, each once: deadline, catch-up, overlap.

Spec: ENGINE-6, POLICY-2 to POLICY-4, POLICY-6 to POLICY-9, POLICY-11 to POLICY-14.
"""

from gnomon.core.engine.line import fall_in, runs_all
from gnomon.core.engine.opening import passed_over
from gnomon.core.engine.terms import Candidate, Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, is_manual
from gnomon.core.policy.catchup import kept
from gnomon.core.policy.deadline import is_too_late
from gnomon.core.policy.overlap import Turn, turns
from gnomon.core.schedule import Overlap, Schedule

__all__ = ["judge", "keeping_their_turn", "newest_in_flight", "newest_last", "start"]


def judge(
    due: Due, ready: list[Candidate], later: list[Candidate], cursor: int, facts: list[Fact],
    now_ms: int, limits: Limits,
) -> list[Candidate]:  # fmt: skip
    """Those that want to start; the others are missed, or put off into `later`."""
    policy = due.schedule.policy
    wanting = [one for one in ready if one.queued]
    fresh = []
    for one in ready:
        if one.queued:
            continue
        if is_too_late(one.chosen_ms or one.fire_ms, policy.deadline, now_ms=now_ms):
            reason = Reason.LAUNCH_FAILED if one.has_failed else Reason.DEADLINE
            facts.append(one.becomes(State.DONE, Outcome.MISSED, reason))
        elif one.launches:
            wanting.append(one)
        else:
            fresh.append(one)
    fresh.sort(key=_by_nominal)
    verdicts = kept(
        policy.catchup, [one.fire_ms for one in fresh],
        now_ms=now_ms, on_time_ms=limits.on_time_ms, grace_ms=limits.grace_ms,
        recent_max=limits.one_by_one_max,
    )  # fmt: skip
    passed = [one for one, counts in zip(fresh, verdicts, strict=True) if not counts]
    facts += [one.becomes(State.DONE, *passed_over(due.schedule)) for one in passed]
    fresh = [one for one, counts in zip(fresh, verdicts, strict=True) if counts]
    if runs_all(due.schedule):
        fresh = fall_in(due, fresh, later, cursor, facts, now_ms, limits)
    return wanting + fresh


def keeping_their_turn(schedule: Schedule, wanting: list[Candidate], later: list[Candidate]) -> int:
    """
    How many hold up a queue, in which they stand first.

    These are launches that are to be tried again, and overdue periods that wait in line and are
    older than what is in the queue.
    """
    if schedule.policy.overlap is not Overlap.QUEUE or not wanting:
        return 0
    first = min(wanting, key=_by_turn)
    in_queue = not (first.launches or is_manual(first.key))
    return sum(
        1 for one in later
        if one.launches or (in_queue and one.in_line and one.nominal < first.nominal)
    )  # fmt: skip


def start(
    due: Due, wanting: list[Candidate], again: int, back: int, facts: list[Fact], limits: Limits
) -> tuple[int, bool]:
    """How many start; and whether a candidate could not, but can when asked again."""
    started, left = 0, False
    newest_wins = due.schedule.policy.overlap is Overlap.REPLACE
    wanting = sorted(wanting, key=newest_last if newest_wins else _by_turn)
    for one, turn in zip(wanting, _turns(due, wanting, again, back, limits), strict=True):
        match turn:
            case Turn.START:
                facts.append(one.becomes(State.CLAIMED, launches=one.launches + 1))
                started += 1
            case Turn.WAIT:
                left = True
                if one.is_new:
                    facts.append(one.becomes(State.PLANNED))
            case Turn.QUEUE:
                if not one.queued:
                    facts.append(one.becomes(State.QUEUED))
            case Turn.FULL if one.queued:
                pass  # who is in the queue already keeps the place
            case _:
                facts.append(one.becomes(State.DONE, Outcome.SKIPPED, _WHY[turn]))
    return started, left


def newest_last(one: Candidate) -> tuple[bool, int]:
    """The newest period wins, and any period over what was asked for by hand."""
    return not is_manual(one.key), one.nominal


def newest_in_flight(due: Due) -> int:
    """Under `replace`, the nominal instant before which no launch is tried again; 0 for any."""
    return max((run.nominal for run in due.in_flight), default=0)


def _turns(due: Due, wanting: list[Candidate], again: int, back: int, limits: Limits) -> list[Turn]:
    overlap = due.schedule.policy.overlap
    if overlap is Overlap.REPLACE and wanting:
        if again:  # what is being started again can be ended only when it is there
            return [Turn.WAIT] * len(wanting)
        if wanting[-1].launches and wanting[-1].nominal < newest_in_flight(due):
            return [Turn.SUPERSEDED] * len(wanting)
    return turns(
        overlap, len(wanting), in_flight=len(due.in_flight) + again + back,
        starts_max=limits.catchup_max, queue_max=limits.queue_max,
    )  # fmt: skip


def _by_nominal(one: Candidate) -> int:
    return one.nominal


def _by_turn(one: Candidate) -> tuple[bool, bool, bool, bool, int]:
    """What may be running, who had a turn, then the queue, then the others; each oldest first."""
    # In a queue, first come is first served; else a period goes before what was asked for.
    by_hand = is_manual(one.key) and not one.queued
    in_queue = one.queued or one.in_line
    return not one.may_have_run, not one.launches, not in_queue, by_hand, one.nominal


_WHY = {
    Turn.SKIP: Reason.OVERLAP,
    Turn.FULL: Reason.QUEUE_FULL,
    Turn.SUPERSEDED: Reason.SUPERSEDED,
}
