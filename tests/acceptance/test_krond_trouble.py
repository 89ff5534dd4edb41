"""krond is killed, stopped while jobs run, spoken to in riddles, and finds its state damaged."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon_process
from tests.acceptance.krond_process import TICK, ask_krond, krond, periods_of, write_krontab
from tests.clauses import clause


def sleeper(folder: Path) -> Path:
    """A file with a job that says its process id through a pipe, and then sleeps."""
    os.mkfifo(folder / "fifo")
    say = f"[ -p {folder}/fifo ] && echo $$ > {folder}/fifo; exec sleep 600"
    return write_krontab(folder, f'* * * * * * name=slow shell=true command="{say}"\n')


def slow_pid(folder: Path) -> int:
    """The process of the job, once it runs."""
    found = int((folder / "fifo").read_text())
    (folder / "fifo").unlink()
    return found


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@clause("KROND-20", "KROND-10")
def test_a_job_that_outlived_a_killed_krond_is_still_active(tmp_path: Path) -> None:
    file, state = sleeper(tmp_path), tmp_path / "state"
    with krond(file, state) as first:
        pid = slow_pid(tmp_path)
        first.process.kill()
    with krond(file, state) as second:
        exists = next(line for line in second.lines if line["event"] == "job_exists")
        second.until("skipped_concurrency", identity=f"{file}:slow")
        os.kill(pid, signal.SIGKILL)
        ended = second.until("job_finished", periodId=exists["periodId"])

    assert exists["pid"] == pid
    assert (ended["success"], ended["exitStatus"], ended["reason"]) == (False, None, "uncertain")


@clause("KROND-21")
def test_who_stops_krond_leaves_its_jobs(tmp_path: Path) -> None:
    file, state = sleeper(tmp_path), tmp_path / "state"
    with krond(file, state) as running:
        pid = slow_pid(tmp_path)
        stopped = ask_krond(state, "stop", "--grace", "0s")
        assert running.end() == 0
    survived = is_there(pid)
    os.kill(pid, signal.SIGKILL)

    assert stopped.code == 0
    assert survived


@clause("KROND-21")
def test_who_says_so_ends_them(tmp_path: Path) -> None:
    file, state = sleeper(tmp_path), tmp_path / "state"
    with krond(file, state) as running:
        pid = slow_pid(tmp_path)
        ask_krond(state, "stop", "--grace", "0s", "--kill")
        assert running.end() == 0

    assert not is_there(pid)
    newest = periods_of(state, "slow")
    assert (newest[-1]["outcome"], newest[-1]["reason"]) == ("executed", "stopped")
    assert newest[-1]["signal"] == 15


@clause("KROND-21")
def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    file, state = sleeper(tmp_path), tmp_path / "state"
    with krond(file, state, "--grace", "10m") as running:
        pid = slow_pid(tmp_path)
        running.signal(signal.SIGTERM)
        running.until("stopping")
        running.signal(signal.SIGTERM)
        code = running.end()
    os.kill(pid, signal.SIGKILL)

    assert code == 130


@clause("KROND-22", "KROND-24")
def test_damaged_state_is_refused_until_it_is_repaired(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, TICK), tmp_path / "state"
    with krond(file, state) as running:
        running.until("job_finished")
        running.signal(signal.SIGTERM)
        running.end()
    ledger = state / "krond.sqlite3"
    whole = ledger.read_bytes()
    damaged = whole[:4096] + b"\xa5" * (len(whole) - 4096)
    ledger.write_bytes(damaged)

    refused = gnomon_process("krond", "start", str(file), "--state-dir", str(state))
    asked = [ask_krond(state, "status"), ask_krond(state, "history", "tick")]
    untouched = ledger.read_bytes() == damaged
    repaired = ask_krond(state, "repair")
    again = ask_krond(state, "repair")
    with krond(file, state) as running:
        running.until("job_finished")

    assert refused.code == 2
    assert "is damaged" in refused.err
    for done in (refused, *asked):
        assert done.code == 2
        assert (
            f"hint: nothing was changed; run: gnomon krond repair --state-dir {state}" in done.err
        )
    assert untouched
    assert repaired.code == 0
    assert (state / "krond.sqlite3.damaged-1").read_bytes() == damaged
    assert again.out == "there is nothing to repair\n"


@clause("KROND-22")
def test_a_running_krond_is_not_repaired(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with krond(write_krontab(tmp_path, TICK), state):
        assert ask_krond(state, "repair").code == 3


@clause("KROND-24")
def test_state_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, TICK), tmp_path / "state"

    done = subprocess.run(
        [sys.executable, "-m", "gnomon", "krond", "start", str(file), "--state-dir", str(state)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 4, done.stderr
    assert "krond.sqlite3" in done.stderr


@clause("KROND-17", "KROND-24")
def test_a_state_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    file = write_krontab(tmp_path, TICK)
    done = gnomon_process("krond", "start", str(file), "--state-dir", str(tmp_path / "state"))

    assert done.code == 2
    assert "name another directory with --state-dir" in done.err


@clause("KROND-31")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"hello\n", "a line must be a JSON object"),
        (b"[]\n", "a line must be a JSON object"),
        (b'{"command": "dance"}\n', "the commands are"),
        (b"{}\n", "the commands are"),
    ],
)
def test_riddles_are_answered_with_an_error(tmp_path: Path, line: bytes, error: str) -> None:
    state = tmp_path / "state"
    with (
        krond(write_krontab(tmp_path, TICK), state) as running,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as speaker,
    ):
        speaker.connect(str(state / "krond.sock"))
        speaker.sendall(line + b'{"command": "status"}\n')
        with speaker.makefile("rb") as lines:
            riddle, status = json.loads(lines.readline()), json.loads(lines.readline())
        running.until("job_finished")

    assert riddle["ok"] is False
    assert error in riddle["error"]
    assert status["ok"] is True


@clause("KROND-2", "KROND-24")
def test_a_disk_that_is_full_for_a_while_makes_nothing_run_twice(tmp_path: Path) -> None:
    say = f"echo $GNOMON_PERIOD >> {tmp_path}/periods.txt"
    text = f'* * * * * * @policy(deadline=1m) name=tick shell=true command="{say}"\n'
    file, state = write_krontab(tmp_path, text), tmp_path / "state"
    with krond(file, state) as running:
        running.until("job_finished")
        pid, limit = running.process.pid, resource.RLIMIT_FSIZE
        resource.prlimit(pid, limit, (1, resource.RLIM_INFINITY))
        failed = running.until("the_ledger_failed_trying_again")
        resource.prlimit(pid, limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        running.until("the_ledger_answers_again")
        for _ in range(2):
            running.until("job_finished")
        running.signal(signal.SIGTERM)
        assert running.end() == 0
    ran = (tmp_path / "periods.txt").read_text().split()
    executed = [row for row in periods_of(state, "tick") if row["outcome"] == "executed"]

    assert "krond.sqlite3" in str(failed["error"])
    assert len(ran) == len(set(ran))
    assert sorted(ran) == sorted(str(row["periodId"]) for row in executed)


@clause("KROND-39")
def test_a_second_krond_of_one_file_says_so_and_one_that_follows_does_not(tmp_path: Path) -> None:
    file = write_krontab(tmp_path, TICK)
    with krond(file, tmp_path / "one") as first, krond(file, tmp_path / "two") as second:
        warned = [line for line in second.lines if line["event"] == "another_krond"]
        first.process.kill()
    with krond(file, tmp_path / "three") as third:
        quiet = [line for line in third.lines if line["event"] == "another_krond"]

    assert [(one["level"], one["file"]) for one in warned] == [("WARNING", str(file))]
    assert quiet == []
