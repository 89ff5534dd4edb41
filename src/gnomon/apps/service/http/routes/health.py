"""
Is the service alive, and can it work? Two questions that every client may ask.

`/healthz` says that the process answers, for a supervisor that restarts processes. `/readyz` says
whether it can reach its store, for a proxy that sends it requests. Neither says anything else.

Spec: HTTP-14, AUTH-16.
"""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from gnomon.apps.service.http.parts import Parts, parts_of
from gnomon.shell.http.describing import Health, problems
from gnomon.shell.http.query import check_query

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=problems(guarded=False), dependencies=[Depends(check_query)])
async def healthz() -> Health:
    """The process answers."""
    return Health(status="ok")


@router.head(
    "/healthz", response_class=Response, responses=problems(guarded=False),
    dependencies=[Depends(check_query)],
)  # fmt: skip
async def healthz_head() -> Response:
    """The process answers, in a status alone."""
    return Response()


@router.head(
    "/readyz", response_class=Response, responses=problems(guarded=False),
    dependencies=[Depends(check_query)],
)  # fmt: skip
async def readyz_head(parts: Annotated[Parts, Depends(parts_of)]) -> Response:
    """The service can reach its store, in a status alone."""
    await parts.check_store()
    return Response()


@router.get("/readyz", responses=problems(guarded=False), dependencies=[Depends(check_query)])
async def readyz(parts: Annotated[Parts, Depends(parts_of)]) -> Health:
    """The service can reach its store."""
    await parts.check_store()
    return Health(status="ready")
