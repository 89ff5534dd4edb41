"""
Budgets: how much compute may go by before a scheduler has answered.

An answer to an input of |X| bits may take `a |X| + b` units of compute, not counting the busiest
`lag_ms` milliseconds since the question. Without any record of compute the lag alone counts, as
time on the clock. The size of an input is eight bits for each byte of its shortest JSON, and the
time of the question adds the bits of its number.

Spec: THEORY-8, THEORY-9.
"""

import json
from collections import Counter
from collections.abc import Iterable

from gnomon.trace import Registration, Witnesses

__all__ = ["WITNESSES", "allowance", "excess", "list_bits", "time_bits"]

WITNESSES = Witnesses(a=0.0, b=0.0, lag_ms=60_000)
"""What is asked of a scheduler that publishes nothing else: to answer within one minute."""


def list_bits(registrations: tuple[Registration, ...]) -> int:
    """The size of a list of registrations, in bits."""
    return 8 * len(json.dumps(registrations, separators=(",", ":")))


def time_bits(t: int) -> int:
    """The size of an instant, in bits: its sign and its digits."""
    return 1 + abs(t).bit_length()


def allowance(witnesses: Witnesses, bits: int, t: int) -> float:
    """The units of compute for an input of so many bits that is given at `t`."""
    return witnesses.a * (bits + time_bits(t)) + witnesses.b


def excess(spent: Iterable[tuple[int, int]], lag_ms: int) -> int:
    """What is left of (t, units) without the `lag_ms` milliseconds in which most was spent."""
    ticks = Counter[int]()
    for t, units in spent:
        ticks[t] += units
    if len(ticks) <= lag_ms:
        return 0
    return sum(sorted(ticks.values())[: len(ticks) - lag_ms])
