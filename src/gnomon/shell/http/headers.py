"""
What does every answer carry? Headers that keep browsers from doing harm with it.

Nothing here is meant to be stored, framed, sniffed or run: the status page has no scripts, and its
one style sheet stands in the page under a hash. Every answer names the request it belongs to, under
which the log has it.

Spec: HTTP-4, HTTP-10, HTTP-11.
"""

import logging
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.shell.http.problem import problem_response
from gnomon.shell.http.responses import internal_problem
from gnomon.shell.observe.log import log

__all__ = ["HEADERS", "Shield"]

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""What every answer carries."""
_TLS_ONLY = "max-age=31536000"


class Shield:
    """Adds the headers, where the application has not set them itself."""

    def __init__(self, app: ASGIApp, *, next_id: Callable[[], str]) -> None:
        self._app = app
        self._next_id = next_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number, started = self._next_id(), False
        scope.setdefault("state", {})["request_id"] = number

        async def shielded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["x-request-id"] = number
                if scope["scheme"] == "https":
                    headers["strict-transport-security"] = _TLS_ONLY
            await send(message)

        try:
            await self._app(scope, receive, shielded)
        except Exception as error:  # a bug: the answer says so, and the log has all of it
            path = scope["path"]
            log(logging.ERROR, "a bug", failure=error, request_id=number, path=path)
            if not started:
                await problem_response(internal_problem(), instance=path)(scope, receive, shielded)
