"""
A world: a cluster in memory, operators that live and die, people, and time that passes by itself.

The operators are the real ones. For a while everything happens as planned; then the world is
healed and given time to come to rest, and the judge is asked. A period counts as lost only if an
operator that nothing disturbed had `ABLE_S` seconds for it within its deadline.

Spec: OSIM-1 to OSIM-5.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
from contextvars import Context
from dataclasses import dataclass
from functools import partial
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
from gnomon.simulation.kit.campaign import Deaths, Scenario
from gnomon.simulation.kit.clock import GatedClock, Wall
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.notes import Notes
from gnomon.simulation.kit.world import Life, SimulatedWorld, silent
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import Happened, SimulatedServer, metadata_of
from gnomon.simulation.operator.duty import at, text
from gnomon.simulation.operator.judge import TOLERANCE_S, Judge
from gnomon.simulation.operator.people import NAMESPACE, People
from gnomon.simulation.operator.plan import MEDDLING, Errand, Spec, Strike, World, draw_spec
from gnomon.simulation.operator.scrutiny import scrutinize
from gnomon.simulation.operator.way import Way

__all__ = ["ABLE_S", "SCENARIO", "Trial", "run_world"]

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
"""A call that failed disturbs its caller for so long after it."""
_HANDOVER_MS = 22_000
"""So long it takes after a leader has fallen silent until another one works."""


class Trial(NamedTuple):
    """What came of a world."""

    complaints: list[str]
    notes: Notes
    calls: int
    """How many calls there were while faults could happen."""
    figures: Mapping[str, int]
    """Periods that were due, executions, and candidates: Jobs that were never released."""
    lasted_ms: int


def run_world(spec: Spec) -> Trial:
    """Let a world happen from its beginning to its end, and judge it."""
    with silent(LOGGER), closing(OperatorWorld(spec)) as world:
        return world.live()


@dataclass(slots=True, kw_only=True)
class _Life(Life):
    controller: Controller
    slot: int


class OperatorWorld(SimulatedWorld[_Life]):
    """Also what people act upon."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(
            spec.seed, Notes(), start_ms=spec.start_s * 1000, steps_max=STEPS_MAX,
            faults=spec.faults,
        )  # fmt: skip
        self.spec = spec
        self.denied: dict[Kind, Denial] = {}
        self.cut: set[str] = set()
        self.server = SimulatedServer(self.wall.now_ms, namespaces=(NAMESPACE,))
        self.server.on_change.append(self._see)
        self.skews_ms: dict[int, int] = defaultdict(int)
        self.judge = Judge(f"operator-{slot}" for slot in range(spec.operators))
        stalls = (Strike.FREEZES, Strike.LATE, Strike.LATE_DEAD)
        is_stalled = any(fault.kind in stalls for fault in spec.faults)
        self.judge.stall_s = _LATE_S if is_stalled else TOLERANCE_S
        self._actor = ""
        self._disturbed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._people = People(self, Dice(spec.seed, "people"))

    def act_as(self, name: str, call: Call) -> Answer:
        self._actor = name.partition(".")[0]
        try:
            return self.server.send(call)
        finally:
            self._actor = ""

    def kill(self, worker: str) -> None:
        life = self.end(worker)
        if bugs := life.controller.figures.bugs:
            self.notes.surprises.append(f"{bugs} passes of {worker} raised")
        pause_ms = self.dice.pick(_RESTARTS_MS)
        self.disturb(worker, pause_ms)
        self.later(pause_ms, lambda: self._bear(life.slot))

    def freeze(self, worker: str, length_ms: int) -> None:
        self.disturb(worker, length_ms)
        super().freeze(worker, length_ms)

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

    def live(self) -> Trial:
        with self.watching():
            self.loop.run_until_complete(self._course())
        judge, until = self.judge, self.wall.now_ms() / 1000
        complaints = [
            *judge.twice(), *judge.lost(until=until, able=self._were_able), *judge.lies(),
            *scrutinize(judge, until=until), *self.notes.surprises,
        ]  # fmt: skip
        executions = sum(job.is_execution for job in judge.jobs.values())
        due = sum(1 for one in judge.kronjobs.values() for _ in judge.due(one, until=until))
        figures = {
            "due": due, "executions": executions, "candidates": len(judge.jobs) - executions
        }  # fmt: skip
        return Trial(complaints, self.notes, self.calls_disturbed, figures, self.at())

    async def _course(self) -> None:
        spec = self.spec
        for number, words in enumerate(spec.kronjobs):
            self.make(number, words)
        self.plan(spec.errands, self._people.act)
        for slot in range(spec.operators):
            self._bear(slot)
        until = spec.length_ms
        while self.at() < until:
            await self._controllers()
        self.heal()
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

    def heal(self) -> None:
        super().heal()
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
        now = self.wall.now_ms() / 1000 + happened.version * _IN_ORDER_S
        one, by = happened.object, self._actor
        if happened.kind in (Kind.JOB, Kind.KRONJOB):
            self.notes.log(self.at(), by, f"{happened.seen} {_summary(happened)}")
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
        if not self.is_over:
            life = self.begin(f"operator-{slot}.", partial(self._make_life, slot))
            self.start(life.controller.run, life)

    def _make_life(self, slot: int, name: str, context: Context) -> _Life:
        way = Way(self, name)
        lease = LeaseAt(NAMESPACE, "gnomon-operator") if self.spec.has_lease else None
        clock = _SkewedClock(self.wall, way, lambda: self.skews_ms[slot])
        controller = Controller(way, clock, reporter=name, lease=lease)
        return _Life(name=name, context=context, gate=way, slot=slot, controller=controller)


