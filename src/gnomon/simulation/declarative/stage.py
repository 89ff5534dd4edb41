"""
A stage for schedulers that are to be looked at: virtual time, a store in memory, and no chance.

Nothing goes wrong here by itself. Time passes when the caller lets it pass, as fast as it can; the
clock on the wall can be set; `crash` ends everything that runs without a word, and the store is as
its last transaction left it.

Spec: TESTING-1 to TESTING-4.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import NamedTuple, TypeVar

from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.core.civil.instant import parse_instant
from gnomon.errors import DefinitionError
from gnomon.ports import Entry, Event, Journal
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash
from gnomon.simulation.kit.gate import behind
from gnomon.simulation.kit.loop import VirtualLoop

__all__ = ["Happening", "World", "run", "world"]

STEPS_MAX = 50_000_000
_BREATHS = 50
_MS = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_T = TypeVar("_T")


class Happening(NamedTuple):
    """Something that a scheduler has written down."""

    at: datetime
    """What the clock on the wall showed, in UTC."""
    event: str
    """Such as `RunStart`, `RunSuccess` or `InitSuccess`."""
    task: str
    detail: str
    """For a start: why, for which occurrence, and which attempt."""


def run(scenario: Coroutine[object, object, _T], *, seed: int = 0) -> _T:
    """
    Run a coroutine on virtual time; `seed` decides the order of what is ready at the same instant.

    `asyncio.sleep` takes no time there. Threads, sockets and child processes do not exist.
    """
    order = Dice(seed, "testing")
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(order, steps_max=STEPS_MAX)) as runner:
        return runner.run(scenario)


@asynccontextmanager
async def world(start: datetime | str) -> AsyncIterator["World"]:
    """A world that begins at an instant; at its end every scheduler in it is stopped."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise DefinitionError(
            "needs an event loop on virtual time", where="gnomon.testing.world",
            got=type(loop).__name__, hint="call it inside gnomon.testing.run(...)",
        )  # fmt: skip
    found = World(loop, _instant_ms(start))
    try:
        yield found
    finally:
        await found.stop()


class World:
    """Time, a store that outlives schedulers, and what they have done."""

    def __init__(self, loop: VirtualLoop, start_ms: int) -> None:
        self._loop = loop
        self._offset_ms = start_ms - round(loop.time() * 1000)
        self._store = SqliteJournalOpener(":memory:", threaded=False)
        self._schedulers: list[Scheduler] = []
        self._entries: list[Entry] = []
        self._life = 0

    @property
    def now(self) -> datetime:
        """What the clock on the wall shows, in UTC."""
        return _EPOCH + self.now_ms() * _MS

    def scheduler(self, *, zone: str = "UTC", reinitialize: str = "reconcile") -> Scheduler:
        """A scheduler on the clock and the store of this world."""
        made = Scheduler(
            zone=zone, reinitialize=reinitialize, threads=0, clock=self,
            journal=_MortalOpener(self), observe=self._entries.extend, monitor=False,
        )  # fmt: skip
        self._schedulers.append(made)
        return made

    async def advance(
        self, length: timedelta = timedelta(), *, days: float = 0, hours: float = 0,
        minutes: float = 0, seconds: float = 0,
    ) -> None:  # fmt: skip
        """Let so much time pass, with everything that happens in it."""
        more = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        await asyncio.sleep(max((length + more).total_seconds(), 0))
        for _ in range(_BREATHS):  # let those who are woken at the same instant go first
            await asyncio.sleep(0)

    async def advance_to(self, instant: datetime | str) -> None:
        """Let time pass until the clock on the wall shows this."""
        await self.advance((_instant_ms(instant) - self.now_ms()) * _MS)

    def set_clock(self, instant: datetime | str) -> None:
        """Set the clock on the wall; no time passes."""
        self._offset_ms += _instant_ms(instant) - self.now_ms()

    async def crash(self) -> None:
        """End everything else that runs here as kill -9 does; the store stays as it is."""
        self._life += 1
        self._schedulers.clear()
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def stop(self) -> None:
        """Stop every scheduler that has not crashed."""
        for one in self._schedulers:
            await one.stop()

    @property
    def history(self) -> list[Happening]:
        """Everything that schedulers have written down here."""
        return [
            Happening(_EPOCH + one.wall_ms * _MS, one.event.value, one.task, one.detail)
            for one in self._entries
        ]

    def starts(self, task: str) -> list[datetime]:
        """When runs of a task were started, in UTC."""
        return [
            _EPOCH + one.wall_ms * _MS
            for one in self._entries
            if one.event is Event.RUN_START and one.task == task
        ]

    def now_ms(self) -> int:
        return self._offset_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return round(self._loop.time() * 1000)

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(length_ms / 1000)

    async def open(self) -> Journal:
        return await self._store.open()

    @property
    def life(self) -> int:
        """How often there was a crash."""
        return self._life


class _MortalOpener:
    """Opens the store of a world for one life: a journal that the dead cannot reach."""

    name = "store of the world"

    def __init__(self, world: World) -> None:
        self._world = world

    async def open(self) -> Journal:
        inner, life = await self._world.open(), self._world.life

        async def alive(name: str, act: Callable[[], Awaitable[_T]]) -> _T:
            if self._world.life != life:
                raise Crash
            return await act()

        own = SimpleNamespace(owner=f"life {life}")
        return behind(alive, Journal, inner, own=own)


def _instant_ms(instant: datetime | str) -> int:
    found = parse_instant(instant, where="instant") if isinstance(instant, str) else instant
    if found.tzinfo is None:
        raise DefinitionError(
            "must have an offset or a zone", where="instant", got=found,
            hint='write e.g. "2026-03-01T00:00:00Z"',
        )  # fmt: skip
    return (found - _EPOCH) // _MS
