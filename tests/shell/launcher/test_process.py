"""
Processes: how they begin, what they see, and how they end.

The processes are real. Tests wait for what processes do (a line in a fifo, an end), never for time.
"""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Clock, Ended, Failed, Launched, Strained
from gnomon.shell.clock import SystemClock, since_boot_ms
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.launcher.process_id import ProcessId, identify
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.launcher.processes import READY, begin, heard, run_one, say, shell_with_fifo
from tests.shell.steered_clock import SteeredClock
from tests.tidy.tree import ROOT

GRACE_MS, TIMEOUT_MS = 7_000, 300_000
PATIENCE_S = 60
"""After this a process that should be gone is taken for one that stays; no test relies on it."""


def wait_until_gone(pid: int) -> None:
    """Return when a process has exited, whichever process is its parent."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    gone, _, _ = select.select([descriptor], [], [], PATIENCE_S)
    os.close(descriptor)
    if not gone:
        os.kill(pid, signal.SIGKILL)
        pytest.fail(f"process {pid} is still there")


@contextmanager
def doomed_worker(directory: Path, target: object, what: str) -> Iterator[tuple[int, str]]:
    """Another worker, which is killed at the end of the block: the pid and id of its run."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.shell.launcher.doomed_worker", str(directory),
         json.dumps(target), what],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with worker:
        assert worker.stdout is not None
        run_id = worker.stdout.readline().strip()
        try:
            yield int(run_id.split(":")[0]), run_id
        finally:
            worker.kill()


@clause("LAUNCH-7")
def test_a_process_whose_worker_dies_before_the_release_never_runs(tmp_path: Path) -> None:
    effect = tmp_path / "effect"

    with doomed_worker(tmp_path, {"shell": f"echo ran >> {effect}"}, "hold") as (pid, _):
        waiting = identify(pid)
    wait_until_gone(pid)

    assert waiting is not None
    assert not effect.exists()


@clause("LAUNCH-7")
def test_a_process_does_nothing_until_it_is_released(tmp_path: Path) -> None:
    effect = tmp_path / "effect"

    async def scenario() -> bool:
        launcher = ProcessLauncher(SystemClock())
        claim = a_claim({"shell": f"echo ran >> {effect}"})
        await launcher.launch(claim)
        await launcher.end(claim.key, Reason.UNCERTAIN)
        return effect.exists()

    assert not asyncio.run(scenario())


@clause("LAUNCH-8")
def test_a_released_process_outlives_its_worker(tmp_path: Path, fifo: Path) -> None:
    effect = tmp_path / "effect"
    text = f'read line < "$FIFO"; echo printed; echo "$line" >> {effect}'

    with doomed_worker(tmp_path, shell_with_fifo(text, fifo), "release") as (pid, _):
        pass
    say(fifo, "late")
    wait_until_gone(pid)

    assert effect.read_text() == "late\n"
    assert [path.read_text() for path in tmp_path.glob("*.out")] == ["printed\n"]


@clause("LAUNCH-8")
@pytest.mark.parametrize("pidfds", [True, False])
def test_a_run_of_a_former_worker_is_adopted_and_its_end_reported(
    tmp_path: Path, fifo: Path, pidfds: bool
) -> None:
    async def scenario(run_id: str) -> tuple[bool, Ended]:
        launcher = ProcessLauncher(SystemClock(), directory=tmp_path, pidfds=pidfds)
        adopted = await launcher.adopt("key", run_id)
        say(fifo, "go")
        [end] = await launcher.ended()
        return adopted, end._replace(ended_ms=None)

    with doomed_worker(tmp_path, shell_with_fifo('read line < "$FIFO"', fifo), "release") as found:
        pass

    expected = Ended("key", 0, False, "exit unknown", Reason.UNCERTAIN)
    assert asyncio.run(scenario(found[1])) == (True, expected)


