"""
The program around a scheduler: it initializes it, runs its errands, and has the callbacks.

It does what a sensible program does: when the store does not answer, it tries again; when it has
stopped the scheduler or given up on a call, it initializes it once more with the list it wants.

Spec: SIM-11, SIM-14.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from gnomon.apps.declarative.callback import RunContext
from gnomon.apps.declarative.scheduler import RegistrationTuple, Scheduler
from gnomon.errors import (
    DefinitionError,
    SchedulerAlreadyActiveError,
    ScheduleTaskError,
    StopSchedulerError,
)
from gnomon.ports import Clock
from gnomon.simulation.declarative.journal import Clerk, GatedOpener, Shelf
from gnomon.simulation.declarative.plan import Do, Errand, Spec, Task
from gnomon.simulation.declarative.witness import Call, Witness
from gnomon.simulation.kit.clock import Wall
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.gate import Gate, Nature

__all__ = ["Program", "ProgramWorld"]

TRY_AGAIN_MS = 1_000
_ERRORS: tuple[Callable[[], BaseException], ...] = (
    lambda: ValueError("no"),
    lambda: OSError("no"),
    lambda: SystemExit(1),
    asyncio.CancelledError,
)


class ProgramWorld(Nature, Clerk, Protocol):
    """What a program needs of the world around it."""

    spec: Spec
    behaviour: Dice
    wall: Wall
    shelf: Shelf
    witness: Witness
    wanted: int
    """The list that is to be in force, for the process that begins next."""

    def clock(self, gate: Gate[Nature]) -> Clock: ...


class Program:
    """One process with a scheduler in it."""

    def __init__(self, gate: Gate[Nature], world: ProgramWorld) -> None:
        self.busy = 0
        """How many things it is doing."""
        self._gate = gate
        self._world = world
        self._begun = 0
        self._initializing = 0
        self._in_force = -1
        self._scheduler = Scheduler(
            zone=world.spec.zone, reinitialize=world.spec.reinitialize, threads=0,
            clock=world.clock(gate), journal=GatedOpener(world.shelf, gate, world),
            monitor=False,  # a court sits over this world, which knows more than it would
        )  # fmt: skip

    async def assure(self, which: int) -> None:
        """See to it that this list is in force."""
        self.busy += 1
        self._world.wanted = which
        while True:
            try:
                await self._initialize(which)
                break
            except SchedulerAlreadyActiveError:
                if which != self._in_force:
                    await self.stop()  # it refuses to change in place
                else:
                    break
            except ScheduleTaskError:
                self._world.notes.hit("initialize failed")
                await asyncio.sleep(TRY_AGAIN_MS / 1000)
        self.busy -= 1

    async def stop(self) -> bool:
        """Whether it came to its end as it should."""
        begun, racing = self._begun, self._initializing
        try:
            await self._scheduler.stop()
        except StopSchedulerError:
            self._world.notes.hit("stop failed")
            return False
        if begun == self._begun and not racing:
            self._world.witness.stopped()
        return True

    async def run_errand(self, errand: Errand) -> None:
        """Do it, and leave the scheduler with the list that is wanted."""
        self.busy += 1
        world = self._world
        pause = errand.pause_ms / 1000
        match errand.do:
            case Do.RESTART:
                await self.stop()
                await asyncio.sleep(pause)
            case Do.SAME | Do.DEPLOY:
                pass
            case Do.CHANGE:
                world.wanted = errand.which
            case Do.CHANGE_AND_STOP:
                await asyncio.gather(self._try(errand.which), self.stop())
            case Do.TWO_LISTS:
                await asyncio.gather(self._try(errand.which), self._try(world.wanted))
            case Do.CANCEL:
                await self._give_up(errand.which, pause)
            case Do.STOP_TWICE:
                await asyncio.gather(self.stop(), self.stop())
            case Do.NONSENSE:
                await self._talk_nonsense()
        await self.assure(world.wanted)
        self.busy -= 1

    async def _initialize(self, which: int) -> None:
        world = self._world
        world.witness.initializing()
        self._begun += 1
        self._initializing += 1
        try:
            await self._scheduler.initialize(self._registrations(which))
            self._in_force = which
        finally:
            self._initializing -= 1

    async def _try(self, which: int) -> None:
        try:
            await self._initialize(which)
        except (SchedulerAlreadyActiveError, ScheduleTaskError) as error:
            self._world.notes.hit(f"refused: {type(error).__name__}")

    async def _give_up(self, which: int, pause: float) -> None:
        trying = asyncio.ensure_future(self._try(which))
        await asyncio.sleep(pause)
        trying.cancel()
        await asyncio.wait([trying])
        self._gate.check()

    async def _talk_nonsense(self) -> None:
        usual = self._registrations(self._world.wanted)
        try:
            await self._scheduler.initialize([*usual, *usual])
        except DefinitionError:
            return
        self._world.notes.surprises.append("a list with a name twice was accepted")

    def _registrations(self, which: int) -> list[RegistrationTuple]:
        return [
            (one.name, one.cron, self._callback(one), timedelta(milliseconds=one.retry_ms))
            for one in self._world.spec.lists[which]
        ]

    def _callback(self, task: Task) -> Callable[[RunContext], object]:
        world, gate = self._world, self._gate

        async def callback(context: RunContext) -> None:
            gate.check()
            world.wall.now_ms()
            call = Call(
                task=context.task, nominal=context.nominal, attempt=context.attempt,
                reason=context.reason, at=world.at(), highest_ms=world.wall.highest_ms,
            )  # fmt: skip
            world.witness.called(call)
            takes_ms = world.behaviour.pick(task.behaviour.takes_ms)
            error = None
            if world.behaviour.chance(task.behaviour.fails):
                error = world.behaviour.pick(_ERRORS)()
            if takes_ms:
                await asyncio.sleep(takes_ms / 1000)
                gate.check()
            world.witness.ended(call, "success" if error is None else "failure", world.at())
            if error is not None:
                raise error

        return callback
