"""
Who sent this request, and may that sender do it?

A token in a header says who it is, or a client certificate, if there is one. TLS has checked the
certificate against the private authority already; here the name in it is looked up among the known
clients. When a request has both, they must be about the same subject, and a token that is bound to
a certificate is of no use without it. The file of access is read again when it changes, so that
keys can be rotated without a restart; a file that is wrong then changes nothing, and the log says
so.

A route says which scope it takes; the answer is the `Actor` on whose behalf the service then acts.
A sender that is not known gets 401, with what to send instead; one without the scope gets 403. Then
the query is checked, before the route looks at it.

Spec: AUTH-5 to AUTH-7, AUTH-12 to AUTH-14, AUTH-16, HTTP-7.
"""

import base64
import binascii
import hmac
import logging
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import Depends, Request
from fastapi.security import (
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
)
from starlette.requests import HTTPConnection
from starlette.types import Scope as ASGIScope

from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.ports.ledger_rows import Actor
from gnomon.shell.http.access_file import Access, read_access
from gnomon.shell.http.principal import Principal, Scope
from gnomon.shell.http.problem import ProblemError
from gnomon.shell.http.query import check_query
from gnomon.shell.http.token import TokenRefused, verify_token
from gnomon.shell.observe.log import log

__all__ = [
    "CERTIFICATE",
    "AccessSource",
    "Administrator",
    "Authenticator",
    "Certificate",
    "Reader",
    "Viewer",
    "Writer",
    "access_from_file",
    "scraper",
    "sender_of",
]

CERTIFICATE = "gnomon.certificate"
"""Under this name a request has the certificate of its connection."""

AccessSource = Callable[[], Access]
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


class Certificate(NamedTuple):
    """A client certificate that TLS has accepted."""

    names: tuple[str, ...]
    """What stands in its subjectAltName: DNS names, URIs and the like."""
    thumbprint: str
    """The SHA-256 of the certificate, base64url without padding."""

    @classmethod
    def of(cls, data: bytes, names: tuple[str, ...]) -> "Certificate":
        digest = base64.urlsafe_b64encode(sha256(data).digest())
        return cls(names=names, thumbprint=digest.rstrip(b"=").decode("ascii"))


class Authenticator:
    """Answers who sent a request."""

    def __init__(self, access: AccessSource, clock: Clock) -> None:
        self._access = access
        self._clock = clock

    def identify(self, token: str | None, certificate: Certificate | None) -> Principal | None:
        """The sender; None when the request names none. `TokenRefused` when a proof is wrong."""
        access = self._access()
        client = _client(access, certificate)
        if token is None:
            return client
        bearer = self._bearer(access, token, certificate)
        if client is not None and client.subject != bearer.subject:
            raise TokenRefused("it was given to another subject than the client certificate")
        return bearer

    def _bearer(self, access: Access, token: str, certificate: Certificate | None) -> Principal:
        found = _static(access, token)
        if found is not None:
            return found
        if not access.keys:
            raise TokenRefused("it is not known")
        claims = verify_token(
            token, access.keys, issuer=access.issuer, audience=access.audience,
            now=self._clock.now_ms() // 1000,
        )  # fmt: skip
        if claims.certificate is not None and not (
            certificate and hmac.compare_digest(claims.certificate, certificate.thumbprint)
        ):
            raise TokenRefused("it is bound to another client certificate")
        return claims.principal


def access_from_file(path: Path) -> AccessSource:
    """The access of a file, read anew whenever the file is another one."""
    seen, access = _version(path), read_access(path)

    def current() -> Access:
        nonlocal seen, access
        version = _version(path)
        if version != seen:
            seen = version
            try:
                access = read_access(path)
            except (DefinitionError, OSError) as error:
                log(logging.ERROR, "the file of access is left aside", reason=str(error))
        return access

    return current


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _static(access: Access, token: str) -> Principal | None:
    digest = sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
    found = None
    for one in access.tokens:  # all of them, so that the time it takes tells nothing
        if hmac.compare_digest(digest, one.sha256):
            found = one.principal
    return found


def _client(access: Access, certificate: Certificate | None) -> Principal | None:
    if certificate is None or not access.clients:  # it protects the line, and names no sender
        return None
    known = [access.clients[name] for name in certificate.names if name in access.clients]
    if len(known) != 1:
        raise TokenRefused("the client certificate names no client that this service knows")
    return known[0]


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
