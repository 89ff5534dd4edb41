"""How `gnomon run` ends: of itself, after a time, or by a signal."""

import asyncio
import os
import signal
from pathlib import Path

from tests.acceptance.command_line import gnomon_process
from tests.acceptance.running import EVERY_SECOND, HOURLY, LONG, owe, running, runs, write
from tests.clauses import clause


@clause("CLI-30")
def test_once_runs_a_whole_queue_in_its_order(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY.replace('"allow"', '"queue"'))
    asyncio.run(owe(file, hours=3))

    done = gnomon_process("run", str(file), "--once")

    found = runs(file)[::-1]
    assert done.code == 0, done.err
    assert [row["outcome"] for row in found] == ["executed", "executed", "executed"]
    assert (tmp_path / "jobs.txt").read_text().splitlines() == [
        f"hourly {row['period']} done" for row in found
    ]


@clause("CLI-30")
def test_once_tries_a_launch_again_that_failed(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY + 'cwd = "later"\n')
    asyncio.run(owe(file, hours=1))
    with running(file, "--once") as process:
        process.until("launch failed")
        (tmp_path / "later").mkdir()

        assert process.end() == 0

    (row,) = runs(file)
    assert (row["outcome"], row["launches"]) == ("executed", 2)


@clause("CLI-29", "CLI-30")
def test_the_first_signal_ends_what_was_to_run_once_within_the_grace(tmp_path: Path) -> None:
    file = write(tmp_path, LONG + 'overlap = "queue"\n')
    asyncio.run(owe(file, hours=1))
    with running(file, "--once", "--grace", "0s") as process:
        process.until("run started")
        process.signal(signal.SIGTERM)
        assert process.until("stopping")["grace_ms"] == 0

        assert process.end() == 0

    assert runs(file)[0]["reason"] == "stopped"


@clause("CLI-29", "CLI-30")
def test_the_second_signal_leaves_at_once_what_was_to_run_once(tmp_path: Path) -> None:
    file = write(tmp_path, LONG)
    asyncio.run(owe(file, hours=1))
    with running(file, "--once") as process:
        process.until("run started")
        process.signal(signal.SIGTERM)
        process.until("stopping")
        process.signal(signal.SIGTERM)
        assert process.end() == 130

    (row,) = runs(file)
    assert row["state"] == "running"
    os.kill(int(str(row["runId"]).split(":")[0]), signal.SIGKILL)


@clause("CLI-29")
def test_the_first_signal_lets_runs_end(tmp_path: Path) -> None:
    file = write(tmp_path, LONG.replace("exec sleep 600", "read x < go; echo well > end.txt"))
    os.mkfifo(tmp_path / "go")
    asyncio.run(owe(file, hours=1))
    with running(file) as process:
        process.until("run started")
        process.signal(signal.SIGINT)
        process.until("stopping")
        (tmp_path / "go").write_text("now\n")

        assert process.end() == 0

    assert (tmp_path / "end.txt").read_text() == "well\n"
    assert runs(file)[0]["status"] == "SUCCESS"


@clause("CLI-29")
def test_runs_that_take_longer_than_the_grace_are_ended(tmp_path: Path) -> None:
    file = write(tmp_path, LONG)
    asyncio.run(owe(file, hours=1))
    with running(file, "--grace", "0s") as process:
        process.until("run started")
        process.signal(signal.SIGTERM)

        assert process.end() == 0

    assert runs(file)[0]["detail"] == "signal 15"


@clause("CLI-23", "CLI-29")
def test_the_second_signal_leaves_at_once_and_the_next_start_finds_the_run(tmp_path: Path) -> None:
    file = write(tmp_path, LONG)
    asyncio.run(owe(file, hours=1))
    with running(file) as process:
        process.until("run started")
        process.signal(signal.SIGTERM)
        process.until("stopping")
        process.signal(signal.SIGTERM)
        assert process.end() == 130

    with running(file, "--grace", "0s") as successor:
        assert successor.until("took over from a former worker")["adopted"] == 1
        assert "running" in [row["state"] for row in runs(file)]
        successor.signal(signal.SIGTERM)
        assert successor.end() == 0

    (row,) = [row for row in runs(file) if row["started"]]
    assert (row["outcome"], row["reason"], row["detail"]) == (
        "executed", "stopped", "exit unknown",
    )  # fmt: skip


@clause("CLI-21")
def test_a_first_start_takes_over_from_no_process(tmp_path: Path) -> None:
    done = gnomon_process("run", str(write(tmp_path, EVERY_SECOND)), "--for", "0s")

    assert "took over" not in done.err


@clause("CLI-30")
def test_a_run_can_be_given_a_length_of_time(tmp_path: Path) -> None:
    done = gnomon_process("run", str(write(tmp_path, EVERY_SECOND)), "--for", "10ms", "--json-log")

    assert done.code == 0
    assert '"event": "stopped"' in done.err.splitlines()[-1]
