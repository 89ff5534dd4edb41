"""
Can this be the reason? Judged from the settings of a schedule and from what was done to it.

Spec: SIM-7.
"""

from collections.abc import Iterator

from gnomon.simulation.kit.matcher import length_ms
from gnomon.simulation.ledger.case import PERIOD, Case, Text, lane, was_paused, window
from gnomon.simulation.ledger.record import Row

__all__ = ["broken_reasons"]

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
