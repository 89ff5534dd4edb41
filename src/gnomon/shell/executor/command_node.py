"""
Nodes that are processes.

A process is made ready, the executor writes down which one it is, and only then does it begin. So
the record of a run tells its next worker every process that may be left of it. What is left is
ended before a node is begun again. Closing this tells the processes that are left to end, and waits
for none of them; it reports no ends any more.

Spec: EXEC-12, EXEC-14, EXEC-19.
"""

import asyncio

from gnomon.core.dag import CommandNode
from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Ended, Failed, Strained
from gnomon.shell.executor.node import NodeContext, NodeEnd, Record, cut_log
from gnomon.shell.launcher.command import PATH, SHELL, Command
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.launcher.process_start import ProcessStart

__all__ = ["CommandNodes"]


class CommandNodes:
    """Carries out command nodes, over a launcher of processes that nothing else uses."""

    def __init__(self, launcher: ProcessLauncher) -> None:
        self._launcher = launcher
        self._waiting: dict[str, asyncio.Future[Ended]] = {}
        self._collector: asyncio.Task[None] | None = None
        self._is_closed = False

    async def carry_out(self, node: CommandNode, context: NodeContext, record: Record) -> NodeEnd:
        key = context.name
        self._start_collecting()
        start = self._start(node, context, key)
        while isinstance(made := self._launcher.prepare(start), Strained):
            await self._launcher.rest()  # the executor lacks something, and not the node
        if isinstance(made, Failed):
            return NodeEnd(False, made.message)
        ended = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            if await record(made.run_id):
                await self._launcher.release(key)
            else:
                await self._launcher.end(key, Reason.UNCERTAIN)
            end = await asyncio.shield(ended)
        except asyncio.CancelledError:
            if self._is_closed:
                raise  # no end would ever come
            await self._launcher.end(key, Reason.STOPPED)
            end = await ended
        return NodeEnd(end.success, _detail(end), self._log(key, context.attempt))

    async def clear_away(self, context: NodeContext, process: str) -> bool:
        """End what is left of an earlier try; whether nothing is."""
        key = context.name
        self._start_collecting()
        if not await self._launcher.adopt(key, process):
            return True
        return await self._launcher.end(key, Reason.UNCERTAIN) is not False  # it had been adopted

    async def close(self) -> None:
        self._is_closed = True
        self._launcher.leave()
        if self._collector is not None:
            self._collector.cancel()
            await asyncio.wait([self._collector])

    def _start(self, node: CommandNode, context: NodeContext, key: str) -> ProcessStart:
        command = Command(
            arguments=node.arguments, cwd=node.cwd, env=context.given, timeout_ms=node.timeout_ms,
            grace_ms=node.grace_ms,
        )  # fmt: skip
        env = {
            "PATH": PATH,
            "HOME": self._launcher.home,
            "LOGNAME": self._launcher.user,
            "SHELL": SHELL,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **context.given,
            **context.environment(),
            "GNOMON_ATTEMPT": str(context.attempt),
        }
        return ProcessStart(key, context.meta.fence, context.attempt, command, env)

    def _log(self, key: str, attempt: int) -> str:
        path = self._launcher.output.path(key, attempt)
        try:
            return "" if path is None else cut_log(path.read_text(errors="replace"))
        except OSError:  # it said nothing
            return ""

    def _start_collecting(self) -> None:
        if self._collector is None:
            self._collector = asyncio.ensure_future(self._collect())

    async def _collect(self) -> None:
        while True:
            for end in await self._launcher.ended():
                waiting = self._waiting.pop(end.key, None)
                if waiting is not None:
                    waiting.set_result(end)


def _detail(end: Ended) -> str:
    return end.detail if end.reason is None else f"{end.detail} ({end.reason})"
