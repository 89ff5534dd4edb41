"""
The runtime: turns, one after the other, until it is told to stop.

Between turns it rests: until the next wake, until a lease is to be renewed, until a run ends or a
caller calls `wake`, and never longer than `REST_MAX_MS`, because clocks are set. When the ledger
fails it waits, longer each time, says so, and goes on; `try_again` ends the waiting. A ledger that
is damaged or gone ends the runtime. Told to stop, it claims nothing more, waits for its runs, ends
those that are left, and writes what is to be reported.

All waiting goes through the clock and the launcher, so that the same code runs on virtual time.

Spec: RUN-4, RUN-9, RUN-10, RUN-16.
"""

import asyncio
import logging

from gnomon.core.engine import USUAL, Limits
from gnomon.errors import StoreError
from gnomon.ports import Clock, Launcher, Ledger, Observer
from gnomon.shell.clock import Reading
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.log import log
from gnomon.shell.worker.worker import Worker

__all__ = ["BACKOFF_MAX_MS", "REST_MAX_MS", "Runtime"]

REST_MAX_MS = 30_000
BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
GAP_MS = 5
"""Turns begin at least this far apart, so that ends that come singly are written together."""
MANY = 100
"""So many ends are worth a turn of their own."""
LAST_TRIES = 5
"""How often a stopping runtime tries to write its last reports."""


