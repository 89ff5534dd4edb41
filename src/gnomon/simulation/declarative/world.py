"""
A world: a program with a scheduler in it that lives and dies, and a journal that stays.

The scheduler is the real one over a real SQLite database; simulated are time, the process around it
and the callbacks. For a while things go wrong as planned; then the world is healed, a quiet stretch
shows that the scheduler does what it should, and it is stopped. All the while the court hears the
journal and the witness the callbacks.

Spec: SIM-1, SIM-2, SIM-11 to SIM-15, SIM-21.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from contextlib import closing
from contextvars import Context
from dataclasses import dataclass
from typing import NamedTuple

from gnomon.apps.declarative.log import LOGGER, LogEvent
from gnomon.apps.declarative.recorder import read_entries, trace_events
from gnomon.ports import Change
from gnomon.simulation.declarative.court import Court, Mark
from gnomon.simulation.declarative.journal import KEPT, Shelf
from gnomon.simulation.declarative.minutes import Minutes
from gnomon.simulation.declarative.plan import (
    Do,
    Errand,
    Spec,
    Troubles,
    World,
    draw_errand,
    draw_spec,
)
from gnomon.simulation.declarative.program import Program
from gnomon.simulation.declarative.witness import Witness
from gnomon.simulation.kit.campaign import Deaths, Scenario
from gnomon.simulation.kit.clock import GatedClock, Wall
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Step
from gnomon.simulation.kit.gate import Gate, Nature
from gnomon.simulation.kit.notes import BriefNotes, Complaint, Notes
from gnomon.simulation.kit.world import Life, SimulatedWorld, overheard
from gnomon.theory import Report
from gnomon.trace import Event, Header, Pulses, Reinitialize

__all__ = ["SCENARIO", "Trial", "run_world"]

STEPS_PER_MINUTE = 4_000
QUIET_MS = 190_000
LOOK_MS = 1_000
BLIND_MS = 31_000
"""So long it may take until a scheduler sees that its clock was set."""
_MISTAKES = (LogEvent.TURN_FAILED, LogEvent.CALCULATION_FAILED, LogEvent.OBSERVER_FAILED)
"""What a scheduler says of itself, and goes on: nothing in a world is a reason for it."""
_RESTARTS_MS = (0, 200, 4_000, 25_000, 100_000)


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[Complaint]
    notes: Notes
    report: Report | None
    calls: int
    """How many calls of the journal there were while faults could happen."""
    figures: Mapping[str, int]
    """Starts, and events of the journal."""
    lasted_ms: int
    journal: tuple[Event, ...]
    """What was written, or the last of it."""
    hidden: int
    """How often the clock was set and set again before anything was written."""


def run_world(spec: Spec) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    world = _World(spec)
    with overheard(LOGGER, world.hear_mistake, at=logging.ERROR), closing(world):
        return world.live()


class _SeenClock(GatedClock):
    """The clock as a process reads it; the court hears what it showed."""

    def __init__(self, wall: Wall, gate: Gate[Nature], court: Court) -> None:
        super().__init__(wall, gate)
        self._court = court

    def now_ms(self) -> int:
        now_ms = super().now_ms()
        self._court.shown(self._wall.at(), now_ms)
        return now_ms


@dataclass(slots=True, kw_only=True)
class _Life(Life):
    program: Program


class _World(SimulatedWorld[_Life]):
    """Also the `Clerk` of the journal."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(
            spec.seed, Notes() if spec.trouble is None else BriefNotes(), start_ms=spec.start_ms,
            steps_max=STEPS_PER_MINUTE * (spec.length_ms // 60_000 + 30), faults=spec.faults,
        )  # fmt: skip
        self.spec = spec
        self._mistakes: list[str] = []
        self.behaviour = Dice(spec.seed, "behaviour")
        if spec.trouble is not None:
            self.faults = Troubles(spec.seed, spec.trouble.calls)
        self.shelf = Shelf()
        tasks = [(task.name, task.cron) for listed in spec.lists for task in listed]
        minutes = Minutes(spec.zone, [text for _, text in tasks])
        self.witness = Witness(minutes)
        self.court = Court(
            Header(
                zone=spec.zone, pulses=Pulses.EXPLICIT, reinitialize=Reinitialize(spec.reinitialize)
            ),
            minutes, tasks, lag_ms=spec.lag_ms, hear=self._write_down,
        )  # fmt: skip
        self.wanted = 0
        self._heard: deque[Event] = deque(maxlen=KEPT)
        self._unseen = self._hidden = 0
        self._is_healed = False

    def clock(self, gate: Gate[Nature]) -> GatedClock:
        return _SeenClock(self.wall, gate, self.court)

    def kill(self, worker: str) -> None:
        self.end(worker)
        if not self.is_over:
            self.notes.hit("died running" if self.witness.running else "died idle")
        self.court.died()
        self.witness.died(self.at())
        self.shelf.put_back(worker)
        self.later(self.dice.pick(_RESTARTS_MS), self._bear)

    def hear_mistake(self, said: Mapping[str, object], error: BaseException | None) -> None:
        """The scheduler may say that it made a mistake."""
        if said["event"] in _MISTAKES:
            self._mistakes.append(f"{said['event']}: {error!r}")

    def mark(self) -> Mark:
        return self.court.mark(self.at(), self.wall.now_ms())

    def written(self, change: Change, mark: Mark, *, is_new_owner: bool) -> None:
        if is_new_owner:
            self.court.owned(mark, change.t_ms)
        court, witness = self.court, self.witness
        for event in trace_events(change.entries):
            court.written(event)
            witness.written(event, court.registered)
            self._heard.append(event)
            self._unseen = 0
        court.settled(mark)

    def live(self) -> Trial:
        report = None
        with self.watching():
            self.loop.run_until_complete(self._course())
            report = self.court.close(self.at(), self.wall.now_ms())
        complaints = [Complaint("surprise", "", text) for text in self.notes.surprises]
        complaints += [Complaint("mistake", "", text) for text in self._mistakes]
        complaints += self.court.complaints + self.witness.complaints
        return Trial(
            complaints, self.notes, report, self.calls_disturbed or self.calls,
            {"starts": self.witness.count, "events": self.court.events}, self.at(),
            tuple(self._heard), self._hidden,
        )  # fmt: skip

    def close(self) -> None:
        super().close()
        self.shelf.database.close()

    async def _course(self) -> None:
        spec = self.spec
        self.plan(spec.steps, self.step)
        self.plan(spec.errands, self._send)
        if spec.trouble is not None:
            self._trouble()
        self._bear()
        await asyncio.sleep(spec.length_ms / 1000)
        self.heal()
        life = await self._settled()
        if spec.steps or spec.trouble:
            await asyncio.sleep(BLIND_MS / 1000)
        await life.program.assure(self.wanted)
        first_at, wall_ms = self.at(), self.wall.now_ms()
        passed = self.court.passed
        await asyncio.sleep(QUIET_MS / 1000)
        self.witness.examine_quiet(
            first_at, self.at(), wall_ms, tasks=[one.name for one in spec.lists[self.wanted]],
            passed=passed,
        )  # fmt: skip
        if not await life.program.stop():
            self.notes.surprises.append("stop() failed although nothing was wrong")
        kept = list(trace_events(await read_entries(self.shelf.journal)))
        if kept != list(self._heard):
            self.notes.surprises.append("the journal has kept something else than was written")

    async def _settled(self) -> _Life:
        """Wait until a process is up and has nothing else to do."""
        while True:
            for life in self.lives.values():
                if not life.program.busy and not life.frozen:
                    return life
            await asyncio.sleep(LOOK_MS / 1000)

    def heal(self) -> None:
        super().heal()
        self._is_healed = True

    def step(self, step: Step) -> None:
        if self._is_healed:
            return
        super().step(step)
        self._hidden += bool(self._unseen)
        self._unseen += 1
        self.court.stepped(self.at(), self.wall.now_ms())
        if step.by_ms < 0:
            self.witness.clock_set_back(self.court.passed)

    def _trouble(self) -> None:
        """In a long world: errands and steps of the clock from time to time."""
        trouble, dice = self.spec.trouble, Dice(self.spec.seed, "trouble")
        assert trouble is not None

        def send() -> None:
            errand = draw_errand(dice, 1, len(self.spec.lists))
            self._send(errand)
            self.later(dice.between(1, 2 * trouble.errands_ms), send)

        def step() -> None:
            self.step(Step(0, dice.pick((1_000, 61_000, 3_600_000)) * dice.pick((1, -1))))
            self.later(dice.between(1, 2 * trouble.steps_ms), step)

        self.later(dice.between(1, 2 * trouble.errands_ms), send)
        self.later(dice.between(1, 2 * trouble.steps_ms), step)

    def _send(self, errand: Errand) -> None:
        life = next(iter(self.lives.values()), None)
        if life is None or self._is_healed:
            return
        self.notes.hit(f"errand {errand.do}")
        self.notes.log(self.at(), life.name, f"{errand.do} {errand.which}")
        if errand.do is Do.DEPLOY:
            self.wanted = 1 - min(self.wanted, 1)  # every task is another
            self.kill(life.name)
        else:
            self.start(lambda: life.program.run_errand(errand), life)

    def _bear(self) -> None:
        if not self.is_over:
            life = self.begin("p", self._make_life)
            self.start(lambda: life.program.assure(self.wanted), life)

    def _make_life(self, name: str, context: Context) -> _Life:
        gate = Gate[Nature](self, name)
        return _Life(name=name, context=context, gate=gate, program=Program(gate, self))

    def _write_down(self, event: Event) -> None:
        self.notes.add(f"{event.t} {event.kind} {event.task or event.call}")


SCENARIO = Scenario(
    name="declarative", kinds=World, draw=draw_spec, run=run_world,
    deaths=Deaths(born_again=4, apart_max=12, calls=14),
)  # fmt: skip
