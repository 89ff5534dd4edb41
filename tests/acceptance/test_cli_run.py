"""`gnomon run`: schedules with commands, run until stopped, and nothing forgotten."""

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.acceptance.running import miss, owe, running, write
from tests.clauses import clause

HOURLY = """
[[schedule]]
name = "hourly"
every = "1h"
shell = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD $WORD" >> jobs.txt; echo printed'
env = { WORD = "done" }
overlap = "allow"
catchup = "fire_immediately"
"""
EVERY_SECOND = """
[[schedule]]
name = "tick"
every = "1s"
command = ["true"]
"""
LONG = """
[[schedule]]
name = "long"
every = "1h"
shell = "echo $$ > pid.txt; exec sleep 600"
catchup = "latest"
"""
ONCE = """
[[schedule]]
name = "once"
once = "2026-12-31T12:00:00Z"
command = ["true"]
"""

UNFIT = {
    "schedule: must have a command or a shell text to be run, got []": 'every = "1h"',
    "schedule: must have exactly one of command and shell, got ['command', 'shell']": (
        'every = "1h"\ncommand = ["true"]\nshell = "true"'
    ),
    "identity: must be the name of a schedule that is run, got 'b'": (
        'every = "1h"\ncommand = ["true"]\nidentity = "b"'
    ),
}


def runs(file: Path, *options: str) -> list[dict[str, object]]:
    found = gnomon_process("history", str(file), "--json", *options).json["runs"]
    assert isinstance(found, list)
    return found


@clause("CLI-20", "CLI-30")
def test_what_is_owed_runs_in_the_directory_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=3))

    done = gnomon_process("run", str(file), "--once")

    lines = (tmp_path / "jobs.txt").read_text().splitlines()
    found = runs(file)
    assert done.code == 0, done.err
    assert sorted(lines) == sorted(f"hourly {row['period']} done" for row in found)
    assert len(lines) == 3
    assert {(row["outcome"], row["status"], row["detail"]) for row in found} == {
        ("executed", "SUCCESS", "exit 0")
    }
    output = tmp_path / "run.output" / f"{found[0]['key']}.1.out"
    assert output.read_text() == "printed\n"


@clause("CLI-20", "CLI-30")
def test_a_new_schedule_owes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY)

    assert gnomon_process("run", str(file), "--once").code == 0
    assert runs(file) == []


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


@clause("CLI-20")
def test_a_second_process_is_told_who_owns_the_ledger(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with running(file) as first:
        first.until("running")

        second = gnomon_process("run", str(file))

    assert second.code == 2
    assert second.err.startswith(
        f"error: {tmp_path / 'run.sqlite3.lock'}: is held by pid {first.process.pid} "
    )
    assert second.err.splitlines()[-1].startswith("hint: ")


@clause("CLI-20")
def test_a_schedule_that_the_file_no_longer_has_is_deleted_with_its_history_kept(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))
    gnomon_process("run", str(file), "--once")
    write(tmp_path, EVERY_SECOND)

    done = gnomon_process("run", str(file), "--once", "--json-log")

    assert '"event": "schedule deleted", "schedule": "hourly"' in done.err
    kept = gnomon_process("history", str(file), "hourly", "--json").json["runs"]
    assert isinstance(kept, list)
    assert len(kept) == 2


@clause("CLI-20")
def test_the_ledger_may_be_somewhere_else(tmp_path: Path) -> None:
    file, store = write(tmp_path, HOURLY), tmp_path / "else" / "ledger.db"
    store.parent.mkdir()

    done = gnomon_process("run", str(file), "--once", "--store", str(store))

    assert done.code == 0, done.err
    assert store.exists()
    assert not (tmp_path / "run.sqlite3").exists()


@clause("CLI-21")
def test_each_run_and_each_settled_period_has_a_line(tmp_path: Path) -> None:
    file = write(tmp_path, LONG.replace("sleep 600", "false") + EVERY_SECOND)
    asyncio.run(owe(file, hours=3))

    with running(file) as process:
        missed = process.until("period missed", schedule="long")
        started = process.until("run started", schedule="long")
        ended = process.until("run ended", schedule="long")
        process.until("run ended", schedule="tick")
        process.signal(signal.SIGTERM)
        assert process.end() == 0

    assert (missed["reason"], missed["level"]) == ("outage", "info")
    assert started["period"] == ended["period"]
    assert (ended["detail"], ended["success"], ended["level"]) == ("exit 1", False, "warning")
    assert process.lines[-1]["event"] == "stopped"


