"""
The application: its routes, and what stands around them.

A request comes through the shield, which adds headers to every answer, and the gate, which refuses
what is too large or meant for others; then the route asks who is there.

Spec: HTTP-1, HTTP-11, HTTP-13.
"""

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from gnomon.apps.service.http import dags, events, launcher, runs, schedules, status
from gnomon.apps.service.http.forms import CallbackForm
from gnomon.apps.service.http.launcher import check_callback_head
from gnomon.apps.service.http.parts import ServiceParts
from gnomon.shell.http.app import Measured, health_router, new_app, request_numbers
from gnomon.shell.http.authentication import Reader
from gnomon.shell.http.headers import Shield
from gnomon.shell.http.limits import Gate
from gnomon.shell.http.openapi import complete_document, problems

__all__ = ["create_app"]

document = APIRouter(tags=["document"])


@document.get("/openapi.json", responses=problems(), response_class=JSONResponse)
async def openapi_document(request: Request, actor: Reader) -> dict[str, object]:
    """This document."""
    found: dict[str, object] = request.app.openapi()
    return found


_ROUTERS = (
    schedules.router,
    runs.router,
    dags.router,
    launcher.router,
    events.router,
    status.router,
    document,
)


def create_app(parts: ServiceParts) -> ASGIApp:
    """The application over these parts."""
    app = new_app(
        "Gnomon", "When does it run, did it run, and why not.", parts.authenticator,
        metrics_open=parts.metrics_open,
    )  # fmt: skip
    app.state.parts = parts
    for router in _ROUTERS:
        app.include_router(router)
    app.include_router(health_router(parts.check_store))
    complete_document(app, CallbackForm)
    measured = Measured(app, counts=parts.answers, clock=parts.clock)
    gate = Gate(
        measured, hosts=parts.hosts, limits=parts.limits, authenticator=parts.authenticator,
        check_callback=partial(check_callback_head, parts.callback_keys, parts.clock),
    )  # fmt: skip
    return Shield(gate, next_id=request_numbers(parts.clock))
