"""A day with krond: start it, look at it, change its files, stop it."""

import json
import os
import signal
import socket
from pathlib import Path

import pytest

from gnomon.core.decision import recompute
from tests.acceptance.command_line import gnomon_process
from tests.acceptance.krond_process import TICK, ask_krond, krond, periods_of, write_krontab
from tests.clauses import clause

YEARLY = "0 0 1 1 * @win(after,1h) name=yearly command=true\n"


@clause("KROND-25", "KROND-26", "KROND-27", "KROND-30")
def test_jobs_run_and_can_be_seen(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, TICK + YEARLY), tmp_path / "state"
    with krond(file, state) as running:
        identity = f"{file}:tick"
        decision = running.until("decision", identity=identity)
        running.until("job_finished", identity=identity, periodId=decision["periodId"])
        status = ask_krond(state, "status", "--json")
        text = ask_krond(state, "status")
        running.signal(signal.SIGTERM)
        assert running.end() == 0

    assert status.code == 0
    assert (status.json["running"], status.json["pid"]) == (True, running.process.pid)
    jobs = {job["name"]: job for job in status.json["jobs"]}  # type: ignore[attr-defined]
    assert jobs["yearly"]["next"]["windowStart"].endswith("-01-01T00:00:00Z")
    assert jobs["yearly"]["last"] is None
    assert jobs["tick"]["last"]["outcome"] == "executed"
    assert "yearly" in text.out

    first = periods_of(state, "tick")[-1]
    assert first["periodId"] == decision["periodId"]
    assert (first["outcome"], first["exitStatus"]) == ("executed", 0)
    assert isinstance(first["userSeconds"], float)
    assert first["decision"] == recompute(decision).to_json()  # from nothing but a log line
    newest = ask_krond(state, "logs", "tick").out  # krond is gone by then
    assert newest == "tick\n"
    logged = ask_krond(state, "logs", "tick", "--json", "--period", str(first["periodId"])).json
    assert (logged["periodId"], logged["text"]) == (first["periodId"], "tick\n")


@clause("KROND-25", "KROND-24")
def test_the_state_can_be_read_when_krond_does_not_run(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, TICK), tmp_path / "state"
    with krond(file, state) as running:
        running.until("job_finished")
    status = ask_krond(state, "status", "--json")

    assert status.code == 2
    assert status.json["running"] is False
    assert periods_of(state, f"{file}:tick")  # a job has its file before its name, too
    assert ask_krond(state, "reload").code == 2
    assert "krond does not run here" in ask_krond(state, "stop").err


@clause("KROND-17", "KROND-24")
def test_a_second_krond_is_refused_and_names_the_first(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, TICK), tmp_path / "state"
    with krond(file, state) as running:
        second = gnomon_process("krond", "start", str(file), "--state-dir", str(state))
        running.until("job_finished")  # the first goes on

    assert second.code == 3
    assert second.err == (
        f"error: {state}: is the state of a krond that runs, pid {running.process.pid} on "
        f"{socket.gethostname()}\n"
        "hint: ask it with krond status, end it with krond stop, or name another --state-dir\n"
    )


@clause("KROND-17")
def test_only_its_user_can_enter_the_state_directory(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, YEARLY), tmp_path / "state"
    state.mkdir(mode=0o755)
    with krond(file, state):
        modes = {one.name: one.stat().st_mode & 0o777 for one in [state, *state.iterdir()]}

    assert modes["state"] == modes["output"] == 0o700
    assert modes["krond.sqlite3"] == modes["krond.sock"] == 0o600


@clause("KROND-18", "KROND-24")
def test_a_wrong_file_is_refused_with_every_error_and_nothing_is_opened(tmp_path: Path) -> None:
    text = "61 * * * * name=a command=true\n* * * * * name=B command=true\n* * * * * name=c\n"
    file, state = write_krontab(tmp_path, text), tmp_path / "state"

    done = gnomon_process("krond", "start", str(file), "--state-dir", str(state))

    assert done.code == 1
    for place in (f"{file}:1:1", f"{file}:2:", f"{file}:3:"):
        assert f"error: {place}" in done.err
    assert not state.exists()


@clause("KROND-18", "KROND-19")
@pytest.mark.parametrize("by_signal", [True, False])
def test_files_are_loaded_again_when_asked(tmp_path: Path, by_signal: bool) -> None:
    file, state = write_krontab(tmp_path, YEARLY), tmp_path / "state"
    with krond(file, state) as running:
        file.write_text("* * * * name=tick\n")
        if by_signal:
            running.signal(signal.SIGHUP)
            running.until("error")
        else:
            assert ask_krond(state, "reload").code == 1
        refused = ask_krond(state, "status", "--json")

        file.write_text(TICK)
        if by_signal:
            running.signal(signal.SIGHUP)
        else:
            assert ask_krond(state, "reload").out == "1 job\n"
        running.until("job_finished", identity=f"{file}:tick")
        after = ask_krond(state, "status", "--json")

    assert refused.code == 1
    assert f"{file}:1:" in str(refused.json["problem"])
    assert "yearly" in json.dumps(refused.json["jobs"])
    assert (after.code, after.json["problem"]) == (0, None)
    assert "yearly" not in json.dumps(after.json["jobs"])


