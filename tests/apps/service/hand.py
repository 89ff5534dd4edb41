"""
A service driven by hand, on either store: time stands still until a test moves it.

`look` lets a worker see what time it is: it takes its turns, and its launches come to an end. A
worker that is dropped vanishes, as its process would.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol

from gnomon.apps.service.settings import Settings
from gnomon.apps.service.worker import ServiceWorker
from tests.apps.service.stage import START_MS, Stage, at

__all__ = ["Hand", "HandClock", "Play", "Scenario"]

_TURNS = 4
_ROUNDS = 4


class HandClock:
    """Stands still until a test moves it, which wakes the sleepers whose time has come."""

    def __init__(self) -> None:
        self._now_ms = START_MS
        self._sleepers: list[tuple[int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._now_ms - START_MS

    async def sleep_ms(self, length_ms: int) -> None:
        if length_ms > 0:
            future = asyncio.get_running_loop().create_future()
            self._sleepers.append((self._now_ms + length_ms, future))
            await future

    def move_to(self, at_ms: int) -> None:
        self._now_ms = at_ms
        for due_ms, future in self._sleepers:
            if due_ms <= at_ms and not future.done():
                future.set_result(None)


class Hand(Stage):
    """One service, and the workers that come and go."""

    make_clock = HandClock

    @property
    def hands(self) -> HandClock:
        assert isinstance(self.clock, HandClock)
        return self.clock

    def move_to(self, time: str) -> None:
        """To a time of the first day, or to an instant."""
        instant = datetime.fromisoformat(time) if "T" in time else None
        at_ms = at(time) if instant is None else round(instant.astimezone(UTC).timestamp() * 1000)
        self.hands.move_to(at_ms)

    async def look(self, time: str | None = None, *, worker: ServiceWorker | None = None) -> None:
        """Let a worker see what time it is, and do what is to be done."""
        if time is not None:
            self.move_to(time)
        one = worker or self.worker
        collector = asyncio.create_task(self._collect(one))
        for _ in range(_TURNS):
            await one.runtime.turn()
            await self.launched(one)
        collector.cancel()
        await asyncio.gather(collector, return_exceptions=True)

    async def go_to(self, time: str) -> None:
        """Look whenever there is something to do, until this time."""
        until_ms = at(time)
        while (next_ms := await self.ledger.next_wake_ms()) is not None and next_ms <= until_ms:
            self.hands.move_to(max(next_ms, self.clock.now_ms()))
            await self.look()
        await self.look(time)

    async def launched(self, worker: ServiceWorker | None = None) -> None:
        """Let the launches of a worker come to their end."""
        launcher = (worker or self.worker).launcher
        rounds = 0
        while rounds < _ROUNDS:
            await asyncio.sleep(0)
            rounds = 0 if launcher.under_way and not self.executor.takes_ms else rounds + 1

    def drop(self) -> ServiceWorker:
        """The worker vanishes; another one, in its place."""
        self._lives += 1
        self.worker = self.another(f"life-{self._lives}")
        return self.worker

    _lives = 1

    async def _collect(self, worker: ServiceWorker) -> None:
        while True:
            await worker.runtime.collect()

    @property
    def starts(self) -> list[str]:
        """The planned instants that the executor was asked about, in that order."""
        return [_clock(call.meta.scheduled_for) for call in self.executor.calls]

    @property
    def keys(self) -> list[str]:
        return [call.meta.idempotency_key for call in self.executor.calls]

    async def end(self, status: str = "SUCCESS") -> None:
        """Every run that goes on comes to its end."""
        for row in await self.rows():
            if row.state in ("claimed", "running"):
                await self.say(row.key, status)


def _clock(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%H:%M:%S")


Scenario = Callable[[Hand], Awaitable[None]]


class Play(Protocol):
    """Plays a scenario."""

    def __call__(self, scenario: Scenario, *, settings: Settings | None = None) -> None: ...
