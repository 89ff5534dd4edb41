"""
A world: a process with a workflow host in it that lives and dies, and a store that stays.

The host is the real one over a real SQLite database; simulated are time, the process, the system
outside and the person. Things go wrong as planned; once all items are there and the errands run, a
time that is long enough for every wait there is must be enough for everything to come to rest.

Spec: WSIM-1 to WSIM-7, WSIM-14 to WSIM-16.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from contextvars import Context
from dataclasses import dataclass
from typing import NamedTuple

from gnomon.apps.workflow.alarm import Alarm
from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.log import LOGGER
from gnomon.apps.workflow.retention import KEEP_MIN_MS
from gnomon.errors import DefinitionError, StoreError
from gnomon.shell.store.workflow_examination import examine_rows
from gnomon.simulation.kit.campaign import Deaths, Scenario
from gnomon.simulation.kit.clock import GatedClock, UngatedClock
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.gate import Gate, Nature
from gnomon.simulation.kit.notes import Notes
from gnomon.simulation.kit.world import Life, SimulatedWorld, silent
from gnomon.simulation.workflow.archive import Archive
from gnomon.simulation.workflow.audit import (
    Auditor,
    audit,
    hurried,
    is_at_rest,
    unloadable,
    weathered,
)
from gnomon.simulation.workflow.log import (
    CAUSES_MS,
    LACKS,
    Lacking,
    LogInMemory,
    LogStore,
    LogWitness,
    watched,
)
from gnomon.simulation.workflow.outside import Lack, Outside
from gnomon.simulation.workflow.person import Person
from gnomon.simulation.workflow.plan import START_MS, Do, Errand, Spec, World, draw_spec
from gnomon.simulation.workflow.script import NAME, make_workflow

__all__ = ["SCENARIO", "Trial", "run_world"]

STEPS_MAX = 400_000
TRY_AGAIN_MS = 1_000


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[str]
    notes: Notes
    calls: int
    """How many calls there were, of the store and of everything outside."""
    figures: Mapping[str, int]
    """Runs, and mutations that were applied."""
    lasted_ms: int


def run_world(spec: Spec, make_store: Callable[[], LogStore] = LogInMemory) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    with silent(LOGGER), closing(_World(spec, make_store())) as world:
        return world.live()


@dataclass(slots=True, kw_only=True)
class _Life(Life):
    host: Host


class _World(SimulatedWorld[_Life]):
    def __init__(self, spec: Spec, store: LogStore) -> None:
        super().__init__(
            spec.seed, Notes(), start_ms=START_MS, steps_max=STEPS_MAX, faults=spec.faults
        )
        self.spec = spec
        self.behaviour = Dice(spec.seed, "behaviour")
        self._tokens = 0
        self.outside = Outside(spec.items)
        self.log = store.log
        self._store = store
        self.at_work: list[str] = []
        self._complaints: list[str] = []
        self.begun: list[int] = []
        """When each handler was called."""
        self._auditor = Auditor(store.tables)
        self._archive = None
        if spec.world is World.OLD:
            self._archive = Archive(
                store.tables, self.outside, self.notes, keep_ms=KEEP_MIN_MS,
                runs_kept=spec.runs_kept,
            )  # fmt: skip
        commands = WorkflowCommands(self.log, UngatedClock(self.wall), ring=self._ring)
        self._person = Person(self, commands, Dice(spec.seed, "person"))
        self.healed = False
        self._backed_up_at = -1
        self._is_judged = False

    @property
    def life(self) -> _Life | None:
        """The process that lives now."""
        return next(iter(self.lives.values()), None)

    def complain(self, text: str) -> None:
        self._complaints.append(f"at {self.at()}: {text}")

    def kill(self, worker: str) -> None:
        self.end(worker)
        if not self.is_over:
            self.notes.hit(f"died during {self.at_work[0]}" if self.at_work else "died")
        self.at_work.clear()
        self._complaints += hurried([], self.begun)  # a host that begins anew counts anew
        self.begun.clear()
        self._store.abandon()
        self.later(self.dice.pick(self.spec.restarts_ms), self._bear)

    def live(self) -> Trial:
        with self.watching():
            self.loop.run_until_complete(self._course())
        if not self._is_judged:
            self._judge()
        (runs,) = self._tables().execute("SELECT count(*) FROM runs").fetchone()
        return Trial(
            self._complaints + self.notes.surprises, self.notes, self.calls,
            {"runs": runs, "applications": len(self.outside.applications)}, self.at(),
        )  # fmt: skip

    def close(self) -> None:
        super().close()
        if self._archive is not None:
            self._archive.close()
        self._store.close()

    async def _course(self) -> None:
        spec = self.spec
        self.plan(spec.errands, self._send)
        for number, at in enumerate(spec.pushed, 1):
            self.later(at, lambda item=f"x{number}": self._push(item))  # type: ignore[misc]
        for at in spec.backups:
            self.later(at, self._back_up)
        for at in spec.restores:
            self.later(at, self._restore)
        self._bear()
        last = max([
            *spec.items, *spec.pushed, *(errand.at for errand in spec.errands), *spec.restores,
        ])  # fmt: skip
        await self._looking(last + 1)
        self.healed = True
        until = self.at() + spec.rest_ms
        while self.at() < until and not is_at_rest(self._tables(), self._items()):
            await self._looking(spec.rest_look_ms)
        self._judge()

    def _judge(self) -> None:
        """Now, and not when the loop has stopped: what is ready by then has begun something new."""
        self._is_judged = True
        self._examine()
        self._complaints += audit(self._tables(), self.outside, self._items())
        self._complaints += hurried(self.outside.fruitless, self.begun)
        if self.spec.world is World.OUTAGE:
            self._complaints += weathered(self._tables(), self.outside, lives=self.births)
        self._complaints += unloadable(self.outside)

    def _examine(self) -> None:
        """Whatever has happened, a doctor finds nothing wrong with the store."""
        lacking = "script" in self.spec.behaviour.cut_off and not self._is_judged
        for one in examine_rows(self._store.tables()):
            if lacking and one.problem.startswith("cannot be loaded"):
                continue  # as long as that lasts, it is true
            self.complain(f"the doctor finds: {one.subject} {one.problem}")

    def _back_up(self) -> None:
        self._store.back_up()
        self._backed_up_at = self.at()

    def _restore(self) -> None:
        """The process dies, and the store is what it was; items come in from outside again."""
        self.notes.hit("restored" if self._backed_up_at >= 0 else "begun anew")
        life = self.life
        if life is not None:
            self.kill(life.name)
        self._store.restore()
        self.outside.restored.append((self._backed_up_at, self.at()))
        self._auditor.forget()
        for number, at in enumerate(self.spec.pushed, 1):
            if at <= self.at():
                self._push(f"x{number}")

    async def _looking(self, length_ms: int) -> None:
        """Let so much time pass, with a person who looks now and then."""
        until = self.at() + length_ms
        while self.at() < until:
            await asyncio.sleep(min(until - self.at(), self.spec.look_ms) / 1000)
            await self._person.look(healed=self.healed)

    def _items(self) -> list[str]:
        pushed = [f"x{number}" for number in range(1, len(self.spec.pushed) + 1)]
        return self.outside.feed(1 << 60) + pushed

    def _push(self, item: str) -> None:
        async def push() -> None:
            if not await self._person.push(item):
                self.later(TRY_AGAIN_MS, lambda: self._push(item))

        self.start(push)

    def _send(self, errand: Errand) -> None:
        self.notes.hit(f"errand {errand.do}")
        self.notes.log(self.at(), "", f"errand {errand.do} {errand.which}")
        life = self.life
        if errand.do is Do.KILL:
            if life is not None:
                self.kill(life.name)
        elif errand.do is Do.DEPLOY and life is not None:
            self.start(lambda: self._deploy(life, f"# version {errand.which}"), life)
        else:
            self.start(lambda: self._run_errand(errand))

    async def _deploy(self, life: _Life, text: str) -> None:
        with suppress(DefinitionError, StoreError):
            await life.host.deploy(make_workflow(life.gate, self), text=text)

    async def _run_errand(self, errand: Errand) -> None:
        if await self.log.load(NAME) is not None:
            await self._person.run_errand(errand)

    def _bear(self) -> None:
        if not self.is_over:
            self._examine()
            life = self.begin("p", self._make_life)
            self.start(lambda: self._deploy_and_start(life), life)

    def _make_life(self, name: str, context: Context) -> _Life:
        gate = Gate[Nature](self, name)
        witness = LogWitness(
            self._written, self._forgets, lambda version: self._lacks(name, version)
        )
        host = Host(
            watched(self.log, gate, witness), GatedClock(self.wall, gate), holder=name,
            draw_token=self._draw_token, threads=0, keep_ms=KEEP_MIN_MS,
            runs_kept=self.spec.runs_kept, look_ms=self.spec.host_look_ms,
            alert=lambda alarm: self._tell(name, alarm),
        )  # fmt: skip
        return _Life(name=name, context=context, gate=gate, host=host)

    async def _tell(self, life: str, alarm: Alarm) -> None:
        if alarm.run is not None:
            self.outside.told.append((life, alarm.run.number, alarm.run.status.value))
            return
        cause = next((one.cause for one in LACKS if one.cause in alarm.issue), "")
        self.notes.hit("told that a script cannot be loaded")
        self.outside.told_lacking.append(Lack(life, alarm.script, cause, self.at()))

    def _draw_token(self) -> str:
        """As chance does, but the same each time that this world happens."""
        self._tokens += 1
        return f"t{self._tokens}"

    async def _deploy_and_start(self, life: _Life) -> None:
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
        for text in [] if self._archive is None else self._archive.again():
            self.complain(text)

    def _forgets(self, before: bool) -> None:
        if self._archive is None:
            return
        if before:
            self._archive.before()
        else:
            for text in self._archive.after(at=self.at()):
                self.complain(text)

    def _lacks(self, life: str, version: int) -> Lacking | None:
        """Why the script cannot be loaded just now: what it imports is away, or its text is."""
        moods, at = self.spec.behaviour, self.at()
        if "script" not in moods.cut_off or not moods.is_away(at):
            return None
        lacking = Dice(self.spec.seed, "lacks", at // CAUSES_MS).pick(LACKS)
        self.notes.hit("cut off: script")
        rows = self._store.tables().execute("SELECT script, mode FROM workflows")
        for in_force, mode in rows:
            if in_force == version:
                lack = Lack(life, version, lacking.cause, at, mode == "paused")
                self.outside.lacked.append(lack)
        return lacking

    def _tables(self) -> sqlite3.Connection:
        """All that was ever known, also what was forgotten since."""
        return self._store.tables() if self._archive is None else self._archive.whole()

    def _ring(self, workflow: str) -> None:
        life = self.life
        if life is not None and self.dice.chance(50):  # otherwise it must see for itself
            self.loop.call_soon(life.host.look, context=life.context)


SCENARIO = Scenario(
    name="workflow", kinds=World, draw=draw_spec, run=run_world,
    deaths=Deaths(born_again=8, apart_max=25, plans_max=60),
)  # fmt: skip
