"""
What goes wrong in a world, and when.

Faults are tied to calls of ports, counted over all workers from 1, or to an instant of the world.
A plan can be written as text and read back, so that one line replays a failure.

Spec: SIM-1, SIM-2.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.simulation.kit.dice import Dice

__all__ = [
    "CRASHES",
    "Crash",
    "Fault",
    "Kind",
    "Step",
    "crash_plans",
    "draw_faults",
    "draw_steps",
    "read_fault",
    "read_step",
]

_STEPS_MS = (1_000, 5_000, 61_000, 3_600_000, 86_400_000)


class Crash(BaseException):
    """The worker is dead; nothing of it runs any more."""


class Kind(StrEnum):
    """What happens at a call of a port."""

    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"
    """The call has its effect, and its caller never hears of it."""
    FAIL_BEFORE = "fail_before"
    FAIL_AFTER = "fail_after"
    """The call has its effect and raises: a commit whose answer was lost."""
    FREEZE_BEFORE = "freeze_before"
    FREEZE_AFTER = "freeze_after"


CRASHES = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER)


class Fault(NamedTuple):
    """What goes wrong at one call."""

    call: int
    kind: StrEnum
    """One of `Kind`, or of what else can go wrong where the call goes."""
    length_ms: int = 0
    """How long a freeze lasts."""

    def __str__(self) -> str:
        return f"{self.kind}@{self.call}" + (f":{self.length_ms}" if self.length_ms else "")


class Step(NamedTuple):
    """The wall clock is set."""

    at: int
    by_ms: int

    def __str__(self) -> str:
        return f"{self.by_ms:+d}@{self.at}"


def read_fault(text: str, kinds: type[StrEnum] = Kind) -> Fault:
    kind, _, rest = text.partition("@")
    call, _, length = rest.partition(":")
    return Fault(int(call), kinds(kind), int(length or 0))


def read_step(text: str) -> Step:
    by_ms, _, at = text.partition("@")
    return Step(int(at), int(by_ms))


def crash_plans(
    dice: Dice, *, calls: int, born_again: int, apart_max: int,
    deaths: Sequence[StrEnum] = CRASHES,
) -> list[tuple[Fault, ...]]:  # fmt: skip
    """
    To die in each way at each of so many calls, once, and a second time soon after.

    Beyond the last call nothing dies, but a process that is born again makes a few calls more. The
    order is drawn, so that a campaign that stops early has had a fair sample.
    """
    plans: list[tuple[Fault, ...]] = []
    for first in [Fault(call, death) for call in range(1, calls + 1) for death in deaths]:
        reach = min(calls - first.call + born_again, apart_max)
        second = Fault(first.call + dice.between(1, reach), dice.pick(deaths))
        plans += [(first,), (first, second)]
    dice.shuffle(plans)
    return plans


def draw_faults(dice: Dice, *, calls: int, count: int, leases_ms: Iterable[int]) -> list[Fault]:
    """Faults of all kinds, at calls up to `calls`; freezes are shorter and longer than leases."""
    lengths = [length for lease_ms in leases_ms for length in (lease_ms // 2, lease_ms * 2)]
    found = {}
    for _ in range(count):
        call, kind = dice.between(1, calls), dice.pick(tuple(Kind))
        length = dice.pick(lengths) if "freeze" in kind else 0
        found[call] = Fault(call, kind, length)
    return [found[call] for call in sorted(found)]


def draw_steps(dice: Dice, *, until_at: int, count: int) -> list[Step]:
    return sorted(
        Step(dice.below(until_at), dice.pick(_STEPS_MS) * dice.pick((1, -1))) for _ in range(count)
    )
