"""
The run launcher over HTTP, and what executors call back with.

`/run-launcher/start` is seed 002's: it has a version of a DAG run at once, under a key, and
the same key again starts nothing twice. Executors report with a signature in place of a token; what
they report may come twice and in any order.

Spec: HTTP-20, HTTP-21, AUTH-16.
"""

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import Headers

from gnomon.apps.service.http.forms import StartForm
from gnomon.apps.service.http.parts import PartsOf
from gnomon.apps.service.run_requests import Started
from gnomon.ports import Clock
from gnomon.shell.executor.callback import Rejected, read_callback
from gnomon.shell.executor.signature import Keyring, objection_to_head
from gnomon.shell.http.authentication import Writer
from gnomon.shell.http.openapi import problems
from gnomon.shell.http.problem import FieldProblem, ProblemError
from gnomon.shell.http.query import check_query

__all__ = ["check_callback_head", "router"]

router = APIRouter(tags=["launcher"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a callback came to."""

    result: str
    """accepted, or known when it was heard before."""


def check_callback_head(keys: Keyring | None, clock: Clock, headers: Headers) -> None:
    """Raise a problem when no body could make this a callback of an executor of ours."""
    if keys is None:
        raise ProblemError(404, "this service has no executor that calls back")
    objection = objection_to_head(headers, keys, now_ms=clock.now_ms())
    if objection is not None:
        raise ProblemError(401, objection)


@router.post("/run-launcher/start", responses=problems())
async def start_run(form: StartForm, actor: Writer, parts: PartsOf) -> Started:
    """Have a version of a DAG run now under a key; the same key starts nothing twice."""
    return await parts.registrar.start(
        actor, form.workflow_id, form.version, form.user_id, form.scheduled_for,
        form.idempotency_key,
    )  # fmt: skip


@router.post(
    "/executor/callbacks",
    responses=problems(401, 404, 409, guarded=False),
    dependencies=[Depends(check_query)],
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
    assert parts.callback_keys is not None  # the gate has looked
    found = read_callback(request.headers, body, parts.callback_keys, now_ms=parts.clock.now_ms())
    if isinstance(found, Rejected):
        errors = [FieldProblem(found.where, found.reason, "", "")] if found.where else []
        raise ProblemError(found.status, found.reason, errors=errors)
    result = await parts.registrar.feedback(found)
    if result == "unknown":
        raise ProblemError(404, "there is no run with that key")
    if result == "stale":
        raise ProblemError(409, "the run with that key has another run_id")
    return Heard(result=result)
