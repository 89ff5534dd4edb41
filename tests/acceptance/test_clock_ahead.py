"""A clock was ahead for a moment: krond and `gnomon run` say so, and what to do helps."""

import asyncio
import time
from pathlib import Path

from gnomon.apps.krond.krontab import read_krontab
from gnomon.apps.run.schedule_file import load_schedules
from gnomon.core.engine import plan
from gnomon.core.schedule import Schedule
from gnomon.shell.store.sqlite import SqliteLedger
from tests.acceptance.command_line import gnomon_process
from tests.acceptance.krond_process import ask_krond, krond, periods_of, write_krontab
from tests.acceptance.running import HOUR_MS, running, runs, write
from tests.clauses import clause

SAID = "the clock was ahead"
DAILY = """
[[schedule]]
name = "hourly"
every = "1h"
command = ["true"]
"""


async def ahead(path: Path, schedules: list[Schedule]) -> None:
    """A ledger that was looked at ten hours and a half too early."""
    ledger = SqliteLedger.open(path)
    now_ms = time.time_ns() // 1_000_000
    wrong_ms = (now_ms // HOUR_MS + 10) * HOUR_MS + HOUR_MS // 2
    await ledger.install(schedules, suspended=(), now_ms=now_ms)
    changes = plan(await ledger.load(now_ms=wrong_ms, limit=9), now_ms=wrong_ms)
    await ledger.commit(changes, owner="me", confirmed=True, now_ms=wrong_ms)
    await ledger.close()


@clause("KROND-38", "RUN-36")
def test_krond_says_that_its_clock_was_ahead_and_plans_again_when_told(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, "0 * * * * name=a command=true\n"), tmp_path / "state"
    state.mkdir(mode=0o700)
    jobs = read_krontab(file.read_text(), file=str(file)).jobs
    asyncio.run(ahead(state / "krond.sqlite3", [job.schedule for job in jobs]))
    shown = ask_krond(state, "status", "--json").json["jobs"]

    with krond(file, state) as started:
        said = started.until(SAID.replace(" ", "_"))
        table = ask_krond(state, "status")
        first, second = (ask_krond(state, "replan", *json) for json in (["--json"], []))
    assert isinstance(shown, list)
    assert shown[0]["handledUpTo"] == said["handled_up_to"]
    assert f"1 job handled up to {said['handled_up_to']}" in table.out
    assert first.json == {"jobs": 1, "periods": 10, "all": True}
    assert second.out == "no period was judged ahead of its time\n"
    found = periods_of(state, "a")
    assert [(one["state"], one["outcome"]) for one in found] == [("planned", None)] * 10


@clause("KROND-38")
def test_the_state_of_a_krond_that_does_not_run_is_planned_again_too(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (job,) = read_krontab("0 * * * * name=a command=true", file="/jobs").jobs
    asyncio.run(ahead(state / "krond.sqlite3", [job.schedule]))

    assert ask_krond(state, "replan").out == "planned again: 10 periods of 1 jobs\n"
    nowhere = ask_krond(tmp_path / "other", "replan")
    assert (nowhere.code, "holds no state of krond" in nowhere.err) == (2, True)


@clause("KROND-38", "KROND-25")
def test_the_status_shows_the_first_of_all_that_was_planned_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (job,) = read_krontab("*/5 * * * * name=a command=true", file="/jobs").jobs
    asyncio.run(ahead(state / "krond.sqlite3", [job.schedule]))
    ask_krond(state, "replan")

    shown = ask_krond(state, "status", "--json").json["jobs"]

    planned = periods_of(state, "a", "--count", "1000")
    assert len(planned) > 100
    assert isinstance(shown, list)
    assert shown[0]["handledUpTo"] is None
    assert shown[0]["next"]["periodId"] == min(str(one["periodId"]) for one in planned)


@clause("KROND-38", "RUN-36")
def test_gnomon_run_says_that_its_clock_was_ahead_and_plans_again_when_told(tmp_path: Path) -> None:
    file = write(tmp_path, DAILY)
    schedules = [entry.schedule for entry in load_schedules(file, to_run=True)]
    asyncio.run(ahead(file.with_suffix(".sqlite3"), schedules))

    with running(file) as started:
        said = started.until(SAID)
    done = gnomon_process("run", str(file), "--replan", "--for", "0s", "--json-log")
    assert (said["schedules"], len(runs(file))) == (1, 10)
    assert '"event": "replanned", "schedules": 1, "periods": 10, "all": true' in done.err
    refused = gnomon_process("run", str(file), "--replan", "--database", "postgresql://h/d")
    assert (refused.code, "--replan" in refused.err) == (1, True)
