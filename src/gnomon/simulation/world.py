"""
A world: workers that live and die, one ledger that stays, and time that passes by itself.

The workers are the real runtime over a real ledger, on SQLite unless another store is given; only
what is outside of them is simulated. For a while faults happen as planned; then the world is
healed, no more faults happen, and it is given time to come to rest. What is left is judged.

Spec: SIM-1 to SIM-3, SIM-9, SIM-22.
"""

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from gnomon.apps.service.run_launcher import RunLauncher
from gnomon.core.engine import USUAL, Change, Limits
from gnomon.core.ledger.lifecycle import State
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import StoreError
from gnomon.ports import Ledger
from gnomon.ports.workflow_store import StoredDag
from gnomon.shell.observe.log import LOGGER
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow import SqliteWorkflowStore
from gnomon.shell.worker.runtime import Runtime
from gnomon.simulation.aftermath import Aftermath, audit_of, is_at_rest, look
from gnomon.simulation.case import window
from gnomon.simulation.clock import GatedClock, Wall
from gnomon.simulation.dice import Dice
from gnomon.simulation.faults import Fault, Step
from gnomon.simulation.gate import Gate
from gnomon.simulation.judge import Complaint, judge
from gnomon.simulation.launcher import Outside, SimulatedExecutor, SimulatedLauncher, Way
from gnomon.simulation.ledger import GatedLedger
from gnomon.simulation.loop import WORKER, Stuck, VirtualLoop
from gnomon.simulation.matcher import owed
from gnomon.simulation.people import People
from gnomon.simulation.process import hearing, hearkened
from gnomon.simulation.record import Effect, Notes, Record, Settled, ToldLost
from gnomon.simulation.workload import Workload

__all__ = ["MemoryStore", "Spec", "Store", "Trial", "run_world"]

STEPS_MAX = 30_000
"""Five times what the busiest world takes."""
REST_MAX_MS = 900_000
"""How long a healed world may take to come to rest: three times what the slowest takes."""
REST_LOOK_MS = 5_000
_DAG = StoredDag("u", "w", 1, "", "{}", 0)
_RESTARTS_MS = (0, 200, 4_000, 4_000, 25_000, 100_000)

