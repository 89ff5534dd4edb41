"""
The gate between a worker and everything outside it: where faults happen.

Each call of a port passes the gate of its worker. The gate counts it, lets time pass, and crashes,
freezes or fails the worker if the plan says so. A dead worker's gate lets nothing through, so that
what its coroutines do on their way out reaches neither store nor launcher nor clock.

`behind` puts any port behind a gate: which calls there are, the protocol of the port says.

Spec: SIM-2.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from inspect import iscoroutinefunction
from types import SimpleNamespace
from typing import Generic, NoReturn, Protocol, TypeVar, cast

from gnomon.errors import StoreError
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash, Fault, Kind
from gnomon.simulation.kit.notes import Notes

__all__ = ["Gate", "Nature", "Passage", "behind"]

_T = TypeVar("_T")
_P = TypeVar("_P")


class Nature(Protocol):
    """What the gate needs of the world around it."""

    notes: Notes
    dice: Dice
    calls: int
    faults: Mapping[int, Fault]

    def at(self) -> int:
        """Milliseconds since the world began."""
        ...

    def kill(self, worker: str) -> None:
        """End a worker, with everything that lives in its memory."""
        ...

    def freeze(self, worker: str, length_ms: int) -> None: ...

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no worker."""
        ...


class Passage(Protocol):
    """How a call gets to the other side, as `Gate.call` has it."""

    async def __call__(self, name: str, act: Callable[[], Awaitable[_T]]) -> _T: ...


_N = TypeVar("_N", bound=Nature, covariant=True)


class Gate(Generic[_N]):
    """What one worker's calls go through."""

    latencies_ms: Sequence[int] = (0, 0, 0, 0, 0, 1, 5, 30)
    """How long a call takes to get to the other side, and its answer back."""

    def __init__(self, nature: _N, worker: str) -> None:
        self.worker = worker
        self.nature = nature
        self.alive = True

    async def call(self, name: str, act: Callable[[], Awaitable[_T]], *, stores: bool = True) -> _T:
        """Do `act`, with what the plan has in store for this call; only a store can fail."""
        fault = self.count(name)
        kind = None if fault is None else fault.kind
        if fault is not None:
            self.nature.notes.is_disturbed = True
            self.nature.notes.hit(f"{kind} {name}" if stores else f"{kind} launcher")
        if kind is Kind.CRASH_BEFORE:
            self.die()
        if kind is Kind.FREEZE_BEFORE and fault is not None:
            await self.freeze(fault)
        await self.pass_time()
        if kind is Kind.FAIL_BEFORE and stores:
            raise StoreError("did not answer", where="simulated store", hint="", transient=True)
        result = await act()
        self.check()
        if kind is Kind.CRASH_AFTER:
            self.die()
        if kind is Kind.FREEZE_AFTER and fault is not None:
            await self.freeze(fault)
        await self.pass_time()
        if kind is Kind.FAIL_AFTER and stores:
            raise StoreError("did not answer", where="simulated store", hint="", transient=True)
        return result

    def check(self) -> None:
        if not self.alive:
            raise Crash

    def count(self, name: str) -> Fault | None:
        """A call is made: what the plan has in store for it."""
        self.check()
        nature = self.nature
        nature.calls += 1
        fault = nature.faults.get(nature.calls)
        said = "" if fault is None else f" {fault.kind}"
        nature.notes.log(nature.at(), self.worker, f"{nature.calls} {name}{said}")
        return fault

    async def pass_time(self) -> None:
        if latency_ms := self.nature.dice.pick(self.latencies_ms):
            await asyncio.sleep(latency_ms / 1000)
            self.check()

    async def freeze(self, fault: Fault) -> None:
        self.nature.freeze(self.worker, fault.length_ms)
        await asyncio.sleep(0)  # the loop holds the worker here
        self.check()

    def die(self) -> NoReturn:
        self.nature.kill(self.worker)
        raise Crash


def behind(passage: Passage, port: object, inner: _P, *, own: object = None) -> _P:
    """
    `inner` as one process reaches it: each call that the protocol `port` has takes the passage.

    What `own` has stands in the place of the port's, and finds its passage itself.
    """
    found: dict[str, object] = {}
    for name in (one for one in dir(port) if not one.startswith("_")):
        if hasattr(own, name):
            found[name] = getattr(own, name)
        elif not iscoroutinefunction(getattr(port, name)):
            found[name] = getattr(inner, name)
        else:
            found[name] = partial(_pass, passage, name, getattr(inner, name))
    return cast("_P", SimpleNamespace(**found))


async def _pass(
    passage: Passage, name: str, act: Callable[..., Awaitable[_T]], /, *given: object,
    **named: object,
) -> _T:  # fmt: skip
    return await passage(name, lambda: act(*given, **named))
