"""
The run launcher over HTTP, and what executors call back with.

`/run-launcher/start` is seed 002's: it hands a workflow to the executor under a key, at once, and
the same key again starts nothing twice. Executors report with a signature in place of a token; what
they report may come twice and in any order.

Spec: HTTP-20, HTTP-21, AUTH-16.
"""

from dataclasses import dataclass
from typing import assert_never

from fastapi import APIRouter, Request

from gnomon.apps.service.executor.callback import Rejected, read_callback
from gnomon.apps.service.http.describing import problems
from gnomon.apps.service.http.forms import StartForm
from gnomon.apps.service.http.problem import FieldProblem, ProblemError
from gnomon.apps.service.http.routes.schedules import PartsOf
from gnomon.apps.service.http.security import Writer
from gnomon.apps.service.lookup import read_instant
from gnomon.ports.executor import Accepted, Meta, Refused, Unanswered

__all__ = ["router"]

router = APIRouter(tags=["launcher"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Whether the executor has taken the run on."""

    started: bool
    run_id: str | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a callback came to."""

    result: str
    """accepted, or known when it was heard before."""


@router.post("/run-launcher/start", responses=problems())
async def start_run(form: StartForm, actor: Writer, parts: PartsOf) -> Started:
    """Hand a workflow to the executor under a key; the same key starts nothing twice."""
    if not actor.may_see(form.user_id):
        error = FieldProblem("user_id", "is not the sender's", repr(form.user_id), "write your own")
        raise ProblemError(422, "user_id: is not the sender's", errors=[error])
    scheduled_for = read_instant(form.scheduled_for, "scheduled_for")
    dag = await parts.workflows.load(form.user_id, form.workflow_id, form.version)
    if dag is None:
        return Started(started=False, run_id=None, detail="there is no such workflow")
    meta = Meta(
        workflow_id=form.workflow_id,
        version=form.version,
        user_id=form.user_id,
        schedule_id="",
        scheduled_for=scheduled_for,
        idempotency_key=f"{form.user_id}:{form.idempotency_key}",
    )
    answer = await parts.executor.run(dag.text, meta)
    match answer:
        case Accepted(run_id=run_id):
            return Started(started=True, run_id=run_id, detail="")
        case Refused(message=message) | Unanswered(message=message):
            return Started(started=False, run_id=None, detail=message)
        case _:
            assert_never(answer)


@router.post(
    "/executor/callbacks",
    responses=problems(401, 404, guarded=False),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/CallbackForm"}}
            },
        }
    },
)
async def hear_executor(request: Request, parts: PartsOf) -> Heard:
    """What an executor says about a run; signed, and as often and in any order as it likes."""
    body = await request.body()
    if parts.callback_keys is None:
        raise ProblemError(404, "this service has no executor that calls back")
    found = read_callback(request.headers, body, parts.callback_keys, now_ms=parts.clock.now_ms())
    if isinstance(found, Rejected):
        errors = [FieldProblem(found.where, found.reason, "", "")] if found.where else []
        raise ProblemError(found.status, found.reason, errors=errors)
    result = await parts.registrar.feedback(found)
    if result == "unknown":
        raise ProblemError(404, "there is no run with that key")
    return Heard(result=result)
