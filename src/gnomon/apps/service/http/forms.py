"""
What may a request hold? The forms of all bodies, as the OpenAPI document shows them.

A form says which fields there are and of what kind; what they mean, and whether they can be meant,
is the service's to say. Nothing is converted: a number in quotes is a text, and a field that is not
known is refused, because it is mostly one that was misspelt.

Spec: HTTP-2, HTTP-15.
"""

from typing import Annotated, Literal

from pydantic import Field

from gnomon.shell.http.openapi import Form

__all__ = [
    "BackfillForm", "BulkPauseForm", "CallbackForm", "DagForm", "KillForm", "PauseForm",
    "PreviewForm", "ScheduleForm", "StartForm", "TriggerForm",
]  # fmt: skip

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$", examples=["nightly"])]
Text = Annotated[str, Field(max_length=1024)]
Length = Annotated[
    str, Field(max_length=1024, description="A length of time such as 90s or 1h30m.")
]
Instant = Annotated[
    str,
    Field(max_length=64, description="RFC 3339, e.g. 2027-01-01T00:00:00Z."),
]
Version = Annotated[int, Field(ge=1, le=2**31 - 1, examples=[1])]
Params = Annotated[
    dict[str, object],
    Field(description="What runs are given.", examples=[{"region": "north", "days": 7}]),
]
Overlap = Literal["allow", "skip", "queue", "replace"]
Catchup = Literal["none", "latest", "fire_immediately", "spread"]
Dialect = Annotated[str, Field(max_length=1024, examples=["standard", "posix"])]
Dst = Literal["strict", "vixie", "civil"]


class PreviewForm(Form):
    """When something recurs; exactly one of `cron_expr`, `every` and `once`."""

    cron_expr: Annotated[Text | None, Field(examples=["*/5 * * * *"])] = None
    timezone: Annotated[Text, Field(examples=["Europe/Berlin"])] = "UTC"
    every: Length | None = None
    anchor: Instant | None = None
    once: Instant | None = None
    dialect: Dialect | None = None
    dst: Dst | None = None
    start_at: Instant | None = None
    end_at: Instant | None = None
    after: Instant | None = None
    count: Annotated[int, Field(ge=1, le=1000)] = 10


class ScheduleForm(Form):
    """A schedule, as the compiler of a DAG registers it."""

    workflow_id: Id
    version: Version
    user_id: Id
    cron_expr: Annotated[Text | None, Field(examples=["0 3 * * *"])] = None
    timezone: Annotated[Text, Field(examples=["UTC"])] = "UTC"
    schedule_id: Id | None = None
    trigger_id: Id = "main"
    start_at: Instant | None = None
    end_at: Instant | None = None
    jitter_ms: Annotated[int | None, Field(ge=0, le=86_400_000)] = None
    overlap_policy: Overlap | None = None
    catchup_policy: Catchup | None = None
    every: Length | None = None
    anchor: Instant | None = None
    once: Instant | None = None
    dialect: Dialect | None = None
    dst: Dst | None = None
    window: Annotated[Text | None, Field(examples=["after,1h"])] = None
    distribution: Text | None = None
    seed: Text | None = None
    salt: Text | None = None
    only: Annotated[Text | None, Field(examples=["dow=mon-fri"])] = None
    avoid: Text | None = None
    deadline: Length | None = None
    pause_rule: Literal["skip", "hold"] | None = None
    launches_max: Annotated[int | None, Field(ge=1, le=100)] = None
    launch_backoff: Length | None = None
    start_by: Length | None = None
    finish_by: Length | None = None
    max_duration: Length | None = None
    params: Params | None = None


class PauseForm(Form):
    """Pause or resume one schedule."""

    schedule_id: Id
    paused: bool
    until: Instant | None = None
    reason: Text = ""


class BulkPauseForm(Form):
    """Pause or resume every schedule that a filter finds; a dry run only says which."""

    paused: bool
    user_id: Id | None = None
    workflow_id: Id | None = None
    only_paused: bool | None = None
    text: Annotated[Text | None, Field(description="What the id contains.")] = None
    until: Instant | None = None
    reason: Text = ""
    dry_run: bool = True


class TriggerForm(Form):
    """A run beside the schedule."""

    reason: Text = ""
    params: Params | None = None


class BackfillForm(Form):
    """Runs for the periods of a time that is over; a dry run only counts them."""

    start: Instant
    end: Instant
    name: Id | None = None
    dry_run: bool = True


class KillForm(Form):
    """End a run."""

    reason: Text = ""


class StartForm(Form):
    """What the worker says to the run launcher."""

    workflow_id: Id
    version: Version
    user_id: Id
    scheduled_for: Instant
    idempotency_key: Annotated[str, Field(min_length=1, max_length=500)]


class CallbackForm(Form):
    """What an executor says about a run."""

    idempotency_key: Annotated[str, Field(min_length=1, max_length=500)]
    status: Literal["STARTED", "SUCCESS", "FAILED"]
    run_id: Annotated[str | None, Field(max_length=200)] = None
    detail: Annotated[str | None, Field(max_length=65_536)] = None
    at: Instant | None = None


class DagForm(Form):
    """A DAG: nodes, the edges between them, and what starts it."""

    workflow_id: Id
    version: Version
    nodes: Annotated[list[dict[str, object]], Field(min_length=1, max_length=1000)]
    edges: Annotated[list[dict[str, object]], Field(max_length=10_000)] = []
    triggers: Annotated[list[dict[str, object]], Field(max_length=100)] = []
    name: Text | None = None
    description: Text | None = None
