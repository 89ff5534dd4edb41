"""
One run, from its first node to its last.

Before a node begins, and when it has ended, that is written to the record. The record is kept under
the number of whoever asked for the run; when somebody else has taken the run over, what is under
way is stopped, and nothing more is written. A record that cannot be written is tried again until it
can be: no node begins without it. A run that is cancelled is left as its record has it.

Spec: EXEC-3, EXEC-4, EXEC-10 to EXEC-14, EXEC-18, EXEC-19.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from gnomon.apps.service.dag import CommandNode, Dag
from gnomon.apps.service.executor.course import Course
from gnomon.apps.service.executor.node_work import NodeContext, NodeEnd
from gnomon.apps.service.executor.works import Works
from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.ports.executions import Execution, Executions, NodeRow, NodeState
from gnomon.ports.executor import Feedback, FeedbackStatus, Meta
from gnomon.shell.telemetry import log

__all__ = ["Tools", "Undertaking"]

BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
_STOPPED = NodeEnd(False, "stopped before it began")
_IN_THE_WAY = NodeEnd(False, "an earlier try could not be ended")
_Result = TypeVar("_Result")


class Tools(NamedTuple):
    """What every run of an executor is carried out with."""

    executions: Executions
    clock: Clock
    works: Works
    room: asyncio.Semaphore
    """For so many nodes side by side."""
    say: Callable[[Feedback], None]


class Undertaking:
    """A run that is being carried out."""

    def __init__(self, dag: Dag, kept: Execution, meta: Meta, tools: Tools) -> None:
        self.meta = meta
        self.run_id = kept.run_id
        self.is_over = False
        """Whether its end has been said."""
        self._nodes = {node.node_id: node for node in dag.nodes}
        self._former = {row.node_id: row for row in kept.nodes}
        self._course = Course(dag, kept.nodes)
        self._tools = tools
        self._pen = asyncio.Lock()
        self._tasks: dict[asyncio.Task[NodeRow | None], str] = {}
        self._reason: Reason | None = None
        self._is_lost = False
        self._details: list[str] = []

    @property
    def grace_ms(self) -> int:
        """How long its commands may take to end when they are told to."""
        graces = [one.grace_ms for one in self._nodes.values() if isinstance(one, CommandNode)]
        return max(graces, default=0)

    async def take_over(self, meta: Meta) -> Execution:
        """The same run is asked for again: go on under the number of whoever asks now."""
        async with self._pen:
            kept = await self._tools.executions.begin(
                Execution(
                    meta.idempotency_key, self.run_id, meta.workflow_id, meta.version,
                    meta.user_id, meta.fence, FeedbackStatus.STARTED, "",
                    self._tools.clock.now_ms(),
                )
            )  # fmt: skip
            if kept.fence == meta.fence:
                self.meta = meta
            return kept

    def stop(self, reason: Reason) -> None:
        """Begin nothing more, and end what is under way."""
        self._reason = self._reason or reason
        self._cancel_all()

    async def carry_out(self) -> None:
        """Carry all nodes out, and say how it went; this is always said once, unless cancelled."""
        self._say(FeedbackStatus.STARTED)
        try:
            await self._write(self._skipped_rows(self._course.skipped))
            while await self._step():
                pass
            if not self._is_lost:
                await self._write(self._skipped_rows(self._course.give_up()))
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
        self._say(status, detail)

    async def _step(self) -> bool:
        """Begin what may begin, and wait until something has ended; whether there is more."""
        if self._reason is None and not self._is_lost:
            for name in self._course.begin_ready():
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
        former = self._former.get(name)
        attempt = 1 if former is None else former.attempt + 1
        row = NodeRow(name, NodeState.RUNNING, attempt)
        try:
            async with self._tools.room:
                row = row._replace(started_ms=self._tools.clock.now_ms())
                context = NodeContext(meta=self.meta, node_id=name, attempt=attempt)
                if not await self._clear_away(former, context):
                    return self._ended(row, _IN_THE_WAY)
                if not await self._write([row]):
                    return None

                async def record(process: str) -> bool:
                    return await self._write([row._replace(process=process)])

                end = await self._tools.works.carry_out(self._nodes[name], context, record)
        except asyncio.CancelledError:
            end = _STOPPED
        return self._ended(row, end)

    async def _clear_away(self, former: NodeRow | None, context: NodeContext) -> bool:
        """End what an earlier try has left; whether nothing is left."""
        if former is None or former.process is None:
            return True
        return await self._tools.works.clear_away(context, former.process)

    def _ended(self, row: NodeRow, end: NodeEnd) -> NodeRow:
        state = NodeState.SUCCESS if end.success else NodeState.FAILED
        return row._replace(
            state=state, detail=end.detail, log=end.log, ended_ms=self._tools.clock.now_ms()
        )

    def _finish(self, name: str, row: NodeRow | None) -> list[NodeRow]:
        if row is None:
            self._lose()
        success = row is not None and row.state is NodeState.SUCCESS
        skipped = self._course.finish(name, success=success)
        if row is None:
            return []
        if not success:
            self._details.append(f"{name}: {row.detail}")
        return [row, *self._skipped_rows(skipped)]

    def _lose(self) -> None:
        """Somebody else carries the run out now."""
        if not self._is_lost:
            log(logging.WARNING, "a run was taken over", key=self._key)
        self._is_lost = True
        self._course.give_up()
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
        failed, skipped = self._course.failed, self._course.skipped
        if not failed and not skipped:
            nodes = "1 node" if self._course.size == 1 else f"{self._course.size} nodes"
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
            lambda: self._tools.executions.write(self._key, rows, fence=self.meta.fence)
        )

    async def _end(self, status: FeedbackStatus, detail: str) -> bool:
        return await self._insist(
            lambda: self._tools.executions.end(
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
