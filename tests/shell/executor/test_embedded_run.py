"""Runs of the embedded executor: asked for twice, taken over, ended, and written down."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import StoreError
from gnomon.ports.dag import DagRun, NodeRow, NodeState
from gnomon.ports.executor import Accepted, FeedbackStatus, Refused
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.shell.executor.embedded_stage import (
    Stage,
    function_node,
    open_stage,
    shell_node,
)
from tests.shell.executor.functions import Held

FAILED, SKIPPED = NodeState.FAILED, NodeState.SKIPPED


def play(scenario: Callable[[Stage], Awaitable[None]], folder: Path, side_by_side: int = 8) -> None:
    async def whole() -> None:
        async with open_stage(folder, side_by_side=side_by_side) as stage:
            await scenario(stage)

    asyncio.run(whole())


@clause("EXEC-1")
def test_who_asks_twice_starts_one_run(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        Held.go.clear()
        path = str(tmp_path / "told.txt")
        node = function_node("a", "wait_and_add", path=path)
        answers = await asyncio.gather(*(stage.start(node) for _ in range(5)))
        Held.go.set()

        assert answers == [Accepted("run:key")] * 5
        assert (await stage.end_of()).status is FeedbackStatus.SUCCESS
        assert (tmp_path / "told.txt").read_text() == "ran\n"
        assert [one.status for one in stage.said] == [FeedbackStatus.STARTED]

    play(scenario, tmp_path)


@clause("EXEC-2")
def test_the_end_of_a_run_that_is_over_is_said_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        first = await stage.run(shell_node("a", "echo x >> a.txt; exit 3"))
        again = await stage.run(shell_node("a", "echo x >> a.txt; exit 3"), fence=7)

        assert (again.status, again.detail, again.fence) == (first.status, first.detail, 7)
        assert (tmp_path / "a.txt").read_text() == "x\n"

    play(scenario, tmp_path)


@clause("EXEC-3")
def test_a_run_goes_on_under_the_number_of_the_newest_claim(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        Held.go.clear()
        node = function_node("a", "wait_and_add", path=str(tmp_path / "told.txt"))
        await stage.start(node, fence=1)
        await stage.start(node, fence=4)
        await stage.start(node, fence=3)
        Held.go.set()

        assert (await stage.end_of()).fence == 4
        assert (await stage.get()).fence == 4
        assert (tmp_path / "told.txt").read_text() == "ran\n"

    play(scenario, tmp_path)


@clause("EXEC-3")
def test_a_run_that_another_worker_took_over_is_stopped_here(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        waiting = "mkfifo gate; echo > begun; read line < gate"
        os.mkfifo(tmp_path / "begun")
        await stage.start(shell_node("a", waiting), shell_node("b", "touch b"), edges="ab")
        await asyncio.to_thread((tmp_path / "begun").read_text)
        async with open_stage(tmp_path / "other", dag_runs=stage.dag_runs) as other:
            await other.start(shell_node("a", "true"), shell_node("b", "true"), fence=2)
            theirs = await other.end_of()
            ours = await stage.end_of()

        assert (theirs.status, theirs.fence) == (FeedbackStatus.SUCCESS, 2)
        assert (ours.status, ours.detail) == (
            FeedbackStatus.FAILED, "taken over by another worker",
        )  # fmt: skip
        assert (await stage.get()).status is FeedbackStatus.SUCCESS

    (tmp_path / "other").mkdir()
    play(scenario, tmp_path)


@clause("EXEC-3")
def test_a_smaller_number_takes_nothing_over(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.dag_runs.begin(
            DagRun("key", "run:key", "report", 1, "anna", 9, FeedbackStatus.STARTED, "", 0)
        )

        assert await stage.start(shell_node("a", "touch a"), fence=8) == Refused(
            "the run is in other hands", permanent=False
        )

    play(scenario, tmp_path)


@clause("EXEC-4")
def test_a_run_that_is_killed_ends_its_processes_and_begins_nothing_more(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        nodes = [
            shell_node("a", "echo > begun; exec sleep 1000"), shell_node("b", "touch b"),
            function_node("c", "never"),
        ]  # fmt: skip
        os.mkfifo(tmp_path / "begun")
        await stage.start(*nodes, edges="ab")
        await asyncio.to_thread((tmp_path / "begun").read_text)

        assert await stage.executor.kill("key", Reason.REPLACED)
        end = await stage.end_of()
        assert (end.status, end.reason) == (FeedbackStatus.FAILED, Reason.REPLACED)
        assert await stage.states() == {"a": FAILED, "b": SKIPPED, "c": FAILED}
        assert await stage.details() == {"a": "signal 15 (stopped)", "b": "", "c": "stopped"}
        assert not (tmp_path / "b").exists()
        assert await stage.executor.kill("key", Reason.REPLACED) is None  # it is not here

    play(scenario, tmp_path)


@clause("EXEC-4")
def test_draining_waits_and_then_ends_what_is_left(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start(shell_node("a", "true"), key="short")
        await stage.end_of("short")
        await stage.start(shell_node("a", "exec sleep 1000"), key="long")
        await stage.executor.drain(grace_ms=10)
        end = await stage.end_of("long")

        assert (end.status, end.reason) == (FeedbackStatus.FAILED, Reason.STOPPED)

    play(scenario, tmp_path)


class Stumbling(SqliteDagRuns):
    """A record that fails a number of times before it works again."""

    failures = 0

    async def begin(self, dag_run: DagRun) -> DagRun:
        self._stumble()
        return await super().begin(dag_run)

    async def write(self, key: str, nodes: Sequence[NodeRow], *, fence: int) -> bool:
        self._stumble()
        return await super().write(key, nodes, fence=fence)

    async def end(
        self, key: str, status: FeedbackStatus, detail: str, *, fence: int, now_ms: int
    ) -> bool:
        self._stumble()
        return await super().end(key, status, detail, fence=fence, now_ms=now_ms)

    def _stumble(self) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreError("is locked", where="ledger", transient=True)


@clause("EXEC-18")
def test_a_record_that_fails_is_written_later_and_no_node_begins_without_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        ledger = SqliteLedger.open(tmp_path / "record.sqlite3")
        record = Stumbling(ledger.database)
        async with open_stage(tmp_path, dag_runs=record) as stage:
            record.failures = 1
            refused = await stage.start(shell_node("a", "echo a >> ran"))
            accepted = await stage.start(shell_node("a", "echo a >> ran"))
            record.failures = 2
            end = await stage.end_of()

        assert refused == Refused("ledger: is locked", permanent=False)
        assert accepted == Accepted("run:key")
        assert (end.status, record.failures) == (FeedbackStatus.SUCCESS, 0)
        assert (tmp_path / "ran").read_text() == "a\n"
        await ledger.close()

    asyncio.run(scenario())


@clause("EXEC-4")
@pytest.mark.parametrize("steps", range(12))
def test_a_run_that_is_killed_at_any_step_comes_to_its_end(tmp_path: Path, steps: int) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start(function_node("a", "never"), function_node("b", "never"))
        for _ in range(steps):
            await asyncio.sleep(0)

        assert await stage.executor.kill("key", Reason.REPLACED)
        end = await stage.end_of()
        assert (end.status, end.reason) == (FeedbackStatus.FAILED, Reason.REPLACED)
        assert set(await stage.states()) == {"a", "b"}

    play(scenario, tmp_path)


@clause("EXEC-4")
def test_who_ends_a_run_twice_waits_for_the_same_end(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        os.mkfifo(tmp_path / "begun")
        stubborn = "trap '' TERM; echo > begun; while true; do sleep 1; done"
        await stage.start(shell_node("a", stubborn, grace="300ms"))
        await asyncio.to_thread((tmp_path / "begun").read_text)
        first = asyncio.ensure_future(stage.executor.kill("key", Reason.REPLACED))
        await asyncio.sleep(0)

        assert await stage.executor.kill("key", Reason.KILLED)
        assert await first
        assert (await stage.end_of()).reason is Reason.REPLACED
        assert await stage.details() == {"a": "signal 9 (stopped)"}

    play(scenario, tmp_path)
