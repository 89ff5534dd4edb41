"""
The application: the routes of workflows, behind the shield and the gate of the service.

A workflow that is not there is 404, a command that cannot be followed as things stand is 409, and
what cannot be meant is 422 with the field.

Spec: WHTTP-11, WHTTP-4, WHTTP-10.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from fastapi import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.http import routes
from gnomon.errors import CommandRefusedError, UnknownWorkflowError
from gnomon.ports import Clock
from gnomon.shell.http.app import HttpCounts, Measured, health_router, new_app, request_numbers
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.headers import Shield
from gnomon.shell.http.limits import Gate, Limits
from gnomon.shell.http.openapi import complete_document
from gnomon.shell.http.problem import Problem, problem_response

__all__ = ["Parts", "create_app"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the application works with."""

    host: Host
    authenticator: Authenticator
    clock: Clock
    hosts: Collection[str]
    """The names under which it is asked; `*` for any."""
    limits: Limits = field(default_factory=Limits)
    metrics_open: bool = False
    """Whether callers may read the metrics without a token."""


def create_app(parts: Parts) -> ASGIApp:
    """The application over these parts."""
    summary = "Automations that act on what is new, and never twice."
    app = new_app("Gnomon workflows", summary, parts.authenticator, metrics_open=parts.metrics_open)
    answers = HttpCounts()
    app.state.host, app.state.clock, app.state.answers = parts.host, parts.clock, answers
    app.include_router(routes.queries)
    app.include_router(routes.commands)
    app.include_router(health_router(parts.host.queries.check))
    app.add_exception_handler(UnknownWorkflowError, _answer_unknown)
    app.add_exception_handler(CommandRefusedError, _answer_refused)
    complete_document(app)
    measured = Measured(app, counts=answers, clock=parts.clock)
    gate = Gate(measured, hosts=parts.hosts, limits=parts.limits, authenticator=parts.authenticator)
    return Shield(gate, next_id=request_numbers(parts.clock))


async def _answer_unknown(request: Request, error: Exception) -> Response:
    return problem_response(Problem(status=404, detail=str(error)), instance=request.url.path)


async def _answer_refused(request: Request, error: Exception) -> Response:
    return problem_response(Problem(status=409, detail=str(error)), instance=request.url.path)
