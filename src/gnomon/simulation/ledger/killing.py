"""
Were the runs ended that callers asked to end, and never started again? Judged from the record.

No worker claims a run any more that is to be ended. A worker that has been told of it does not
launch it. When the ledger says that a run was killed, the run is over. Where runs are known by
their keys any worker can end them, wherever they were started; elsewhere only their own worker can,
and a run that it has lost may go on for a while only beside another try of it, which was ended.
Where any worker can, a run is also over when a worker has said that it was replaced.

Spec: SIM-7.
"""

from collections.abc import Iterator, Sequence

from gnomon.simulation.ledger.case import Case
from gnomon.simulation.ledger.record import Effect, Grant, Record, Row

__all__ = ["broken_kills"]


def broken_kills(case: Case) -> Iterator[tuple[str, str]]:
    """What is to be ended is ended, and not started again."""
    record, effects, grants = case.record, case.effects, case.grants
    for text in _claimed_or_launched(record, grants):
        yield "killed", text
    for row in (*case.rows, *case.asked):
        tries = [one for one in grants if one.key == row.key]
        told: tuple[str, ...] = ()
        if (row.outcome, row.reason) == ("executed", "killed"):
            told = ("Ended",)
        elif (row.outcome, row.reason) == ("executed", "replaced") and _is_told(record, tries):
            told = ("Ended", "Failed")
        for text in _gone_on(record, row, effects, tries, told=told) if told else ():
            yield "killed", text


def _claimed_or_launched(record: Record, grants: Sequence[Grant]) -> Iterator[str]:
    """What was claimed or launched that was to be ended."""
    for grant in grants:
        asked_no = record.killed.get(grant.key)
        if asked_no is not None and asked_no < grant.no and not grant.is_adopted:
            yield f"{grant.nominal} was claimed by {grant.worker} when it was to be ended"
        place = grant.worker, grant.key, grant.fence
        told_no, launched_no = record.told.get(place), record.launched.get(place)
        if told_no is not None and launched_no is not None and told_no < launched_no:
            yield f"{grant.nominal} was launched by {grant.worker}, who knew it was to be ended"


def _is_told(record: Record, tries: Sequence[Grant]) -> bool:
    """Whether a worker that could end it has said what became of a run; else it was lost."""
    last = max(tries, key=lambda one: one.fence, default=None)
    return record.anybody_ends and last is not None and (last.is_closed or last.is_given_back)


def _gone_on(
    record: Record, row: Row, effects: Sequence[Effect], tries: Sequence[Grant], *,
    told: tuple[str, ...],
) -> Iterator[str]:  # fmt: skip
    """Runs that were not over when the ledger was told so."""
    ends = [seen for seen in record.reports if seen.key == row.key and seen.kind in told]
    ended_no = max((seen.no for seen in ends if seen.accepted), default=0)
    for effect in effects:
        if effect.key != row.key:
            continue
        if effect.ended_no is not None and effect.ended_no < ended_no:
            continue
        lost_no = next((one.lost_no for one in tries if one.fence == effect.fence), None)
        if lost_no is None or _could_be_ended(record, effect, lost_no, tries, effects, ended_no):
            text = f"{row.nominal} is executed({row.reason})"
            yield f"{text}, and its run of {effect.began_at} went on"
        else:
            record.hit(f"{row.reason}, and went on under a worker who had lost it")


def _could_be_ended(
    record: Record, effect: Effect, lost_no: int, tries: Sequence[Grant],
    effects: Sequence[Effect], ended_no: int,
) -> bool:  # fmt: skip
    """Whether a run that its worker has lost could be ended by the worker that told of its end."""
    if record.anybody_ends:
        return effect.no < lost_no  # not one that began after it was lost
    # A worker that ends an earlier try of its own cannot know of a later one elsewhere.
    earlier = any(
        one.key == effect.key and one.fence < effect.fence
        and one.ended_no is not None and one.ended_no < ended_no
        for one in effects
    )  # fmt: skip
    return not earlier and all(one.fence <= effect.fence for one in tries)
