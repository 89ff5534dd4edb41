"""
What happens in a world of the operator, drawn from a seed: KronJobs, people, faults.

Two operators without a leader keep a few KronJobs. Jobs are short and long, some fail, some are
forgotten by their TTL. People delete Jobs, edit, suspend, make again and wipe; calls die, are lost
and come late; the server refuses for a while; the clock of an operator is set.

Spec: OSIM-1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.simulation.kit.campaign import WorldSpec
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Fault

__all__ = [
    "MEDDLING",
    "Do",
    "Errand",
    "Spec",
    "Strike",
    "World",
    "draw_spec",
    "edited",
]

_START = 1_772_323_200  # 2026-03-01T00:00:00Z
_CALLS = 110  # about as many as there are while faults can happen
_SCHEDULES = ("0,20,40 * * * * *", "*/15 * * * * *", "5,35 * * * * *", "* * * * *")
_TURNS = (
    ("Europe/Berlin", 1_774_746_000), ("Europe/Berlin", 1_792_890_000),
    ("America/New_York", 1_772_953_200), ("America/New_York", 1_793_512_800),
    ("Australia/Lord_Howe", 1_775_314_800), ("Australia/Lord_Howe", 1_791_041_400),
)  # fmt: skip
"""Zones, and when their clocks change in 2026."""
_LOCAL = ("*/15 1-3 * * *", "30 1,2,3 * * *", "*/20 * * * *", "10 2 * * *", "0,59 1-2 * * *")


class World(StrEnum):
    """The kinds of worlds."""

    CRASH = "crash"
    """Nothing goes wrong but that operators die."""
    STORM = "storm"
    """Everything at once."""
    CALENDAR = "calendar"
    """Hours around a change of clocks, with edits of the zone."""


class Strike(StrEnum):
    """What happens at a call to the API server, counted over all operators from 1."""

    DIES_BEFORE = "dies_before"
    DIES_AFTER = "dies_after"
    """The call has its effect, and its caller never hears of it."""
    UNHEARD = "unheard"
    UNANSWERED = "unanswered"
    """It has its effect, and its answer is lost."""
    LATE = "late"
    """It stays on the wire, its caller hears nothing, and it arrives at some later time."""
    LATE_DEAD = "late_dead"
    """The same, and its caller dies."""
    FREEZES = "freezes"
    MEDDLED = "meddled"
    """A person does something between its effect and its answer."""


class Do(StrEnum):
    """What people, controllers and the server do at any time."""

    DELETE_JOB = "delete a Job"
    USURP = "take the name of a Job"
    EDIT_TEMPLATE = "edit the template"
    EDIT_TIMING = "edit the timing"
    EDIT_POLICY = "edit the policy"
    LABEL = "edit labels"
    SUSPEND = "suspend"
    RESUME = "resume"
    MAKE_AGAIN = "make again"
    WIPE = "wipe the status"
    FORGE = "edit the status"
    QUOTA = "deny Jobs"
    DENY_STATUS = "deny statuses"
    SET_CLOCK = "set a clock"
    KILL = "kill an operator"
    CUT = "cut an operator off"
    FORGET = "forget the history"
    BREAK = "write a wrong spec"
    """For a while it cannot be meant."""


MEDDLING = (
    Do.DELETE_JOB, Do.USURP, Do.EDIT_TEMPLATE, Do.EDIT_TIMING, Do.EDIT_POLICY, Do.LABEL, Do.SUSPEND,
    Do.MAKE_AGAIN, Do.WIPE, Do.KILL,
)  # fmt: skip
"""What may be done between a call and its answer."""


class Errand(NamedTuple):
    at: int
    do: Do
    which: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(WorldSpec):
    """Everything that decides what happens in a world."""

    world: World
    start_s: int = _START
    length_ms: int
    kronjobs: tuple[Mapping[str, object], ...]
    operators: int = 2
    lasts_s: tuple[int, ...] = (1,)
    """How long a Job runs, by turns."""
    fails: int = 0
    """How many Jobs of 100 fail."""
    lag: int = 0
    """How many of 100 pieces of news a watch tells late."""
    has_lease: bool = False
    """Whether one of the operators leads."""
    errands: tuple[Errand, ...] = ()

    def lines(self) -> Iterator[str]:
        length = f"{self.length_ms // 1000} s, {self.lag} % of news late"
        leads = ", one of them leads" if self.has_lease else ""
        yield f"{self.operators} operators, {length}{leads}"
        yield from map(str, self.kronjobs)
        yield from WorldSpec.lines(self)
        yield from map(str, self.errands)


def draw_spec(world: World, seed: int) -> Spec:
    """The world of a seed."""
    dice = Dice(seed, "operator", world.value)
    if world is World.CALENDAR:
        return _calendar(seed, dice)
    if world is World.CRASH:
        return Spec(
            world=world, seed=seed, length_ms=70_000,
            kronjobs=(_drawn(dice, 0, dice.pick(_SCHEDULES[:3])),),
            operators=dice.pick((1, 2)), lasts_s=dice.pick(((1,), (8,), (30,), (1, 25))),
            lag=dice.pick((0, 30)),
        )  # fmt: skip
    length_ms = dice.between(90, 200) * 1000
    count = dice.between(1, 2)
    faults = {
        call: Fault(call, strike, dice.pick((2_000, 9_000, 25_000)))
        for call, strike in (
            (dice.between(1, _CALLS), dice.pick(tuple(Strike)))
            for _ in range(dice.between(1, 12))
        )
    }  # fmt: skip
    errands = sorted(
        Errand(dice.between(1_000, length_ms), dice.pick(tuple(Do)[:-1]), dice.below(1_000))
        for _ in range(dice.pick((0, 1, 2, 4, 7)))
    )
    of_break = Dice(seed, "operator", Do.BREAK.value)  # of its own: other worlds stay as they were
    if of_break.chance(25):
        at = of_break.between(500, length_ms)
        errands = sorted([*errands, Errand(at, Do.BREAK, of_break.below(1_000))])
    return Spec(
        world=world, seed=seed, length_ms=length_ms,
        kronjobs=tuple(_drawn(dice, number, dice.pick(_SCHEDULES)) for number in range(count)),
        operators=dice.pick((1, 2, 2, 2)),
        lasts_s=dice.pick(((1,), (0, 12), (30,), (1, 45, 5), (70,))), fails=dice.pick((0, 30)),
        lag=dice.pick((0, 30, 70)), has_lease=dice.chance(20),
        faults=tuple(faults[call] for call in sorted(faults)), errands=tuple(errands),
    )  # fmt: skip


def edited(dice: Dice, spec: Mapping[str, object], do: Do) -> Mapping[str, object]:
    """The fields of a spec that an edit changes."""
    if do is Do.EDIT_TEMPLATE:
        return {"jobTemplate": {"metadata": {"annotations": {"edit": str(dice.below(1_000_000))}}}}
    if do is Do.EDIT_POLICY:
        return {"policy": {"concurrency": dice.pick(("allow", "forbid", "replace"))}}
    if "timezone" in spec and dice.chance(60):
        return {"timezone": dice.pick(_TURNS)[0]}
    if "timezone" in spec:
        return {"schedule": dice.pick(_LOCAL)}
    if dice.chance(30):
        return {"window": _window(dice)}
    return {"schedule": dice.pick(_SCHEDULES)}


def _calendar(seed: int, dice: Dice) -> Spec:
    """Two hours before a change of clocks, and two after it."""
    zone, turn = dice.pick(_TURNS)
    length_ms = 4 * 3_600_000
    kronjobs = []
    for number in range(2):
        one = _drawn(dice, number, dice.pick(_LOCAL))
        kronjobs.append({**one, "timezone": zone, "dst": "civil"})
    doing = (Do.EDIT_TIMING, Do.EDIT_TIMING, Do.EDIT_TEMPLATE, Do.KILL, Do.SUSPEND, Do.RESUME)
    errands = sorted(
        Errand(dice.between(1_000, length_ms), dice.pick(doing), dice.below(1_000))
        for _ in range(dice.pick((0, 1, 3)))
    )
    return Spec(
        world=World.CALENDAR, seed=seed, start_s=turn - 2 * 3600, length_ms=length_ms,
        kronjobs=tuple(kronjobs), operators=dice.pick((1, 2)), lasts_s=(20, 600),
        errands=tuple(errands),
    )  # fmt: skip


def _drawn(dice: Dice, number: int, schedule: str) -> Mapping[str, object]:
    """The spec of a KronJob."""
    job: dict[str, object] = {
        "template": {"spec": {"containers": [{"name": "main", "image": "none"}]}}
    }
    if dice.chance(30):
        job["ttlSecondsAfterFinished"] = dice.pick((0, 3))
    return {
        "schedule": schedule, "window": _window(dice), "salt": str(number), "recordsLimit": 60,
        "policy": {
            "concurrency": dice.pick(("allow", "forbid", "replace")),
            "deadline": dice.pick(("10s", "40s", "1m0s", "2m0s")),
            "suspend": False,
        },
        "successfulJobsHistoryLimit": dice.pick((0, 1, 3)),
        "jobTemplate": {"spec": job},
    }  # fmt: skip


def _window(dice: Dice) -> Mapping[str, object]:
    return {"mode": "after", "duration": dice.pick(("0s", "0s", "7s", "30s", "50s"))}
