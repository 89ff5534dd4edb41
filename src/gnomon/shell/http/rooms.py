"""
How many requests are answered at once? So many of each kind, and one kind never fills another's.

Four kinds of requests have a room each: those that go on for as long as the client listens, those
that an executor signs, those that ask whether the store is there, and all others. A request that
asks whether the process is alive needs no room. In a full room a request whose body has not arrived
gives way to the next one, the one that has been sending longest first.

Spec: HTTP-9, HTTP-32 to HTTP-34.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager

from gnomon.shell.http.limits import Limits
from gnomon.shell.http.problem import ProblemError

__all__ = ["CALLBACKS", "STREAMS", "Room", "Rooms", "Visit"]

ALIVE = "/healthz"
READY = "/readyz"
CALLBACKS = "/executor/callbacks"
STREAMS = "/events"
READY_AT_ONCE = 32


class Visit:
    """One request in a room."""

    __slots__ = ("_room",)

    def __init__(self, room: "Room") -> None:
        self._room = room

    @asynccontextmanager
    async def sending(self, seconds: float) -> AsyncIterator[None]:
        """While its body arrives; a problem when it takes too long, or has to give way."""
        try:
            async with asyncio.timeout(seconds) as deadline:
                self._room.sending[self] = deadline
                try:
                    yield
                finally:
                    self._room.sending.pop(self, None)
        except TimeoutError:
            raise ProblemError(
                408, "the body did not arrive in time", headers={"connection": "close"}
            ) from None


class Room:
    """So many requests at once, and of one sender so many."""

    def __init__(self, most: int, each: int | None = None) -> None:
        self._most, self._each = most, each
        self._inside: dict[Visit, Hashable] = {}
        self._of = Counter[Hashable]()
        self.sending: dict[Visit, asyncio.Timeout] = {}
        """Those whose body is on its way, the longest first."""

    @contextmanager
    def visit(self, sender: Hashable) -> Iterator[Visit]:
        """Be inside for a block; a problem when there is no room."""
        if self._each is not None and self._of[sender] >= self._each:
            raise ProblemError(
                429, f"this sender has {self._each} streams open already; close one of them",
                headers={"retry-after": "1"},
            )  # fmt: skip
        if len(self._inside) >= self._most and not self._one_gives_way():
            raise ProblemError(
                503, "the service has too many requests at once", headers={"retry-after": "1"}
            )
        visit = Visit(self)
        self._inside[visit] = sender
        self._of[sender] += 1
        try:
            yield visit
        finally:
            self._leave(visit)

    def _leave(self, visit: Visit) -> None:
        if visit in self._inside:
            sender = self._inside.pop(visit)
            self._of[sender] -= 1
            if not self._of[sender]:
                del self._of[sender]

    def _one_gives_way(self) -> bool:
        for visit, deadline in self.sending.items():
            del self.sending[visit]
            self._leave(visit)
            deadline.reschedule(asyncio.get_running_loop().time())
            return True
        return False


class Rooms:
    """The rooms of one application."""

    def __init__(self, limits: Limits) -> None:
        self._others = Room(limits.requests)
        self._own: dict[str, Room | None] = {
            ALIVE: None,
            READY: Room(READY_AT_ONCE),
            CALLBACKS: Room(limits.callbacks),
            STREAMS: Room(limits.streams, limits.streams_each),
        }

    def of(self, path: str) -> Room | None:
        """The room of a request; None where none is needed."""
        return self._own.get(path, self._others)
