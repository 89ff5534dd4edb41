"""
Can this be the reason, and is it true? Judged from the settings of a schedule and from the record.

A run that callers asked to end is ended, and never started again. No worker claims a run any more
that is to be ended. A worker that has been told of it does not launch it. When the ledger says that
a run was killed, the run is over. Where runs are known by their keys any worker can end them,
wherever they were started; elsewhere only their own worker can, and a run that it has lost may go
on for a while only beside another try of it, which was ended. Where any worker can, a run is also
over when a worker has said that it was replaced.

Spec: SIM-7.
"""

from collections.abc import Iterator, Sequence

from gnomon.simulation.kit.matcher import length_ms
from gnomon.simulation.ledger.case import PERIOD, Case, Text, lane, was_paused, window
from gnomon.simulation.ledger.record import Effect, Grant, Record, Row

__all__ = ["broken_kills", "broken_reasons"]

_OF_PERIODS = ("paused", "deadline", "outage", "withdrawn", "constraints", "requested")
_PATIENCE = 10  # leases that a run which is to be ended is waited for
_ALWAYS = {"overlap_policy": ("allow", "skip", "queue", "replace")}
_REASONS: dict[str, Text] = {
    "overlap": {"overlap_policy": ("skip",)},
    "queue_full": {"overlap_policy": ("queue",)},
    "superseded": {"overlap_policy": ("replace",)},
    "replaced": {"overlap_policy": ("replace",)},
    "paused": {"pause_rule": ("skip",)},
    "outage": {"catchup_policy": ("none", "latest")},
    "catchup_limit": {"catchup_policy": ("recent",)},
    "uncertain": _ALWAYS,
    "launch_failed": _ALWAYS,
    "deadline": _ALWAYS,
    "constraints": _ALWAYS,
    "withdrawn": _ALWAYS,
    "requested": _ALWAYS,
    "killed": _ALWAYS,
    "deleted": _ALWAYS,
}
"""For each reason, the settings of a schedule under which it can be given."""


def broken_reasons(case: Case) -> Iterator[tuple[str, str]]:
    """No reason is given that the schedule's settings rule out."""
    schedule = case.schedule
    for row in (*case.rows, *case.asked):
        if row.reason is None:
            continue
        if lane(row.key) != PERIOD and row.reason in _OF_PERIODS:
            yield "reason", f"{row.key} was asked for, and is {row.outcome}({row.reason})"
        if row.reason == "requested" and (row.schedule_id, row.nominal) not in case.record.left_out:
            yield "reason", f"{row.nominal} was left out, and no caller had asked for that"
        if row.reason == "killed" and row.key not in case.record.killed:
            yield "reason", f"{row.nominal} was ended, and no caller had asked for that"
        for setting, allowed in _REASONS.get(row.reason, {"schedule_id": ()}).items():
            is_turned = setting == "overlap_policy" and row.schedule_id in case.record.turned
            known = {schedule[setting], "replace" if is_turned else None}
            if known.isdisjoint(allowed if isinstance(allowed, tuple) else ()):
                yield "reason", f"{row.nominal} is {row.outcome}({row.reason})"
        if row.reason == "deadline" and schedule.get("deadline") is None:
            yield "reason", f"{row.nominal} has missed a deadline that there is not"
        if row.reason == "constraints" and schedule.get("avoid") is None:
            yield "reason", f"{row.nominal} has no constraints"
        if row.reason == "uncertain" and not _may_be_left(case, row):
            yield "reason", f"{row.nominal} was abandoned"
        if row.reason == "withdrawn" and not _may_be_withdrawn(case, row):
            yield "reason", f"{row.nominal} was withdrawn, and no caller had changed it"
        if row.reason == "deleted" and row.schedule_id not in case.record.deleted:
            yield "reason", f"{row.nominal} is of a schedule that is there"
        if row.reason == "paused" and not was_paused(case, row):
            yield "reason", f"{row.nominal} did not fall into a pause"


def _may_be_withdrawn(case: Case, row: Row) -> bool:
    """Whether its definition was changed, or its window was open when that was saved."""
    opens_ms = row.nominal * 1000 - window(case.schedule)[0]
    return row.schedule_id in case.record.edited or opens_ms < case.record.saved_ms[row.schedule_id]


def _may_be_left(case: Case, row: Row) -> bool:
    """Whether a run may be left without its end being known, and not be started again."""
    own = [grant for grant in case.grants if grant.key == row.key]
    if any(one.unanswered_no or (one.is_detached and one.lost_no) for one in own):
        return True  # no worker held it, and none knows what became of its tries
    # A schedule is waited for as its definition says at that time, which may be either.
    leases = (str(case.schedule["lease"]), *case.record.leases.get(row.schedule_id, ()))
    if (row.killed_for_ms or 0) >= _PATIENCE * min(map(length_ms, leases)):
        return True  # for so long no worker came that could have ended it
    if row.schedule_id in case.record.deleted:
        return True
    return case.schedule["uncertain"] == "abandon" or row.launches > 1 or was_paused(case, row)


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
