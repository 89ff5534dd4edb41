"""
A world: a process with a workflow host in it that lives and dies, and a store that stays.

The host is the real one over a real SQLite database; simulated are time, the process, the system
outside and the person. Things go wrong as planned; once all items are there and the errands run, a
time that is long enough for every wait there is must be enough for everything to come to rest.

Spec: WSIM-1 to WSIM-7.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import NamedTuple

from gnomon.apps.workflow.desk import Desk
from gnomon.apps.workflow.events import LOGGER
from gnomon.apps.workflow.forgetting import KEEP_MIN_MS
from gnomon.apps.workflow.host import Host
from gnomon.errors import DefinitionError, StoreError
from gnomon.shell.store.workflow_examination import examine_rows
from gnomon.simulation.clock import GatedClock, Wall
from gnomon.simulation.dice import Dice
from gnomon.simulation.faults import Crash, Fault
from gnomon.simulation.gate import Gate, Nature
from gnomon.simulation.loop import WORKER, Stuck, VirtualLoop
from gnomon.simulation.record import Notes
from gnomon.simulation.workflow.audit import Auditor, audit, is_at_rest
from gnomon.simulation.workflow.log import GatedLog, MemoryStore, Store
from gnomon.simulation.workflow.outside import Outside
from gnomon.simulation.workflow.person import Person
from gnomon.simulation.workflow.plan import START_MS, Do, Errand, Spec
from gnomon.simulation.workflow.script import NAME, make_workflow

__all__ = ["Trial", "run_world"]

STEPS_MAX = 400_000
LOOK_MS = 47_000
"""How often the person looks."""
REST_LOOK_MS = 5_000
REST_MAX_MS = 6 * 3_600_000
"""So long it may take after the world was healed until everything has come to rest: where a person
must decide about every mutation, and looks now and then, two hours are not enough."""
TRY_AGAIN_MS = 1_000
_RESTARTS_MS = (0, 200, 4_000, 25_000, 100_000)

_Task = asyncio.Task[object]


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[str]
    notes: Notes
    calls: int
    """How many calls there were, of the store and of everything outside."""
    runs: int
    applications: int
    lasted_ms: int


def run_world(spec: Spec, make_store: Callable[[], Store] = MemoryStore) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    level = LOGGER.level
    LOGGER.setLevel(logging.CRITICAL + 1)
    world = _World(spec, make_store())
    try:
        return world.live()
    finally:
        world.close()
        LOGGER.setLevel(level)


@dataclass(slots=True, kw_only=True)
class _Life:
    """One process, from its beginning to its end."""

    name: str
    gate: Gate[Nature]
    host: Host
    context: Context
    frozen: bool = False
    tasks: list[_Task] = field(default_factory=list)


class _World:
    """Also the `Nature` that gates need."""

    def __init__(self, spec: Spec, store: Store) -> None:
        self.spec = spec
        self.notes = Notes()
        self.dice = Dice(spec.seed, "nature")
        self.behaviour = Dice(spec.seed, "behaviour")
        self.calls = 0
        self.faults: Mapping[int, Fault] = {fault.call: fault for fault in spec.faults}
        self.outside = Outside(spec.items)
        self.log = store.log
        self._store = store
        self.at_work: list[str] = []
        self._complaints: list[str] = []
        self._auditor = Auditor(store.tables)
        self._context = copy_context()
        self._loop = VirtualLoop(Dice(spec.seed, "order"), steps_max=STEPS_MAX)
        self._loop.hold = self._is_frozen
        self._loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self._loop.set_exception_handler(self._hear)
        self._wall = Wall(START_MS, self._loop)
        desk = Desk(self.log, _FreeClock(self._wall), ring=self._ring)
        self._person = Person(self, desk, Dice(spec.seed, "person"))
        self._life: _Life | None = None
        self._dead: list[_Task] = []
        self._births = 0
        self._is_healed = False
        self._is_judged = False
        self._is_over = False

    def at(self) -> int:
        return self._wall.at()

    def complain(self, text: str) -> None:
        self._complaints.append(f"at {self.at()}: {text}")

    def kill(self, worker: str) -> None:
        life = self._life
        assert life is not None
        assert life.name == worker
        self._life = None
        self.notes.log(self.at(), worker, "dies")
        if not self._is_over:
            self.notes.hit(f"died during {self.at_work[0]}" if self.at_work else "died")
        self.at_work.clear()
        life.gate.alive = False
        self._store.abandon()
        current = asyncio.current_task(self._loop)
        left = [task for task in life.tasks if not task.done()]
        self._dead += left
        for task in left:
            if task is not current:
                task.cancel()
        self._loop.thaw()
        self.later(self.dice.pick(_RESTARTS_MS), self._bear)

    def freeze(self, worker: str, length_ms: int) -> None:
        assert self._life is not None
        self._life.frozen = True
        self.later(length_ms, lambda: self._thaw(worker))

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no process."""
        return self._loop.call_later(length_ms / 1000, act, context=self._context)

    def live(self) -> Trial:
        try:
            self._loop.run_until_complete(self._course())
        except Stuck as stuck:
            self.complain(f"stuck: {stuck}")
        except (Exception, SystemExit) as error:
            self._be_surprised(error)
        if not self._is_judged:
            self._judge()
        (runs,) = self._store.tables().execute("SELECT count(*) FROM runs").fetchone()
        return Trial(
            self._complaints + self.notes.surprises, self.notes, self.calls, runs,
            len(self.outside.applications), self.at(),
        )  # fmt: skip

    def close(self) -> None:
        self._is_over = True
        self._loop.steps = 0  # to die takes a few more
        if self._life is not None:
            self.kill(self._life.name)
        for _ in range(20):
            left = [task for task in self._dead if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            self._loop.run_until_complete(_breathe())
        for task in self._dead:
            if task.done() and not task.cancelled():
                task.exception()  # somebody has looked
        self._store.close()
        self._loop.close()

    async def _course(self) -> None:
        spec = self.spec
        for errand in spec.errands:
            self.later(errand.at, lambda one=errand: self._send(one))  # type: ignore[misc]
        for number, at in enumerate(spec.pushed, 1):
            self.later(at, lambda item=f"x{number}": self._push(item))  # type: ignore[misc]
        self._bear()
        last = max([*spec.items, *spec.pushed, *(errand.at for errand in spec.errands)])
        await self._looking(last + 1)
        self._is_healed = True
        until = self.at() + REST_MAX_MS
        while self.at() < until and not is_at_rest(self._store.tables(), self._items()):
            await self._looking(REST_LOOK_MS)
        self._judge()

    def _judge(self) -> None:
        """Now, and not when the loop has stopped: what is ready by then has begun something new."""
        self._is_judged = True
        self._examine()
        self._complaints += audit(self._store.tables(), self.outside, self._items())

    def _examine(self) -> None:
        """Whatever has happened, a doctor finds nothing wrong with the store."""
        for one in examine_rows(self._store.tables()):
            self.complain(f"the doctor finds: {one.subject} {one.problem}")

    async def _looking(self, length_ms: int) -> None:
        """Let so much time pass, with a person who looks now and then."""
        until = self.at() + length_ms
        while self.at() < until:
            await asyncio.sleep(min(until - self.at(), LOOK_MS) / 1000)
            await self._person.look(healed=self._is_healed)

    def _items(self) -> list[str]:
        pushed = [f"x{number}" for number in range(1, len(self.spec.pushed) + 1)]
        return self.outside.feed(1 << 60) + pushed

    def _push(self, item: str) -> None:
        async def push() -> None:
            if not await self._person.push(item):
                self.later(TRY_AGAIN_MS, lambda: self._push(item))

        self._loop.create_task(self._watched(push), context=self._context)

    def _send(self, errand: Errand) -> None:
        self.notes.hit(f"errand {errand.do}")
        self.notes.log(self.at(), "", f"errand {errand.do} {errand.which}")
        if errand.do is Do.KILL:
            if self._life is not None:
                self.kill(self._life.name)
            return
        life = self._life
        if errand.do is Do.DEPLOY and life is not None:
            work = self._watched(lambda: self._deploy(life, f"# version {errand.which}"))
            self._loop.create_task(work, context=life.context)
        else:
            work = self._watched(lambda: self._run_errand(errand))
            self._loop.create_task(work, context=self._context)

    async def _deploy(self, life: _Life, text: str) -> None:
        with suppress(DefinitionError, StoreError):
            await life.host.deploy(make_workflow(life.gate, self), text=text)

    async def _run_errand(self, errand: Errand) -> None:
        if await self.log.load(NAME) is not None:
            await self._person.run_errand(errand)

    def _bear(self) -> None:
        """A process begins, with nothing in its memory."""
        if self._is_over:
            return
        self._births += 1
        self._examine()
        name = f"p{self._births}"
        gate: Gate[Nature] = Gate(self, name)
        context = self._context.copy()
        context.run(WORKER.set, name)
        self.notes.log(self.at(), name, "begins")
        log = GatedLog(self.log, gate, self._written)
        clock = GatedClock(self._wall, gate)
        host = Host(log, clock, holder=name, threads=0, keep_ms=KEEP_MIN_MS)
        life = self._life = _Life(name=name, gate=gate, host=host, context=context)
        work = self._watched(lambda: self._begin(life))
        self._loop.create_task(work, context=context)

    async def _begin(self, life: _Life) -> None:
        """What the program around a host does: deploy and start, and again if it must."""
        while True:
            try:
                await life.host.deploy(make_workflow(life.gate, self))
                await life.host.start()
                return
            except StoreError:
                await asyncio.sleep(TRY_AGAIN_MS / 1000)

    def _written(self) -> None:
        for text in self._auditor.look():
            self.complain(text)

    def _ring(self, workflow: str) -> None:
        life = self._life
        if life is not None and self.dice.chance(50):  # otherwise it must see for itself
            self._loop.call_soon(life.host.look, context=life.context)

    async def _watched(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        try:
            await work()
        except Exception as error:
            self._be_surprised(error)

    def _be_surprised(self, error: BaseException) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        self.notes.surprises.append(f"{error!r} in {where.name}, line {where.lineno}")

    def _thaw(self, name: str) -> None:
        if self._life is not None and self._life.name == name:
            self._life.frozen = False
        self._loop.thaw()

    def _is_frozen(self, name: str) -> bool:
        life = self._life
        return life is not None and life.frozen and life.name == name

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[None, None, object],
        context: Context | None = None,
    ) -> _Task:  # fmt: skip
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owner = WORKER.get() if context is None else context.get(WORKER, "")
        life = self._life
        if life is not None and life.name == owner:
            life.tasks.append(task)
            if len(life.tasks) > 256:
                life.tasks = [one for one in life.tasks if not one.done()]
        elif owner:
            self._dead.append(task)
        return task

    def _hear(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """What nobody caught: of a dead process it is no wonder, else it is."""
        error = context.get("exception")
        if not isinstance(error, Crash | asyncio.CancelledError):
            self.notes.surprises.append(f"{context.get('message')}: {error!r}")


class _FreeClock:
    """The clock as a person reads it."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall

    def now_ms(self) -> int:
        return self._wall.now_ms()

    def monotonic_ms(self) -> int:
        return self._wall.at()

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(length_ms / 1000)


async def _breathe() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