_Task = asyncio.Task[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Everything that decides what happens in a world."""

    seed: int
    workload: Workload
    workers: int = 1
    faults: tuple[Fault, ...] = ()
    steps: tuple[Step, ...] = ()
    limits: Limits = USUAL


class Store(Protocol):
    """Where the ledger of a world is kept; it is empty when the world begins."""

    def open(self) -> Ledger:
        """The ledger as one more process would reach it, each call done when it is made."""
        ...

    def close(self) -> None: ...


class MemoryStore:
    """A database in memory, which all processes of a world share."""

    def __init__(self) -> None:
        self._database = Database(MEMORY, family="ledger")

    def open(self) -> Ledger:
        return SqliteLedger(self._database, executor=None, ownership=None)

    def close(self) -> None:
        self._database.close()


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[Complaint]
    record: Record
    calls: int
    """How many calls of ports there were while faults could happen."""
    lasted_ms: int


def run_world(spec: Spec, make_store: Callable[[], Store] = MemoryStore) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    world = _World(spec, make_store())
    with hearkened(LOGGER, "run lost", world.hear_loss):
        try:
            return world.live()
        finally:
            world.close()


@dataclass(slots=True, kw_only=True)
class _Worker:
    gate: Gate["_World"]
    launcher: SimulatedLauncher | RunLauncher
    runtime: Runtime
    slot: int
    frozen: bool = False
    tasks: list[_Task] = field(default_factory=list)


class _World:
    """Also the `Nature` that gates need."""

    def __init__(self, spec: Spec, store: Store) -> None:
        self.spec = spec
        limits = spec.limits
        self.record = Record(
            catchup_max=limits.catchup_max, tick_ms=limits.tick_ms, on_time_ms=limits.on_time_ms,
            lookahead_ms=limits.lookahead_ms,
            outage_alone=bool(spec.workload.outage and not spec.faults and not spec.steps),
        )  # fmt: skip
        self.notes: Notes = self.record
        self.dice = Dice(spec.seed, "nature")
        self.calls = 0
        self.faults: Mapping[int, Fault] = {fault.call: fault for fault in spec.faults}
        self._context = copy_context()
        self._loop = VirtualLoop(Dice(spec.seed, "order"), steps_max=STEPS_MAX)
        self._loop.hold = self._is_frozen
        self._loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self._loop.set_exception_handler(hearing(self.record))
        self._wall = Wall(spec.workload.start_ms, self._loop)
        self._store = store
        self._ledger = store.open()
        work = spec.workload
        self._outside = Outside(
            self, spec.seed, work.way, self._wall.now_ms, work.lengths_ms, work.ends_ms
        )
        self._dags = Database(MEMORY, family="ledger")
        self._workflows = SqliteWorkflowStore(self._dags, executor=None)
        self._workers: dict[str, _Worker] = {}
        self._dead: list[_Worker] = []
        self._people = People(
            self._ledger, work, self.record, self._loop, self._wall.now_ms, self.later
        )
        self._births = 0
        self._calls = 0
        self._is_over = False

    def at(self) -> int:
        return self._wall.at()

    def shown_ms(self) -> int:
        return self._wall.highest_ms

    def kill(self, worker: str) -> None:
        self._kill(worker, self.dice.pick(_RESTARTS_MS))

    def _kill(self, worker: str, back_ms: int) -> None:
        dying = self._workers.pop(worker)
        self._dead.append(dying)
        self.record.log(self.at(), worker, "dies")
        dying.gate.alive = False
        if isinstance(dying.launcher, SimulatedLauncher):
            self._outside.worker_died(dying.launcher)
        for task in dying.tasks:
            if not task.done() and task is not asyncio.current_task(self._loop):
                task.cancel()
        self._loop.thaw()
        self.later(back_ms, lambda: self._bear(dying.slot))

    def freeze(self, worker: str, length_ms: int) -> None:
        self.record.log(self.at(), worker, f"frozen for {length_ms}")
        self._workers[worker].frozen = True
        self.later(length_ms, lambda: self._thaw(worker))

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no worker."""
        return self._loop.call_later(length_ms / 1000, act, context=self._context)

    def live(self) -> Trial:
        found = Aftermath([], [])
        try:
            found = self._loop.run_until_complete(self._course())
        except Stuck as stuck:
            self.record.surprises.append(f"stuck at {self.at()}: {stuck}")
        complaints = judge(self.spec.workload.schedules, self.record, found.rows)
        complaints += audit_of(found, self.record.saved_ms)
        return Trial(complaints, self.record, self._calls, self.at())

    def close(self) -> None:
        self._is_over = True
        self._loop.steps = 0  # to die takes a few more
        for worker in list(self._workers):
            self.kill(worker)
        tasks = [task for one in self._dead for task in one.tasks]
        if left := [task for task in tasks if not task.done()]:
            self._loop.run_until_complete(asyncio.wait(left))
        for task in tasks:
            if not task.cancelled():
                task.exception()  # now asyncio does not complain that it was never retrieved
        self._dags.close()
        self._store.close()
        self._loop.close()

    async def _course(self) -> Aftermath:
        workload = self.spec.workload
        await self._workflows.put(_DAG)
        await self._save()
        for step in self.spec.steps:
            self.later(step.at, lambda by_ms=step.by_ms: self._step(by_ms))  # type: ignore[misc]
        self._people.plan()
        if (outage := workload.outage) is not None:
            self.later(outage.at, lambda: self._be_away(outage.length_ms))
        for slot in range(self.spec.workers):
            self._bear(slot)
        await asyncio.sleep(workload.length_ms / 1000)
        self._heal()
        limit = self.at() + REST_MAX_MS
        while self.at() < limit:
            if await is_at_rest(self._ledger, self.record.deleted):
                break
            await asyncio.sleep(REST_LOOK_MS / 1000)
        await self._stop()
        return await look(self._ledger, self.record.deleted)

    async def _save(self) -> None:
        for record in self.spec.workload.schedules:
            now_ms, schedule = self._wall.now_ms(), read_schedule(record)
            saved = await self._ledger.save(schedule, now_ms=now_ms)
            self.record.saved_ms[saved.schedule_id] = now_ms
            before_ms, after_ms = window(record)
            nominals = owed(record, (now_ms - after_ms) // 1000, (now_ms + before_ms) // 1000 + 1)
            self.record.open_when_saved[saved.schedule_id] = [
                nominal for nominal in nominals if _is_ahead(schedule, nominal, now_ms)
            ]
            self.record.in_force_ms[saved.schedule_id] = [now_ms]

    def _heal(self) -> None:
        self.record.log(self.at(), "", "healed")
        self._calls = self.calls
        self.faults = {}
        self._wall.catch_up()

    async def _stop(self) -> None:
        """Ask every worker to stop, and see that it does."""
        for worker in list(self._workers.values()):
            await worker.runtime.stop(grace_ms=5_000)

    def _step(self, by_ms: int) -> None:
        self.record.hit(f"clock set {'forward' if by_ms > 0 else 'back'}")
        self.record.log(self.at(), "", f"clock {by_ms:+d}")
        self.record.is_disturbed = self.record.clock_was_set = True
        self._wall.step(by_ms)

    def _be_away(self, length_ms: int) -> None:
        """Every worker is gone, for as long."""
        self.record.hit("outage of all workers")
        self.record.is_disturbed = True
        for worker in list(self._workers):
            self._kill(worker, length_ms)

    def hear_loss(self, facts: Mapping[str, object]) -> None:
        """A worker tells that it has lost a run."""
        worker, key, fence = WORKER.get(), str(facts["key"]), int(str(facts["fence"]))
        self.record.lost.append(ToldLost(worker, key, fence, self.record.next_no()))

    def call_back(self, effect: Effect) -> None:
        self._people.call_back(effect)

    async def interject(self, schedule_ids: Sequence[str]) -> None:
        await self._people.interject(schedule_ids)

    def _bear(self, slot: int) -> None:
        """A worker begins, with nothing in its memory."""
        if self._is_over:
            return
        self._births += 1
        name = f"w{slot}.{self._births}"
        gate = Gate(self, name)
        ledger = GatedLedger(self._store.open(), gate)
        clock = GatedClock(self._wall, gate)
        launcher: SimulatedLauncher | RunLauncher = SimulatedLauncher(gate, self._outside)
        if self.spec.workload.way is Way.ELSEWHERE:
            executor = SimulatedExecutor(gate, self._outside)
            launcher = RunLauncher(self._workflows, executor, clock, given=self._params_of)
        runtime = Runtime(
            ledger, launcher, clock, name, limits=self.spec.limits,
            tell=lambda changes: self._hear(name, changes),
        )  # fmt: skip
        worker = _Worker(gate=gate, launcher=launcher, runtime=runtime, slot=slot)
        self._workers[name] = worker
        self.record.log(self.at(), name, "begins")
        context = self._context.copy()
        context.run(WORKER.set, name)
        self._loop.create_task(self._work(worker), context=context)

    def _hear(self, worker: str, changes: Sequence[Change]) -> None:
        """What a worker tells of the periods that are over by what it has decided."""
        for change in changes:
            for fact in change.facts:
                if fact.state is State.DONE:
                    self.record.settled.append(
                        Settled(
                            change.schedule.schedule_id, fact.key, fact.nominal, fact.periods,
                            fact.outcome and fact.outcome.value, fact.reason and fact.reason.value,
                            worker,
                        )
                    )  # fmt: skip

    async def _params_of(self, key: str) -> str | None:
        row = await self._ledger.run(key)
        return None if row is None else row.params

    async def _work(self, worker: _Worker) -> None:
        """As a program does that is to run for ever."""
        while self.spec.workers == 1:  # it is alone, so what it finds in flight is lost
            try:
                await worker.runtime.recover()
                break
            except StoreError:
                await asyncio.sleep(1)
        try:
            await worker.runtime.run()
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.record.surprises.append(f"{error!r} in {where.name}, line {where.lineno}")
            raise

    def _thaw(self, name: str) -> None:
        worker = self._workers.get(name)
        if worker is not None:
            self.record.log(self.at(), name, "goes on")
            worker.frozen = False
        self._loop.thaw()

    def _is_frozen(self, name: str) -> bool:
        worker = self._workers.get(name)
        return worker is not None and worker.frozen

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[None, None, object],
        context: Context | None = None,
    ) -> _Task:  # fmt: skip
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owner = WORKER.get() if context is None else context.get(WORKER, "")
        if (worker := self._workers.get(owner)) is not None:
            worker.tasks.append(task)
        return task


def _is_ahead(schedule: Schedule, nominal: int, saved_ms: int) -> bool:
    """Whether a window is open with its instant ahead, or with none; a jitter is no window."""
    chosen_ms, end_ms = schedule.chosen_ms(nominal), nominal * 1000 + schedule.tail_ms
    return not schedule.jitter_ms and (end_ms if chosen_ms is None else chosen_ms) >= saved_ms
