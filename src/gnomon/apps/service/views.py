"""
What does the service say? Its answers as plain values: texts, numbers, lists.

The same values are given to code and, as JSON, over HTTP. Instants are RFC 3339 in UTC: planned
instants in whole seconds, because that is their identity, others with milliseconds. The fields of
seed 002's two tables have its names; what goes beyond it stands after them.

Spec: SERVICE-1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

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
]

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
