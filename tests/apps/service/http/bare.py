"""An application with access and without a service behind it, for what is of HTTP alone."""

from hashlib import sha256
from typing import cast

from starlette.types import ASGIApp

from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.http.app import create_app
from gnomon.apps.service.http.parts import ServiceParts
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.settings import Settings
from gnomon.ports import Ledger
from gnomon.ports.dag import DagRuns, DagStore
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.access_file import Access, StaticToken
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.principal import read_principal
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


def bare_app(
    limits: Limits | None = None, store: Exception | None = None, keys: Keyring | None = None
) -> ASGIApp:
    """The application; `store` is what happens when it asks whether its store is there."""
    clock = SteeredClock(NOW * 1000)
    nothing = cast("Ledger", None)  # no test asks it anything here
    settings, events = Settings(), EventFeed(clock)
    dags = cast("DagStore", None)
    registrar = Registrar(nothing, clock, settings, events, dags, unique=lambda: "run")

    async def reached() -> None:
        if store is not None:
            raise store

    return create_app(
        ServiceParts(
            registrar=registrar,
            deployer=Deployer(dags, registrar, clock, settings),
            dag_runs=cast("DagRuns", None),
            events=events,
            figures=list,
            settings=settings,
            authenticator=Authenticator(access_of, clock),
            clock=clock,
            check_store=reached,
            hosts=["127.0.0.1"],
            limits=limits or Limits(),
            callback_keys=keys,
        )
    )
