"""
What happens in a world of workflows, drawn from a seed: items, behaviour, errands, faults.

Items come up outside one after the other. They are shipped, some at a time, and what was shipped is
billed. Tools answer, are slow, refuse, or do not answer; their `reconcile` knows, or cannot tell.

Spec: WSIM-1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from gnomon.simulation.kit.campaign import WorldSpec
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import draw_faults

__all__ = ["Behaviour", "Do", "Errand", "Spec", "World", "draw_spec"]

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
DAY = 24 * HOUR
START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
_FREEZES_MS = (4_000, 35_000)
_SLOW_MS = ((0,), (0, 3), (0, 400, 2_000), (0, 5_000, 20_000))
_PUSHED = {True: (0, 1, 3), False: (0, 0, 1)}
_CUT_OFF = (
    ("poll",),
    ("prepare",),
    ("tool",),
    ("answer",),
    ("tool", "reconcile"),
    ("answer", "reconcile"),
    ("poll", "prepare", "tool", "reconcile"),
    ("script", "tool"),
)
_CALLS = 90  # about as many as there are while faults can happen


class World(StrEnum):
    """The kinds of worlds."""

    CRASH = "crash"
    """Nothing goes wrong but that the process dies."""
    STORM = "storm"
    """Everything at once."""
    ODD = "odd"
    """A storm over odd scripts and stores: circles, outages, sign-ins, restored backups."""
    OLD = "old"
    """Days in which what is over is forgotten, while hosts are away and producers repeat."""
    OUTAGE = "outage"
    """What is outside is away for minutes or hours, and the person trusts the host."""


class Do(StrEnum):
    """What people do to a workflow at any time."""

    PAUSE = "pause"
    RESUME = "resume"
    RUN_NOW = "run now"
    DEPLOY = "deploy"
    SKIP_INPUT = "skip an input"
    KILL = "kill"


class Errand(NamedTuple):
    at: int
    do: Do
    which: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How often of 100 something happens, and how much at once."""

    unanswered: int = 0
    """The tool does what it is asked, and its answer is lost."""
    unheard: int = 0
    """The tool never gets to hear what it is asked."""
    refuses: int = 0
    """The tool says that it did nothing: not permitted, or wrong."""
    cannot_tell: int = 0
    """`reconcile` does not know."""
    fails: int = 0
    """A handler fails."""
    reconciles: bool = True
    approval: bool = False
    takes: int = 1
    """How many events a prepare reserves at most."""
    waits_for: int = 1
    """How many events a prepare waits for, until its time is up."""
    slow_ms: tuple[int, ...] = (0,)
    outages: tuple[tuple[int, int], ...] = ()
    """From when until when nothing gets through to what is cut off."""
    cut_off: tuple[str, ...] = ("tool",)
    """Of `poll`, `prepare`, `tool`, `answer` (of a tool), `reconcile` and `script`."""
    signs_out: int = 0
    """A prepare, or a tool that has not acted, wants a new sign-in."""
    odd_wakes: bool = False
    """A prepare that waits for more wishes for instants that are none."""
    echoes: int = 0
    """How many events a consumer publishes to its own topic for each that it takes."""
    shares: bool = False
    """Orders are shipped by two consumers of one topic."""
    sees: int = 100
    """How many events a prepare can peek at."""
    republishes: bool = False
    """The producer publishes each item each time that it runs."""
    labels: bool = False
    """An order is shipped with the label that belongs to it; labels come in another order."""

    def is_away(self, at: int) -> bool:
        return any(since <= at < until for since, until in self.outages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(WorldSpec):
    """Everything that decides what happens in a world."""

    world: World
    items: tuple[int, ...]
    """When each item comes up outside, in ms since the world began."""
    pushed: tuple[int, ...] = ()
    """When items are published from outside, past the producer."""
    interval: str
    behaviour: Behaviour
    errands: tuple[Errand, ...] = ()
    backups: tuple[int, ...] = ()
    """When the store is copied."""
    restores: tuple[int, ...] = ()
    """When the latest copy is put in its place, or an empty store where there is none."""
    restarts_ms: tuple[int, ...] = (0, 200, 4_000, 25_000, 100_000)
    """How long a host may be away that has died."""
    look_ms: int = 47_000
    """How often the person looks."""
    rest_ms: int = 6 * HOUR
    """So long it may take after the world was healed until everything has come to rest: where a
    person must decide about every mutation, and looks now and then, two hours are not enough."""
    rest_look_ms: int = 5_000
    host_look_ms: int = 30_000
    """How long the host rests at most."""
    runs_kept: int = 100
    """How many runs are kept, however old they are."""
    trusts: bool = False
    """Whether the person leaves to the host what the host can find out."""

    def lines(self) -> Iterator[str]:
        yield str(self)


def draw_spec(world: World, seed: int) -> Spec:
    """The world of a seed."""
    dice = Dice(seed, "workflow", world.value)
    if world is World.OLD:
        return _old(seed, dice)
    if world is World.OUTAGE:
        return _away(seed, dice)
    storms = world is not World.CRASH
    count, span = (dice.between(2, 6), 5 * MINUTE) if storms else (dice.between(1, 2), 20 * SECOND)
    plain = Spec(
        world=world, seed=seed, interval=dice.pick(("15s", "20s", "1m")),
        items=tuple(sorted(dice.below(span) for _ in range(count))),
        pushed=tuple(dice.below(span) for _ in range(dice.pick(_PUSHED[storms]))),
        behaviour=Behaviour(
            takes=dice.pick((1, 2, 5)), waits_for=dice.pick((1, 1, 2)),
            slow_ms=dice.pick(_SLOW_MS if storms else _SLOW_MS[:3]),
            reconciles=not storms or not dice.chance(20),
            cannot_tell=dice.pick((0, 0, 30)),
        ),
    )  # fmt: skip
    if world is World.CRASH:
        return plain
    storm = _in_a_storm(plain, dice, span)
    return _odd(storm, Dice(seed, "odd"), span) if world is World.ODD else storm


def _old(seed: int, dice: Dice) -> Spec:
    span = 5 * DAY
    kinds = (Do.KILL, Do.KILL, Do.PAUSE, Do.RESUME, Do.DEPLOY, Do.RUN_NOW, Do.SKIP_INPUT)
    errands = sorted(
        Errand(dice.below(span), dice.pick(kinds), dice.below(100))
        for _ in range(dice.between(1, 6))
    )
    return Spec(
        world=World.OLD, seed=seed, interval=dice.pick(("1h", "4h", "12h")),
        items=tuple(sorted(dice.below(2 * DAY) for _ in range(dice.between(2, 6)))),
        pushed=tuple(dice.below(2 * DAY) for _ in range(dice.between(0, 2))),
        behaviour=Behaviour(
            takes=dice.pick((1, 2)), slow_ms=dice.pick(_SLOW_MS), unanswered=dice.pick((0, 30)),
            fails=dice.pick((0, 20)), approval=dice.chance(30), cannot_tell=dice.pick((0, 100)),
            republishes=dice.chance(80),
        ),
        errands=(*errands, Errand(span, Do.RESUME, 0)),
        faults=tuple(draw_faults(dice, calls=900, count=dice.between(0, 5), leases_ms=_FREEZES_MS)),
        restarts_ms=(0, 25 * SECOND, 30 * HOUR, 60 * HOUR), look_ms=20 * MINUTE, rest_ms=9 * DAY,
        rest_look_ms=20 * MINUTE, host_look_ms=30 * MINUTE, runs_kept=dice.pick((1, 3, 10)),
    )  # fmt: skip


def _away(seed: int, dice: Dice) -> Spec:
    outages = [(0, 0)]
    for _ in range(dice.between(1, 3)):
        begins = outages[-1][1] + dice.pick((MINUTE, HOUR)) + dice.below(HOUR)
        lasts = dice.pick((4 * MINUTE, 20 * MINUTE, 2 * HOUR, 8 * HOUR))
        outages.append((begins, begins + lasts))
    span, cut_off = outages[-1][1], dice.pick(_CUT_OFF)
    errands = [
        Errand(dice.below(span), dice.pick((Do.KILL, Do.DEPLOY, Do.RUN_NOW)), dice.below(100))
        for _ in range(dice.pick((0, 0, 2, 4)))
    ]
    if "script" in cut_off:  # a host that lives has its scripts in memory
        errands += [Errand(since + 1, Do.KILL, 0) for since, _ in outages[1:]]
    return Spec(
        world=World.OUTAGE, seed=seed, interval=dice.pick(("5m", "15m")),
        items=(*sorted(dice.below(span) for _ in range(dice.between(4, 8))), span),
        pushed=tuple(dice.below(span) for _ in range(dice.between(0, 2))),
        behaviour=Behaviour(
            takes=dice.pick((1, 2)), slow_ms=dice.pick(_SLOW_MS), approval=dice.chance(20),
            reconciles=dice.chance(80), outages=tuple(outages[1:]), cut_off=cut_off,
        ),
        errands=tuple(sorted(errands)), look_ms=20 * MINUTE, host_look_ms=10 * MINUTE,
        rest_ms=4 * HOUR, rest_look_ms=5 * MINUTE, runs_kept=100_000, trusts=True,
    )  # fmt: skip


def _odd(spec: Spec, dice: Dice, span: int) -> Spec:
    begins = dice.below(span)
    behaviour = replace(
        spec.behaviour, approval=dice.chance(50), signs_out=dice.pick((0, 0, 20)),
        outages=(dice.pick(((0, 0), (begins, begins + dice.pick((MINUTE, 20 * MINUTE))))),),
        odd_wakes=dice.chance(30), echoes=dice.pick((0, 0, 1, 2)), shares=dice.chance(40),
    )  # fmt: skip
    labels = Dice(spec.seed, "labels")
    behaviour = replace(behaviour, labels=labels.chance(40), sees=labels.pick((1, 2, 100)))
    errands, outage = spec.errands, behaviour.outages[0]
    if outage[1] and Dice(spec.seed, "scripts").chance(40):  # a new host has to load its scripts
        behaviour = replace(behaviour, cut_off=("tool", "script"))
        errands = tuple(sorted([*errands, Errand(outage[0] + 1, Do.KILL, 0)]))
    restores = tuple(sorted(dice.below(2 * span) for _ in range(dice.pick((0, 0, 1, 2)))))
    backups = tuple(sorted(dice.below(2 * span) for _ in range(dice.pick((0, 1, 2)))))
    return replace(spec, behaviour=behaviour, errands=errands, restores=restores, backups=backups)


def _in_a_storm(spec: Spec, dice: Dice, span: int) -> Spec:
    behaviour = replace(
        spec.behaviour, unanswered=dice.pick((0, 10, 40)), unheard=dice.pick((0, 10, 40)),
        refuses=dice.pick((0, 0, 20)), fails=dice.pick((0, 0, 10, 30)),
        approval=dice.chance(20), cannot_tell=dice.pick((0, 30, 100)),
    )  # fmt: skip
    faults = draw_faults(dice, calls=_CALLS, count=dice.between(1, 7), leases_ms=_FREEZES_MS)
    errands = sorted(
        Errand(dice.below(2 * span), dice.pick(tuple(Do)), dice.below(100))
        for _ in range(dice.pick((0, 1, 3, 6)))
    )
    return replace(spec, behaviour=behaviour, faults=tuple(faults), errands=tuple(errands))
