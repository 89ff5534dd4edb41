"""
Judging: of the periods that have opened, which start, which wait, and which are over?

The policies are asked in order, each once: the pause that is over, deadline, catch-up, overlap.

Spec: ENGINE-6, POLICY-2 to POLICY-4, POLICY-6 to POLICY-9, POLICY-11 to POLICY-14.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.core.engine.due import Candidate, Due, Limits, Lineup
from gnomon.core.engine.line import fall_in, runs_all
from gnomon.core.engine.maybe_running import LostRuns, newest_in_flight, newest_last, with_unsure
from gnomon.core.engine.opening import passed_over
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, is_backfill, is_manual
from gnomon.core.policy import Turn, is_too_late, kept, turns
from gnomon.core.schedule import Overlap

__all__ = ["Starts", "by_time", "judge", "start"]


class Starts(NamedTuple):
    """Who starts."""

    facts: list[Fact]
    some_left: bool
    """Whether some could not start, but can when asked again."""
    replaced: Sequence[InFlight]
    """Runs to end before anything is started."""


def judge(due: Due, periods: list[Candidate], cursor: int, now_ms: int, limits: Limits) -> Lineup:
    """What is ready, and what waits; a period that does not count any more is over."""
    periods, facts = _without_swallowed(due, periods)
    ready, later = by_time(periods, now_ms)
    ready, too_late = _without_late(due, ready, now_ms)
    had_turn = [one for one in ready if one.queued] + [
        one for one in ready if one.launches and not one.queued
    ]
    fresh = sorted((one for one in ready if not one.queued and not one.launches), key=_by_nominal)
    fresh, passed = _without_passed(due, fresh, now_ms, limits)
    lineup = Lineup(fresh, later, [], facts + too_late + passed)
    if runs_all(due.schedule):
        lineup = fall_in(due, lineup, cursor, now_ms, limits)
    return lineup._replace(ready=had_turn + lineup.ready)


def by_time(
    candidates: Iterable[Candidate], now_ms: int
) -> tuple[list[Candidate], list[Candidate]]:
    """Those that may start now, and those whose instant is ahead."""
    ready, later = list[Candidate](), list[Candidate]()
    for one in candidates:
        (ready if one.queued or one.fire_ms <= now_ms else later).append(one)
    return ready, later


def start(due: Due, lineup: Lineup, lost: LostRuns, now_ms: int, limits: Limits) -> Starts:
    """What overlap says: who starts, who waits its turn, and who is left out."""
    policy, facts, some_left = due.schedule.policy, list[Fact](), False
    seen, starts = with_unsure(due, lineup.waiting), lost.busy
    newest_wins = policy.overlap is Overlap.REPLACE
    ready = sorted(lineup.ready, key=newest_last if newest_wins else _by_turn)
    before = _before_the_others(due, lost, now_ms) + _keeping_their_turn(due, ready, lineup.later)
    for one, turn in zip(ready, _turns(seen, ready, starts, before, limits), strict=True):
        match turn:
            case Turn.START:
                facts.append(one.claimed())
            case Turn.WAIT:
                some_left = True
                if one.is_new:
                    facts.append(one.becomes(State.PLANNED))
            case Turn.QUEUE:
                if not one.queued:
                    facts.append(one.becomes(State.QUEUED))
            case Turn.FULL if one.queued:
                pass  # what is in the queue already keeps its place
            case _:
                facts.append(one.becomes(State.DONE, Outcome.SKIPPED, _WHY[turn]))
    any_starts = lost.has_started or any(fact.state is State.CLAIMED for fact in facts)
    replaced = tuple(seen.in_flight) if newest_wins and any_starts else ()
    return Starts(facts, some_left, replaced)


def _without_swallowed(due: Due, periods: list[Candidate]) -> tuple[list[Candidate], list[Fact]]:
    """The periods that no pause has swallowed; and those that one has."""
    swallowed_ms = due.swallowed_ms
    if not swallowed_ms:
        return periods, []
    left = [one for one in periods if one.fire_ms >= swallowed_ms or one.launches]
    facts = [
        one.becomes(State.DONE, Outcome.SKIPPED, Reason.PAUSED)
        for one in periods
        if one.fire_ms < swallowed_ms and not one.launches
    ]
    return left, facts


def _without_late(
    due: Due, ready: list[Candidate], now_ms: int
) -> tuple[list[Candidate], list[Fact]]:
    """The periods that are in time, or have a place in a queue; and those that are too late."""
    left, facts = list[Candidate](), list[Fact]()
    for one in ready:
        chosen_ms = one.chosen_ms or one.fire_ms
        if one.queued or not is_too_late(chosen_ms, due.schedule.policy.deadline, now_ms=now_ms):
            left.append(one)
        else:
            reason = Reason.LAUNCH_FAILED if one.has_failed else Reason.DEADLINE
            facts.append(one.becomes(State.DONE, Outcome.MISSED, reason))
    return left, facts


def _without_passed(
    due: Due, fresh: list[Candidate], now_ms: int, limits: Limits
) -> tuple[list[Candidate], list[Fact]]:
    """The fresh periods that the catch-up policy lets run; and those that it passes over."""
    counts = kept(
        due.schedule.policy.catchup, [one.fire_ms for one in fresh],
        now_ms=now_ms, on_time_ms=limits.on_time_ms, grace_ms=limits.grace_ms,
        recent_max=limits.one_by_one_max,
    )  # fmt: skip
    over = passed_over(due.schedule)
    pairs = list(zip(fresh, counts, strict=True))
    facts = [one.becomes(State.DONE, *over) for one, counts in pairs if not counts]
    return [one for one, counts in pairs if counts], facts


def _before_the_others(due: Due, lost: LostRuns, now_ms: int) -> int:
    """How many lost runs certainly never began and have their turn again; a pause holds periods."""
    is_paused = due.is_paused(now_ms)
    return sum(is_manual(key) or not (is_paused or is_backfill(key)) for key in lost.back)


def _keeping_their_turn(due: Due, ready: list[Candidate], later: list[Candidate]) -> int:
    """
    How many hold up a queue, in which they stand first.

    These are launches that are to be tried again, and overdue periods that wait in line and are
    older than what is in the queue.
    """
    if due.schedule.policy.overlap is not Overlap.QUEUE or not ready:
        return 0
    first = min(ready, key=_by_turn)
    in_queue = not (first.launches or is_manual(first.key))
    return sum(
        1 for one in later
        if one.launches or (in_queue and one.in_line and one.nominal < first.nominal)
    )  # fmt: skip


def _turns(
    seen: Due, ready: list[Candidate], starts: int, before: int, limits: Limits
) -> list[Turn]:
    overlap = seen.schedule.policy.overlap
    if overlap is Overlap.REPLACE and ready:
        if starts:  # what is being started again can be ended only when it is there
            return [Turn.WAIT] * len(ready)
        if ready[-1].launches and ready[-1].nominal < newest_in_flight(seen):
            return [Turn.SUPERSEDED] * len(ready)
    return turns(
        overlap, len(ready), in_flight=len(seen.in_flight) + starts + before,
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
