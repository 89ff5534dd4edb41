"""
Runs that are coroutines of this process.

A target `{"function": "name"}` calls the coroutine function that was registered under that name.
Whatever it raises ends its run and nothing else. A coroutine begins with `launch`, so a claim that
was not reported as launched may have been started: this launcher does not confirm starts.

Spec: LAUNCH-1 to LAUNCH-4.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.detail import failure_line
from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import DefinitionError
from gnomon.ports import Claim, Clock, Ended, Failed, Launched
from gnomon.shell.launcher.ends import Ends
from gnomon.shell.wake import all_done_within

__all__ = ["Context", "Function", "FunctionLauncher"]

END_MAX_MS = 10_000
"""How long a cancelled coroutine may take to come to its end."""
_FIRST = "function:1"
_new = tuple.__new__  # a named tuple in half the time that its own constructor takes


class Context(NamedTuple):
    """What a function is told about its run."""

    schedule_id: str
    nominal: int
    key: str
    """The same for every try of this period, so that an effect can be made once."""
    attempt: int

    @property
    def period(self) -> str:
        """The id of the period: its nominal instant in RFC 3339."""
        return format_instant(self.nominal)


Function = Callable[[Context], Awaitable[object]]


_Run = tuple[Context, int, str, int]
"""What the function is told, the fencing number, what the run is called, and when it began."""


class FunctionLauncher:
    """Starts registered coroutine functions in the running event loop."""

    def __init__(self, functions: Mapping[str, Function], clock: Clock) -> None:
        for name, function in functions.items():
            _check_function(name, function)
        self._functions = dict(functions)
        self._clock = clock
        self._runs: dict[str, tuple[_Run, asyncio.Task[None]]] = {}
        self._reasons: dict[str, Reason] = {}
        """Why runs are being ended, by key."""
        self._ends = Ends()

    @property
    def confirms_start(self) -> bool:
        return False

    async def launch(self, claim: Claim) -> Launched | Failed:
        schedule, key, nominal, _, launches, fence, _, _, _ = claim
        try:
            function = self._functions.get(_name_of(schedule.target))
        except DefinitionError as error:
            return Failed(key, fence, failure_line(error), permanent=True)
        if function is None:
            message = f"no function is registered for {schedule.target}"
            return Failed(key, fence, message, permanent=True)
        if key in self._runs:
            return Failed(key, fence, "an earlier run has not ended", permanent=False)
        context = _new(Context, (schedule.schedule_id, nominal, key, launches))
        name = _FIRST if launches == 1 else f"function:{launches}"
        run = context, fence, name, self._clock.now_ms()
        loop = asyncio.get_running_loop()
        self._runs[key] = run, loop.create_task(self._call(function, run), name=key)
        return _new(Launched, (key, fence, name, None, None))

    async def release(self, key: str) -> None:
        """Nothing waits here."""

    async def adopt(self, key: str, run_id: str) -> bool:
        """A coroutine ends with its process."""
        return False

    async def ended(self) -> Sequence[Ended]:
        return await self._ends.take()

    async def end(self, key: str, reason: Reason) -> bool | None:
        if key not in self._runs:
            return None
        self._reasons.setdefault(key, reason)
        return await self._cancel([self._runs[key]])

    async def drain(self, *, grace_ms: int) -> None:
        runs = list(self._runs.values())
        if not await all_done_within(self._clock, [task for _, task in runs], grace_ms):
            for (context, _, _, _), task in runs:
                if not task.done():  # the next run of a key does not inherit the reason
                    self._reasons.setdefault(context.key, Reason.STOPPED)
            await self._cancel(runs)

    async def _cancel(self, runs: Sequence[tuple[_Run, asyncio.Task[None]]]) -> bool:
        for _, task in runs:
            task.cancel()
        over = await all_done_within(self._clock, [task for _, task in runs], END_MAX_MS)
        for run, task in runs:
            if task.done():  # one that was cancelled before its first step has not said so
                self._settle(run, False, "cancelled")
        return over

    async def _call(self, function: Function, run: _Run) -> None:
        success, detail = False, "cancelled"
        try:
            await function(run[0])
            success, detail = True, "returned"
        except asyncio.CancelledError:
            pass  # by `end`, or by itself: either way the run is over and the others go on
        except (Exception, SystemExit) as error:
            detail = failure_line(error)
        self._settle(run, success, detail)

    def _settle(self, run: _Run, success: bool, detail: str) -> None:
        (_, _, key, _), fence, name, started_ms = run
        known = self._runs.get(key)
        if known is None or known[0] is not run:
            return
        del self._runs[key]
        reason = self._reasons.pop(key, None) if self._reasons else None
        if success:
            reason = None
        now_ms = self._clock.now_ms()
        values = key, fence, success, detail, reason, name, started_ms, now_ms
        self._ends.add(_new(Ended, values))


def _check_function(name: str, function: Function) -> None:
    call = getattr(function, "__call__", None)  # noqa: B004 (an object may have one that is async)
    if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)):
        raise DefinitionError(
            "must be a coroutine function", where=f"functions.{name}", got=function,
            hint="write async def",
        )  # fmt: skip


@lru_cache(4096)
def _name_of(target: str) -> str:
    try:
        found = json.loads(target)
    except (ValueError, RecursionError):
        found = None
    name = found.get("function") if isinstance(found, dict) else None
    if not isinstance(name, str) or len(found) != 1:
        raise DefinitionError(
            "must name a function", where="target", got=target, hint='write {"function": "name"}'
        )
    return name
