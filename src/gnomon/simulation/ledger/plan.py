"""
What happens in a world of the ledger, drawn from a seed: how many workers, their limits, faults.

What their schedules are, and what people do to them, is in the workload of the world.

Spec: SIM-1, SIM-5 to SIM-9.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from gnomon.core.engine import USUAL, Limits
from gnomon.simulation.kit.campaign import SteppedSpec
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Fault, Kind, draw_faults, draw_steps
from gnomon.simulation.ledger.workload import (
    Workload,
    draw_elsewhere,
    draw_forsaken,
    draw_leases,
    draw_outage,
    draw_turning,
    draw_workload,
)

__all__ = ["Spec", "World", "draw_spec"]

_TIGHT = Limits(catchup_max=3, queue_max=2, open_max=20, one_by_one_max=4, count_max=1_000)
_OUTAGE_PERCENT = 5  # of all worlds
_FORSAKEN_PERCENT = 4  # of the worlds of three workers
_ELSEWHERE_PERCENT = 5  # of the worlds of three workers; in half of them nothing goes wrong
_LEASES_PERCENT = 5  # of the worlds of three workers
_CALLS = 250  # about as many as there are while faults can happen
_TURNING_PERCENT = 6  # of the worlds of three workers


class World(StrEnum):
    """The kinds of worlds."""

    CRASH = "crash"
    """One worker that owns its ledger, in which nothing goes wrong but that it dies."""
    WORKERS = "workers"
    """
    Three workers on one ledger, with crashes, lost answers, freezes longer than leases, and a clock
    that is set back and forth by up to a day.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(SteppedSpec):
    """Everything that decides what happens in a world."""

    world: World
    workload: Workload
    workers: int = 1
    limits: Limits = USUAL

    def lines(self) -> Iterator[str]:
        yield f"{self.workload.way}, {self.workers} workers, {self.limits}"
        yield from map(str, self.workload.schedules)
        yield from map(str, self.workload.pauses)
        yield from SteppedSpec.lines(self)


def draw_spec(world: World, seed: int) -> Spec:
    """The world of a seed."""
    dice = Dice(seed, world.value)
    limits = _TIGHT if dice.chance(30) else USUAL
    if (apart := Dice(seed, world.value, "outage")).chance(_OUTAGE_PERCENT):
        return _draw_outage(world, seed, apart)
    if world is World.CRASH:
        workload = draw_workload(
            dice, schedules=dice.between(1, 2), length_s=(45, 100), dense=False
        )
        return Spec(world=world, seed=seed, workload=workload, limits=limits)
    workload = draw_workload(dice, schedules=dice.between(1, 3), length_s=(60, 120))
    if (turning := Dice(seed, "turning")).chance(_TURNING_PERCENT):
        workload = draw_turning(turning)
    drawn = draw_faults(dice, calls=_CALLS, count=dice.between(1, 8), leases_ms=(9_000, 45_000))
    if (forsaken := Dice(seed, "forsaken")).chance(_FORSAKEN_PERCENT):
        workload = draw_forsaken(forsaken)
        calls = sorted(forsaken.between(5, 120) for _ in range(4))
        drawn = [Fault(call, Kind.FREEZE_AFTER, 40_000) for call in calls]
    set_back = draw_steps(dice, until_at=workload.length_ms, count=dice.pick((0, 0, 1, 2)))
    if (leases := Dice(seed, "leases")).chance(_LEASES_PERCENT):
        workload, drawn, set_back = draw_leases(leases), [], []
    if (elsewhere := Dice(seed, "elsewhere")).chance(_ELSEWHERE_PERCENT):
        workload = draw_elsewhere(elsewhere)
        set_back = [step for step in set_back if step.at < workload.length_ms]
        if elsewhere.chance(50):
            drawn, set_back = [], []
    return Spec(
        world=world, seed=seed, workload=workload, workers=3, limits=limits, faults=tuple(drawn),
        steps=tuple(set_back),
    )  # fmt: skip


def _draw_outage(world: World, seed: int, dice: Dice) -> Spec:
    """All workers are gone for a while; in half of these worlds nothing else goes wrong."""
    workload, tick_ms = draw_outage(dice), dice.pick((500, 1_000, 5_000))
    limits = Limits(
        catchup_max=dice.between(1, 6) * (1 + tick_ms // 1_000), tick_ms=tick_ms,
        line_max=dice.pick((6, 12, 200)), on_time_ms=max(2_000, 2 * tick_ms),
        lookahead_ms=dice.pick((10_000, 60_000)),
    )  # fmt: skip
    drawn = draw_faults(dice, calls=_CALLS, count=dice.between(1, 5), leases_ms=(9_000, 45_000))
    is_calm = world is World.CRASH or dice.chance(50)
    return Spec(
        world=world, seed=seed, workload=workload, workers=1 if world is World.CRASH else 3,
        limits=limits, faults=() if is_calm else tuple(drawn),
    )  # fmt: skip
