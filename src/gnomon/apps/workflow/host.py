"""
The host: all workflows of a store, at work and at rest.

A workflow with something to do gets a task, and one at a time; the others cost nothing until their
time comes, a caller rings, or half a minute has passed and the host looks for changes by other
processes. What a former holder was at work on is seen to before anything else.

Spec: HOST-1 to HOST-6, WHEN-4.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count

from gnomon.apps.workflow.alarm import Alert
from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.driver import Driver
from gnomon.apps.workflow.function_calls import (
    HANDLER_MAX_MS,
    THREADS,
    FunctionCalls,
    ThreadFigures,
)
from gnomon.apps.workflow.host_parts import HostParts
from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.next_step import Flags
from gnomon.apps.workflow.repair import Repairer
from gnomon.apps.workflow.retention import RUNS_KEPT
from gnomon.apps.workflow.script import Library
from gnomon.errors import OwnershipLostError, StoreError
from gnomon.ports import Clock
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.wake import Wakeup

__all__ = ["LOOK_MS", "Host"]

LOOK_MS = 30_000
"""How long a host rests at most, before it looks whether others have changed anything."""
AGAIN_MS = 1_000
"""When a workflow whose store failed is looked at again."""


class Host:
    """Runs the workflows of a store; `commands` changes them, `queries` looks at them."""

    def __init__(
        self, store: WorkflowLog, clock: Clock, *, holder: str, draw_token: Callable[[], str],
        threads: int = THREADS, repairer: Repairer | None = None, repair_ms: int = HANDLER_MAX_MS,
        alert: Alert | None = None, keep_ms: int | None = None,
        runs_kept: int = RUNS_KEPT, look_ms: int = LOOK_MS,
        on_failure: Callable[[], object] = lambda: None,
    ) -> None:  # fmt: skip
        """`on_failure` is called when the store is damaged or gone, and the host stops."""
        self.failure: StoreError | None = None
        self._on_failure = on_failure
        self.commands = WorkflowCommands(store, clock, ring=self.ring)
        self.queries = self.commands.queries
        self._store = store
        self._clock = clock
        self._holder = holder
        self._library = Library(store)
        self._around = HostParts(
            log=store, clock=clock, functions=FunctionCalls(clock, threads=threads),
            library=self._library, repairer=repairer, repair_ms=repair_ms, alert=alert,
            keep_ms=keep_ms, runs_kept=runs_kept,
            draw_token=draw_token, is_stopping=lambda: self._stopping,
        )  # fmt: skip
        self._drivers: dict[str, Driver] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._rung: dict[str, None] = {}
        """Those to look at, in the order in which they were rung for."""
        self._alarms: list[tuple[int, int, str]] = []
        self._alarm_of: dict[str, int] = {}
        self._order: Iterator[int] = count()
        self._wakeup = Wakeup()
        self._looks = True
        self._stopping = False
        self._look_ms = look_ms
        self._task: asyncio.Task[None] | None = None

    @property
    def held(self) -> int:
        """How many workflows this host holds."""
        return len(self._drivers)

    @property
    def working(self) -> int:
        """How many of them it is at work on."""
        return len(self._tasks)

    @property
    def threads(self) -> ThreadFigures:
        """How many functions are at work, or wait for a thread."""
        found = self._around.functions.threads
        return ThreadFigures(0, 0, 0, 0) if found is None else found.figures()

    async def start(self) -> None:
        """Hold the workflows and work on them until `stop`; `StoreError` if that cannot begin."""
        await self._look()
        self._task = asyncio.create_task(self._serve(), name="gnomon workflow host")

    async def deploy(self, workflow: Workflow, *, text: str = "") -> int:
        """Put a script in force, which this host has in memory; its version."""
        self._library.add(workflow, text)
        version = await self.commands.deploy(workflow, text=text)
        self.look()
        return version

    async def stop(self) -> None:
        """Start nothing more, let the runs at work come to their end, and let go."""
        self._stopping = True
        self._wakeup.set()
        if self._task is not None:
            await self._task
        while self._tasks:
            await asyncio.wait(self._tasks.values())
        self._around.functions.close()
        held = {name: driver.fence for name, driver in self._drivers.items()}
        await self._store.release(held)

    def ring(self, name: str) -> None:
        """Something about this workflow has changed."""
        self._rung[name] = None
        if name not in self._drivers:
            self._looks = True
        self._wakeup.set()

    def look(self) -> None:
        """Another process may have changed something."""
        self._looks = True
        self._wakeup.set()

    def flags(self, name: str) -> dict[str, Flags]:
        """What each handler of a workflow was called for."""
        return self._drivers[name].flags()

    async def _serve(self) -> None:
        looked_ms = self._clock.monotonic_ms()
        while not self._stopping:
            self._wakeup.clear()
            if self._looks or self._clock.monotonic_ms() - looked_ms >= self._look_ms:
                looked_ms = self._clock.monotonic_ms()
                await self._try_look()
            self._start_due()
            rest_ms = self._look_ms - (self._clock.monotonic_ms() - looked_ms)
            if self._alarms:
                rest_ms = min(rest_ms, self._alarms[0][0] - self._clock.now_ms())
            await self._wakeup.wait(self._clock, max(rest_ms, 0))

    def _start_due(self) -> None:
        now_ms = self._clock.now_ms()
        while self._alarms and self._alarms[0][0] <= now_ms:
            at_ms, _, name = heappop(self._alarms)
            if self._alarm_of.get(name) == at_ms:
                del self._alarm_of[name]
                self._rung[name] = None
        for name in [name for name in self._rung if name not in self._tasks]:
            del self._rung[name]
            if name in self._drivers:
                driver = self._drivers[name]
                task = asyncio.create_task(self._drive(driver), name=f"gnomon workflow {name}")
                self._tasks[name] = task

    async def _drive(self, driver: Driver) -> None:
        at_ms: int | None = None
        try:
            at_ms = await driver.drive()
        except OwnershipLostError as error:
            log(logging.WARNING, "WorkflowLost", workflow=driver.name, error=str(error))
            self._drivers.pop(driver.name, None)
            self._looks = True
        except StoreError as error:
            log(logging.ERROR, "StoreFailed", workflow=driver.name, error=str(error))
            self._see(error)
            at_ms = self._clock.now_ms() + AGAIN_MS
        except Exception as error:
            log(logging.ERROR, "DriverFailed", failure=error, workflow=driver.name)
            at_ms = self._clock.now_ms() + LOOK_MS
        finally:
            del self._tasks[driver.name]
        if at_ms is not None and self._alarm_of.get(driver.name) != at_ms:
            self._alarm_of[driver.name] = at_ms
            heappush(self._alarms, (at_ms, next(self._order), driver.name))
        self._wakeup.set()

    async def _try_look(self) -> None:
        try:
            await self._look()
        except StoreError as error:  # not at once, but at the next look
            log(logging.WARNING, "StoreFailed", error=str(error))
            self._see(error)
        except Exception as error:  # the workflows at work go on
            log(logging.ERROR, "LookFailed", failure=error)

    def _see(self, error: StoreError) -> None:
        """Start nothing more when the store is damaged or gone."""
        if error.lasts and self.failure is None:
            self.failure, self._stopping = error, True
            self._on_failure()

    async def _look(self) -> None:
        """Take what is free, give up what was lost, and see what others have changed."""
        self._looks = False
        held = {name: driver.fence for name, driver in self._drivers.items()}
        for name in await self._store.keep(held):
            self._drivers.pop(name, None)
        taken = await self._store.take(holder=self._holder, known=list(self._drivers))
        for name, fence in taken.items():
            self._library.forget(name)
            self._drivers[name] = Driver(name, fence, self._around)
        for name, mark in (await self._store.versions()).items():
            driver = self._drivers.get(name)
            if driver is not None and driver.mark != mark:
                self._rung[name] = None
