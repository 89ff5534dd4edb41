"""
Every short story: all interleavings of a few events on the real scheduler, judged by the theory.

A story is a sequence of steps: half a minute passes, all runs that go on succeed or fail, the
process dies and comes back, the scheduler is stopped and comes back, a list is initialized, the
same or another, the clock is set ahead or set right. Every story up to a length is played from the
beginning, on a world of its own without chance, and judged by the court and the witness as every
other world is.

Spec: SIM-18.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from itertools import product
from typing import TypeVar

from gnomon.apps.declarative.callback import RunContext
from gnomon.apps.declarative.recorder import trace_events
from gnomon.apps.declarative.scheduler import RegistrationTuple, Scheduler
from gnomon.ports import Change, Journal
from gnomon.simulation.declarative.court import Court, Mark
from gnomon.simulation.declarative.journal import Shelf, watched
from gnomon.simulation.declarative.minutes import Minutes
from gnomon.simulation.declarative.witness import Call, Witness
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash
from gnomon.simulation.kit.loop import VirtualLoop
from gnomon.simulation.kit.notes import Complaint
from gnomon.trace import Event, Header, Reinitialize

__all__ = ["Act", "play", "stories"]

START_MS = 1_772_323_220_000
"""2026-03-01T00:00:20Z: half a minute is sometimes a minute, and sometimes not."""
RETRY_MS = 20_000
LAG_MS = 100
BLIND_MS = 31_000
"""So late a start may be where the clock is set: the scheduler does not see it earlier."""
AHEAD_MS = 110_000
_STEPS_MAX = 100_000
_BREATHS = 40
_TEXTS = ("* * * * *", "1,3,5,7,9 * * * *")

_T = TypeVar("_T")


class Act(StrEnum):
    """One step of a story."""

    WAIT = "w"
    SUCCEED = "s"
    FAIL = "f"
    CRASH = "c"
    STOP = "p"
    SAME = "i"
    OTHER = "o"
    CLOCK = "k"


def stories(length: int, acts: Sequence[Act] = tuple(Act)) -> Iterator[tuple[Act, ...]]:
    """Every story of this length with these acts."""
    return product(acts, repeat=length)


def play(story: tuple[Act, ...], *, tasks: int) -> list[Complaint]:
    """Play a story with so many tasks; everything that should not have been."""
    loop = VirtualLoop(Dice("search"), steps_max=_STEPS_MAX)
    scene = _Scene(loop, tasks, lag_ms=BLIND_MS if Act.CLOCK in story else LAG_MS)
    try:
        loop.run_until_complete(scene.play(story))
    finally:
        loop.run_until_complete(scene.die())
        loop.close()
        scene.shelf.database.close()
    return scene.court.complaints + scene.witness.complaints


class _Scene:
    """A scheduler, the lists it may be given, and the judges; also its clock and its journal."""

    def __init__(self, loop: VirtualLoop, tasks: int, *, lag_ms: int) -> None:
        self.shelf = Shelf()
        self._loop = loop
        names = [f"t{number}" for number in range(1, tasks + 1)]
        self._lists = (
            {name: _TEXTS[place % 2] for place, name in enumerate(names)},
            {name: _TEXTS[(place + 1) % 2] for place, name in enumerate(names[:1])},
        )
        pairs = [(name, text) for name in names for text in _TEXTS]
        minutes = Minutes("UTC", _TEXTS)
        header = Header(reinitialize=Reinitialize.RECONCILE)
        self.court = Court(header, minutes, pairs, lag_ms=lag_ms, hear=_ignore)
        self.witness = Witness(minutes)
        self._listed = 0
        self._ahead_ms = 0
        self._highest_ms = START_MS
        self.life = 0
        self._open: dict[str, asyncio.Future[bool]] = {}
        self._scheduler = self._bear()

    async def play(self, story: tuple[Act, ...]) -> None:
        await self._initialize()
        for act in story:
            await self._act(act)
            await _breathe()
        self._end_runs(well=True)
        stop = asyncio.ensure_future(self._scheduler.stop())
        await _breathe()
        self._end_runs(well=True)
        await stop
        self.witness.stopped()
        self.court.close(self.at(), self.now_ms())

    async def die(self) -> None:
        self.life += 1
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._open.clear()

    def at(self) -> int:
        return round(self._loop.time() * 1000)

    def now_ms(self) -> int:
        self.court.shown(self.at(), self._wall_ms())
        return self._wall_ms()

    def monotonic_ms(self) -> int:
        return self.at()

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(length_ms / 1000)

    async def _act(self, act: Act) -> None:
        match act:
            case Act.WAIT:
                await asyncio.sleep(30)
            case Act.SUCCEED | Act.FAIL:
                self._end_runs(well=act is Act.SUCCEED)
            case Act.CRASH:
                self.witness.died(self.at())
                self.court.died()
                await self.die()
                self._scheduler = self._bear()
                await self._initialize()
            case Act.STOP:
                stop = asyncio.ensure_future(self._scheduler.stop())
                await _breathe()
                self._end_runs(well=True)
                await stop
                self.witness.stopped()
                await self._initialize()
            case Act.SAME | Act.OTHER:
                self._listed = self._listed if act is Act.SAME else 1 - self._listed
                await self._initialize()
            case Act.CLOCK:
                self._ahead_ms = AHEAD_MS - self._ahead_ms
                self._highest_ms = max(self._highest_ms, self._wall_ms())
                self.court.stepped(self.at(), self._wall_ms())
                if not self._ahead_ms:
                    self.witness.clock_set_back(self.court.passed)

    def _wall_ms(self) -> int:
        return START_MS + self._ahead_ms + self.at()

    def _bear(self) -> Scheduler:
        opener = _Opener(self, self.life)
        return Scheduler(zone="UTC", threads=0, clock=self, journal=opener, monitor=False)

    async def _initialize(self) -> None:
        self.witness.initializing()
        await self._scheduler.initialize([
            self._registration(name, text) for name, text in self._lists[self._listed].items()
        ])  # fmt: skip

    def _registration(self, name: str, text: str) -> RegistrationTuple:
        return name, text, self._callback(), timedelta(milliseconds=RETRY_MS)

    def _callback(self) -> Callable[[RunContext], object]:
        async def callback(context: RunContext) -> None:
            call = Call(
                task=context.task, nominal=context.nominal, attempt=context.attempt,
                reason=context.reason, at=self.at(),
                highest_ms=max(self._highest_ms, self._wall_ms()),
            )  # fmt: skip
            self.witness.called(call)
            end = self._open[context.task] = self._loop.create_future()
            well = await end
            self.witness.ended(call, "success" if well else "failure", self.at())
            if not well:
                raise ValueError("no")

        return callback

    def _end_runs(self, *, well: bool) -> None:
        for end in self._open.values():
            if not end.done():
                end.set_result(well)
        self._open.clear()

    def mark(self) -> Mark:
        return self.court.mark(self.at(), self._wall_ms())

    def written(self, change: Change, mark: Mark, *, is_new_owner: bool) -> None:
        if is_new_owner:
            self.court.owned(mark, change.t_ms)
        for event in trace_events(change.entries):
            self.court.written(event)
            self.witness.written(event, self.court.registered)
        self.court.settled(mark)


class _Opener:
    """Opens the journal of a scene for one life."""

    name = "scene"

    def __init__(self, scene: _Scene, life: int) -> None:
        self._scene, self._life = scene, life

    async def open(self) -> Journal:
        self._check()
        return watched(self._scene.shelf, self._alive, self._scene, f"life {self._life}")

    async def _alive(self, name: str, act: Callable[[], Awaitable[_T]]) -> _T:
        self._check()
        return await act()

    def _check(self) -> None:
        if self._scene.life != self._life:
            raise Crash


async def _breathe() -> None:
    """Let everybody who is ready go on."""
    for _ in range(_BREATHS):
        await asyncio.sleep(0)


def _ignore(event: Event) -> None:
    """The event is not written down."""