@clause("LAUNCH-8", "LAUNCH-10")
@pytest.mark.parametrize(("age_ms", "left_ms"), [(60_000, TIMEOUT_MS - 60_000), (400_000, 0)])
def test_an_adopted_run_has_what_is_left_of_its_time_limit(
    tmp_path: Path, age_ms: int, left_ms: int
) -> None:
    async def scenario(run_id: str) -> Ended:
        clock, (identity, _, _) = SteeredClock(), ProcessId.read(run_id) or pytest.fail(run_id)
        began_ms = identity.start * 1000 // os.sysconf("SC_CLK_TCK")
        launcher = ProcessLauncher(clock, uptime_ms=lambda: began_ms + age_ms)
        await launcher.adopt("key", run_id)
        clock.let_pass(left_ms)
        [end] = await launcher.ended()
        return end

    target = {"command": ["sleep", "1000"], "timeout": "5m"}
    with doomed_worker(tmp_path, target, "release") as found:
        pass

    assert asyncio.run(scenario(found[1])).reason is Reason.TIMED_OUT


@clause("LAUNCH-10")
def test_the_age_of_a_process_is_that_of_the_machine_since_it_began() -> None:
    here = identify(os.getpid())
    assert here is not None

    assert 0 < here.age_ms(since_boot_ms=since_boot_ms()) < since_boot_ms()


@clause("LAUNCH-8")
def test_another_process_with_the_same_number_is_not_adopted() -> None:
    async def scenario() -> bool:
        here = identify(os.getpid())
        assert here is not None
        run_id = here._replace(start=here.start - 1).text(0, 0)
        return await ProcessLauncher(SystemClock()).adopt("key", run_id)

    assert not asyncio.run(scenario())


@clause("LAUNCH-6")
def test_the_environment_is_built_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the worker")
    target = {"command": ["env"], "env": {"COLOUR": "green"}, "cwd": str(tmp_path)}

    _, printed = run_one(target, tmp_path)

    found = dict(line.split("=", 1) for line in printed.splitlines())
    assert found.pop("GNOMON_KEY") == a_claim(target).key
    del found["HOME"], found["LOGNAME"], found["USER"]
    assert found == {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TZ": "Europe/Riga",
        "COLOUR": "green",
        "GNOMON_SCHEDULE": "billing",
        "GNOMON_PERIOD": "2026-03-01T00:00:00Z",
        "GNOMON_ATTEMPT": "1",
        "PWD": str(tmp_path),
    }


