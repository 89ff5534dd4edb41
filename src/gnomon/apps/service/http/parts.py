"""
The parts that the application works with: everything it is given, in one value.

The program that puts the service together (the command line, a test) makes the parts; routes find
them in the application.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.settings import Settings
from gnomon.ports import Clock
from gnomon.ports.dag import DagRuns
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.app import HttpCounts
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.limits import Limits
from gnomon.shell.observe.counts import Family

__all__ = ["PartsOf", "ServiceParts", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceParts:
    """The parts of an application."""

    registrar: Registrar
    deployer: Deployer
    dag_runs: DagRuns
    """What the embedded executor has written down about runs and their nodes."""
    events: EventFeed
    figures: Callable[[], Iterable[Family]]
    """What the service has counted so far."""
    settings: Settings
    authenticator: Authenticator
    clock: Clock
    check_store: Callable[[], Awaitable[None]]
    """Raises `StoreError` while the store cannot be reached."""
    hosts: Collection[str]
    """The names under which the service is asked; `*` for any."""
    callback_keys: Keyring | None = None
    """What executors sign their callbacks with; None where none calls back."""
    limits: Limits = field(default_factory=Limits)
    answers: HttpCounts = field(default_factory=HttpCounts)
    """How many answers were given, and how long they took."""
    metrics_open: bool = False
    """Whether callers may read the metrics without a token."""
    heartbeats: Callable[[], Awaitable[Sequence[Family]]] | None = None
    """What there is to tell about all workers of a database; None where there is one process."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is about to end, so that streams end first."""


def parts_of(request: Request) -> ServiceParts:
    """The parts of the application that this request came to."""
    found: ServiceParts = request.app.state.parts
    return found


PartsOf = Annotated[ServiceParts, Depends(parts_of)]
"""The parts, as a parameter of a route."""
