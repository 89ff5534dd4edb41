"""
Is what the address says clear? Each parameter is a known one, is there once, and can be kept.

A name that no route knows is mostly one that was misspelt: passed over, the answer would be one to
another question. The known names are those that the route declares, so that they are the same as
those of the OpenAPI document.

Spec: HTTP-7, HTTP-27, WHTTP-8.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from gnomon.errors.root import printable, shown
from gnomon.shell.http.problem import FieldProblem, invalid

__all__ = ["check_query", "parameters_of"]


async def check_query(request: Request) -> None:
    """Raises a problem that names every parameter which is unknown, or there more than once."""
    given = request.query_params.multi_items()
    errors = list(_not_kept([*request.path_params.items(), *given]))
    if given:
        known = parameters_of(request)
        errors += _unknown(dict(given), known)
        errors += _repeated(Counter(name for name, _ in given), known)
    if errors:
        raise invalid(errors)


def parameters_of(request: Request) -> list[str]:
    """The parameters of the address that the route of a request knows."""
    route = request.scope.get("route")
    return list(_names(route.dependant)) if isinstance(route, APIRoute) else []


def _names(dependant: Dependant) -> Iterator[str]:
    """The parameters of a route, and of all that it depends on."""
    yield from (one.alias for one in dependant.query_params)
    for needed in dependant.dependencies:
        yield from _names(needed)


def _not_kept(given: Sequence[tuple[str, object]]) -> Iterator[FieldProblem]:
    """A text that no store can keep is not an id, and no part of one."""
    for name, value in given:
        if "\0" in str(value) or "\0" in name:
            reason, hint = "has a NUL, which no store keeps", "leave the %00 out"
            yield FieldProblem(printable(name), reason, shown(value), hint)


def _unknown(given: dict[str, str], known: Sequence[str]) -> Iterator[FieldProblem]:
    for name, value in given.items():
        if name not in known:
            reason, hint = "is not a known parameter", _hint(name, known)
            yield FieldProblem(printable(name), reason, shown(value), hint)


def _repeated(counts: Counter[str], known: Sequence[str]) -> Iterator[FieldProblem]:
    """Of two values under one name one would be passed over, and the caller meant it."""
    for name in known:
        if counts[name] > 1:
            reason, got = "must be given once", f"{counts[name]} values"
            yield FieldProblem(name, reason, got, "write one of them")


def _hint(name: str, known: Sequence[str]) -> str:
    if not known:
        return "leave it out, there are none here"
    listed = f"the parameters are {', '.join(known)}"
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}? {listed}" if close else listed
