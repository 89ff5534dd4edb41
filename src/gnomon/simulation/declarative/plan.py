"""
What happens in a world, drawn from a seed: tasks, callbacks, errands, faults, steps of the clock.

Worlds begin shortly before something: a minute, an hour, a year, or a clock change in one of three
zones. An errand is something that the program around the scheduler does: it stops and starts it
again, initializes it with another list or the same, both at once, or a list that is no list.

Spec: SIM-1, SIM-11.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from gnomon.simulation.kit.campaign import SteppedSpec
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Fault, Kind, Step, draw_faults, draw_steps
from gnomon.simulation.kit.matcher import zone_info

__all__ = ["Behaviour", "Do", "Errand", "Spec", "Task", "Trouble", "Troubles", "World", "draw_spec"]

SECOND, MINUTE = 1_000, 60_000
_HOUR_MS = 60 * MINUTE
LAG_MS = 1_000
"""How late a start may be while nothing goes wrong but crashes."""

_STARTS = (
    ("UTC", "2026-03-01T00:00:00Z"),
    ("UTC", "2026-12-31T23:58:00Z"),
    ("Europe/Berlin", "2026-03-29T00:57:00Z"),
    ("Europe/Berlin", "2026-10-25T00:57:00Z"),
    ("Europe/Berlin", "2026-10-25T01:57:00Z"),
    ("America/New_York", "2026-03-08T06:57:00Z"),
    ("America/New_York", "2026-11-01T05:57:00Z"),
    ("America/New_York", "2026-11-01T06:57:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T14:57:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:27:00Z"),
)
_RETRIES_MS = (0, 500, 1_000, 7_000, 30_000, 60_000, 150_000)
_TAKES_MS = (
    (0,), (0, 3), (0, 400, 5_000), (20_000, 70_000), (0, 200_000), (0, 0, 0, 900_000),
)  # fmt: skip
_LENGTHS_MS = (5 * MINUTE, 5 * MINUTE, 12 * MINUTE, 45 * MINUTE)
_FREEZES_MS = (4_000, 35_000, 70_000)
_SPARSE = ("* * * * *", "0,15,30,45 * * * *", "0 * * * *", "30 2 * * *", "5 1,13 * * 0,3")
_LEAPS_MS = (90 * SECOND, 10 * MINUTE, 7 * 86_400_000, 30 * 86_400_000)
_AHEAD_MS = (10 * SECOND, 40 * SECOND, 2 * MINUTE, 2 * MINUTE, 5 * MINUTE)
_NEAR = 12
_CALLS = 60  # about as many as there are while faults can happen


class World(StrEnum):
    """The kinds of worlds."""

    CRASH = "crash"
    """A few minutes in which nothing goes wrong but that the process dies."""
    STORM = "storm"
    """Everything at once."""
    LONG = "long"
    """Many hours, with trouble from time to time."""


class Do(StrEnum):
    """What the program around a scheduler does."""

    RESTART = "restart"
    SAME = "same list"
    CHANGE = "other list"
    CHANGE_AND_STOP = "other list and stop at once"
    TWO_LISTS = "two lists at once"
    CANCEL = "initialize and give up"
    STOP_TWICE = "stop twice"
    NONSENSE = "no list"
    DEPLOY = "killed, and back with another list"


class Behaviour(NamedTuple):
    """How a callback behaves: how long it may take, in ms, and how often of 100 it fails."""

    takes_ms: tuple[int, ...]
    fails: int


class Task(NamedTuple):
    name: str
    cron: str
    retry_ms: int
    behaviour: Behaviour


class Errand(NamedTuple):
    at: int
    do: Do
    which: int
    """The list, where one is needed."""
    pause_ms: int


class Trouble(NamedTuple):
    """In long worlds: one fault in so many calls, one errand and one step in so many ms."""

    calls: int
    errands_ms: int
    steps_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(SteppedSpec):
    """Everything that decides what happens in a world."""

    world: World
    zone: str
    start_ms: int
    length_ms: int
    reinitialize: str
    lists: tuple[tuple[Task, ...], ...]
    """The first is in force at the beginning; the others are what it may be changed to."""
    errands: tuple[Errand, ...] = ()
    trouble: Trouble | None = None

    def words(self) -> str:
        if self.world is World.LONG:
            return f"--tasks {len(self.lists[0])} --hours {self.length_ms // _HOUR_MS}"
        return SteppedSpec.words(self)

    def lines(self) -> Iterator[str]:
        yield f"{self.zone}, {self.reinitialize}, {self.length_ms} ms from {self.start_ms}"
        yield from map(str, self.lists)
        yield from SteppedSpec.lines(self)
        yield from map(str, self.errands)

    @property
    def lag_ms(self) -> int:
        """How late a start may be, given what goes wrong here."""
        kinds = [fault.kind for fault in self.faults]
        failures = sum(kind in (Kind.FAIL_BEFORE, Kind.FAIL_AFTER) for kind in kinds)
        frozen_ms = sum(fault.length_ms for fault in self.faults)
        blind_ms = 30 * SECOND if self.steps or self.trouble else 0  # between two looks
        if self.trouble:
            frozen_ms, failures = 3 * max(_FREEZES_MS), 5
        return LAG_MS + failures * 2_000 + frozen_ms + blind_ms


_TROUBLE = Trouble(1_500, 6 * 3_600_000, 48 * 3_600_000)
_TROUBLE_OF_ONE = Trouble(150, 12 * 3_600_000, 96 * 3_600_000)


def draw_spec(world: World, seed: int, *, tasks: int = 0, length_ms: int = 0) -> Spec:
    """The world of a seed; `tasks` and `length_ms` are drawn too unless they are given."""
    dice = Dice(seed, "declarative", world.value)
    zone, text = dice.pick(_STARTS)
    minute_ms = int(datetime.fromisoformat(text).timestamp()) * SECOND
    start_ms = minute_ms + dice.below(2 * MINUTE)
    if world is World.CRASH:
        length_ms = length_ms or dice.between(90 * SECOND, 200 * SECOND)
        tasks = tasks or dice.between(1, 2)
    elif world is World.STORM:
        length_ms, tasks = length_ms or dice.pick(_LENGTHS_MS), tasks or dice.between(1, 4)
    else:
        length_ms, tasks = length_ms or 24 * 60 * MINUTE, tasks or 20
    lists = _draw_lists(dice, tasks, zone, minute_ms, is_long=world is World.LONG)
    errands = 0 if world is World.LONG else dice.pick((0, 0, 1, 1, 2, 4))
    trouble = _TROUBLE if tasks > 1 else _TROUBLE_OF_ONE
    plain = Spec(
        world=world, seed=seed, zone=zone, start_ms=start_ms, length_ms=length_ms,
        reinitialize=dice.pick(("reconcile", "reconcile", "reject")), lists=lists,
        errands=tuple(sorted(draw_errand(dice, length_ms, len(lists)) for _ in range(errands))),
        trouble=trouble if world is World.LONG else None,
    )  # fmt: skip
    return plain if world is not World.STORM else _in_a_storm(plain, dice)


def draw_errand(dice: Dice, length_ms: int, lists: int) -> Errand:
    return Errand(
        dice.below(length_ms), dice.pick(tuple(Do)), dice.below(lists),
        dice.pick((0, 3, 50, 2_000, 65_000)),
    )  # fmt: skip


def draw_fault(dice: Dice, call: int) -> Fault:
    kind = dice.pick(tuple(Kind))
    return Fault(call, kind, dice.pick(_FREEZES_MS) if "freeze" in kind else 0)


class Troubles(Mapping[int, Fault]):
    """Faults without end, one in so many calls; each follows from the seed and its place."""

    def __init__(self, seed: int, calls: int) -> None:
        self._dice = Dice(seed, "troubles")
        self._calls = calls
        self._next = draw_fault(self._dice, self._dice.between(1, calls))

    def __getitem__(self, call: int) -> Fault:
        if call < self._next.call:
            raise KeyError(call)
        found = self._next._replace(call=call)
        # Often one fault follows the other, so that recovering is disturbed too.
        apart = _NEAR if self._dice.chance(40) else 2 * self._calls
        self._next = draw_fault(self._dice, call + self._dice.between(1, apart))
        return found

    def get(self, call: int, default: object = None) -> Fault | None:  # type: ignore[override]
        return None if call < self._next.call else self[call]

    def __iter__(self) -> Iterator[int]:
        raise TypeError("there is no end of them")

    def __len__(self) -> int:
        return 1


def _in_a_storm(spec: Spec, dice: Dice) -> Spec:
    faults = draw_faults(
        dice, calls=_CALLS, count=dice.between(1, 7), leases_ms=(8_000, 70_000)
    )  # fmt: skip
    # A write without an answer is asked about: that question is disturbed too.
    faults += [draw_fault(dice, one.call + 1) for one in faults if "fail" in one.kind]
    steps = draw_steps(dice, until_at=spec.length_ms, count=dice.pick((0, 0, 0, 1, 2)))
    if dice.chance(40):
        steps = sorted([*steps, *_draw_leap(dice, spec.length_ms)])
    return replace(spec, faults=tuple(faults), steps=tuple(steps))


def _draw_leap(dice: Dice, length_ms: int) -> list[Step]:
    """The clock is weeks ahead for a while, and is set right, or almost; sometimes once more."""
    by_ms = dice.pick(_LEAPS_MS)
    at = dice.below(length_ms)
    back_ms = by_ms + dice.pick((0, 0, -2_000, 2_000, 61_000, 200_000))
    found = [Step(at, by_ms), Step(at + dice.pick(_AHEAD_MS), -back_ms)]
    if dice.chance(30):
        again_at = found[-1].at + dice.pick(_AHEAD_MS)
        found += [Step(again_at, by_ms), Step(again_at + dice.pick(_AHEAD_MS), -by_ms)]
    return found


def _draw_lists(
    dice: Dice, count: int, zone: str, minute_ms: int, *, is_long: bool
) -> tuple[tuple[Task, ...], ...]:
    def task(name: str) -> Task:
        if not is_long:
            return _draw_task(dice, name, _draw_cron(dice, zone, minute_ms))
        usual = Behaviour((0, 0, 1, 700), dice.pick((0, 0, 0, 2, 10)))
        cron = "* * * * *" if count > 1 else dice.pick(_SPARSE)
        return Task(name, cron, dice.pick(_RETRIES_MS), usual)

    usual = tuple(task(f"t{number}") for number in range(1, count + 1))
    changed, added = tuple(task(one.name) for one in usual), task("extra")
    return (usual, changed, (*usual[:-1], added), (*usual, added))


def _draw_task(dice: Dice, name: str, cron: str) -> Task:
    takes_ms, fails = dice.pick(_TAKES_MS), dice.pick((0, 0, 20, 50, 90))
    return Task(name, cron, dice.pick(_RETRIES_MS), Behaviour(takes_ms, fails))


def _draw_cron(dice: Dice, zone: str, minute_ms: int) -> str:
    local = datetime.fromtimestamp(minute_ms // SECOND, UTC).astimezone(zone_info(zone))
    soon = local + timedelta(minutes=dice.between(1, 6))
    return dice.pick((
        "* * * * *",
        "* * * * *",
        f"{','.join(map(str, range(local.minute % 2, 60, 2)))} * * * *",
        f"{','.join(map(str, range(local.minute % 3, 60, 3)))} * * * *",
        f"{soon.minute} * * * *",
        f"{soon.minute} {soon.hour} * * *",
        f"{soon.minute} {soon.hour} {soon.day} {soon.month} *",
        f"* {soon.hour} * * *",
        "30 2 * * *",
    ))  # fmt: skip
