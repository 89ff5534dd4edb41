"""
An operator's way to the API server: where calls die, are lost, and arrive too late.

Each question is counted over all operators. A late call is applied when it arrives, whatever has
become of its caller, and its caller hears nothing; so a write may happen after everything is over.
A watch lags, and may fall silent without ever ending.

Spec: OSIM-1.
"""

import asyncio
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Protocol

from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Change,
    Create,
    Denial,
    Denied,
    Find,
    Found,
    Get,
    Kind,
    NoAnswer,
    PutStatus,
    Seen,
    Watch,
)
from gnomon.simulation.kit.gate import Gate, Nature
from gnomon.simulation.kubernetes.server import Happened, SimulatedServer
from gnomon.simulation.operator.plan import Spec, Strike

__all__ = ["OperatorNature", "Way", "name_of"]

_LATE_MS = (100, 3_000, 20_000, 60_000)
_LAGS_MS = (50, 400, 3_000, 9_000)


class OperatorNature(Nature, Protocol):
    """What a way needs of the world around it besides."""

    spec: Spec
    server: SimulatedServer
    cut: set[str]
    """The operators that get no answers, and whose watches are silent."""
    denied: dict[Kind, Denial]
    """What may not be created, or what status may not be written, just now, and why."""

    def act_as(self, name: str, call: Call) -> Answer:
        """The server does it, and the onlooker knows for which client."""
        ...

    def disturb(self, name: str, length_ms: int) -> None:
        """Something stood in the way of an operator, for so long."""
        ...

    def meddle(self) -> None:
        """A person does something at this very moment."""
        ...


class Way(Gate[OperatorNature]):
    """The port, for one life of an operator."""

    latencies_ms = (0, 0, 0, 1, 5, 30)

    async def send(self, call: Call) -> Answer:
        nature = self.nature
        strike = await self._strike(name_of(call), is_write=not isinstance(call, Get))
        if self._is_cut or strike is Strike.UNHEARD:
            return NoAnswer("did not answer")
        if strike in (Strike.LATE, Strike.LATE_DEAD) and not isinstance(call, Get):
            nature.later(nature.dice.pick(_LATE_MS), lambda: self._arrive(call))
            if strike is Strike.LATE_DEAD:
                self.die()
            return NoAnswer("did not answer")
        answer = self._denied(call) or nature.act_as(self.worker, call)
        if strike is Strike.MEDDLED:
            nature.meddle()
        await self._answer(strike)
        return NoAnswer("did not answer") if strike is Strike.UNANSWERED else answer

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        strike = await self._strike(f"find {call.kind}", is_write=False)
        if self._is_cut or strike is Strike.UNHEARD:
            return NoAnswer("did not answer")
        found = self.nature.server.find(call)
        await self._answer(strike)
        return found

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        self.check()
        nature, version = self.nature, int(call.resource_version)
        until = nature.at() + call.timeout_s * 1000
        lag_ms = self._lag_ms()
        news = asyncio.Event()

        def hear(happened: Happened) -> None:
            if happened.kind is call.kind:
                news.set()

        nature.server.on_change.append(hear)
        try:
            while True:
                news.clear()
                newest = nature.server.version
                for one in list(nature.server.changes_after(version, call)):
                    if isinstance(one, Denied):
                        yield one
                        return
                    version = one[0]
                    if lag_ms:
                        await asyncio.sleep(lag_ms / 1000)
                        lag_ms = 0  # what follows is heard at once, until there is a pause
                        self.check()
                    while self._is_cut:  # a silent watch does not end
                        await asyncio.sleep(1)
                        self.check()
                    yield one[1]
                lag_ms = self._lag_ms()
                version = max(version, newest)
                left_ms = until - nature.at()
                if left_ms <= 0:
                    yield Change(Seen.BOOKMARK, {"metadata": {"resourceVersion": str(version)}})
                    return
                try:
                    async with asyncio.timeout(left_ms / 1000):
                        await news.wait()
                except TimeoutError:
                    pass
                self.check()
        finally:
            nature.server.on_change.remove(hear)

    def _lag_ms(self) -> int:
        nature = self.nature
        return nature.dice.pick(_LAGS_MS) if nature.dice.chance(nature.spec.lag) else 0

    @property
    def _is_cut(self) -> bool:
        return self.worker in self.nature.cut

    async def _strike(self, name: str, *, is_write: bool) -> StrEnum | None:
        """What the plan has in store for this call; it happens unless the caller dies first."""
        fault = self.count(name)
        if fault is not None:
            strike = fault.kind
            self.nature.notes.hit(f"{strike} {name}" if is_write else f"{strike} read")
            self.nature.disturb(self.worker, 0)
            if strike is Strike.DIES_BEFORE:
                self.die()
            if strike is Strike.FREEZES:
                await self.freeze(fault)
        await self.pass_time()
        return None if fault is None else fault.kind

    async def _answer(self, strike: StrEnum | None) -> None:
        self.check()
        if strike is Strike.DIES_AFTER:
            self.die()
        await self.pass_time()

    def _arrive(self, call: Call) -> None:
        self.nature.notes.log(self.nature.at(), self.worker, f"late {name_of(call)} arrives")
        if self._denied(call) is None:
            self.nature.act_as(self.worker, call)

    def _denied(self, call: Call) -> Denied | None:
        denied = self.nature.denied
        if isinstance(call, Create) and call.kind is Kind.JOB and Kind.JOB in denied:
            return Denied(denied[Kind.JOB], "no Job now", self.nature.server.at)
        if isinstance(call, PutStatus) and Kind.KRONJOB in denied:
            return Denied(Denial.FORBIDDEN, "may not update status", self.nature.server.at)
        return None


def name_of(call: Call) -> str:
    """What a call is called in logs and counters."""
    return f"{type(call).__name__} {call.kind}"
