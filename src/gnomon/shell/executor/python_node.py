"""
Nodes that are functions of a module.

Only modules that the configuration names may be called, because the user who deploys a DAG
writes the name. A coroutine function runs in this loop, any other in a bounded number of threads. A
function that asks for a `context` is told about its run. A thread cannot be ended from outside:
after its time, or when its run is ended, its node has failed and the thread is left to itself.

Spec: EXEC-16.
"""

import asyncio
import contextlib
import contextvars
import importlib
import inspect
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from threading import Thread
from typing import cast

from gnomon.core.dag import PythonNode
from gnomon.core.ledger.detail import failure_line, one_line
from gnomon.errors.root import shown
from gnomon.ports import Clock
from gnomon.shell.executor.node import NodeContext, NodeEnd, Record, cut_log
from gnomon.shell.wake import all_done_within

__all__ = ["PythonNodes"]

THREADS = 8
_Outcome = tuple[object, BaseException | None]


class PythonNodes:
    """Carries out python nodes of certain modules."""

    def __init__(self, modules: Sequence[str], clock: Clock, *, threads: int = THREADS) -> None:
        self._modules = tuple(modules)
        self._clock = clock
        self._room = asyncio.Semaphore(threads)

    def objection_to(self, node: PythonNode) -> str | None:
        """Why a node may not be called; None when it may."""
        for module in self._modules:
            if node.module == module or node.module.startswith(f"{module}."):
                return None
        return f"the module {node.module} is not among those that may be called"

    async def carry_out(self, node: PythonNode, context: NodeContext, record: Record) -> NodeEnd:
        try:
            function = _find(node)
        except Exception as error:  # an import runs code of its own
            return NodeEnd(False, failure_line(error), _trace(error))
        work = asyncio.ensure_future(self._call(function, node, context))
        try:
            if not node.timeout_ms or await all_done_within(self._clock, [work], node.timeout_ms):
                return await asyncio.shield(work)
            detail = f"took longer than {node.timeout_ms} ms"
        except asyncio.CancelledError:
            detail = "stopped"
        work.cancel()
        await asyncio.wait([work])
        return NodeEnd(False, detail, cut_log("\n".join(context.lines)))

    async def close(self) -> None:
        """Threads that are still at work do not keep the process."""

    async def _call(
        self, function: Callable[..., object], node: PythonNode, context: NodeContext
    ) -> NodeEnd:
        arguments = dict(node.arguments)
        if "context" in inspect.signature(function).parameters:
            arguments["context"] = context  # type: ignore[assignment] # not of JSON, and not stored
        call = partial(function, **arguments)
        try:
            if inspect.iscoroutinefunction(function):
                result = await cast("Awaitable[object]", call())
            else:
                result, error = await self._in_thread(call, context.node_id)
                if error is not None:
                    return _raised(error, context)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return _raised(error, context)
        said = "" if result is None else one_line(f"returned {shown(result)}")
        return NodeEnd(True, said or "returned", _log(context, said))

    async def _in_thread(self, call: Callable[[], object], name: str) -> _Outcome:
        """
        What a function returns or raises in a thread; as a value, for not everything can be raised.

        A thread of its own, because the interpreter waits for those of a pool when it exits. Its
        place is free again when it has ended, also when its node has been given up.
        """
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[_Outcome] = loop.create_future()

        def finish(outcome: _Outcome) -> None:
            self._room.release()
            if not ended.done():
                ended.set_result(outcome)

        def work() -> None:
            try:
                outcome: _Outcome = call(), None
            except BaseException as error:
                outcome = None, error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(finish, outcome)

        inside = contextvars.copy_context()
        Thread(target=inside.run, args=(work,), name=f"gnomon-node {name}", daemon=True).start()
        return await ended


def _find(node: PythonNode) -> Callable[..., object]:
    found: object = importlib.import_module(node.module)
    for name in node.function.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{node.module}:{node.function} cannot be called")
    return found


def _raised(error: BaseException, context: NodeContext) -> NodeEnd:
    return NodeEnd(False, failure_line(error), _log(context, _trace(error)))


def _log(context: NodeContext, last: str) -> str:
    return cut_log("\n".join([*context.lines, last] if last else context.lines))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
