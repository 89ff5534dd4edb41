"""
Until when does a stop wait for the runs, and what becomes of them then?

Coroutines are cancelled when the time is up. What still runs a second later is given up: the stop
waits for it no longer, and its record says that it runs, so that it counts as cut off by a crash.

Spec: STOP-8.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from gnomon.apps.declarative.events import LogEvent, log
from gnomon.apps.declarative.runner import Runner
from gnomon.ports import Clock

__all__ = ["CUT_MS", "StopLimit"]

CUT_MS = 1_000
"""How long coroutines have to end, once a stop may wait no longer."""

_NAMES_SHOWN = 5


class StopLimit:
    """Bounds how long a session takes to end; the earliest of several limits counts."""

    def __init__(self, runner: Runner, clock: Clock, given_up: Callable[[], None]) -> None:
        self._runner = runner
        self._clock = clock
        self._given_up = given_up
        self._at_ms: int | None = None
        self._running: asyncio.Task[None] | None = None

    def set(self, at_ms: int) -> None:
        """Wait for no run from this time on; it is one that never goes back."""
        if self._at_ms is None or at_ms < self._at_ms:
            self.lift()
            self._at_ms = at_ms
            self._running = asyncio.create_task(self._run_out(at_ms), name="gnomon limit of stop")

    def lift(self) -> None:
        """The session has ended."""
        if self._running is not None:
            self._running.cancel()

    def exceeded(self, names: Sequence[str]) -> TimeoutError:
        """What to say of the runs that are left behind."""
        names = sorted(names)
        log(logging.ERROR, LogEvent.RUNS_LEFT, tasks=names)
        rest = len(names) - _NAMES_SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        return TimeoutError(
            f"still running when the time was up: {', '.join(names[:_NAMES_SHOWN])}{more}"
        )

    async def _run_out(self, at_ms: int) -> None:
        await self._clock.sleep_ms(max(at_ms - self._clock.monotonic_ms(), 0))
        self._runner.cut_short("was cut short by the stop of its scheduler")
        await self._clock.sleep_ms(CUT_MS)
        self._runner.give_up()
        self._given_up()
