"""
A world: a cluster in memory, operators that live and die, people, and time that passes by itself.

The operators are the real ones. For a while everything happens as planned; then the world is
healed and given time to come to rest, and the judge is asked. A period counts as lost only if an
operator that nothing disturbed had `ABLE_S` seconds for it within its deadline.

Spec: OSIM-1 to OSIM-5.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import NamedTuple

from gnomon.apps.operator.controller import Controller, LeaseAt
from gnomon.ports.kubernetes import (
    API_VERSION,
    Answer,
    Call,
    Create,
    Denial,
    Done,
    Kind,
    Object,
    Seen,
)
from gnomon.shell.observe.log import LOGGER
from gnomon.simulation.dice import Dice
from gnomon.simulation.faults import Crash
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import Happened, SimulatedServer, metadata_of
from gnomon.simulation.loop import WORKER, Stuck, VirtualLoop
from gnomon.simulation.operator.judge import TOLERANCE_S, Judge
from gnomon.simulation.operator.people import NAMESPACE, People
from gnomon.simulation.operator.plan import MEDDLING, Blow, Errand, Spec, Strike, World
from gnomon.simulation.operator.scrutiny import scrutinize
from gnomon.simulation.operator.telling import summary
from gnomon.simulation.operator.way import Way
from gnomon.simulation.process import hearing, silent
from gnomon.simulation.record import Notes

__all__ = ["ABLE_S", "Trial", "run_world"]

STEPS_MAX = 400_000
ABLE_S = 12
"""So long an operator that nothing disturbs may take until a period that is due is executed."""
REST_MS = 150_000
_CONTROLLERS_MS = 500
_LATE_S = 65
"""A call that comes late has come by then."""
_RESTARTS_MS = (0, 200, 3_000, 10_000)
_IN_ORDER_S = 1e-6
"""What happens in one millisecond has its order for the judge, too."""
_CALM_MS = 3_000
_HANDOVER_MS = 22_000
"""So long it takes after a leader has fallen silent until another one works."""
"""A call that failed disturbs its caller for so long after it."""

_Task = asyncio.Task[object]


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[str]
    notes: Notes
    calls: int
    """How many calls there were while faults could happen."""
    due: int
    executions: int
    candidates: int
    """Jobs that were made and never released."""
    lasted_ms: int


def run_world(spec: Spec) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    with silent(LOGGER):
        world = OperatorWorld(spec)
        try:
            return world.live()
        finally:
            world.close()


@dataclass(slots=True, kw_only=True)
class _Life:
    way: Way
    controller: Controller
    slot: int
    is_frozen: bool = False
    tasks: list[_Task] = field(default_factory=list)


class OperatorWorld:
    """Also the `Nature` that ways need, and what people act upon."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.notes = Notes()
        self.dice = Dice(spec.seed, "nature")
        self.calls = 0
        self.blows: Mapping[int, Blow] = {blow.call: blow for blow in spec.blows}
        self.denied: dict[Kind, Denial] = {}
        self.server = SimulatedServer(self.now_ms, namespaces=(NAMESPACE,))
        self.server.on_change.append(self._see)
        self.skews_ms: dict[int, int] = defaultdict(int)
        self.judge = Judge(f"operator-{slot}" for slot in range(spec.operators))
        stalls = (Strike.FREEZES, Strike.LATE, Strike.LATE_DEAD)
        is_stalled = any(blow.strike in stalls for blow in spec.blows)
        self.judge.stall_s = _LATE_S if is_stalled else TOLERANCE_S
        self.lives: dict[str, _Life] = {}
        self._actor = ""
        self._dead: list[_Task] = []
        self._disturbed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._context = copy_context()
        self._loop = VirtualLoop(Dice(spec.seed, "order"), steps_max=STEPS_MAX)
        self._loop.hold = self._is_frozen
        self._loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self._loop.set_exception_handler(hearing(self.notes))
        self._people = People(self, Dice(spec.seed, "people"))
        self._births = self._calls = 0
        self._is_over = False

    def at(self) -> int:
        return round(self._loop.time() * 1000)

    def now_ms(self) -> int:
        return self.spec.start_s * 1000 + self.at()

    def act_as(self, name: str, call: Call) -> Answer:
        self._actor = name.partition(".")[0]
        try:
            return self.server.send(call)
        finally:
            self._actor = ""

    def kill(self, name: str) -> None:
        life = self.lives.pop(name)
        self._dead += life.tasks
        self.notes.log(self.at(), name, "dies")
        life.way.alive = False
        if bugs := life.controller.figures.bugs:
            self.notes.surprises.append(f"{bugs} passes of {name} raised")
        for task in life.tasks:
            if not task.done() and task is not asyncio.current_task(self._loop):
                task.cancel()
        self._loop.thaw()
        pause_ms = self.dice.pick(_RESTARTS_MS)
        self.disturb(name, pause_ms)
        self.later(pause_ms, lambda: self._bear(life.slot))

    def freeze(self, name: str, length_ms: int) -> None:
        self.disturb(name, length_ms)
        self.lives[name].is_frozen = True
        self.later(length_ms, lambda: self._thaw(name))

    def disturb(self, name: str, length_ms: int) -> None:
        if self.spec.has_lease:  # until another one leads
            self.disturb_all(length_ms + _HANDOVER_MS)
            return
        slot = int(name.partition("-")[2].partition(".")[0])
        self._disturbed[slot].append((self.at(), self.at() + length_ms + _CALM_MS))

    def disturb_all(self, length_ms: int) -> None:
        for slot in range(self.spec.operators):
            self._disturbed[slot].append((self.at(), self.at() + length_ms + _CALM_MS))

    def meddle(self) -> None:
        errand = Errand(self.at(), self.dice.pick(MEDDLING), self.dice.below(1_000))
        self._people.act(errand)

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no operator."""
        return self._loop.call_later(length_ms / 1000, act, context=self._context)

    def live(self) -> Trial:
        complaints: list[str] = []
        try:
            self._loop.run_until_complete(self._course())
        except Stuck as stuck:
            complaints.append(f"stuck at {self.at()}: {stuck}")
        judge, until = self.judge, self.now_ms() / 1000
        complaints += [
            *judge.twice(), *judge.lost(until=until, able=self._were_able), *judge.lies(),
            *scrutinize(judge, until=until), *self.notes.surprises,
        ]  # fmt: skip
        executions = sum(job.is_execution for job in judge.jobs.values())
        due = sum(1 for one in judge.kronjobs.values() for _ in judge.due(one, until=until))
        return Trial(
            complaints, self.notes, self._calls, due, executions, len(judge.jobs) - executions,
            self.at(),
        )  # fmt: skip

    def close(self) -> None:
        self._is_over = True
        self._loop.steps = 0  # to die takes a few more
        for name in list(self.lives):
            self.kill(name)
        if left := [task for task in self._dead if not task.done()]:
            self._loop.run_until_complete(asyncio.wait(left))
        for task in self._dead:
            if not task.cancelled():
                task.exception()  # it is of a dead operator, and no wonder
        self._loop.close()

    async def _course(self) -> None:
        spec = self.spec
        for number, words in enumerate(spec.kronjobs):
            self.make(number, words)
        for errand in spec.errands:
            self.later(errand.at, lambda one=errand: self._people.act(one))  # type: ignore[misc]
        for slot in range(spec.operators):
            self._bear(slot)
        until = spec.length_ms
        while self.at() < until:
            await self._controllers()
        self._heal()
        until = self.at() + REST_MS
        while self.at() < until:
            await self._controllers()

    def make(self, number: int, words: Object) -> None:
        name = f"report-{number}"
        one = {
            "apiVersion": API_VERSION, "kind": "KronJob", "metadata": {"name": name},
            "spec": words,
        }  # fmt: skip
        assert isinstance(self.act_as("person", Create(Kind.KRONJOB, NAMESPACE, one)), Done)

    async def _controllers(self) -> None:
        """The controllers of the cluster look, and sleep."""
        run_jobs(self.server, self._lasts_s, fails=self._fails)
        collect_garbage(self.server)
        sparse = 30 if self.spec.world is World.CALENDAR else 1
        await asyncio.sleep(_CONTROLLERS_MS * sparse / 1000)

    def _lasts_s(self, job: Object) -> int:
        return self.spec.lasts_s[self._number(job) % len(self.spec.lasts_s)]

    def _fails(self, job: Object) -> bool:
        return Dice(self.spec.seed, "fails", self._number(job)).chance(self.spec.fails)

    def _number(self, job: Object) -> int:
        return int(str(metadata_of(job)["uid"]).rpartition("-")[2])

    def _heal(self) -> None:
        self.notes.log(self.at(), "", "healed")
        self._calls = self.calls
        self.blows = {}
        self._people.heal()

    def _were_able(self, first: float, last: float) -> bool:
        """Whether an operator had so many seconds without a disturbance."""
        begin = round(first * 1000) - self.spec.start_s * 1000
        end = round(last * 1000) - self.spec.start_s * 1000
        for slot in range(self.spec.operators):
            free = begin
            for start, stop in sorted(self._disturbed[slot]):
                if min(start, end) - free >= ABLE_S * 1000:
                    return True
                free = max(free, stop)
            if end - free >= ABLE_S * 1000:
                return True
        return False

    def _see(self, happened: Happened) -> None:
        """The judge looks on."""
        now = self.now_ms() / 1000 + happened.version * _IN_ORDER_S
        one, by = happened.object, self._actor
        if happened.kind in (Kind.JOB, Kind.KRONJOB):
            self.notes.log(self.at(), by, f"{happened.seen} {summary(happened)}")
        if happened.seen is Seen.DELETED:
            metadata = metadata_of(one)
            self.judge.see_deletion(
                happened.kind, str(metadata["uid"]), str(metadata["name"]), now, by=by
            )
        elif happened.kind in (Kind.JOB, Kind.KRONJOB):
            word = "Job" if happened.kind is Kind.JOB else "KronJob"
            before = happened.before
            is_status = before is not None and before.get("status") != one.get("status")
            self.judge.see_object({**one, "kind": word}, now, by=by, is_status=is_status)

    def _bear(self, slot: int) -> None:
        """An operator begins, with nothing in its memory."""
        if self._is_over:
            return
        self._births += 1
        name = f"operator-{slot}.{self._births}"
        way = Way(self, name)
        lease = LeaseAt(NAMESPACE, "gnomon-operator") if self.spec.has_lease else None
        controller = Controller(way, _Clock(self, way, slot), reporter=name, lease=lease)
        self.lives[name] = _Life(way=way, slot=slot, controller=controller)
        self.notes.log(self.at(), name, "begins")
        context = self._context.copy()
        context.run(WORKER.set, name)
        self._loop.create_task(self._work(controller), context=context)

    async def _work(self, controller: Controller) -> None:
        try:
            await controller.run()
        except Exception as error:
            self.notes.surprises.append(f"an operator ended with {error!r}")
            raise

    def _thaw(self, name: str) -> None:
        if (life := self.lives.get(name)) is not None:
            life.is_frozen = False
        self._loop.thaw()

    def _is_frozen(self, name: str) -> bool:
        life = self.lives.get(name)
        return life is not None and life.is_frozen

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[None, None, object],
        context: Context | None = None,
    ) -> _Task:  # fmt: skip
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owner = WORKER.get() if context is None else context.get(WORKER, "")
        if (life := self.lives.get(owner)) is not None:
            life.tasks.append(task)
        elif owner:
            self._dead.append(task)
        return task


class _Clock:
    """The clocks as one operator reads them; the one on its wall may be wrong."""

    def __init__(self, world: OperatorWorld, way: Way, slot: int) -> None:
        self._world, self._way, self._slot = world, way, slot

    def now_ms(self) -> int:
        self._check()
        return self._world.now_ms() + self._world.skews_ms[self._slot]

    def monotonic_ms(self) -> int:
        self._check()
        return self._world.at()

    async def sleep_ms(self, length_ms: int) -> None:
        self._check()
        await asyncio.sleep(max(length_ms, 0) / 1000)
        self._check()

    def _check(self) -> None:
        if not self._way.alive:
            raise Crash
