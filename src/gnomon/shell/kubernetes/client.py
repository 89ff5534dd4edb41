"""
The port to a Kubernetes API server, over the network.

Whatever does not answer in time, or breaks off, is `NoAnswer`; nothing is tried again. A watch that
outlives its time is dead, and ends with `NoAnswer` too. Credentials are loaded again every minute,
and before the next request after the server did not accept them; while they cannot be loaded, the
old ones are shown.

Spec: KUBE-2 to KUBE-6, KUBE-8 to KUBE-10.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import NamedTuple

import aiohttp

from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Change,
    Denial,
    Denied,
    Find,
    Found,
    NoAnswer,
    Object,
    Watch,
)
from gnomon.shell.kubernetes.access import Access, Load
from gnomon.shell.kubernetes.line import CONNECT_S, Line
from gnomon.shell.kubernetes.wire import (
    Request,
    answer_of,
    change_of,
    find_request,
    request_of,
    server_time,
    watch_request,
)

__all__ = ["ANSWER_S", "RENEW_S", "SILENT_S", "KubernetesServer"]

ANSWER_S = 30.0
"""An answer that takes longer does not come."""
SILENT_S = 10.0
"""A watch that does not end so long after its time has died."""
RENEW_S = 60.0

_AT_ONCE = 32
"""Requests under way; more wait here, where they are certain not to have been sent."""
_RESTARTS = 3
_RENEW_AGAIN_S = 5.0
_LINE_MAX = 64 * 1024 * 1024
_TROUBLE = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
_LOG = logging.getLogger("gnomon.kubernetes")


class _Reply(NamedTuple):
    code: int
    headers: Mapping[str, str]
    body: bytes


class KubernetesServer:
    """An API server as one caller sees it; opened and closed by `async with`."""

    def __init__(
        self, load: Load, *, answer_s: float = ANSWER_S, silent_s: float = SILENT_S,
        renew_s: float = RENEW_S,
    ) -> None:  # fmt: skip
        self._load = load
        self._answer_s, self._silent_s, self._renew_s = answer_s, silent_s, renew_s
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._renewing = asyncio.Lock()
        self._renewed_at = self._renew_at = 0.0
        self._access: Access | None = None
        self._line: Line | None = None

    async def __aenter__(self) -> "KubernetesServer":
        self._take(await self._load())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._line is not None:
            await self._line.close()

    @property
    def namespace(self) -> str:
        """The namespace that the configuration names."""
        assert self._access is not None, "opened by async with"
        return self._access.namespace

    async def send(self, call: Call) -> Answer:
        reply = await self._ask(request_of(call))
        return reply if isinstance(reply, NoAnswer) else self._answer(call, reply)

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        for _ in range(_RESTARTS):  # the version of the first page may be forgotten meanwhile
            found = await self._find(call)
            if not (isinstance(found, Denied) and found.why is Denial.EXPIRED):
                break
        return found

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        limit = aiohttp.ClientTimeout(total=call.timeout_s + self._silent_s, sock_connect=CONNECT_S)
        request = watch_request(call)
        try:
            line, headers = await self._way(request)
            async with line.ask(
                request.method, request.path, headers=headers, body=None, limit=limit
            ) as response:
                if response.status != 200:
                    body = await response.read()
                    answer = self._answer(call, _Reply(response.status, response.headers, body))
                    yield answer if isinstance(answer, Denied) else NoAnswer(f"{answer}")
                    return
                async for text in _lines(response.content):
                    told = change_of(text)
                    yield told
                    if not isinstance(told, Change):
                        return
        except _TROUBLE as error:
            yield NoAnswer(_words(error))

    async def _find(self, call: Find) -> Found | Denied | NoAnswer:
        objects: list[Object] = []
        token = ""
        while True:
            reply = await self._ask(find_request(call, token))
            if isinstance(reply, NoAnswer):
                return reply
            answer = self._answer(call, reply)
            if isinstance(answer, Denied | NoAnswer):
                return answer
            page = answer.object
            items, metadata = page.get("items"), page.get("metadata")
            if not isinstance(items, list) or not isinstance(metadata, Mapping):
                return NoAnswer("the answer is no list of objects")
            kind = str(page.get("kind", "")).removesuffix("List")
            objects += [{"apiVersion": page.get("apiVersion"), "kind": kind} | one for one in items]
            token = str(metadata.get("continue") or "")
            if not token:
                version = str(metadata.get("resourceVersion", ""))
                return Found(objects, version, server_time(reply.headers))

    async def _ask(self, request: Request) -> _Reply | NoAnswer:
        limit = aiohttp.ClientTimeout(total=self._answer_s, sock_connect=CONNECT_S)
        async with self._at_once:
            try:
                line, headers = await self._way(request)
                async with line.ask(
                    request.method, request.path, headers=headers, body=request.body, limit=limit
                ) as response:
                    return _Reply(response.status, response.headers, await response.read())
            except _TROUBLE as error:
                return NoAnswer(_words(error))

    def _answer(self, call: Call | Find | Watch, reply: _Reply) -> Answer:
        answer = answer_of(call, *reply)
        if isinstance(answer, Denied) and answer.why is Denial.UNAUTHENTICATED:
            self._renew_at = min(self._renew_at, self._renewed_at + _RENEW_AGAIN_S)
        return answer

    async def _way(self, request: Request) -> tuple[Line, dict[str, str]]:
        """The connections to use now, and the heads that say who asks."""
        if self._now() >= self._renew_at:
            async with self._renewing:
                if self._now() >= self._renew_at:
                    await self._renew()
        assert self._line is not None, "opened by async with"
        assert self._access is not None
        headers = {"Content-Type": request.content_type} if request.body is not None else {}
        if self._access.authorization:
            headers["Authorization"] = self._access.authorization
        return self._line, headers

    async def _renew(self) -> None:
        self._renewed_at = self._now()
        self._renew_at = self._renewed_at + _RENEW_AGAIN_S
        try:
            async with asyncio.timeout(self._answer_s):
                access = await self._load()
        except (DefinitionError, TimeoutError) as error:
            _LOG.warning("credentials could not be loaded again: %s", error)
            return
        old = self._line
        self._take(access)
        if old is not None and old is not self._line:
            await old.retire()

    def _take(self, access: Access) -> None:
        if self._line is None or self._line.link != access.link:
            self._line = Line(access.link)
        self._access = access
        self._renewed_at = self._now()
        self._renew_at = self._renewed_at + self._renew_s

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The lines of a stream, which may be longer than its buffer."""
    parts: list[bytes] = []
    length = 0
    async for chunk in content.iter_any():
        *whole, rest = chunk.split(b"\n")
        for text in whole:
            yield b"".join([*parts, text])
            parts, length = [], 0
        parts.append(rest)
        length += len(rest)
        if length > _LINE_MAX:
            raise ValueError("a watch told something that is too long")
    if length:
        raise ValueError("a watch broke off within a line")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
