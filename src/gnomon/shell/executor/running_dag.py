"""
One DAG that is carried out, from its first node to its last.

Before a node begins, and when it has ended, that is written to the record. The record is kept under
the fencing number of the worker that asked for the run. When another worker takes the run over,
what is under way is stopped, and nothing more is written. A record that cannot be written is tried
again until it can be: no node begins without it. A cancelled run is left as its record has it.

A node that goes on without this process (a Job) is left alone when the worker stops or loses the
run: nothing is written or said, and the next worker finds the node under way. A run that is ended
for another reason is ended with everything that an earlier worker has left of it.

Spec: EXEC-3, EXEC-4, EXEC-10 to EXEC-14, EXEC-18, EXEC-19, EXEC-43, EXEC-44.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple, TypeVar

from gnomon.core.dag import Dag
from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.ports.dag import DagRun, DagRuns, NodeRow, NodeState
from gnomon.ports.executor import Feedback, FeedbackStatus, Meta
from gnomon.shell.executor.node import NodeContext, NodeEnd
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.executor.ready_nodes import ReadyNodes
from gnomon.shell.observe.log import log

__all__ = ["RunningDag", "Tools"]

BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
_STOPPED = NodeEnd(False, "stopped before it began")
_IN_THE_WAY = NodeEnd(False, "an earlier try could not be ended")
_LEAVE_ALONE = (Reason.STOPPED, Reason.UNCERTAIN)
"""Why a run is no longer this worker's, and not why it should be over."""
_Result = TypeVar("_Result")


class Tools(NamedTuple):
    """What every run of an executor is carried out with."""

    dag_runs: DagRuns
    clock: Clock
    runners: NodeRunners
    room: asyncio.Semaphore
    """For so many nodes side by side."""
    say: Callable[[Feedback], None]


