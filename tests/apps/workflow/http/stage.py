"""A host with one workflow in this process, and who may talk to it over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx2
from starlette.types import ASGIApp

from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.http.app import Parts, create_app
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.chance import draw_token
from gnomon.shell.clock import SystemClock
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.apps.service.http.asking import client_of
from tests.apps.service.http.bare import access_of

__all__ = ["Stage", "orders", "play"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The host is not at work unless a story starts it: what is commanded stays as it is."""

    app: ASGIApp
    host: Host
    reader: httpx2.AsyncClient
    writer: httpx2.AsyncClient
    admin: httpx2.AsyncClient
    unscoped: httpx2.AsyncClient
    """A caller whose token is known and grants nothing."""
    stranger: httpx2.AsyncClient


def orders() -> Workflow:
    made = Workflow("orders", title="Orders")
    made.producer("poll", interval="5m", publishes=["orders"])(lambda ctx, state: None)
    made.consumer("sheet", subscribes=["orders"]).prepare(lambda ctx, state: {})
    return made


def play(
    story: Callable[[Stage], Awaitable[_T]],
    around: Callable[[WorkflowLog], WorkflowLog] = lambda log: log,
    *,
    metrics_open: bool = False,
) -> _T:
    """Play a story on a stage of its own, with `orders` deployed."""

    async def whole() -> _T:
        clock, log = SystemClock(), SqliteWorkflowLog(Database(MEMORY, family="workflow"))
        host = Host(around(log), clock, holder="test", draw_token=draw_token, threads=0)
        parts = Parts(
            host=host, authenticator=Authenticator(access_of, clock), clock=clock,
            hosts=["127.0.0.1"], metrics_open=metrics_open,
        )  # fmt: skip
        app = create_app(parts)
        tokens = ("acme-read", "acme-write", "admin", "nothing", None)
        clients = [client_of(app, token) for token in tokens]
        reader, writer, admin, unscoped, stranger = clients
        found = Stage(
            app=app, host=host, reader=reader, writer=writer, admin=admin, unscoped=unscoped,
            stranger=stranger,
        )  # fmt: skip
        try:
            await host.deploy(orders())
            return await story(found)
        finally:
            for client in clients:
                await client.aclose()
            await log.close()

    return asyncio.run(whole())
