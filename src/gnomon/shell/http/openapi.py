"""
What does the OpenAPI document say beyond the routes? What all bodies have in common, and problems.

Every route can be asked wrongly, so every route lists the answers it gives then, all of one form.
The document is completed with what no route declares by itself.

Spec: HTTP-1, HTTP-13.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from gnomon.shell.http.problem import MEDIA_TYPE, STATUS, TITLES

__all__ = [
    "FieldProblemView",
    "Form",
    "Health",
    "ProblemView",
    "Responses",
    "complete_document",
    "problems",
]

Responses = dict[int | str, dict[str, object]]

_ALWAYS = (400, 413, 414, 421, 422, 431, 500, 503)
_GUARDED = (401, 403)
_CHANGING = (403, 408, 415)
"""What the gate says about a request that could change something, or has a body."""


class Form(BaseModel):
    """A body: strict, and without unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Health(BaseModel):
    """How a server is."""

    status: Literal["ok", "ready"]


class FieldProblemView(BaseModel):
    """What is wrong with one field of a request."""

    model_config = ConfigDict(extra="forbid")

    field: str
    reason: str
    got: str
    hint: str


class ProblemView(BaseModel):
    """A problem (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: Annotated[str, Field(pattern=r"^urn:gnomon:problem:[a-z-]+$")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    instance: str
    errors: list[FieldProblemView] | None = None


def problems(*more: int, guarded: bool = True) -> Responses:
    """The problems that a route may answer with; `more` beside those that every route has."""
    return {status: _response(status) for status in _statuses(more, guarded=guarded)}


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
        _add_what_the_gate_says(document)
        schemas = components.setdefault("schemas", {})
        schemas |= found["$defs"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = complete  # type: ignore[method-assign]


def _statuses(more: Iterable[int], *, guarded: bool) -> list[int]:
    return sorted({*_ALWAYS, *more, *(_GUARDED if guarded else ())})


def _response(status: int) -> dict[str, object]:
    schema = {"$ref": "#/components/schemas/ProblemView"}
    found: dict[str, object] = {
        "description": TITLES[STATUS[status]],
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
    if status in (429, 503):
        found["headers"] = {
            "Retry-After": {"description": "When to ask again.", "schema": {"type": "integer"}}
        }
    return found


def _add_what_the_gate_says(document: dict[str, object]) -> None:
    """State the answers that a request gets before any route sees it."""
    paths = document.get("paths")
    assert isinstance(paths, dict)
    for operations in paths.values():
        for method, operation in operations.items():
            if method not in ("get", "head"):
                for status in _CHANGING:
                    operation["responses"].setdefault(str(status), _response(status))
