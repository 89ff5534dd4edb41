"""
Who sent this request? A token in a header says so, or a client certificate, if there is one.

TLS has checked the certificate against the private authority already; here the name in it is looked
up among the known clients. When a request has both, they must be about the same subject, and a
token that is bound to a certificate is of no use without it.

The file of access is read again when it changes, so that keys can be rotated without a restart; a
file that is wrong then changes nothing, and the log says so.

Spec: AUTH-6, AUTH-12 to AUTH-14.
"""

import base64
import hmac
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.shell.http.access_file import Access, read_access
from gnomon.shell.http.principal import Principal
from gnomon.shell.http.token import TokenRefused, verify_token
from gnomon.shell.observe.telemetry import log

__all__ = ["CERTIFICATE", "AccessSource", "Authenticator", "Certificate", "access_from_file"]

CERTIFICATE = "gnomon.certificate"
"""Under this name a request has the certificate of its connection."""

AccessSource = Callable[[], Access]


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
