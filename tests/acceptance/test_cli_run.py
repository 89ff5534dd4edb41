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
from tests.acceptance.running import EVERY_SECOND, HOURLY, LONG, owe, running, runs, write
from tests.clauses import clause

UNFIT = {
    "must have a command or a shell text to be run, got []": 'every = "1h"',
    "must have exactly one of command and shell, got ['command', 'shell']": (
        'every = "1h"\ncommand = ["true"]\nshell = "true"'
    ),
    "identity: must be the name of a schedule that is run, got 'b'": (
        'every = "1h"\ncommand = ["true"]\nidentity = "b"'
    ),
}


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

    instant, level, text = done.err.splitlines()[0].split(maxsplit=2)
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
    # The process waits when it writes to a terminal that the test does not read.
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
