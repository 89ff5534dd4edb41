"""
Warnings about an upsert: what its author can mean, and yet probably does not want.

A schedule that can never run is refused when it is new: an instant was mistyped. Everything else is
registered as it was asked for, and the answer says what will come of it.

Spec: SERVICE-7, SERVICE-8.
"""

from difflib import get_close_matches

from gnomon.apps.service.schedule_input import target_of
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Catchup, Overlap, Schedule
from gnomon.core.schedule_record import write_schedule
from gnomon.errors import DefinitionError
from gnomon.ports.dag import DagStore

__all__ = ["check_ahead", "upsert_warnings"]

_NAMES_MAX = 1_000
_LOSES = (
    "of missed periods, those that find a run in flight are skipped, because overlap_policy is "
    "skip; write overlap_policy queue to have them run one after the other"
)
_OVER = "no period lies ahead, so it does not run again"


async def upsert_warnings(
    schedule: Schedule, dags: DagStore, *, is_there: bool, now_ms: int
) -> list[str]:
    """What its author should know, one sentence each; `is_there` saves asking for its DAG."""
    found = [] if is_there else await _missing(schedule, dags)
    policy = schedule.policy
    if policy.overlap is Overlap.SKIP and policy.catchup is Catchup.FIRE_IMMEDIATELY:
        found.append(_LOSES)
    if not _has_ahead(schedule, now_ms=now_ms):
        found.append(_OVER)
    return found


def check_ahead(schedule: Schedule, *, now_ms: int) -> None:
    """Refuse what can never run; the error names what has passed."""
    if _has_ahead(schedule, now_ms=now_ms):
        return
    record = write_schedule(schedule)
    where = next(name for name in ("once", "end_at", "cron_expr") if record.get(name) is not None)
    raise DefinitionError(
        "has passed, so that the schedule would never run", where=where, got=record[where],
        hint=f"write an instant after {format_instant(now_ms // 1000)}",
    )  # fmt: skip


def _has_ahead(schedule: Schedule, *, now_ms: int) -> bool:
    """Whether a period lies ahead, or is due in this very moment."""
    return schedule.recurrence.next_epoch((now_ms - 1) // 1000) is not None


async def _missing(schedule: Schedule, dags: DagStore) -> list[str]:
    target = target_of(schedule)
    assert target is not None, schedule.schedule_id
    user_id, workflow_id, version = target.user_id, target.workflow_id, target.version
    if await dags.load(user_id, workflow_id, version) is not None:
        return []
    newest = await dags.newest(user_id, workflow_id)
    if newest is not None:
        return [
            f"DAG {workflow_id} has no version {version}, so its runs fail until that is "
            f"deployed; the newest version is {newest.version}"
        ]
    known = await dags.newest_of_each(user_id=user_id, limit=_NAMES_MAX)
    close = get_close_matches(workflow_id, [one.workflow_id for one in known], n=1)
    meant = f"; did you mean {close[0]}?" if close else ""
    return [f"{user_id} has no DAG {workflow_id}, so its runs fail until one is deployed{meant}"]
