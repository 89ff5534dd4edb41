"""
Runs: what became of the periods of a schedule and why, and new runs beside them.

Triggering takes an `Idempotency-Key`: the same key again starts nothing and answers the same run.

Spec: HTTP-19 to HTTP-21, HTTP-40.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import PlainTextResponse

from gnomon.apps.service.http.forms import BackfillForm, Id, KillForm, TriggerForm
from gnomon.apps.service.http.parts import PartsOf
from gnomon.apps.service.http.schedules import Cursor, IdPath, Limit
from gnomon.apps.service.run_search import RunFilter
from gnomon.apps.service.views import (
    AuditEntry,
    Backfilled,
    Explanation,
    Page,
    RevisionView,
    RunView,
    instant_text,
)
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.errors import NotFoundError
from gnomon.ports.dag import NodeRow
from gnomon.shell.http.authentication import Reader, Writer
from gnomon.shell.http.openapi import problems

__all__ = ["router"]

router = APIRouter(tags=["runs"])

KeyPath = Annotated[
    str, Path(min_length=1, max_length=500, description="The idempotency key of a run.")
]
Ago = Annotated[
    str | None,
    Query(max_length=64, description="RFC 3339, or how long ago, e.g. 1h; of when runs ended."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node of a run; one that has not begun is not there."""

    node_id: str
    state: str
    """running, success, failed or skipped."""
    attempt: int
    detail: str
    started_at: str | None
    ended_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The period that will not run."""

    schedule_id: str
    run_at: str


@router.get("/schedules/{schedule_id}/runs", responses=problems(404))
async def list_runs(
    schedule_id: IdPath, actor: Reader, parts: PartsOf, after: Cursor = None, limit: Limit = 100
) -> Page[RunView]:
    """What became of the periods, newest first."""
    return await parts.registrar.runs(actor, schedule_id, after=after, limit=limit)


@router.get("/schedules/{schedule_id}/explain", responses=problems(404))
async def explain_run(
    schedule_id: IdPath,
    actor: Reader,
    parts: PartsOf,
    run_at: Annotated[str, Query(max_length=64, description="A planned instant, RFC 3339.")],
) -> Explanation:
    """Why a period ran, or why it did not."""
    return await parts.registrar.explain(actor, schedule_id, run_at)


@router.get("/schedules/{schedule_id}/revisions", responses=problems(404))
async def list_revisions(schedule_id: IdPath, actor: Reader, parts: PartsOf) -> list[RevisionView]:
    """Every definition that a schedule has had, newest first."""
    return await parts.registrar.revisions(actor, schedule_id)


@router.post("/schedules/{schedule_id}/trigger", status_code=202, responses=problems(404, 409))
async def trigger_run(
    schedule_id: IdPath,
    actor: Writer,
    parts: PartsOf,
    form: TriggerForm | None = None,
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._-]+$")
    ] = None,
) -> RunView:
    """Run the DAG now, beside its periods."""
    asked = TriggerForm() if form is None else form
    return await parts.registrar.trigger(
        actor, schedule_id, token=idempotency_key, reason=asked.reason, params=asked.params
    )


@router.post("/schedules/{schedule_id}/skip-next", responses=problems(404, 409))
async def skip_next(schedule_id: IdPath, actor: Writer, parts: PartsOf) -> Skipped:
    """Skip the next period."""
    run_at = await parts.registrar.skip_next(actor, schedule_id)
    return Skipped(schedule_id=schedule_id, run_at=run_at)


@router.post("/schedules/{schedule_id}/backfill", responses=problems(404, 409))
async def backfill_runs(
    schedule_id: IdPath, form: BackfillForm, actor: Writer, parts: PartsOf
) -> Backfilled:
    """Run the periods of a time that is over; a dry run only counts them."""
    return await parts.registrar.backfill(
        actor, schedule_id, start=form.start, end=form.end, name=form.name, dry_run=form.dry_run
    )


@router.get("/runs", responses=problems())
async def find_runs(
    actor: Reader,
    parts: PartsOf,
    user_id: Annotated[Id | None, Query()] = None,
    workflow_id: Annotated[Id | None, Query()] = None,
    state: Annotated[State | None, Query()] = None,
    status: Annotated[Status | None, Query()] = None,
    outcome: Annotated[Outcome | None, Query()] = None,
    reason: Annotated[Reason | None, Query()] = None,
    since: Ago = None,
    until: Ago = None,
    after: Cursor = None,
    limit: Limit = 100,
) -> Page[RunView]:
    """Runs of all schedules: open ones, and those that ended in the last day or since `since`."""
    wanted = RunFilter(
        user_id=user_id, workflow_id=workflow_id, state=state, status=status, outcome=outcome,
        reason=reason, since=since, until=until,
    )  # fmt: skip
    return await parts.registrar.find_runs(actor, wanted, after=after, limit=limit)


@router.get("/runs/{key}", responses=problems(404))
async def get_run(key: KeyPath, actor: Reader, parts: PartsOf) -> RunView:
    """One run."""
    return await parts.registrar.run(actor, key)


@router.post("/runs/{key}/kill", status_code=202, responses=problems(404, 409))
async def kill_run(
    key: KeyPath, actor: Writer, parts: PartsOf, form: KillForm | None = None
) -> RunView:
    """End a run that is in flight."""
    reason = form.reason if form is not None else ""
    return await parts.registrar.kill_run(actor, key, reason=reason)


@router.get("/runs/{key}/nodes", responses=problems(404))
async def list_nodes(key: KeyPath, actor: Reader, parts: PartsOf) -> list[NodeView]:
    """How far the nodes of a run have come, where the embedded executor carries it out."""
    await parts.registrar.run(actor, key)
    found = await parts.dag_runs.get(key)
    return [] if found is None else [node_view(one) for one in found.nodes]


@router.get(
    "/runs/{key}/nodes/{node_id}/log",
    response_class=PlainTextResponse,
    responses=problems(404),
)
async def read_log(
    key: KeyPath, node_id: Annotated[Id, Path()], actor: Reader, parts: PartsOf
) -> PlainTextResponse:
    """What a node has printed; the middle is left out when it is long."""
    await parts.registrar.run(actor, key)
    found = await parts.dag_runs.log(key, node_id)
    if found is None:
        raise NotFoundError(where="node_id", got=node_id)
    return PlainTextResponse(found)


@router.get("/audit", responses=problems())
async def audit_log(
    actor: Reader,
    parts: PartsOf,
    schedule_id: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[int | None, Query(ge=0, le=2**53, description="`next`.")] = None,
    limit: Limit = 100,
) -> Page[AuditEntry]:
    """Who changed what, newest first."""
    return await parts.registrar.audit_log(
        actor, schedule_id=schedule_id, before=after, limit=limit
    )


def node_view(row: NodeRow) -> NodeView:
    return NodeView(
        node_id=row.node_id,
        state=row.state,
        attempt=row.attempt,
        detail=row.detail,
        started_at=None if row.started_ms is None else instant_text(row.started_ms),
        ended_at=None if row.ended_ms is None else instant_text(row.ended_ms),
    )