class _SkewedClock(GatedClock):
    """The clocks as one operator reads them; the one on its wall may be wrong."""

    def __init__(self, wall: Wall, way: Way, skew_ms: Callable[[], int]) -> None:
        super().__init__(wall, way)
        self._skew_ms = skew_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._skew_ms()


def _summary(happened: Happened) -> str:
    """What has become of an object, in a line for a person who reads the log."""
    one, metadata = happened.object, metadata_of(happened.object)
    words = [str(metadata["name"]), f"v{metadata['resourceVersion']}"]
    if happened.kind is Kind.JOB:
        words += [
            str(metadata["uid"])[-4:], text(metadata, "annotations", "gnomon.dev/state"),
            "suspended" if at(one, "spec", "suspend") is True else "",
            "going" if "deletionTimestamp" in metadata else "", *_conditions(one),
        ]  # fmt: skip
        return " ".join(word for word in words if word)
    words += [f"g{metadata['generation']}", f"cursor {_time(text(one, 'status', 'cursor'))}"]
    for name in ("open", "ahead", "active", "recent"):
        listed = at(one, "status", name)
        entries = listed[:3] if isinstance(listed, list) else []
        words.append(f"{name} [{', '.join(_entry(entry) for entry in entries)}]")
    return " ".join([*words, *_conditions(one)])


def _entry(entry: object) -> str:
    if isinstance(entry, str):
        return _time(entry)
    if not isinstance(entry, Mapping):
        return ""
    period = text(entry, "period") or text(entry, "from")
    named = ("outcome", "reason", "result", "uid")
    return " ".join([_time(period), *(text(entry, name)[-12:].lstrip("0") for name in named)])


def _conditions(one: object) -> list[str]:
    found = at(one, "status", "conditions")
    return [
        text(condition, "type")
        for condition in (found if isinstance(found, list) else [])
        if text(condition, "status") == "True"
    ]


def _time(instant: str) -> str:
    return instant[11:19]


SCENARIO = Scenario(
    name="operator", kinds=World, strikes=Strike, draw=draw_spec, run=run_world,
    deaths=Deaths(
        kinds=(Strike.DIES_BEFORE, Strike.DIES_AFTER, Strike.LATE_DEAD), born_again=25,
        apart_max=25, plans_max=60,
    ),
)  # fmt: skip
