"""
How does an exception become an answer? Each kind has its status; an unexpected one has 500.

A `DefinitionError` names the field of the request, a `ConflictError` what stands in the way, and a
store that cannot be reached says when to come back. What a validator of the framework says is put
into the same words.

Spec: HTTP-1 to HTTP-4.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gnomon.core.text_hint import bare_hint, text_hint
from gnomon.errors import (
    ConflictError,
    DefinitionError,
    IncompatibleStateError,
    NotFoundError,
    StoreError,
)
from gnomon.errors.root import printable, shown
from gnomon.shell.http.problem import (
    FieldProblem,
    Problem,
    ProblemError,
    invalid,
    problem_response,
)
from gnomon.shell.http.query import parameters_of

__all__ = ["add_handlers", "internal_problem"]

RETRY_SECONDS = 2
"""When to ask again after a store could not be reached."""

_REASONS = {
    "missing": ("must be given", "write {field}"),
    "extra_forbidden": ("is not a known field", "leave it out"),
    "string_type": ("must be text", "write it in quotes"),
    "int_type": ("must be a whole number", "write digits"),
    "int_parsing": ("must be a whole number", "write digits"),
    "bool_type": ("must be true or false", "write true or false"),
    "bool_parsing": ("must be true or false", "write true or false"),
    "dict_type": ("must be an object", "write {{...}}"),
    "model_attributes_type": ("must be an object", "write {{...}}"),
    "list_type": ("must be a list", "write [...]"),
    "string_too_long": ("must have at most {max_length} characters", "shorten it"),
    "string_too_short": ("must have at least {min_length} characters", "write more"),
    "string_pattern_mismatch": (
        "must be 1 to 200 letters, digits, dots, underscores or hyphens",
        "begin with a letter or digit, e.g. billing.nightly",
    ),
    "greater_than_equal": ("must be at least {ge}", "write {ge}"),
    "less_than_equal": ("must be at most {le}", "write {le}"),
    "enum": ("must be {expected}", "write one of these"),
    "literal_error": ("must be {expected}", "write one of these"),
}
"""What a validator calls a mistake, and what is said about it."""
BODY_FIELD = 2
"""How long the place of a field is that stands in the body itself."""
_OTHER = ("is not what it must be", "see the OpenAPI document")


def add_handlers(app: FastAPI) -> None:
    """Have every exception answered with a problem."""
    app.add_exception_handler(ProblemError, _answer_problem)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(DefinitionError, _answer_definition)
    app.add_exception_handler(NotFoundError, _answer_not_found)
    app.add_exception_handler(ConflictError, _answer_conflict)
    app.add_exception_handler(StoreError, _answer_store)
    app.add_exception_handler(IncompatibleStateError, _answer_store)
    app.add_exception_handler(Exception, _answer_bug)


def internal_problem() -> Problem:
    """What is said about an error of ours."""
    return Problem(status=500, detail="this is a bug in Gnomon; the log has it under x-request-id")


async def _answer_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return problem_response(error.problem, instance=request.url.path)


async def _answer_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    known, asked = _known_fields(request), parameters_of(request)
    return _invalid(request, [_field_problem(one, known, asked) for one in error.errors()])


async def _answer_definition(request: Request, error: Exception) -> Response:
    assert isinstance(error, DefinitionError)
    return _invalid(
        request,
        [FieldProblem(printable(error.where), error.reason, shown(error.got), error.hint)],
    )


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    details = {
        404: "this service has no such path",
        405: f"{request.method} is not done here; allowed is {headers.get('Allow', 'nothing')}",
    }
    detail = details.get(error.status_code, str(error.detail))
    problem = Problem(status=error.status_code, detail=detail, headers=headers)
    return problem_response(problem, instance=request.url.path)


async def _answer_not_found(request: Request, error: Exception) -> Response:
    return problem_response(Problem(status=404, detail=str(error)), instance=request.url.path)


async def _answer_conflict(request: Request, error: Exception) -> Response:
    return problem_response(Problem(status=409, detail=str(error)), instance=request.url.path)


async def _answer_store(request: Request, error: Exception) -> Response:
    request.app.state.outage.failed(request.url.path, str(error))
    problem = Problem(
        status=503,
        detail="the store cannot be reached; nothing was changed, as far as is known",
        headers={"retry-after": str(RETRY_SECONDS)},
    )
    return problem_response(problem, instance=request.url.path)


async def _answer_bug(request: Request, error: Exception) -> Response:
    return problem_response(internal_problem(), instance=request.url.path)


def _invalid(request: Request, errors: Sequence[FieldProblem]) -> Response:
    return problem_response(invalid(errors).problem, instance=request.url.path)


def _field_problem(
    found: dict[str, object], known: Sequence[str], asked: Sequence[str]
) -> FieldProblem:
    """What a validator found, in our words: the field, the reason, what was got, what to write."""
    location, kind, context = found["loc"], str(found["type"]), found.get("ctx")
    assert isinstance(location, tuple)
    field = ".".join(str(part) for part in location[1:]) or str(location[0])
    values = {"field": field, **(context if isinstance(context, dict) else {})}
    reason, hint = (text.format(**values) for text in _REASONS.get(kind, _OTHER))
    got = shown(None if kind == "missing" else found.get("input"))
    if kind == "string_type":
        hint = text_hint(field, found.get("input"))
    if kind in ("int_type", "bool_type"):
        hint = bare_hint(found.get("input"), hint)
    if kind == "extra_forbidden":
        name = str(location[-1])
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the fields are {', '.join(known)}"
        if len(location) == BODY_FIELD and name in asked:
            hint = f"write it into the address: ?{name}=..."
        return FieldProblem(printable(field), reason, got, hint)
    return FieldProblem(printable(field), reason, got, hint)


def _known_fields(request: Request) -> list[str]:
    """The fields of the form that the route takes."""
    route = request.scope.get("route")
    body = route.body_field if isinstance(route, APIRoute) else None
    form = body.field_info.annotation if body is not None else None
    return list(form.model_fields) if isinstance(form, type) and issubclass(form, BaseModel) else []
