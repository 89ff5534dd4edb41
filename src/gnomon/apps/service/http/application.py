"""
The application: routes, handlers of errors, and what stands around them.

A request comes through the shield, which adds headers to every answer, and the gate, which refuses
what is too large or meant for others; then the route asks who is there. The OpenAPI document is
made here, from the routes themselves.

Spec: HTTP-1, HTTP-11, HTTP-13.
"""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import count

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.types import ASGIApp

from gnomon.apps.service.http.answering import add_handlers
from gnomon.apps.service.http.describing import FieldProblemView, ProblemView
from gnomon.apps.service.http.forms import CallbackForm
from gnomon.apps.service.http.gate import Gate
from gnomon.apps.service.http.metrics import Measured
from gnomon.apps.service.http.parts import Parts
from gnomon.apps.service.http.routes import (
    document,
    events,
    health,
    launcher,
    runs,
    schedules,
    status,
    workflows,
)
from gnomon.apps.service.http.shield import Shield

__all__ = ["create_app"]

_ROUTERS = (
    schedules.router,
    runs.router,
    workflows.router,
    launcher.router,
    events.router,
    status.router,
    health.router,
    document.router,
)


def create_app(parts: Parts) -> ASGIApp:
    """The application over these parts."""
    app = FastAPI(
        title="Gnomon",
        version=_version(),
        summary="When does it run, did it run, and why not.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation,
    )
    app.state.parts = parts
    for router in _ROUTERS:
        app.include_router(router)
    add_handlers(app)
    _complete(app)
    measured = Measured(app, metrics=parts.metrics, clock=parts.clock)
    gate = Gate(measured, hosts=parts.hosts, limits=parts.limits)
    return Shield(gate, next_id=_numbers(parts))


def _operation(route: APIRoute) -> str:
    return route.name


def _complete(app: FastAPI) -> None:
    """Add to the document what no route declares by itself."""
    generate = app.openapi

    def complete() -> dict[str, object]:
        document: dict[str, object] = generate()
        components = document.setdefault("components", {})
        assert isinstance(components, dict)
        _, found = models_json_schema(
            [
                (ProblemView, "serialization"),
                (FieldProblemView, "serialization"),
                (CallbackForm, "validation"),
            ],
            ref_template="#/components/schemas/{model}",
        )
        schemas = components.setdefault("schemas", {})
        schemas |= found["$defs"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = complete  # type: ignore[method-assign]


def _numbers(parts: Parts) -> Callable[[], str]:
    """Names for requests: the instant at which the service began, and a count."""
    began, numbers = parts.clock.now_ms(), count(1)
    return lambda: f"{began:x}-{next(numbers):x}"


def _version() -> str:
    try:
        return version("gnomon")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"
