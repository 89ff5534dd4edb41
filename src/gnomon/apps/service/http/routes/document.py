"""
What can be asked here? The OpenAPI document, for callers that may read.

Spec: HTTP-13.
"""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from gnomon.shell.http.authentication import Reader
from gnomon.shell.http.openapi import problems

__all__ = ["router"]

router = APIRouter(tags=["document"])


@router.get("/openapi.json", responses=problems(), response_class=JSONResponse)
async def openapi_document(request: Request, actor: Reader) -> dict[str, object]:
    """This document."""
    found: dict[str, object] = request.app.openapi()
    return found