@clause("KROND-23", "KROND-24")
def test_krond_in_the_background_is_ready_when_the_command_returns(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, YEARLY), tmp_path / "state"

    started = ask_krond(state, "start", str(file), "--detach")
    status = ask_krond(state, "status", "--json")
    again = ask_krond(state, "start", str(file), "--detach")
    stopped = ask_krond(state, "stop")

    assert started.code == 0
    assert f"process {status.json['pid']}" in started.out
    assert again.code == 3
    assert "is the state of a krond that runs, pid" in again.err
    assert (stopped.code, stopped.out) == (0, "krond has stopped\n")
    assert ask_krond(state, "status").code == 2
    assert "krond running" in (state / "krond.log").read_text()


@clause("KROND-23", "KROND-18")
def test_krond_in_the_background_says_why_it_cannot_start(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, "nonsense\n"), tmp_path / "state"

    done = ask_krond(state, "start", str(file), "--detach")

    assert done.code == 1
    assert f"error: {file}:1:" in done.err


@clause("KROND-31")
def test_a_state_directory_may_lie_deep(tmp_path: Path) -> None:
    state = tmp_path / ("deep" * 20) / ("deeper" * 20)
    with krond(write_krontab(tmp_path, YEARLY), state):
        assert ask_krond(state, "status").code == 0


@clause("KROND-24")
@pytest.mark.parametrize("command", ["history", "logs"])
def test_a_job_that_is_not_there_is_named(tmp_path: Path, command: str) -> None:
    state = tmp_path / "state"
    with krond(write_krontab(tmp_path, YEARLY), state):
        done = ask_krond(state, command, "weekly")

    assert done.code == 1
    assert "is no job of this krond, got 'weekly'" in done.err
    assert "the jobs are yearly" in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@clause("KROND-1")
def test_a_job_with_a_user_runs_with_the_ids_of_that_user(tmp_path: Path) -> None:
    who = 'grep -E "^(Uid|Gid|Groups):" /proc/self/status | tr -s "[:space:]" " "'
    quoted = who.replace("\\", "\\\\").replace('"', '\\"')
    text = f'* * * * * * name=who user=nobody shell=true command="{quoted}"\n'
    file, state = write_krontab(tmp_path, text), tmp_path / "state"
    with krond(file, state) as running:
        period = str(running.until("job_finished", identity=f"{file}:who")["periodId"])
        printed = ask_krond(state, "logs", "who", "--period", period).out

    ids = ["65534"] * 4
    assert printed.split() == ["Uid:", *ids, "Gid:", *ids, "Groups:", "65534"]


@clause("KROND-32")
def test_a_job_can_be_run_now(tmp_path: Path) -> None:
    text = 'name=good command="echo by hand"\n0 0 1 1 * name=bad command=false\n'
    state = tmp_path / "state"
    with krond(write_krontab(tmp_path, f"0 0 1 1 * {text}"), state):
        good = ask_krond(state, "run-now", "good", "--wait", "--json")
        bad = ask_krond(state, "run-now", "bad", "--wait")
        none = ask_krond(state, "run-now", "weekly")
        silent = ask_krond(state, "logs", "bad")
        printed = ask_krond(state, "logs", "good").out

    assert (good.code, good.json["success"]) == (0, True)
    assert str(good.json["key"]).startswith("manual:good-")
    assert (bad.code, none.code) == (1, 1)
    assert none.err == (
        "error: job: is no job of this krond, got 'weekly'\nhint: krond status lists them\n"
    )
    assert (silent.code, silent.out, silent.err) == (0, "", "nothing was printed\n")
    assert "exit 1" in bad.out
    assert printed == "by hand\n"
    assert [row["kind"] for row in periods_of(state, "good")] == ["manual"]


@clause("KROND-41", "KRONTAB-52")
def test_a_job_at_boot_runs_once_in_this_boot(tmp_path: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    file = write_krontab(tmp_path, f"{TICK}@reboot name=warm command=true\n")
    state = tmp_path / "state"
    with krond(file, state) as running:
        ended = running.until("job_finished", identity=f"{file}:warm")
    with krond(file, state) as running:  # the same boot
        running.until("job_finished", identity=f"{file}:tick")
        status = ask_krond(state, "status", "--json").json
        shown = ask_krond(state, "status").out

    assert ended["boot"] == boot
    (period,) = periods_of(state, "warm")
    assert (period["kind"], period["outcome"], period["decision"]) == ("boot", "executed", None)
    assert period["nominalTime"] == ended["periodId"]
    jobs = {job["name"]: job for job in status["jobs"]}  # type: ignore[attr-defined]
    assert (jobs["warm"]["atBoot"], jobs["warm"]["next"]) == (True, None)
    assert jobs["tick"]["atBoot"] is False
    assert "at boot" in shown
    assert "at boot" in ask_krond(state, "history", "warm").out
    assert gnomon_process("doctor", str(state / "krond.sqlite3")).code == 0