@clause("CLI-21")
def test_a_plain_line_says_when_what_and_about_what(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY)

    done = gnomon_process("run", str(file), "--for", "0s")

    instant, level, text = done.err.splitlines()[1].split(maxsplit=2)
    assert (len(instant), instant[-1], level) == (24, "Z", "INFO")
    assert text == "schedule saved: schedule='hourly' revision=1"
    assert done.out == ""


@clause("CLI-22")
def test_a_terminal_shows_a_table_with_what_comes_next_and_what_came_last(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "run", str(file)],
        stdin=child, stdout=child, stderr=child,
        env=os.environ | {"COLUMNS": "160", "LINES": "20", "TERM": "xterm", "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(child)
    shown = ""
    while "succeeded exit 0" not in shown:
        assert select.select([parent], [], [], 60)[0], shown
        shown += os.read(parent, 65_536).decode()
    process.send_signal(signal.SIGTERM)
    # A terminal that nobody reads makes its writer wait.
    while process.poll() is None:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                os.read(parent, 65_536)
            except OSError:
                break
    assert process.wait(timeout=60) == 0
    os.close(parent)
    for word in ("schedule", "means", "next", "last", "in flight", "tick", "Every second"):
        assert word in shown


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


@clause("CLI-30")
def test_a_run_can_be_given_a_length_of_time(tmp_path: Path) -> None:
    done = gnomon_process("run", str(write(tmp_path, EVERY_SECOND)), "--for", "10ms", "--json-log")

    assert done.code == 0
    assert '"event": "stopped"' in done.err.splitlines()[-1]


KEPT = {"--keep=forever": 1, "--keep=2100h": 1, "--grace=30s": 1, "--keep=2000h": 0}
"""Rows that are left of one that ended 2,076 hours ago."""


@clause("CLI-34")
@pytest.mark.parametrize("option", KEPT)
def test_a_ledger_forgets_what_ended_too_long_ago(option: str, tmp_path: Path) -> None:
    text = ONCE.replace("2026-12-31", "2025-12-31")
    file = write(tmp_path, text)
    asyncio.run(miss(file, saved="2025-12-31T00:00:00Z", seen="2026-01-01T00:00:00Z"))

    assert gnomon("run", str(file), "--once", option).code == 0
    assert len(runs(file)) == KEPT[option]


@clause("CLI-4", "CLI-34")
@pytest.mark.parametrize("length", ["0s", "59m", "90d", "for ever"])
def test_a_ledger_cannot_be_kept_for_no_time(length: str, tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)

    done = gnomon("run", str(file), f"--keep={length}")

    assert done.code == 1
    assert done.err.startswith("error: keep: must be ")
    assert list(tmp_path.iterdir()) == [file]


@clause("CLI-19")
@pytest.mark.parametrize("message", UNFIT)
def test_what_cannot_be_run_is_refused_before_anything_is_made(
    message: str, tmp_path: Path
) -> None:
    file = write(tmp_path, f'[[schedule]]\nname = "a"\n{UNFIT[message]}\n')

    done = gnomon("run", str(file))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f'error: {file}: schedule "a": {message}')
    assert list(tmp_path.iterdir()) == [file]


@clause("CLI-19")
def test_a_name_that_is_no_id_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, '[[schedule]]\nname = "a/b"\nevery = "1h"\ncommand = ["true"]\n')

    done = gnomon("run", str(file))

    assert done.code == 1
    assert "name: must be 1 to 200 letters, digits, dots, underscores or hyphens" in done.err
    assert gnomon("preview", str(file)).code == 0


@clause("CLI-4")
@pytest.mark.parametrize("option", ["--for", "--grace"])
def test_a_length_of_time_is_not_negative(option: str, tmp_path: Path) -> None:
    done = gnomon("run", str(write(tmp_path, EVERY_SECOND)), f"{option}=-1s")

    assert done.code == 1
    assert "must not be negative" in done.err


@clause("CLI-3", "CLI-20")
def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    file, store = write(tmp_path, EVERY_SECOND), tmp_path / "run.sqlite3"
    store.write_bytes(b"something else, and long enough to be looked at" * 100)
    before = store.read_bytes()

    done = gnomon_process("run", str(file))

    assert done.code == 2
    assert done.err.splitlines()[0] == f"error: {store}: is not a database"
    assert store.read_bytes() == before
