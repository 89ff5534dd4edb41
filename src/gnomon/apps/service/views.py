"""
What the service says: its answers as plain values, texts, numbers and lists, made from rows.

The same values are given to code and, as JSON, over HTTP. Instants are RFC 3339 in UTC: planned
instants in whole seconds, because that is their identity, others with milliseconds. The fields of
seed 002's two tables have its names; what goes beyond it stands after them. Rows of the ledger
become views at the end of this module; nothing is decided, and nothing is read.

Spec: SERVICE-1.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from gnomon.apps.service.schedule_input import Target, target_of
from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import write_schedule
from gnomon.errors import DefinitionError
from gnomon.ports.ledger_rows import RunRow, ScheduleRow

__all__ = [
    "AuditEntry",
    "Backfilled",
    "Explanation",
    "Page",
    "Plain",
    "RevisionView",
    "RunView",
    "ScheduleView",
    "UpsertDiff",
    "Upserted",
    "instant_text",
    "next_nominals",
    "run_view",
    "schedule_view",
]

PREVIEW_MAX = 1_000

Item = TypeVar("Item")
Plain = str | int | bool | None
"""What a field of a definition can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """Some of many; `next` asks for those that follow, and is None at the end."""

    items: list[Item]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upserted:
    """What registering a schedule came to."""

    schedule_id: str
    next_run_at: str | None
    revision: int
    changed: bool
    """False when an equal definition was there already."""
    warnings: list[str]
    """What its author should know of it, though it was registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertDiff:
    """What registering a schedule would come to."""

    schedule_id: str
    changed: bool
    fields: Mapping[str, list[Plain]]
    """For each field that would change: what it is, and what it would be."""
    before: list[str]
    """The next planned instants as things are."""
    after: list[str]
    """The next planned instants as they would be."""
    added: list[str]
    removed: list[str]
    warnings: list[str]
    """What its author should know of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleView:
    """A schedule, and how it is doing."""

    schedule_id: str
    workflow_id: str
    version: int
    user_id: str
    cron_expr: str | None
    timezone: str
    start_at: str | None
    end_at: str | None
    next_run_at: str | None
    """The next planned instant; None when there is none, or while it is paused for good."""
    paused: bool
    jitter_ms: int
    overlap_policy: str
    catchup_policy: str
    updated_at: str
    # Beyond the seed:
    trigger_id: str
    every: str | None
    anchor: str | None
    once: str | None
    dialect: str | None
    dst: str | None
    window: str
    distribution: str
    seed: str
    salt: str
    only: str | None
    avoid: str | None
    deadline: str | None
    pause_rule: str
    launches_max: int
    launch_backoff: str
    start_by: str | None
    finish_by: str | None
    max_duration: str | None
    params: Mapping[str, object]
    """What its runs are given."""
    description: str
    """When it recurs, as a sentence."""
    paused_until: str | None
    pause_reason: str
    skips: list[str]
    """Planned instants ahead that a caller asked to leave out."""
    in_flight: int
    revision: int
    created_at: str
    preview: list[str]
    """The next planned instants that run as things are; none while it is paused for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A period, a range of periods or a run that was asked for, and what became of it."""

    idempotency_key: str
    schedule_id: str
    run_at: str
    status: str | None
    """ENQUEUED, STARTED, SUCCESS, FAILED or SKIPPED; None until it is launched."""
    run_id: str | None
    created_at: str
    updated_at: str
    # Beyond the seed:
    kind: str
    """period, range, manual or backfill."""
    state: str
    outcome: str | None
    reason: str | None
    last_run_at: str | None
    """The last planned instant, where the row stands for a range."""
    periods: int
    fire_at: str
    """When it was to start, with jitter or the choice of the window."""
    started_at: str | None
    ended_at: str | None
    drift_ms: int | None
    """How long after its planned instant it began; before it is negative."""
    launches: int
    """How often a worker has taken it on to launch it; one that died may not have come to that."""
    detail: str | None
    revision: int
    lease_until: str | None
    """Until when it counts as in flight without a further word."""
    kill_asked_at: str | None
    kill_asked_by: str | None
    params: Mapping[str, object] | None
    """What a run by hand was given; None for what its schedule says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfilled:
    """The runs that make up for a time that is over."""

    schedule_id: str
    name: str
    count: int
    """How many periods lie in that time."""
    new: int
    """How many of them have no run of this name yet."""
    first: str | None
    last: str | None
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why something ran, or did not."""

    schedule_id: str
    run_at: str
    sentences: list[str]
    facts: Mapping[str, Plain]
    run: RunView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionView:
    """A definition that a schedule had, and from when on."""

    revision: int
    effective_at: str
    definition: Mapping[str, Plain]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who changed what."""

    number: int
    at: str
    subject: str
    user_id: str | None
    action: str
    schedule_id: str | None
    detail: Mapping[str, object] = field(default_factory=dict)


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
