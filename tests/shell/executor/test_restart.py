"""An executor whose process dies in the middle of a run, and the one that comes after it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.dag import NodeState
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.launcher.process_id import identify
from tests.clauses import clause
from tests.shell.executor.embedded_stage import open_stage, shell_node
from tests.tidy.tree import ROOT

PATIENCE_S = 60


def one_life(point: int, folder: Path, *, fence: int) -> "subprocess.CompletedProcess[str]":
    module = "tests.shell.executor.one_life"
    return subprocess.run(
        [sys.executable, "-m", module, str(point), str(folder), str(fence)],
        cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


@clause("EXEC-13")
@pytest.mark.parametrize("point", [2, 11, 17, 22])
def test_a_run_is_taken_up_where_its_record_ends(tmp_path: Path, point: int) -> None:
    died = one_life(point, tmp_path, fence=1)
    assert died.returncode == -signal.SIGKILL, died.stderr
    lived = one_life(0, tmp_path, fence=2)

    assert lived.stdout == "SUCCESS 3 nodes 2\n", lived.stderr
    lines = [line.split() for line in (tmp_path / "lines.txt").read_text().splitlines()]
    ran = Counter(node for node, _ in lines)
    assert set(ran) == set("abc")
    # At most the one node that was under way was begun a second time.
    assert sum(ran.values()) <= 4
    assert all(number <= 2 for number in ran.values())


@clause("EXEC-13")
def test_a_node_that_was_over_is_not_run_again(tmp_path: Path) -> None:
    died = one_life(9, tmp_path, fence=1)  # right after the end of the first node was written
    assert died.returncode == -signal.SIGKILL, died.stderr
    one_life(0, tmp_path, fence=2)

    assert (tmp_path / "lines.txt").read_text() == "a 1\nb 1\nc 1\n"


FATAL = (
    'echo "$GNOMON_ATTEMPT $$" >> tries.txt; [ $GNOMON_ATTEMPT = 2 ] && exit 0; '
    "kill -9 $PPID; exec sleep 1000"
)


def die_by_the_node(folder: Path) -> None:
    """A worker that its own node kills; the process of the node goes on."""
    text = f"""
import asyncio, pathlib
from tests.shell.executor.embedded_stage import open_stage, shell_node

async def live():
    async with open_stage(pathlib.Path({str(folder)!r})) as stage:
        await stage.run(shell_node("a", {FATAL!r}))

asyncio.run(live())
"""
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, check=False, capture_output=True, timeout=PATIENCE_S
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@clause("EXEC-14")
def test_what_is_left_of_a_node_is_ended_before_it_is_run_again(tmp_path: Path) -> None:
    die_by_the_node(tmp_path)

    async def second_life() -> None:
        async with open_stage(tmp_path) as stage:
            end = await stage.run(shell_node("a", FATAL), fence=2)
            assert end.status is FeedbackStatus.SUCCESS
            assert [(row.node_id, row.attempt) for row in (await stage.get()).nodes] == [("a", 2)]

    asyncio.run(second_life())
    tries = dict(line.split() for line in (tmp_path / "tries.txt").read_text().splitlines())
    assert set(tries) == {"1", "2"}
    assert identify(int(tries["1"])) is None


@clause("EXEC-4")
def test_a_run_that_is_ended_as_soon_as_it_is_taken_up_ends_what_is_left(tmp_path: Path) -> None:
    die_by_the_node(tmp_path)

    async def second_life() -> None:
        async with open_stage(tmp_path) as stage:
            await stage.start(shell_node("a", FATAL), fence=2)
            assert await stage.executor.kill("key", Reason.KILLED)
            assert (await stage.end_of()).status is FeedbackStatus.FAILED

    asyncio.run(second_life())
    ((attempt, process),) = [
        line.split() for line in (tmp_path / "tries.txt").read_text().splitlines()
    ]
    assert attempt == "1"
    assert identify(int(process)) is None


@clause("EXEC-19")
def test_an_executor_that_is_closed_waits_for_no_run_and_leaves_it_to_the_next(
    tmp_path: Path,
) -> None:
    life = tmp_path / "life"
    os.mkfifo(life)
    # A list of numbers made by another process would end with that process, which is told too.
    deaf = (
        "[ $GNOMON_ATTEMPT = 2 ] && exit 0; exec 3> life; trap 'echo told >&3' TERM; "
        "echo $$ >&3; n=0; while [ $n -lt 1000 ]; do n=$((n+1)); sleep 0.1; done"
    )
    text = f"""
import asyncio, pathlib
from tests.shell.executor.embedded_stage import open_stage, shell_node

async def live():
    async with open_stage(pathlib.Path({str(tmp_path)!r})) as stage:
        await stage.start(shell_node("a", {deaf!r}, grace="1h"))
        await asyncio.to_thread(input)
        await stage.executor.close()

asyncio.run(live())
"""
    first = subprocess.Popen(
        [sys.executable, "-c", text], cwd=ROOT, stdin=subprocess.PIPE, text=True
    )
    try:
        with life.open() as said:
            process = int(said.readline())
            first.communicate("close\n", timeout=PATIENCE_S)
            told = said.readline()
            os.kill(process, signal.SIGKILL)
    finally:
        first.kill()
        first.wait()
    assert (first.returncode, told) == (0, "told\n")

    async def second_life() -> None:
        async with open_stage(tmp_path) as stage:
            assert await stage.states() == {"a": NodeState.RUNNING}
            end = await stage.run(shell_node("a", deaf), fence=2)
            assert end.status is FeedbackStatus.SUCCESS
            assert [(row.node_id, row.attempt) for row in (await stage.get()).nodes] == [("a", 2)]

    asyncio.run(second_life())
