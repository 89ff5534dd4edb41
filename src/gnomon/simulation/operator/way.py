"""
An operator's way to the API server: where calls die, are lost, and arrive too late.

Each question is counted over all operators. A late call is applied when it arrives, whatever has
become of its caller, and its caller hears nothing; so a write may happen after everything is over.
A watch lags, and may fall silent without ever ending.

Spec: OSIM-1.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
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
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash
from gnomon.simulation.kit.notes import Notes
from gnomon.simulation.kubernetes.server import Happened, SimulatedServer
from gnomon.simulation.operator.plan import Blow, Spec, Strike

__all__ = ["Nature", "Way", "name_of"]

_LATENCIES_MS = (0, 0, 0, 1, 5, 30)
_LATE_MS = (100, 3_000, 20_000, 60_000)
_LAGS_MS = (50, 400, 3_000, 9_000)


class Nature(Protocol):
    """What a way needs of the world around it."""

    spec: Spec
    notes: Notes
    dice: Dice
    server: SimulatedServer
    calls: int
    blows: Mapping[int, Blow]
    denied: dict[Kind, Denial]
    """What may not be created, or what status may not be written, just now, and why."""

    def at(self) -> int: ...

    def act_as(self, name: str, call: Call) -> Answer:
        """The server does it, and the onlooker knows for which client."""
        ...

    def kill(self, name: str) -> None: ...

    def freeze(self, name: str, length_ms: int) -> None: ...

    def disturb(self, name: str, length_ms: int) -> None:
        """Something stood in the way of an operator, for so long."""
        ...

    def meddle(self) -> None:
        """A person does something at this very moment."""
        ...

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle: ...


class Way:
    """The port, for one life of an operator."""

    def __init__(self, nature: Nature, name: str) -> None:
        self.alive = True
        self.is_cut = False
        self._nature, self._name = nature, name

    async def send(self, call: Call) -> Answer:
        nature = self._nature
        blow = await self._strike(name_of(call), is_write=not isinstance(call, Get))
        strike = None if blow is None else blow.strike
        if self.is_cut or strike is Strike.UNHEARD:
            return NoAnswer("did not answer")
        if strike in (Strike.LATE, Strike.LATE_DEAD) and not isinstance(call, Get):
            nature.later(nature.dice.pick(_LATE_MS), lambda: self._arrive(call))
            if strike is Strike.LATE_DEAD:
                nature.kill(self._name)
                raise Crash
            return NoAnswer("did not answer")
        answer = self._denied(call) or nature.act_as(self._name, call)
        if strike is Strike.MEDDLED:
            nature.meddle()
        await self._answer(strike)
        return NoAnswer("did not answer") if strike is Strike.UNANSWERED else answer

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        blow = await self._strike(f"find {call.kind}", is_write=False)
        if self.is_cut or (blow is not None and blow.strike is Strike.UNHEARD):
            return NoAnswer("did not answer")
        found = self._nature.server.find(call)
        await self._answer(None if blow is None else blow.strike)
        return found

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        self._check()
        nature, version = self._nature, int(call.resource_version)
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
                        self._check()
                    while self.is_cut:  # a silent watch does not end
                        await asyncio.sleep(1)
                        self._check()
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
                self._check()
        finally:
            nature.server.on_change.remove(hear)

    def _lag_ms(self) -> int:
        nature = self._nature
        return nature.dice.pick(_LAGS_MS) if nature.dice.chance(nature.spec.lag) else 0

    async def _strike(self, name: str, *, is_write: bool) -> Blow | None:
        """What the plan has in store for this call; it happens unless the caller dies first."""
        self._check()
        nature = self._nature
        nature.calls += 1
        blow = nature.blows.get(nature.calls)
        said = "" if blow is None else f" {blow.strike}"
        nature.notes.log(nature.at(), self._name, f"{nature.calls} {name}{said}")
        if blow is not None:
            nature.notes.hit(f"{blow.strike} {name}" if is_write else f"{blow.strike} read")
            nature.disturb(self._name, 0)
            if blow.strike is Strike.DIES_BEFORE:
                self._die()
            if blow.strike is Strike.FREEZES:
                nature.freeze(self._name, blow.length_ms)
                await asyncio.sleep(0)  # the loop holds the operator here
        await self._pass_time()
        return blow

    async def _answer(self, strike: Strike | None) -> None:
        self._check()
        if strike is Strike.DIES_AFTER:
            self._die()
        await self._pass_time()

    def _arrive(self, call: Call) -> None:
        self._nature.notes.log(self._nature.at(), self._name, f"late {name_of(call)} arrives")
        if self._denied(call) is None:
            self._nature.act_as(self._name, call)

    def _denied(self, call: Call) -> Denied | None:
        denied = self._nature.denied
        if isinstance(call, Create) and call.kind is Kind.JOB and Kind.JOB in denied:
            return Denied(denied[Kind.JOB], "no Job now", self._nature.server.at)
        if isinstance(call, PutStatus) and Kind.KRONJOB in denied:
            return Denied(Denial.FORBIDDEN, "may not update status", self._nature.server.at)
        return None

    async def _pass_time(self) -> None:
        if latency_ms := self._nature.dice.pick(_LATENCIES_MS):
            await asyncio.sleep(latency_ms / 1000)
        self._check()

    def _check(self) -> None:
        if not self.alive:
            raise Crash

    def _die(self) -> None:
        self._nature.kill(self._name)
        raise Crash


def name_of(call: Call) -> str:
    """What a call is called in logs and counters."""
    return f"{type(call).__name__} {call.kind}"
