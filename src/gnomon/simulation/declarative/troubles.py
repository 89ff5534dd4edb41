"""
What goes wrong in a world that goes on for years: faults without end, drawn as they come.

Spec: SIM-1, SIM-11.
"""

from collections.abc import Iterator, Mapping

from gnomon.simulation.declarative.plan import draw_fault
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Fault

__all__ = ["Troubles"]

_NEAR = 12


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
