"""
Messages that really leave: mail by its route, calls over HTTP, in threads of their own.

A call follows no redirect and takes no answer longer than a few bytes; an answer of 400 to 499 is
final, whatever else fails may be tried again.

Spec: NOTIFY-7, NOTIFY-8.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from email.message import Message as Headers
from typing import IO, assert_never
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gnomon.apps.krond.notification.mail_route import MailRoute
from gnomon.apps.krond.notification.message import Call, Mail, Message
from gnomon.apps.krond.notification.outbox import AT_ONCE
from gnomon.apps.krond.notification.sender import SendError

__all__ = ["MachineSender"]

TIMEOUT_S = 10
_AGENT = "gnomon-krond"
_TOO_MANY = 429


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Headers, newurl: str
    ) -> None:
        return None


class MachineSender:
    """Sends from this machine."""

    def __init__(self, route: MailRoute) -> None:
        self._route = route
        self._threads = ThreadPoolExecutor(AT_ONCE + 1, thread_name_prefix="krond-notify")
        self._opener = build_opener(_NoRedirects())

    async def send(self, message: Message) -> None:
        loop = asyncio.get_running_loop()
        match message:
            case Mail():
                await loop.run_in_executor(self._threads, self._route.deliver, message)
            case Call():
                await loop.run_in_executor(self._threads, self._call, message)
            case _:
                assert_never(message)

    def close(self) -> None:
        """Take nothing more; what is being sent comes to its end by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _call(self, call: Call) -> None:
        headers = {"User-Agent": _AGENT}
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
