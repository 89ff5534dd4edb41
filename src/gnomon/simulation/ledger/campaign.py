"""
Which worlds are tried: every crash point of small worlds, and random trouble among three workers.

A trial is named by a kind, a seed and, for crashes, its faults; that name is the line that replays
it. The kinds are:

- `crash`: one worker that owns its ledger. A first world shows how many calls there are; then it
  dies before and after each of them, once, and at pairs of them that the seed draws. They come in
  an order that the seed draws too, so that a campaign that stops early has had a fair sample.
- `workers`: three workers on one ledger, with crashes, lost answers, freezes longer than leases,
  and a clock that is set back and forth by up to a day.

Spec: SIM-1, SIM-5 to SIM-9.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from gnomon.core.engine import USUAL, Limits
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import (
    CRASHES,
    Fault,
    Kind,
    Step,
    crash_plans,
    draw_faults,
    draw_steps,
)
from gnomon.simulation.kit.seeds import endless, replay_of, trouble
from gnomon.simulation.kit.seeds import whole_seeds as whole_seeds_of
from gnomon.simulation.ledger.workload import (
    draw_elsewhere,
    draw_forsaken,
    draw_leases,
    draw_outage,
    draw_turning,
    draw_workload,
)
from gnomon.simulation.ledger.world import Spec, Trial, run_world

__all__ = [
    "Campaign",
    "Tally",
    "crashes",
    "replay_line",
    "sample",
    "spec_of",
    "tally",
    "whole_seeds",
    "worlds",
]

_TIGHT = Limits(catchup_max=3, queue_max=2, open_max=20, one_by_one_max=4, count_max=1_000)
_OUTAGE_PERCENT = 5  # of all worlds
_FORSAKEN_PERCENT = 4  # of the worlds of three workers
_ELSEWHERE_PERCENT = 5  # of the worlds of three workers; in half of them nothing goes wrong
_LEASES_PERCENT = 5  # of the worlds of three workers
_CALLS = 250  # about as many as there are while faults can happen
_PAIR_DISTANCE_MAX = 40
_TURNING_PERCENT = 6  # of the worlds of three workers
_CALLS_OF_A_BIRTH = 3


class Campaign(StrEnum):
    CRASH = "crash"
    WORKERS = "workers"


@dataclass(slots=True)
class Tally:
    """What many worlds came to."""

    worlds: int = 0
    simulated_s: int = 0
    calls: int = 0
    starts: int = 0
    troubles: list[str] = field(default_factory=list)
    """Each broken promise with the line that shows it again."""
    counters: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    """Worlds, starts and broken promises for each `uncertain` rule."""
    by_policy: Counter[str] = field(default_factory=Counter)
    """Schedules for each pair of an overlap and a catch-up policy."""


def spec_of(
    campaign: Campaign, seed: int, *, faults: Iterable[Fault] | None = None,
    steps: Iterable[Step] | None = None,
) -> Spec:  # fmt: skip
    """The world of a seed; `faults` and `steps` replace what the seed would draw."""
    dice = Dice(seed, campaign.value)
    limits = _TIGHT if dice.chance(30) else USUAL
    if (apart := Dice(seed, campaign.value, "outage")).chance(_OUTAGE_PERCENT):
        return _spec_of_outage(campaign, seed, apart, faults, steps)
    if campaign is Campaign.CRASH:
        workload = draw_workload(
            dice, schedules=dice.between(1, 2), length_s=(45, 100), dense=False
        )
        return Spec(
            seed=seed, workload=workload, faults=tuple(faults or ()), steps=tuple(steps or ()),
            limits=limits,
        )  # fmt: skip
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
        seed=seed, workload=workload, workers=3, limits=limits,
        faults=tuple(drawn if faults is None else faults),
        steps=tuple(set_back if steps is None else steps),
    )  # fmt: skip


def _spec_of_outage(
    campaign: Campaign, seed: int, dice: Dice, faults: Iterable[Fault] | None,
    steps: Iterable[Step] | None,
) -> Spec:  # fmt: skip
    """All workers are gone for a while; in half of these worlds nothing else goes wrong."""
    workload, tick_ms = draw_outage(dice), dice.pick((500, 1_000, 5_000))
    limits = Limits(
        catchup_max=dice.between(1, 6) * (1 + tick_ms // 1_000), tick_ms=tick_ms,
        line_max=dice.pick((6, 12, 200)), on_time_ms=max(2_000, 2 * tick_ms),
        lookahead_ms=dice.pick((10_000, 60_000)),
    )  # fmt: skip
    drawn = draw_faults(dice, calls=_CALLS, count=dice.between(1, 5), leases_ms=(9_000, 45_000))
    is_calm = campaign is Campaign.CRASH or dice.chance(50)
    return Spec(
        seed=seed, workload=workload, workers=1 if campaign is Campaign.CRASH else 3,
        limits=limits, steps=tuple(steps or ()),
        faults=tuple((() if is_calm else drawn) if faults is None else faults),
    )  # fmt: skip


def worlds(campaign: Campaign, first_seed: int) -> Iterator[Spec]:
    """The worlds of a campaign without end, from a seed on."""
    return endless(partial(_of_seed, campaign), first_seed)


def whole_seeds(campaign: Campaign, first_seed: int, least: int) -> Iterator[Spec]:
    """All worlds of a seed, and of the next, until there were at least so many."""
    return whole_seeds_of(partial(_of_seed, campaign), first_seed, least)


def crashes(seed: int) -> Iterator[Spec]:
    """A world undisturbed, then dying once at each call, and at pairs of calls."""
    undisturbed = spec_of(Campaign.CRASH, seed)
    yield undisturbed
    calls = run_world(undisturbed).calls
    plans = crash_plans(
        Dice(seed, "pairs"), calls=calls,
        born_again=_CALLS_OF_A_BIRTH, apart_max=_PAIR_DISTANCE_MAX,
    )  # fmt: skip
    for faults in plans:
        yield replace(undisturbed, faults=faults)


def sample(campaign: Campaign, seed: int) -> Spec:
    """One world of a seed: for crashes undisturbed or dying once, by turns."""
    dice = Dice(seed, "sample")
    if campaign is not Campaign.CRASH or not seed % 3:
        return spec_of(campaign, seed)
    return spec_of(campaign, seed, faults=[Fault(dice.between(1, 60), dice.pick(CRASHES))])


def replay_line(campaign: Campaign, spec: Spec) -> str:
    """The command that lets a world happen once more."""
    return replay_of(campaign, spec.seed, spec.faults if campaign is Campaign.CRASH else ())


def tally(campaign: Campaign, specs: Iterable[Spec]) -> Tally:
    """Let worlds happen and add up what came of them."""
    into = Tally()
    for spec in specs:
        into.worlds += 1
        try:
            _add(into, spec, run_world(spec), replay_line(campaign, spec))
        except Exception as error:  # of the judges too: who replays it sees where
            into.troubles.append(f"raised {error!r}: {replay_line(campaign, spec)}")
    return into


def _of_seed(campaign: Campaign, seed: int) -> Iterator[Spec]:
    if campaign is Campaign.CRASH:
        yield from crashes(seed)
    else:
        yield spec_of(campaign, seed)


def _add(into: Tally, spec: Spec, trial: Trial, line: str) -> None:
    into.simulated_s += trial.lasted_ms // 1000
    into.calls += trial.calls
    into.starts += len(trial.record.effects)
    into.counters.update(trial.record.counters)
    rules = {}
    for one in spec.workload.schedules:
        rules[one["schedule_id"]] = one["uncertain"]
        into.by_policy[f"{one['overlap_policy']} {one['catchup_policy']}"] += 1
    into.by_rule.update(f"worlds {rule}" for rule in set(rules.values()))
    into.by_rule.update(f"starts {rules[effect.schedule_id]}" for effect in trial.record.effects)
    for complaint in trial.complaints:
        into.by_rule[f"{complaint.code} {rules.get(complaint.about, '')}"] += 1
    if trial.complaints:
        into.troubles.append(trouble(trial.complaints, line))