@clause("LAUNCH-6")
def test_a_process_has_nothing_to_read_and_no_descriptor_of_the_worker(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        text = "cat; for one in /proc/$$/fd/*; do readlink $one; done"
        _, printed = run_one({"shell": text}, tmp_path)

    [key] = [path.name for path in tmp_path.glob("*.out")]
    assert printed.split() == ["/dev/null", str(tmp_path / key), str(tmp_path / key)]


@clause("LAUNCH-5")
def test_arguments_are_given_as_they_are(tmp_path: Path) -> None:
    arguments = ["two words", "$HOME", "*", "", "-n", "'"]

    _, printed = run_one({"command": ["printf", "<%s>", *arguments]}, tmp_path)

    assert printed == "<two words><$HOME><*><><-n><'>"


@clause("LAUNCH-4")
@pytest.mark.parametrize(
    ("text", "detail"), [("exit 0", "exit 0"), ("exit 3", "exit 3"), ("kill -9 $$", "signal 9")]
)
def test_how_a_process_ended_is_said(tmp_path: Path, text: str, detail: str) -> None:
    end, _ = run_one({"shell": text}, tmp_path)

    assert (end.success, end.detail) == (detail == "exit 0", detail)


def end_after_ready(clock: Clock, target: object, fifo: Path) -> Ended:
    """Start a process, wait until it says that it is ready, and end it."""

    async def scenario() -> Ended:
        launcher = ProcessLauncher(clock)
        claim = a_claim(target)
        await begin(launcher, claim)
        assert heard(fifo) == "ready\n"
        assert await launcher.end(claim.key, Reason.REPLACED)
        [end] = await launcher.ended()
        return end

    return asyncio.run(scenario())


@clause("LAUNCH-10")
def test_a_process_may_tidy_up_when_it_is_told_to_end(fifo: Path) -> None:
    text = f"trap 'exit 5' TERM; {READY}; while :; do sleep 1000 & wait; done"

    end = end_after_ready(SystemClock(), shell_with_fifo(text, fifo, grace="1h"), fifo)

    assert (end.success, end.detail, end.reason) == (False, "exit 5", Reason.REPLACED)


@clause("LAUNCH-10")
def test_a_process_that_does_not_heed_is_killed_after_its_grace(fifo: Path) -> None:
    clock = SteeredClock()
    clock.let_pass(GRACE_MS)
    text = f"trap '' TERM; {READY}; while :; do sleep 1000; done"

    end = end_after_ready(clock, shell_with_fifo(text, fifo, grace="7s"), fifo)

    assert (end.success, end.detail) == (False, "signal 9")


@clause("LAUNCH-10")
@pytest.mark.parametrize("trap", ["", "trap '' TERM;"])
def test_the_children_of_a_process_end_with_it(fifo: Path, tmp_path: Path, trap: str) -> None:
    pid_file = tmp_path / "pid"
    told = f"echo \\$\\$ > '{pid_file}'; echo ready > '{fifo}'"
    child = f'sh -c "{trap} {told}; exec sleep 1000" & wait'

    end_after_ready(SystemClock(), shell_with_fifo(child, fifo, grace="1h"), fifo)

    wait_until_gone(int(pid_file.read_text()))


@clause("LAUNCH-10")
def test_a_process_that_takes_too_long_is_ended(fifo: Path) -> None:
    async def scenario() -> Ended:
        clock = SteeredClock()
        launcher = ProcessLauncher(clock)
        text = f"trap 'exit 0' TERM; {READY}; while :; do sleep 1000 & wait; done"
        await begin(launcher, a_claim(shell_with_fifo(text, fifo, timeout="5m")))
        assert heard(fifo) == "ready\n"
        clock.let_pass(TIMEOUT_MS)
        [end] = await launcher.ended()
        return end

    end = asyncio.run(scenario())
    assert (end.success, end.detail, end.reason) == (False, "exit 0", Reason.TIMED_OUT)


@clause("LAUNCH-10")
def test_a_stopped_process_can_be_ended(fifo: Path) -> None:
    text = f"{READY}; kill -STOP $$; sleep 1000"

    end = end_after_ready(SystemClock(), shell_with_fifo(text, fifo, grace="1h"), fifo)

    assert end.detail == f"signal {signal.SIGTERM.value}"


@clause("LAUNCH-2")
def test_a_directory_that_is_missing_may_come_back(tmp_path: Path) -> None:
    async def scenario() -> Launched | Failed | Strained:
        launcher = ProcessLauncher(SystemClock(), directory=tmp_path)
        return await launcher.launch(a_claim({"command": ["true"], "cwd": "/no/such/place"}))

    failed = asyncio.run(scenario())

    assert isinstance(failed, Failed)
    assert (failed.permanent, failed.message) == (
        False,
        "the working directory cannot be entered: No such file or directory: /no/such/place",
    )
    assert list(tmp_path.iterdir()) == []


@clause("LAUNCH-3")
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int, list[int]]:
        launcher = ProcessLauncher(SystemClock(), directory=tmp_path)
        before, pids = len(os.listdir("/proc/self/fd")), []
        for target in ({"command": ["echo"]}, {"shell": "exit 1"}, {"command": ["no-such"]}):
            for name in ("one", "two", "three"):
                claim = a_claim(target, name=name)
                launched = await launcher.launch(claim)
                if isinstance(launched, Launched):
                    pids.append(int(launched.run_id.split(":")[0]))
                    await launcher.release(claim.key)
                    await launcher.ended()
        return before, len(os.listdir("/proc/self/fd")), pids

    before, after, pids = asyncio.run(scenario())

    assert after == before
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
