"""
A world: workers that live and die, one ledger that stays, and time that passes by itself.

The workers are the real runtime over a real ledger, on SQLite unless another store is given; only
what is outside of them is simulated. For a while faults happen as planned; then the world is
healed, no more faults happen, and it is given time to come to rest. What is left is judged.

Spec: SIM-1 to SIM-3, SIM-9, SIM-22.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from gnomon.apps.service.run_launcher import RunLauncher
from gnomon.core.ledger.lifecycle import State
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import StoreError
from gnomon.ports import Committed, Ledger, Observer
from gnomon.ports.dag import StoredDag
from gnomon.shell.observe.log import LOGGER
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.worker.runtime import Runtime
from gnomon.simulation.kit.campaign import Deaths, Scenario
from gnomon.simulation.kit.clock import GatedClock
from gnomon.simulation.kit.faults import Step
from gnomon.simulation.kit.gate import Gate
from gnomon.simulation.kit.loop import WORKER
from gnomon.simulation.kit.matcher import owed
from gnomon.simulation.kit.notes import Complaint, Notes
from gnomon.simulation.kit.world import Life, SimulatedWorld, overheard
from gnomon.simulation.ledger.aftermath import Aftermath, audit_of, is_at_rest, look
from gnomon.simulation.ledger.case import window
from gnomon.simulation.ledger.judge import judge
from gnomon.simulation.ledger.launcher import Outside, SimulatedExecutor, SimulatedLauncher, Way
from gnomon.simulation.ledger.onlooker import LedgerNature, watched
from gnomon.simulation.ledger.people import People
from gnomon.simulation.ledger.plan import Spec, World, draw_spec
from gnomon.simulation.ledger.record import Effect, Record, Settled, ToldLost

__all__ = ["SCENARIO", "LedgerInMemory", "LedgerStore", "Trial", "run_world"]

STEPS_MAX = 30_000
"""Five times what the busiest world takes."""
REST_MAX_MS = 900_000
"""How long a healed world may take to come to rest: three times what the slowest takes."""
REST_LOOK_MS = 5_000
_DAG = StoredDag("u", "w", 1, "", "{}", 0)
_RESTARTS_MS = (0, 200, 4_000, 4_000, 25_000, 100_000)


class LedgerStore(Protocol):
    """Where the ledger of a world is kept; it is empty when the world begins."""

    def open(self) -> Ledger:
        """The ledger as one more process would reach it, each call done when it is made."""
        ...

    def close(self) -> None: ...


class LedgerInMemory:
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
    figures: Mapping[str, int]
    """Starts; worlds, starts and complaints for each `uncertain` rule; schedules by policy."""
    lasted_ms: int

    @property
    def notes(self) -> Notes:
        return self.record


def run_world(spec: Spec, make_store: Callable[[], LedgerStore] = LedgerInMemory) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    world = _World(spec, make_store())
    with overheard(LOGGER, world.hear_loss, at=logging.WARNING), closing(world):
        return world.live()


@dataclass(slots=True, kw_only=True)
class _Worker(Life):
    launcher: SimulatedLauncher | RunLauncher
    runtime: Runtime
    slot: int


class _Hearer(Observer):
    """Notes what a worker tells of the periods that are over by what it has decided."""

    def __init__(self, record: Record, worker: str) -> None:
        self._record, self._worker = record, worker

    def committed(self, held: Committed) -> None:
        for change in held.changes:
            for fact in change.facts:
                if fact.state is State.DONE:
                    self._record.settled.append(
                        Settled(
                            change.schedule.schedule_id, fact.key, fact.nominal, fact.periods,
                            fact.outcome and fact.outcome.value, fact.reason and fact.reason.value,
                            self._worker,
                        )
                    )  # fmt: skip


class _World(SimulatedWorld[_Worker]):
    def __init__(self, spec: Spec, store: LedgerStore) -> None:
        self.spec = spec
        limits, work = spec.limits, spec.workload
        self.record = Record(
            catchup_max=limits.catchup_max, tick_ms=limits.tick_ms, on_time_ms=limits.on_time_ms,
            lookahead_ms=limits.lookahead_ms,
            outage_alone=bool(work.outage and not spec.faults and not spec.steps),
        )  # fmt: skip
        super().__init__(
            spec.seed, self.record, start_ms=work.start_ms, steps_max=STEPS_MAX,
            faults=spec.faults,
        )  # fmt: skip
        self._store = store
        self._ledger = store.open()
        self._outside = Outside(
            self, spec.seed, work.way, self.wall.now_ms, work.lengths_ms, work.ends_ms
        )
        self._database = Database(MEMORY, family="ledger")
        self._dags = SqliteDagStore(self._database, executor=None)
        self._people = People(
            self._ledger, work, self.record, self.loop, self.wall.now_ms, self.later
        )

    def shown_ms(self) -> int:
        return self.wall.highest_ms

    def kill(self, worker: str) -> None:
        self._kill(worker, self.dice.pick(_RESTARTS_MS))

    def _kill(self, worker: str, back_ms: int) -> None:
        launcher = self.lives[worker].launcher
        if isinstance(launcher, SimulatedLauncher):
            self._outside.worker_died(launcher)
        slot = self.end(worker).slot
        self.later(back_ms, lambda: self._bear(slot))

    def live(self) -> Trial:
        found = Aftermath([], [])
        with self.watching():
            found = self.loop.run_until_complete(self._course())
        complaints = judge(self.spec.workload.schedules, self.record, found.rows)
        complaints += audit_of(found, self.record.saved_ms)
        figures = self._figures(complaints)
        return Trial(complaints, self.record, self.calls_disturbed, figures, self.at())

    def _figures(self, complaints: Sequence[Complaint]) -> Mapping[str, int]:
        effects, found = self.record.effects, Counter[str]()
        found["starts"] = len(effects)
        rules = {}
        for one in self.spec.workload.schedules:
            rules[one["schedule_id"]] = one["uncertain"]
            found[f"policy {one['overlap_policy']} {one['catchup_policy']}"] += 1
        found.update(f"rule worlds {rule}" for rule in set(rules.values()))
        found.update(f"rule starts {rules[effect.schedule_id]}" for effect in effects)
        found.update(f"rule {one.code} {rules.get(one.about, '')}" for one in complaints)
        return found

    def close(self) -> None:
        super().close()
        self._database.close()
        self._store.close()

    async def _course(self) -> Aftermath:
        workload = self.spec.workload
        await self._dags.put(_DAG)
        await self._save()
        self.plan(self.spec.steps, self.step)
        self._people.plan()
        if (outage := workload.outage) is not None:
            self.later(outage.at, lambda: self._be_away(outage.length_ms))
        for slot in range(self.spec.workers):
            self._bear(slot)
        await asyncio.sleep(workload.length_ms / 1000)
        self.heal()
        limit = self.at() + REST_MAX_MS
        while self.at() < limit:
            if await is_at_rest(self._ledger, self.record.deleted):
                break
            await asyncio.sleep(REST_LOOK_MS / 1000)
        await self._stop()
        return await look(self._ledger, self.record.deleted)

    async def _save(self) -> None:
        for record in self.spec.workload.schedules:
            now_ms, schedule = self.wall.now_ms(), read_schedule(record)
            saved = await self._ledger.save(schedule, now_ms=now_ms)
            self.record.saved_ms[saved.schedule_id] = now_ms
            before_ms, after_ms = window(record)
            nominals = owed(record, (now_ms - after_ms) // 1000, (now_ms + before_ms) // 1000 + 1)
            self.record.open_when_saved[saved.schedule_id] = [
                nominal for nominal in nominals if _is_ahead(schedule, nominal, now_ms)
            ]
            self.record.in_force_ms[saved.schedule_id] = [now_ms]

    def heal(self) -> None:
        super().heal()
        self.wall.catch_up()

    async def _stop(self) -> None:
        """Ask every worker to stop, and see that it does."""
        for worker in list(self.lives.values()):
            await worker.runtime.stop(grace_ms=5_000)

    def step(self, step: Step) -> None:
        super().step(step)
        self.record.clock_was_set = True

    def _be_away(self, length_ms: int) -> None:
        """Every worker is gone, for as long."""
        self.record.hit("outage of all workers")
        self.record.is_disturbed = True
        for worker in list(self.lives):
            self._kill(worker, length_ms)

    def hear_loss(self, facts: Mapping[str, object], _: BaseException | None) -> None:
        """A worker may tell that it has lost a run."""
        if facts["event"] != "run lost":
            return
        worker, key, fence = WORKER.get(), str(facts["key"]), int(str(facts["fence"]))
        self.record.lost.append(ToldLost(worker, key, fence, self.record.next_no()))

    def call_back(self, effect: Effect) -> None:
        self._people.call_back(effect)

    async def interject(self, schedule_ids: Sequence[str]) -> None:
        await self._people.interject(schedule_ids)

    def _bear(self, slot: int) -> None:
        if not self.is_over:
            worker = self.begin(f"w{slot}.", partial(self._make_worker, slot))
            self.start(lambda: self._work(worker), worker)

    def _make_worker(self, slot: int, name: str, context: Context) -> _Worker:
        gate = Gate[LedgerNature](self, name)
        ledger = watched(self._store.open(), gate)
        clock = GatedClock(self.wall, gate)
        launcher: SimulatedLauncher | RunLauncher = SimulatedLauncher(gate, self._outside)
        if self.spec.workload.way is Way.ELSEWHERE:
            executor = SimulatedExecutor(gate, self._outside)
            launcher = RunLauncher(self._dags, executor, clock, given=self._params_of)
        runtime = Runtime(
            ledger, launcher, clock, name, limits=self.spec.limits,
            observer=_Hearer(self.record, name),
        )  # fmt: skip
        return _Worker(
            name=name, context=context, gate=gate, launcher=launcher, runtime=runtime, slot=slot
        )

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
        await worker.runtime.run()


def _is_ahead(schedule: Schedule, nominal: int, saved_ms: int) -> bool:
    """Whether a window is open with its instant ahead, or with none; a jitter is no window."""
    chosen_ms, end_ms = schedule.chosen_ms(nominal), nominal * 1000 + schedule.tail_ms
    return not schedule.jitter_ms and (end_ms if chosen_ms is None else chosen_ms) >= saved_ms


SCENARIO = Scenario(
    name="ledger", kinds=World, draw=draw_spec, run=run_world,
    deaths=Deaths(born_again=3, apart_max=40, calls=60),
)  # fmt: skip
