"""
What is said when something is wrong? Problem details (RFC 9457), for every error there is.

    {"type": "urn:gnomon:problem:invalid", "title": "Something in the request cannot be meant",
     "status": 422, "detail": "timezone: ...", "instance": "/schedules/upsert",
     "errors": [{"field": "timezone", "reason": "...", "got": "'Mars'", "hint": "..."}]}

`detail` and `errors` are for the person who must act; an error of ours says nothing about itself
but the number under which the log has it.

Spec: HTTP-1 to HTTP-4.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from starlette.responses import Response

__all__ = ["MEDIA_TYPE", "FieldProblem", "Problem", "ProblemError", "invalid", "problem_response"]

MEDIA_TYPE = "application/problem+json"
DETAILED = 5
"""How many fields `detail` speaks of; `errors` has them all."""

TITLES = {
    "malformed": "The request cannot be read",
    "unauthenticated": "The sender of this request is not known",
    "forbidden": "The sender may not do this",
    "not-found": "There is no such thing",
    "method-not-allowed": "This cannot be done here",
    "not-acceptable": "The answer has another form",
    "timeout": "The request took too long to arrive",
    "conflict": "The present state does not allow it",
    "too-large": "The request is too large",
    "target-too-long": "The address of the request is too long",
    "unsupported-media-type": "The request has another form",
    "misdirected": "The request is meant for another host",
    "invalid": "Something in the request cannot be meant",
    "too-many": "There are too many requests",
    "headers-too-large": "The headers of the request are too large",
    "internal": "The service has an error",
    "unavailable": "The service cannot answer now",
}
STATUS = {
    400: "malformed", 401: "unauthenticated", 403: "forbidden", 404: "not-found",
    405: "method-not-allowed", 406: "not-acceptable", 408: "timeout", 409: "conflict",
    413: "too-large", 414: "target-too-long", 415: "unsupported-media-type", 421: "misdirected",
    422: "invalid", 429: "too-many", 431: "headers-too-large", 500: "internal", 503: "unavailable",
}  # fmt: skip
"""Which kind of problem a status stands for."""


class FieldProblem(NamedTuple):
    """What is wrong with one field of a request."""

    field: str
    reason: str
    got: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem, before it is an answer."""

    status: int
    detail: str
    errors: Sequence[FieldProblem] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return STATUS.get(self.status, "malformed" if self.status < 500 else "internal")


class ProblemError(Exception):
    """Raised where a request cannot go on; `problem` is the answer."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.problem = Problem(status=status, detail=detail, errors=errors, headers=headers or {})
        super().__init__(detail)


def invalid(errors: Sequence[FieldProblem]) -> ProblemError:
    """What is raised where fields of a request cannot be meant."""
    detail = "; ".join(_sentence(one) for one in errors[:DETAILED])
    return ProblemError(422, detail, errors=errors)


def problem_response(problem: Problem, *, instance: str) -> Response:
    """The answer for a problem with the request to this path."""
    body: dict[str, object] = {
        "type": f"urn:gnomon:problem:{problem.kind}",
        "title": TITLES[problem.kind],
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
    }
    if problem.errors:
        body["errors"] = [one._asdict() for one in problem.errors]
    return Response(
        json.dumps(body),  # ASCII, so that nothing odd that was sent comes back as it was
        status_code=problem.status,
        headers=dict(problem.headers),
        media_type=MEDIA_TYPE,
    )


def _sentence(error: FieldProblem) -> str:
    got = "" if ", got " in error.reason else f", got {error.got}"  # some reasons say it themselves
    line = f"{error.field}: {error.reason}{got}"
    return f"{line} ({error.hint})" if error.hint else line