class Runtime:
    """
    A worker that runs what is due.

    `owner` is a name that no other worker has or has had: a restarted process is another worker.
    """

    def __init__(
        self, ledger: Ledger, launcher: Launcher, clock: Clock, owner: str, *,
        limits: Limits = USUAL, batch: int = 1000, telemetry: Telemetry | None = None,
        rest_max_ms: int = REST_MAX_MS, observer: Observer | None = None,
    ) -> None:  # fmt: skip
        self.telemetry = telemetry or Telemetry()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._again = asyncio.Event()
        """Whether there is a reason not to wait any longer for a ledger that failed."""
        self._claims_more = True
        self._grace_ms = 0
        self._failures = 0
        self._rest_max_ms = min(rest_max_ms, REST_MAX_MS)
        self._clock = clock
        self._launcher = launcher
        self._worker = Worker(
            ledger, launcher, clock, owner,
            limits=limits, batch=batch, telemetry=self.telemetry, wake=self._wake.set,
            observer=observer or Observer(),
        )  # fmt: skip

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stop.is_set()

    @property
    def in_hand(self) -> int:
        """How many runs it holds."""
        return len(self._worker.runs)

    @property
    def is_starting(self) -> bool:
        """Whether there are claims that are not launched yet."""
        return self._worker.has_claims

    def wake(self) -> None:
        """Take the next turn soon: something has changed."""
        self._worker.ending.is_called = True
        self._wake.set()
        self._again.set()

    def try_again(self) -> None:
        """The ledger has answered the caller: if it failed here, do not go on waiting."""
        self._again.set()

    async def recover(self) -> None:
        """This worker owns the ledger alone: take over from its predecessor, before `run`."""
        await self._worker.recover(self._worker.reading())

    async def turn(self) -> int | None:
        """One turn; when there is more to do, None for not before an event."""
        return await self._worker.turn(self._worker.reading(), claiming=self._is_claiming)

    async def collect(self) -> None:
        """Wait for runs to end, and keep that for the next turn; `run` does it by itself."""
        await self._worker.collect()

    async def run(self) -> None:
        """Take turns until `stop`."""
        self._idle.clear()
        collector = asyncio.create_task(self._collect())
        collector.add_done_callback(lambda _: self._wake.set())
        try:
            while not self._stop.is_set() and (self._claims_more or not self._worker.is_idle):
                await self._step(collector)
            await self._drain(collector)
        finally:
            for task in (collector, *self._worker.ending.beside):
                task.cancel()
            await asyncio.gather(collector, *self._worker.ending.beside, return_exceptions=True)
            self._idle.set()

    @property
    def _is_claiming(self) -> bool:
        return self._claims_more and not self._stop.is_set()

    async def finish(self) -> None:
        """Claim nothing more and let all runs come to their end, unless `stop` is called."""
        self._claims_more = False
        self._wake.set()
        await self._idle.wait()

    async def stop(self, grace_ms: int) -> None:
        """Claim nothing more, give runs this long, end the others; return when all is over."""
        self._grace_ms = grace_ms
        self._stop.set()
        self._wake.set()
        self._again.set()
        await self._idle.wait()

    async def _collect(self) -> None:
        while True:
            await self._worker.collect()

    async def _step(
        self, collector: "asyncio.Task[None]", *, rest_max_ms: int = REST_MAX_MS
    ) -> None:
        """A turn, and the rest after it."""
        if collector.done():
            collector.result()  # the launcher has failed, and so do we
        self._wake.clear()
        at = self._worker.reading()
        try:
            next_ms = await self._worker.turn(at, claiming=self._is_claiming)
        except StoreError as error:
            if error.lasts:  # nothing may be started on what is not recorded
                raise
            await self._back_off(error)
            return
        if self._failures:
            log(logging.INFO, "the ledger answers again", failures=self._failures)
            self._failures = 0
        await self._wait(self._wake, min(self._rest_ms(at, next_ms), rest_max_ms))
        gap_ms = 0 if len(self._worker.reports) >= MANY else GAP_MS
        passed_ms = self._clock.monotonic_ms() - at.monotonic_ms
        await self._clock.sleep_ms(max(gap_ms - passed_ms, 0))
        await self._clock.sleep_ms(0)  # what has ended meanwhile is collected, and reported first

    def _rest_ms(self, at: Reading, next_ms: int | None) -> int:
        passed_ms = self._clock.monotonic_ms() - at.monotonic_ms
        rests = [self._rest_max_ms]
        if next_ms is not None:
            rests.append(next_ms - at.now_ms)
        held_ms = self._worker.runs.rest_ms(at)
        if held_ms is not None:
            rests.append(held_ms)
        if len(self._worker.reports):
            rests.append(GAP_MS)
        return max(min(rests) - passed_ms, 0)

    async def _back_off(self, error: StoreError) -> None:
        self.telemetry.ledger_errors += 1
        wait_ms = min(BACKOFF_MS * 2 ** min(self._failures, 20), BACKOFF_MAX_MS)
        self._failures += 1
        level = logging.WARNING if error.transient else logging.ERROR
        log(
            level, "the ledger failed, trying again",
            error=str(error), failures=self._failures, wait_ms=wait_ms,
        )  # fmt: skip
        if self._stop.is_set():
            await self._clock.sleep_ms(min(wait_ms, 1_000))
            return
        self._again.clear()
        await self._clock.sleep_ms(BACKOFF_MS)  # in any case, or who calls often would keep it busy
        await self._wait(self._again, wait_ms - BACKOFF_MS)

    async def _wait(self, event: asyncio.Event, length_ms: int) -> None:
        """Return when the event is set, or this much time has passed."""
        if event.is_set() or length_ms <= 0:
            return
        waiting = asyncio.ensure_future(event.wait())
        alarm = asyncio.ensure_future(self._clock.sleep_ms(length_ms))
        try:
            await asyncio.wait([waiting, alarm], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            alarm.cancel()
            await asyncio.gather(waiting, alarm, return_exceptions=True)

    async def _drain(self, collector: "asyncio.Task[None]") -> None:
        log(logging.INFO, "stopping", runs=len(self._worker.runs), grace_ms=self._grace_ms)
        tries = LAST_TRIES
        self._worker.give_up_waiting()
        while self._worker.has_claims and tries:
            await self._step(collector)
            tries -= bool(self._failures)
        drain = asyncio.create_task(self._launcher.drain(grace_ms=self._grace_ms))
        drain.add_done_callback(lambda _: self._wake.set())
        try:
            while not drain.done():
                await self._step(collector)
            await drain
        finally:
            drain.cancel()
        self._worker.give_back()
        for _ in range(LAST_TRIES):
            if self._worker.has_runs or len(self._worker.reports):
                await self._step(collector, rest_max_ms=GAP_MS)
        log(
            logging.INFO, "stopped", unreported=len(self._worker.reports),
            left=self._worker.has_runs,
        )  # fmt: skip
