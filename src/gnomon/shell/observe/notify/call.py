"""
Calls of URLs, over HTTP.

A call follows no redirect and takes no answer longer than a few bytes; an answer of 400 to 499 is
final, whatever else fails may be tried again.

Spec: NOTIFY-7, NOTIFY-8.
"""

from email.message import Message as Headers
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gnomon.shell.observe.notify.message import Call, SendError

__all__ = ["UrlCaller"]

TIMEOUT_S = 10
_TOO_MANY = 429


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Headers, newurl: str
    ) -> None:
        return None


class UrlCaller:
    """Calls URLs; `agent` is the name that the servers see."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._opener = build_opener(_NoRedirects())

    def call(self, call: Call) -> None:
        """Make a call; this waits."""
        headers = {"User-Agent": self._agent}
        data = None
        if call.body is not None:
            data = call.body.encode()
            headers |= {"Content-Type": "application/json", "Idempotency-Key": call.key}
        try:
            request = Request(call.url, data=data, headers=headers)  # noqa: S310 (http, https)
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                answer.read(1)
        except HTTPError as error:
            error.close()  # it is an answer too
            final = 300 <= error.code < 500 and error.code != _TOO_MANY
            reason = f"the answer was {error.code} {error.reason}"
            raise SendError(reason, again=not final) from None
        except (URLError, OSError, ValueError) as error:
            raise SendError(str(error), again=not isinstance(error, ValueError)) from error
