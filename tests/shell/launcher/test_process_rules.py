"""What is otherwise for a daemon: usage, failures that are tried again, runs that are left."""

import asyncio
import resource
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Ended, Failed, Launched, Strained
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.ends import Exit, Usage, exit_line, read_exit
from gnomon.shell.launcher.process import ProcessLauncher, ProcessRules
from gnomon.shell.launcher.process_id import ProcessId, identify
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.launcher.processes import READY, begin, heard, shell_with_fifo


@clause("LAUNCH-14")
def test_what_a_process_used_stands_in_the_line_of_its_end(tmp_path: Path) -> None:
    # What its parent has is counted for the child as well, so it must have clearly more than that.
    mine_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    burning = (
        f"import sys; rubbish = bytes([1]) * ({mine_kib} * 1024 + 100_000_000);"
        " sys.exit(2 + rubbish[7])"
    )

    async def scenario() -> Ended:
        launcher = ProcessLauncher(SystemClock(), rules=ProcessRules(records_usage=True))
        await begin(launcher, a_claim({"command": [sys.executable, "-c", burning]}))
        [end] = await launcher.ended()
        return end

    found = read_exit(asyncio.run(scenario()).detail)

    assert found is not None
    assert (found.code, found.signal) == (3, None)
    assert found.usage is not None
    assert found.usage.user_s > 0
    assert found.usage.memory_kib is not None
    assert found.usage.memory_kib > mine_kib


@clause("LAUNCH-14")
@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("exit 0", Exit(0, None, None)),
        ("signal 9", Exit(None, 9, None)),
        ("exit unknown", Exit(None, None, None)),
        ("exit 1 (user 0.012s, system 1.500s, memory 5320 KiB)",
         Exit(1, None, Usage(0.012, 1.5, 5320))),
        ("exit 1 (user 0.012s, system 1.500s)", Exit(1, None, Usage(0.012, 1.5))),
        ("ValueError: no", None),
        (None, None),
    ],
)  # fmt: skip
def test_a_line_about_an_end_can_be_read(line: str | None, means: Exit | None) -> None:
    assert read_exit(line) == means


@clause("LAUNCH-14")
@given(
    st.integers(-64, 255), st.integers(0, 10**6), st.integers(0, 10**6),
    st.none() | st.integers(0, 10**9),
)  # fmt: skip
def test_what_is_written_about_an_end_is_read_back(
    status: int, user_ms: int, system_ms: int, memory: int | None
) -> None:
    usage = Usage(user_ms / 1000, system_ms / 1000, memory)

    found = read_exit(exit_line(status, usage))

    assert found == Exit(status if status >= 0 else None, -status if status < 0 else None, usage)


@clause("LAUNCH-14")
def test_a_missing_program_may_come_back(tmp_path: Path) -> None:
    async def scenario() -> Launched | Failed | Strained:
        launcher = ProcessLauncher(SystemClock(), rules=ProcessRules(gives_up=False))
        return await launcher.launch(a_claim({"command": [str(tmp_path / "none")]}))

    failed = asyncio.run(scenario())

    assert isinstance(failed, Failed)
    assert "is no program that can be run" in failed.message
    assert not failed.permanent


@clause("KROND-32")
def test_what_is_asked_for_by_hand_is_tried_once(tmp_path: Path) -> None:
    async def scenario() -> Launched | Failed | Strained:
        launcher = ProcessLauncher(SystemClock(), rules=ProcessRules(gives_up=False))
        claim = a_claim({"command": [str(tmp_path / "none")]})
        return await launcher.launch(claim._replace(key="manual:billing:now"))

    failed = asyncio.run(scenario())

    assert isinstance(failed, Failed)
    assert failed.permanent


@clause("LAUNCH-14")
def test_a_launcher_that_leaves_ends_nothing_when_it_is_drained(fifo: Path) -> None:
    async def scenario() -> tuple[bool, Ended]:
        launcher = ProcessLauncher(SystemClock(), rules=ProcessRules(leaves=True))
        claim = a_claim(shell_with_fifo(f"{READY}; exec sleep 600", fifo))
        run_id = await begin(launcher, claim)
        await asyncio.to_thread(heard, fifo)
        await launcher.drain(grace_ms=0)
        found = ProcessId.read(run_id)
        is_there = found is not None and identify(found[0].pid) == found[0]
        await launcher.end(claim.key, Reason.STOPPED)
        [end] = await launcher.ended()
        return is_there, end

    is_there, end = asyncio.run(scenario())

    assert is_there
    assert end.detail == "signal 15"


@clause("LAUNCH-14")
def test_a_command_finds_the_limit_of_descriptors_that_was_chosen_for_it(tmp_path: Path) -> None:
    async def scenario() -> str:
        launcher = ProcessLauncher(
            SystemClock(), directory=tmp_path, rules=ProcessRules(descriptors=123)
        )
        claim = a_claim({"shell": "ulimit -S -n"})
        await begin(launcher, claim)
        await launcher.ended()
        path = launcher.output.newest(claim.key)
        return path.read_text() if path else ""

    assert asyncio.run(scenario()) == "123\n"
