"""
How is a row of the ledger shown? Rows become views; nothing is decided, and nothing is read.

Spec: SERVICE-1.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from gnomon.apps.service.schedule_input import Target, target_of
from gnomon.apps.service.views import RunView, ScheduleView
from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import write_schedule
from gnomon.errors import DefinitionError
from gnomon.ports.ledger_rows import RunRow, ScheduleRow

__all__ = ["instant_text", "next_nominals", "run_view", "schedule_view"]

PREVIEW_MAX = 1_000


def schedule_view(row: ScheduleRow, *, now_ms: int, count: int = 5) -> ScheduleView:
    """A schedule as it is now, with this many of its next planned instants."""
    target = target_of(row.schedule)
    if target is None:
        raise DefinitionError(
            "is none of the service's", where="schedule_id", got=row.schedule.schedule_id
        )
    record = write_schedule(row.schedule)
    nominals = [format_instant(one) for one in _ahead(row, now_ms=now_ms, count=count)]
    pause = row.pause if row.pause is not None and row.pause.lasts(now_ms) else None
    return ScheduleView(
        **_target_fields(target),  # type: ignore[arg-type] # the record has just these fields
        **_record_fields(record),  # type: ignore[arg-type]
        next_run_at=nominals[0] if nominals else None,
        paused=pause is not None,
        paused_until=_maybe_text(pause.until_ms) if pause is not None else None,
        pause_reason=row.pause_reason if pause is not None else "",
        description=row.schedule.recurrence.describe(),
        skips=[format_instant(one) for one in row.skips],
        in_flight=row.in_flight,
        revision=row.revision,
        created_at=instant_text(row.created_ms),
        updated_at=instant_text(row.updated_ms),
        preview=nominals,
    )


def run_view(row: RunRow) -> RunView:
    """What became of a period, or of a run that was asked for."""
    return RunView(
        idempotency_key=row.key,
        schedule_id=row.schedule_id,
        run_at=format_instant(row.nominal),
        status=row.status,
        run_id=row.run_id,
        created_at=instant_text(row.created_ms),
        updated_at=instant_text(row.updated_ms),
        kind=row.kind,
        state=row.state,
        outcome=row.outcome,
        reason=row.reason,
        last_run_at=format_instant(row.last_nominal) if row.last_nominal else None,
        periods=row.periods,
        fire_at=instant_text(row.fire_ms),
        started_at=_maybe_text(row.started_ms),
        ended_at=_maybe_text(row.ended_ms),
        drift_ms=None if row.started_ms is None else row.started_ms - row.nominal * 1000,
        launches=row.launches,
        detail=row.detail,
        revision=row.revision,
        lease_until=_maybe_text(row.lease_ms),
        kill_asked_at=_maybe_text(row.kill_ms),
        kill_asked_by=row.kill_by,
        params=None if row.params is None else json.loads(row.params),
    )


def next_nominals(
    schedule: Schedule, *, after: int, count: int, leave_out: tuple[int, ...] = ()
) -> list[int]:
    """The next planned instants strictly after this one; fewer when the schedule ends."""
    found: list[int] = []
    while len(found) < min(count, PREVIEW_MAX):
        following = schedule.recurrence.next_epoch(after)
        if following is None:
            break
        if following not in leave_out:
            found.append(following)
        after = following
    return found


def instant_text(at_ms: int) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return f"{format_instant(at_ms // 1000)[:-1]}.{at_ms % 1000:03d}Z"


def _ahead(row: ScheduleRow, *, now_ms: int, count: int) -> list[int]:
    """The next planned instants that run as things are: none while it is paused for good."""
    after = max(row.cursor, now_ms // 1000 - 1)
    if row.pause is not None and row.pause.lasts(now_ms):
        if row.pause.until_ms is None:
            return []
        after = max(after, (row.pause.until_ms - 1) // 1000)
    return next_nominals(row.schedule, after=after, count=count, leave_out=row.skips)


def _target_fields(target: Target) -> dict[str, object]:
    return {
        "workflow_id": target.workflow_id,
        "version": target.version,
        "user_id": target.user_id,
        "trigger_id": target.trigger_id,
        "start_by": _length_text(target.start_by_ms),
        "finish_by": _length_text(target.finish_by_ms),
        "max_duration": _length_text(target.max_duration_ms),
        "params": json.loads(target.params),
    }


def _record_fields(record: Mapping[str, object]) -> dict[str, object]:
    names = (
        "schedule_id", "cron_expr", "every", "anchor", "once", "timezone", "dialect", "dst",
        "start_at", "end_at", "jitter_ms", "overlap_policy", "catchup_policy", "window",
        "distribution", "seed", "salt", "only", "avoid", "deadline", "pause_rule", "launches_max",
        "launch_backoff",
    )  # fmt: skip
    return {name: record.get(name) for name in names}


def _maybe_text(at_ms: int | None) -> str | None:
    return None if at_ms is None else instant_text(at_ms)


def _length_text(length_ms: int | None) -> str | None:
    if length_ms is None:
        return None
    return format_duration(timedelta(milliseconds=length_ms))
