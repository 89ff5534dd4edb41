"""
What do all applications of ours have in common? The frame around their routes.

Errors are answered as problems, the OpenAPI document is completed with what no route declares by
itself, and requests are numbered. Which routes there are is the business of each application.

Spec: HTTP-1, HTTP-11, HTTP-13.
"""

from collections.abc import Callable
from itertools import count

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gnomon.ports import Clock
from gnomon.shell.http.answering import add_handlers
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.describing import (
    FieldProblemView,
    ProblemView,
    add_what_the_gate_says,
)
from gnomon.shell.http.outage import Outage
from gnomon.shell.version import installed_version

__all__ = ["complete_document", "new_app", "request_numbers"]


def new_app(
    title: str, summary: str, authenticator: Authenticator, *, metrics_open: bool
) -> FastAPI:
    """
    An application without routes, which answers every error with a problem.

    `metrics_open` says whether anybody may read its metrics.
    """
    app = FastAPI(
        title=title,
        version=installed_version() or "0",
        summary=summary,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation,
    )
    app.state.authenticator = authenticator
    app.state.metrics_open = metrics_open
    app.state.outage = Outage()
    add_handlers(app)
    return app


def complete_document(app: FastAPI, *forms: type[BaseModel]) -> None:
    """Add to the document what no route declares by itself: problems, and these forms."""
    generate = app.openapi

    def complete() -> dict[str, object]:
        document: dict[str, object] = generate()
        components = document.setdefault("components", {})
        assert isinstance(components, dict)
        _, found = models_json_schema(
            [
                (ProblemView, "serialization"),
                (FieldProblemView, "serialization"),
                *((form, "validation") for form in forms),
            ],
            ref_template="#/components/schemas/{model}",
        )
        add_what_the_gate_says(document)
        schemas = components.setdefault("schemas", {})
        schemas |= found["$defs"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = complete  # type: ignore[method-assign]


def request_numbers(clock: Clock) -> Callable[[], str]:
    """Names for requests: the instant at which the service began, and a count."""
    began, numbers = clock.now_ms(), count(1)
    return lambda: f"{began:x}-{next(numbers):x}"


def _operation(route: APIRoute) -> str:
    return route.name
