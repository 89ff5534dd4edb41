"""The ledger of `gnomon run`: whose it is, where it is, and how long it remembers."""

import asyncio
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.acceptance.running import EVERY_SECOND, HOURLY, LONG, miss, owe, running, runs, write
from tests.clauses import clause

ONCE = """
[[schedule]]
name = "once"
once = "2026-12-31T12:00:00Z"
command = ["true"]
"""


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


@clause("CLI-35")
def test_a_ledger_refuses_a_file_that_would_delete_the_schedules_of_another(tmp_path: Path) -> None:
    first = write(tmp_path, HOURLY + EVERY_SECOND, "jobs.toml")
    assert gnomon_process("run", str(first), "--for", "0s").code == 0
    second = write(tmp_path, LONG, "jobs.conf")

    done = gnomon_process("run", str(second), "--once")

    assert done.code == 2
    assert done.err == (
        f"error: {tmp_path / 'jobs.sqlite3'}: belongs to the file jobs.toml; "
        "jobs.conf would delete its schedule 'hourly' and 1 more\n"
        "hint: name another ledger with --store, --database or --schema; a file that has a new "
        "name is accepted while it has all schedules of the ledger\n"
    )
    listed = gnomon("doctor", str(first), "--json").json
    assert (listed["schedules"], listed["findings"]) == (2, [])


@clause("CLI-35")
def test_a_ledger_follows_its_file_to_a_new_name(tmp_path: Path) -> None:
    first = write(tmp_path, HOURLY, "jobs.toml")
    assert gnomon_process("run", str(first), "--for", "0s").code == 0
    second = first.rename(tmp_path / "jobs.conf")
    assert gnomon_process("run", str(second), "--for", "0s").code == 0
    write(tmp_path, LONG, "jobs.conf")

    assert gnomon_process("run", str(second), "--for", "0s").code == 0
    write(tmp_path, HOURLY, "jobs.toml")
    assert gnomon_process("run", str(first), "--for", "0s").code == 2


@clause("CLI-20")
def test_the_ledger_may_be_somewhere_else(tmp_path: Path) -> None:
    file, store = write(tmp_path, HOURLY), tmp_path / "else" / "ledger.db"
    store.parent.mkdir()

    done = gnomon_process("run", str(file), "--once", "--store", str(store))

    assert done.code == 0, done.err
    assert store.exists()
    assert not (tmp_path / "run.sqlite3").exists()


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


@clause("CLI-3", "CLI-20")
def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    file, store = write(tmp_path, EVERY_SECOND), tmp_path / "run.sqlite3"
    store.write_bytes(b"something else, and long enough to be looked at" * 100)
    before = store.read_bytes()

    done = gnomon_process("run", str(file))

    assert done.code == 2
    assert done.err.splitlines()[0] == f"error: {store}: is not a database"
    assert store.read_bytes() == before
