"""
Is the server alive, and can it work? Two questions that every client may ask.

`/healthz` says that the process answers, for a supervisor that restarts processes. `/readyz` says
whether it can reach its store, for a proxy that sends it requests. Neither says anything else.

Spec: HTTP-14, AUTH-16.
"""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends
from starlette.responses import Response

from gnomon.shell.http.describing import Health, problems
from gnomon.shell.http.query import check_query

__all__ = ["health_router"]


def health_router(check_store: Callable[[], Awaitable[None]]) -> APIRouter:
    """The routes of a server; `check_store` raises while its store cannot be reached."""
    router = APIRouter(
        tags=["health"], responses=problems(guarded=False), dependencies=[Depends(check_query)]
    )

    @router.get("/healthz")
    async def healthz() -> Health:
        """The process answers."""
        return Health(status="ok")

    @router.head("/healthz", response_class=Response)
    async def healthz_head() -> Response:
        """The process answers, in a status alone."""
        return Response()

    @router.head("/readyz", response_class=Response)
    async def readyz_head() -> Response:
        """The server can reach its store, in a status alone."""
        await check_store()
        return Response()

    @router.get("/readyz")
    async def readyz() -> Health:
        """The server can reach its store."""
        await check_store()
        return Health(status="ready")

    return router
