"""
The embedded executor: runs the nodes of a DAG itself, in this process and its children.

The executor writes down how far a run has come, before a node begins and when it has ended. It
never begins a known run again: one that goes on goes on, the end of one that has ended is said
again, and one that a former process left in the middle goes on where the record ends, under the
number of the worker that asks. Closing leaves runs in the middle, just as the death of the process.

It is the default that serves: no retries of nodes, no data between them, no other machines.

Spec: EXEC-1 to EXEC-5, EXEC-19.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from gnomon.core.dag import Dag, parse_dag
from gnomon.core.ledger.detail import one_line
from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Clock
from gnomon.ports.dag import DagRun, DagRuns
from gnomon.ports.executor import Accepted, Answer, Feedback, FeedbackStatus, Meta, Refused
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.executor.running_dag import RunningDag, Tools
from gnomon.shell.wake import all_done_within

__all__ = ["SIDE_BY_SIDE", "EmbeddedExecutor", "FeedbackQueue"]

SIDE_BY_SIDE = 16
"""Nodes that are carried out at a time, of all runs together."""
END_MAX_MS = 15_000
"""How long a run may take to end, beyond the graces of its commands."""


class EmbeddedExecutor:
    """A `gnomon.ports.executor.Executor` in this process."""

    def __init__(
        self, dag_runs: DagRuns, clock: Clock, runners: NodeRunners, *,
        side_by_side: int = SIDE_BY_SIDE,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._dag_runs = dag_runs
        self._runners = runners
        self._feedback = FeedbackQueue()
        self._tools = Tools(
            dag_runs, clock, runners, asyncio.Semaphore(side_by_side), self._feedback.add
        )
        self._asking: dict[str, tuple[asyncio.Lock, int]] = {}
        """A lock for each key that is asked for, and by how many."""
        self._runs: dict[str, tuple[RunningDag, asyncio.Task[None]]] = {}

    @property
    def detached(self) -> bool:
        return False

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        try:
            dag = parse_dag(dag_json)
        except DefinitionError as error:
            return Refused(one_line(str(error)), permanent=True)
        if objection := self._runners.objection_to(dag, meta.user_id):
            return Refused(one_line(objection), permanent=True)
        try:
            async with self._alone(meta.idempotency_key):
                return await self._run(dag, meta)
        except StoreError as error:
            return Refused(one_line(str(error)), permanent=False)

    async def feedback(self) -> Sequence[Feedback]:
        return await self._feedback.take()

    async def adopt(self, key: str, run_id: str) -> bool:
        """A run ends with its process; the worker that asks again has it taken up."""
        return False

    async def kill(self, key: str, reason: Reason) -> bool | None:
        found = self._runs.get(key)
        if found is None:
            return None
        return await self._stop([found], reason)

    async def drain(self, *, grace_ms: int) -> None:
        runs = list(self._runs.values())
        if not await all_done_within(self._clock, [task for _, task in runs], grace_ms):
            await self._stop(runs, Reason.STOPPED)

    async def close(self) -> None:
        tasks = [task for _, task in self._runs.values()]
        for task in tasks:
            task.cancel()  # before its nodes, whose ends would be written
        await self._runners.close()
        await asyncio.gather(*tasks, return_exceptions=True)

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        """Those who ask for one key at once come one after the other."""
        lock, askers = self._asking.get(key, (asyncio.Lock(), 0))
        self._asking[key] = lock, askers + 1
        try:
            async with lock:
                yield
        finally:
            lock, askers = self._asking[key]
            if askers > 1:
                self._asking[key] = lock, askers - 1
            else:
                del self._asking[key]

    async def _run(self, dag: Dag, meta: Meta) -> Answer:
        key = meta.idempotency_key
        held = self._runs.get(key)
        if held is not None and not held[0].is_over:
            running, _ = held
            if meta.fence <= running.meta.fence:
                return Accepted(running.run_id)
            kept = await running.take_over(meta)
            if kept.ended_ms is None:
                return Accepted(running.run_id)
        else:
            kept = await self._dag_runs.begin(_new(meta, self._clock.now_ms()))
        if kept.ended_ms is not None:
            self._feedback.add(
                Feedback(key, kept.status, kept.run_id, kept.detail, kept.ended_ms, meta.fence)
            )
            return Accepted(kept.run_id)
        if kept.fence != meta.fence:
            return Refused("the run is in other hands", permanent=False)
        running = RunningDag(dag, kept, meta, self._tools)
        task = asyncio.create_task(running.carry_out())
        self._runs[key] = running, task
        task.add_done_callback(lambda _: self._forget(key, running))
        return Accepted(kept.run_id)

    def _forget(self, key: str, running: RunningDag) -> None:
        if key in self._runs and self._runs[key][0] is running:
            del self._runs[key]

    async def _stop(
        self, runs: "Sequence[tuple[RunningDag, asyncio.Task[None]]]", reason: Reason
    ) -> bool:
        for running, _ in runs:
            running.stop(reason)
        grace_ms = max(running.grace_ms for running, _ in runs)
        return await all_done_within(self._clock, [task for _, task in runs], grace_ms + END_MAX_MS)


def _new(meta: Meta, now_ms: int) -> DagRun:
    return DagRun(
        meta.idempotency_key, f"run:{meta.idempotency_key}", meta.workflow_id, meta.version,
        meta.user_id, meta.fence, FeedbackStatus.STARTED, "", now_ms,
    )  # fmt: skip


class FeedbackQueue:
    """Feedback in the order in which it came; giving up waiting for it loses nothing."""

    def __init__(self) -> None:
        self._waiting: list[Feedback] = []
        self._some = asyncio.Event()

    def add(self, feedback: Feedback) -> None:
        self._waiting.append(feedback)
        self._some.set()

    async def take(self) -> Sequence[Feedback]:
        """Wait until there is some, and hand it over."""
        await self._some.wait()
        self._some.clear()
        found, self._waiting = self._waiting, []
        return found
