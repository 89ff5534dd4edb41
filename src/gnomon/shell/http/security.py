"""
May this sender do this? What each route asks before it does anything.

A route says which scope it takes; the answer is the `Actor` on whose behalf the service then acts.
A sender that is not known gets 401, with what to send instead; one without the scope gets 403. Then
the query is checked, before the route looks at it.

Spec: AUTH-5, AUTH-7, AUTH-16, HTTP-7.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import (
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
)
from starlette.requests import HTTPConnection
from starlette.types import Scope as ASGIScope

from gnomon.ports.ledger_rows import Actor
from gnomon.shell.http.authentication import CERTIFICATE, Authenticator
from gnomon.shell.http.principal import Principal, Scope
from gnomon.shell.http.problem import ProblemError
from gnomon.shell.http.query import check_query
from gnomon.shell.http.token import TokenRefused

__all__ = ["Administrator", "Reader", "Viewer", "Writer", "scraper", "sender_of"]

_REALM = 'realm="gnomon"'
_KNOWN = "gnomon.principal"
"""Under this name a request has its sender, when that was found out before the route."""
_bearer_scheme = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    bearerFormat="JWT",
    description="A signed token (typ gnomon+jwt) or a static one. A client certificate does too.",
)
_basic = HTTPBasic(
    auto_error=False,
    scheme_name="password",
    description="For browsers: any name, and the token as the password.",
)


def _needs(scope: Scope) -> Callable[[Request], Awaitable[Actor]]:
    async def actor(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer_scheme)] = None,
    ) -> Actor:
        allowed = _allowed(_bearer(request), scope)
        await check_query(request)
        return allowed

    return actor


async def scraper(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer_scheme)] = None,
) -> None:
    """Let a sender that may read ask for the metrics; every sender where they are open."""
    if not request.app.state.metrics_open:
        _allowed(_bearer(request), Scope.READ)
    await check_query(request)


async def _viewer(
    request: Request,
    credentials: Annotated[HTTPBasicCredentials | None, Depends(_basic)] = None,
) -> Actor:
    """A browser has no token to show, but asks for a password: the token is the password."""
    token = _password(request) or _bearer_token(request)
    authenticator: Authenticator = request.app.state.authenticator
    found = _identify(request.scope, authenticator, token, f"Basic {_REALM}")
    allowed = _allowed(found, Scope.READ)
    await check_query(request)
    return allowed


Reader = Annotated[Actor, Depends(_needs(Scope.READ))]
Writer = Annotated[Actor, Depends(_needs(Scope.WRITE))]
Administrator = Annotated[Actor, Depends(_needs(Scope.ADMIN))]
Viewer = Annotated[Actor, Depends(_viewer)]


def sender_of(scope: ASGIScope, authenticator: Authenticator) -> Principal:
    """Who sent a request, by its token or certificate; a problem for one who is not known."""
    token = _bearer_token(HTTPConnection(scope))
    found = _identify(scope, authenticator, token, f"Bearer {_REALM}")
    scope[_KNOWN] = found
    return found


def _bearer(request: Request) -> Principal:
    known = request.scope.get(_KNOWN)
    if isinstance(known, Principal):
        return known
    return sender_of(request.scope, request.app.state.authenticator)


def _identify(
    scope: ASGIScope, authenticator: Authenticator, token: str | None, challenge: str
) -> Principal:
    try:
        found = authenticator.identify(token, scope.get(CERTIFICATE))
    except TokenRefused as refused:
        told = f'{challenge}, error="invalid_token", error_description="{refused}"'
        told = told if challenge.startswith("Bearer") else challenge
        raise ProblemError(
            401, f"the token is refused: {refused}",
            headers={"www-authenticate": told.replace('"typ": "gnomon+jwt"', "typ gnomon+jwt")},
        ) from None  # fmt: skip
    if found is None:
        raise ProblemError(
            401, "a token is needed: write the header authorization: Bearer TOKEN",
            headers={"www-authenticate": challenge},
        )  # fmt: skip
    return found


def _allowed(principal: Principal, scope: Scope) -> Actor:
    if scope not in principal.scopes:
        raise ProblemError(
            403, f"this takes the scope {scope}, which the sender does not have",
            headers={"www-authenticate": f'Bearer {_REALM}, error="insufficient_scope", '
                     f'scope="{scope}"'},
        )  # fmt: skip
    return Actor(subject=principal.subject, tenant=principal.tenant)


def _bearer_token(request: HTTPConnection) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _password(request: Request) -> str | None:
    kind, _, coded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        return base64.b64decode(coded.strip(), validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None
