"""Requests to an application in this process, as a client would send them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

import httpx2
from starlette.types import ASGIApp

__all__ = ["BASE", "Answer", "ask", "client_of"]

BASE = "http://127.0.0.1:8080"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: httpx2.Headers
    json: dict[str, object]
    text: str


def client_of(app: ASGIApp, token: str | None = None) -> httpx2.AsyncClient:
    """A client of the application, with this token in every request."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers)


def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    content: bytes | AsyncIterator[bytes] | None = None,
    json: object = None,
) -> Answer:
    """One request, and its answer."""
    return asyncio.run(_ask(app, method, path, token, headers or {}, content, json))


async def _ask(
    app: ASGIApp,
    method: str,
    path: str,
    token: str | None,
    headers: Mapping[str, str],
    content: bytes | AsyncIterator[bytes] | None,
    json: object,
) -> Answer:
    async with client_of(app, token) as client:
        found = await client.request(
            method, path, headers=dict(headers), content=content, json=json
        )
    has_json = found.content and "json" in found.headers.get("content-type", "")
    return Answer(found.status_code, found.headers, found.json() if has_json else {}, found.text)