class RunningDag:
    """A run that is being carried out."""

    def __init__(self, dag: Dag, kept: DagRun, meta: Meta, tools: Tools) -> None:
        self.meta = meta
        self.run_id = kept.run_id
        self.is_over = False
        """Whether its end has been said."""
        self._nodes = {node.node_id: node for node in dag.nodes}
        self._former = {row.node_id: row for row in kept.nodes}
        self._ready = ReadyNodes(dag, kept.nodes)
        self._tools = tools
        self._pen = asyncio.Lock()
        self._tasks: dict[asyncio.Task[NodeRow | None], str] = {}
        self._reason: Reason | None = None
        self._is_lost = self._is_left = False
        self._begun: set[str] = set()
        self._details: list[str] = []

    @property
    def grace_ms(self) -> int:
        """How long its nodes may take to end when they are told to."""
        return max(map(self._tools.runners.grace_ms, self._nodes.values()), default=0)

    async def take_over(self, meta: Meta) -> DagRun:
        """A worker asks for the same run again: go on under the fencing number it has now."""
        async with self._pen:
            kept = await self._tools.dag_runs.begin(
                DagRun(
                    meta.idempotency_key, self.run_id, meta.workflow_id, meta.version,
                    meta.user_id, meta.fence, FeedbackStatus.STARTED, "",
                    self._tools.clock.now_ms(),
                )
            )  # fmt: skip
            if kept.fence == meta.fence:
                self.meta = meta
            return kept

    def stop(self, reason: Reason) -> None:
        """Begin nothing more, and end what is under way, unless another worker goes on with it."""
        self._reason = self._reason or reason
        if self._reason in _LEAVE_ALONE and any(map(self._outlives_us, self._nodes)):
            self._is_left = True
            self._lose()
        self._cancel_all()

    async def carry_out(self) -> None:
        """Carry all nodes out, and say how it went; this is always said once, unless cancelled."""
        self._say(FeedbackStatus.STARTED)
        try:
            await self._write(self._skipped_rows(self._ready.skipped))
            while await self._step():
                pass
            if not self._is_lost:
                await self._clear_rest()
                await self._write(self._skipped_rows(self._ready.give_up()))
            status, detail = self._verdict()
            if not self._is_lost:
                self._is_lost = not await self._end(status, detail)
            if self._is_lost:
                status, detail = FeedbackStatus.FAILED, "taken over by another worker"
        except asyncio.CancelledError:
            await self._leave()
            raise
        except Exception as error:
            log(logging.ERROR, "a run failed by itself", failure=error, key=self._key)
            status, detail = FeedbackStatus.FAILED, f"the executor failed: {type(error).__name__}"
        self.is_over = True
        if not self._is_left:
            self._say(status, detail)

    async def _step(self) -> bool:
        """Begin what may begin, and wait until something has ended; whether there is more."""
        if self._reason is None and not self._is_lost:
            for name in self._ready.begin_ready():
                self._tasks[asyncio.create_task(self._carry_out(name))] = name
        if not self._tasks:
            return False
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        rows: list[NodeRow] = []
        for task in done:
            name = self._tasks.pop(task)
            # One that was cancelled before its first step has not said anything.
            row = self._stopped_row(name) if task.cancelled() else task.result()
            rows += self._finish(name, row)
        if not self._is_lost and not await self._write(rows):
            self._lose()
        return True

    async def _carry_out(self, name: str) -> NodeRow | None:
        """One node; None when the run is no longer ours."""
        self._begun.add(name)
        former, node = self._former.get(name), self._nodes[name]
        row = NodeRow(name, NodeState.RUNNING, 1 if former is None else former.attempt + 1)
        alone = self._tools.runners.outlive(node)
        if alone and former is not None and former.process is not None:
            row = former
        try:
            async with nullcontext() if alone else self._tools.room:
                if row is not former:
                    row = row._replace(started_ms=self._tools.clock.now_ms())
                    context = self._context(name, row)
                    if former is not None and not await self._clear_away(former, context):
                        return self._ended(row, _IN_THE_WAY)
                    if not await self._write([row]):
                        return None
                context = self._context(name, row)

                async def record(process: str) -> bool:
                    return await self._write([row._replace(process=process)])

                end = await self._tools.runners.carry_out(node, context, record)
        except asyncio.CancelledError:
            end = _STOPPED
        return self._ended(row, end)

    def _context(self, name: str, row: NodeRow) -> NodeContext:
        return NodeContext(
            meta=self.meta,
            node_id=name,
            attempt=row.attempt,
            former=row.process,
            goes_on=lambda: self._reason is None or self._is_lost,
        )

    def _outlives_us(self, name: str) -> bool:
        """Whether the node is under way, and goes on without this process."""
        former = self._former.get(name)
        is_under_way = name in self._tasks.values() or (
            name not in self._begun and former is not None and former.state is NodeState.RUNNING
        )
        return is_under_way and self._tools.runners.outlive(self._nodes[name])

    async def _clear_away(self, former: NodeRow, context: NodeContext) -> bool:
        """End what an earlier try has left; whether nothing is left."""
        if former.process is None:
            return True
        node = self._nodes[former.node_id]
        return await self._tools.runners.clear_away(node, context, former.process)

    async def _clear_rest(self) -> None:
        """End what an earlier worker has left of nodes that are not begun again."""
        for name, former in self._former.items():
            if former.state is NodeState.RUNNING and name not in self._begun:
                await self._clear_away(former, self._context(name, former))

    def _ended(self, row: NodeRow, end: NodeEnd) -> NodeRow:
        state = NodeState.SUCCESS if end.success else NodeState.FAILED
        return row._replace(
            state=state, detail=end.detail, log=end.log, ended_ms=self._tools.clock.now_ms()
        )

    def _finish(self, name: str, row: NodeRow | None) -> list[NodeRow]:
        if row is None:
            self._lose()
        success = row is not None and row.state is NodeState.SUCCESS
        skipped = self._ready.finish(name, success=success)
        if row is None:
            return []
        if not success:
            self._details.append(f"{name}: {row.detail}")
        return [row, *self._skipped_rows(skipped)]

    def _lose(self) -> None:
        """Another worker carries the run out now."""
        if not self._is_lost:
            log(logging.WARNING, "a run was taken over", key=self._key)
        self._is_lost = True
        self._ready.give_up()
        self._cancel_all()

    def _cancel_all(self) -> None:
        for task in self._tasks:
            if not task.cancelling():  # a second one would disturb what the first has begun
                task.cancel()

    async def _leave(self) -> None:
        """Give up the nodes that are under way; nothing is written about them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _stopped_row(self, name: str) -> NodeRow:
        return self._ended(NodeRow(name, NodeState.RUNNING, 0), _STOPPED)

    def _skipped_rows(self, names: Sequence[str]) -> list[NodeRow]:
        return [NodeRow(name, NodeState.SKIPPED, 0) for name in names]

    def _verdict(self) -> tuple[FeedbackStatus, str]:
        failed, skipped = self._ready.failed, self._ready.skipped
        if not failed and not skipped:
            nodes = "1 node" if self._ready.size == 1 else f"{self._ready.size} nodes"
            return FeedbackStatus.SUCCESS, nodes
        known = "; ".join(self._details) or ", ".join(failed) or "stopped"
        detail = f"{known}; {len(skipped)} skipped" if skipped else known
        return FeedbackStatus.FAILED, detail[:500]

    def _say(self, status: FeedbackStatus, detail: str = "") -> None:
        is_end = status is not FeedbackStatus.STARTED
        self._tools.say(
            Feedback(
                self._key, status, self.run_id, detail, self._tools.clock.now_ms(),
                self.meta.fence, self._reason if is_end else None,
            )
        )  # fmt: skip

    @property
    def _key(self) -> str:
        return self.meta.idempotency_key

    async def _write(self, rows: Sequence[NodeRow]) -> bool:
        if not rows:
            return True
        return await self._insist(
            lambda: self._tools.dag_runs.write(self._key, rows, fence=self.meta.fence)
        )

    async def _end(self, status: FeedbackStatus, detail: str) -> bool:
        return await self._insist(
            lambda: self._tools.dag_runs.end(
                self._key, status, detail, fence=self.meta.fence,
                now_ms=self._tools.clock.now_ms(),
            )
        )  # fmt: skip

    async def _insist(self, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """The answer of the store, however long it takes."""
        wait_ms = BACKOFF_MS
        while True:
            try:
                async with self._pen:
                    return await call()
            except StoreError as error:
                if error.lasts:
                    raise
                log(
                    logging.WARNING, "the record of a run failed, trying again", key=self._key,
                    error=str(error), wait_ms=wait_ms,
                )  # fmt: skip
            await self._tools.clock.sleep_ms(wait_ms)
            wait_ms = min(wait_ms * 2, BACKOFF_MAX_MS)
