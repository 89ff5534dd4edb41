"""
The event loop of a simulated world: time passes only when no callback is ready.

When no callback is ready, the loop sets its clock to the next timer and goes on at once. Callbacks
that are ready together run in an order that the seed draws, because the promises must not rest on
the order in which an event loop happens to call. A callback belongs to the worker in whose context
it was made; `hold` says which workers are frozen, and their callbacks wait.

It has no selector: sockets, signals, child processes and threads do not exist here.

Spec: SIM-1, SIM-2.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from heapq import heappop
from typing import TYPE_CHECKING

from gnomon.simulation.kit.dice import Dice

if TYPE_CHECKING:
    from asyncio.events import Handle, TimerHandle

__all__ = ["WORKER", "Stuck", "VirtualLoop"]

WORKER: ContextVar[str] = ContextVar("WORKER", default="")
"""The worker that the running callback belongs to; empty for the world itself."""


class Stuck(BaseException):
    """Everybody waits and nothing can ever happen: a deadlock, or a world without an end."""


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop on virtual time, whose order of callbacks a seed decides."""

    _ready: "deque[Handle]"
    _scheduled: "list[TimerHandle]"
    _stopping: bool

    def __init__(self, dice: Dice, *, steps_max: int) -> None:
        super().__init__()
        self.steps = 0
        self._dice = dice
        self._steps_max = steps_max
        self._now = 0.0
        self._held: list[Handle] = []
        self.hold: Callable[[str], bool] = _nobody

    def time(self) -> float:
        return self._now

    def thaw(self) -> None:
        """A worker that was held may go on: look again at the callbacks that wait."""
        self._ready.extend(self._held)
        self._held.clear()

    def _run_once(self) -> None:
        if self.steps > self._steps_max:
            raise Stuck(f"more than {self._steps_max} steps")
        self._drop_cancelled()
        if not self._ready and not self._stopping:
            if not self._scheduled:
                raise Stuck("nothing is ready and no timer is set")
            self._now = max(self._now, _when(self._scheduled[0]))
        while self._scheduled and _when(self._scheduled[0]) <= self._now:
            timer = heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(timer)
        todo = list(self._ready)
        self._ready.clear()
        if len(todo) > 1:
            self._dice.shuffle(todo)
        for handle in todo:
            self._run_handle(handle)

    def _run_handle(self, handle: "Handle") -> None:
        if handle.cancelled():
            return
        context: Context = handle._context  # type: ignore[attr-defined]
        if self.hold(context.get(WORKER, "")):
            self._held.append(handle)
            return
        self.steps += 1
        handle._run()

    def _drop_cancelled(self) -> None:
        while self._scheduled and self._scheduled[0].cancelled():
            heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]

    def _write_to_self(self) -> None:
        """This loop never sleeps, so it need not be woken."""


def _when(timer: "TimerHandle") -> float:
    return timer.when()


def _nobody(worker: str) -> bool:
    return False
