"""An application with access and without a service behind it, for what is of HTTP alone."""

from hashlib import sha256

from starlette.types import ASGIApp

from gnomon.apps.service.http.access_file import Access, StaticToken
from gnomon.apps.service.http.application import create_app
from gnomon.apps.service.http.authentication import Authenticator
from gnomon.apps.service.http.gate import Limits
from gnomon.apps.service.http.parts import Parts
from gnomon.apps.service.http.principal import read_principal
from tests.apps.service.http.crypto import NOW
from tests.shell.steered_clock import SteeredClock

__all__ = ["TOKENS", "access_of", "bare_app"]

TOKENS = {
    "acme-read": ("acme-reader", "acme", "read"),
    "acme-write": ("acme-writer", "acme", "write"),
    "globex-write": ("globex-writer", "globex", "write"),
    "admin": ("administrator", "*", "admin"),
    "nothing": ("nobody", "acme", ""),
}
"""Tokens by their text: subject, tenant, scope."""


def access_of() -> Access:
    """The access of `TOKENS`."""
    return Access(
        tokens=tuple(
            StaticToken(
                sha256=sha256(text.encode()).hexdigest(),
                principal=read_principal(subject=subject, user_id=user_id, scopes=[scope]),
            )
            for text, (subject, user_id, scope) in TOKENS.items()
        )
    )


def bare_app(limits: Limits | None = None, store: Exception | None = None) -> ASGIApp:
    """The application; `store` is what happens when it asks for its store."""
    clock = SteeredClock(NOW * 1000)

    async def reached() -> None:
        if store is not None:
            raise store

    return create_app(
        Parts(
            authenticator=Authenticator(access_of, clock),
            clock=clock,
            check_store=reached,
            hosts=["127.0.0.1"],
            limits=limits or Limits(),
        )
    )
