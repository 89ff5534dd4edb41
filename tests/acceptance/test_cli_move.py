"""`gnomon migrate-store`: how far it is, and what is said when it is interrupted."""

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.acceptance.command_line import Done, gnomon, gnomon_process
from tests.acceptance.running import HOURLY, owe, write
from tests.clauses import clause

_WAITING = """
SELECT EXISTS (
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'
)
"""
_HOLD_ROWS = "LOCK TABLE gnomon.schedule_runs IN SHARE MODE"
_HOLD_THE_END = "SELECT pg_advisory_xact_lock(7)"
_WAIT_AT_THE_END = """
CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON gnomon.schedules
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait();
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The ledger of a file, with two runs that have ended."""
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))
    assert gnomon_process("run", str(file), "--once").code == 0
    return file.with_suffix(".sqlite3")


async def interrupted(store: Path, url: str, hold: str, *, before: str = "SELECT 1") -> Done:
    """Start a move, and interrupt it as soon as it waits for a lock of another connection."""
    await (await PostgresLedger.open(url)).close()
    beside, watch = await asyncpg.connect(url), await asyncpg.connect(url)
    await beside.execute(before)
    async with beside.transaction():
        await beside.execute(hold)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gnomon", "migrate-store", str(store), url,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        while not await watch.fetchval(_WAITING):
            assert process.returncode is None
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    await beside.close()
    await watch.close()
    return Done(code=process.returncode or 0, out=out.decode(), err=err.decode())


@clause("CLI-33")
def test_it_is_said_how_much_of_how_much_has_been_copied(store: Path, database: str) -> None:
    moved = gnomon("migrate-store", str(store), database)

    assert (moved.code, moved.err) == (
        0, "schedules: 1 of 1\nschedule_revisions: 1 of 1\nschedule_runs: 2 of 2\n",
    )  # fmt: skip


@clause("CLI-33")
def test_a_file_of_schedules_is_told_which_file_its_ledger_is(store: Path, database: str) -> None:
    file = store.with_suffix(".toml")
    named = gnomon("migrate-store", str(file), database)
    store.rename(store.with_name("other.toml"))
    absent = gnomon("migrate-store", str(file), database)
    other = gnomon("migrate-store", str(store.with_name("other.toml")), database)

    assert (named.code, named.err.splitlines()) == (2, [
        f"error: {file}: is a file of schedules, and no ledger", f"hint: its ledger is {store}",
    ])  # fmt: skip
    assert absent.err.splitlines()[1] == (
        f"hint: its ledger is {store}, which is not there, unless --store named another"
    )
    assert (other.code, other.out[:19]) == (0, "Moved: 1 schedules,")


@clause("CLI-39", "PG-16")
def test_a_move_that_is_interrupted_says_that_nothing_has_moved(store: Path, database: str) -> None:
    done = asyncio.run(interrupted(store, database, _HOLD_ROWS))

    assert (done.code, done.out) == (130, "")
    assert done.err.splitlines()[2:4] == [
        f"error: {store}: was interrupted in its move, with schedules 1 of 1, schedule_revisions "
        "1 of 1 copied; all of that was taken back, nothing has moved, and nothing is owed twice",
        "hint: run the same command again to move everything; until then the file is the ledger",
    ]
    assert gnomon_process("run", str(store.with_suffix(".toml")), "--once").code == 0
    assert gnomon("migrate-store", str(store), database).out.startswith("Moved: 1 schedules,")


@clause("CLI-39", "PG-16")
def test_a_move_that_is_interrupted_at_its_very_end_is_finished_by_the_next(
    store: Path, database: str
) -> None:
    done = asyncio.run(interrupted(store, database, _HOLD_THE_END, before=_WAIT_AT_THE_END))

    assert (done.code, done.out) == (130, "")
    assert done.err.splitlines()[3:5] == [
        f"error: {store}: was interrupted at the very end of its move; it is not run any more, so "
        "that nothing is owed twice, and the database has all of it or nothing",
        "hint: run the same command again: it says that everything is there, or moves it",
    ]
    refused = gnomon("run", str(store.with_suffix(".toml")), "--once")
    assert (refused.code, "has moved to postgresql://" in refused.err) == (2, True)
    again = gnomon("migrate-store", str(store), database)
    assert (again.code, again.out[:19]) == (0, "Moved: 1 schedules,")
    assert gnomon("doctor", "--database", database).code == 0


@clause("CLI-39")
def test_a_move_of_what_is_no_ledger_can_be_interrupted_too(tmp_path: Path) -> None:
    store = tmp_path / "notes.txt"
    store.write_text("tea, bread and butter")
    with socket.create_server(("127.0.0.1", 0)) as server:  # which never answers
        process = subprocess.Popen(
            [sys.executable, "-m", "gnomon", "migrate-store", str(store),
             f"postgresql://127.0.0.1:{server.getsockname()[1]}/books"],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()

    assert (process.returncode, err.strip()) == (130, "")
