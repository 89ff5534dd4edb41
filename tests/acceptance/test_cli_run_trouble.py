"""
`gnomon run` on a ledger in trouble: a clear error, or a retry that shows, and nothing half written.

The troubles are real: a damaged file, a file of a newer version, a lock that another connection
holds, a full disk. For the full disk, the test lowers the limit on the size of files of the running
process and raises it again. A judge that shares no code with Gnomon says whether a run was lost or
doubled.
"""

import resource
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.acceptance.running import Running, copied, running, write
from tests.clauses import clause
from tests.kill.judge import Verdict, judge
from tests.kill.world import IDLE, toml
from tests.unprivileged import nobodys_directory, unprivileged

TICK = """
[[schedule]]
name = "tick"
every = "1s"
shell = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD ran" >> jobs.txt'
catchup = "fire_immediately"
overlap = "allow"
"""
NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
FULL = (4_096, resource.RLIM_INFINITY)  # less than the log of the database takes at once


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of schedules, beside the ledger that it has run on."""
    file = write(tmp_path_factory.mktemp("original"), TICK)
    assert gnomon_process("run", str(file), "--once").code == 0
    return file


@pytest.fixture
def file(original: Path, tmp_path: Path) -> Path:
    """The same, for one test to ruin."""
    return copied(original, tmp_path)


def damage(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[4_096:] = b"\xa5" * (len(data) - 4_096)
    store.write_bytes(data)


def replace_by_a_letter(store: Path) -> None:
    store.write_text("Dear Gnomon, " * 1_000)


def make_newer(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA user_version = 999")


def make_foreign(store: Path) -> None:
    store.unlink()
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE songs (title TEXT)")


RUINED = {
    "is damaged": damage,
    "is not a database": replace_by_a_letter,
    "has schema 999, and this version of Gnomon knows": make_newer,
    "is a database of another program": make_foreign,
}


@clause("CLI-3", "CLI-4", "LEDGER-11")
@pytest.mark.parametrize("reason", RUINED)
def test_a_ledger_that_cannot_be_used_is_refused_and_left_alone(reason: str, file: Path) -> None:
    store = file.with_suffix(".sqlite3")
    RUINED[reason](store)
    before = store.read_bytes()

    done = gnomon("run", str(file), "--once")

    assert (done.code, done.out) == (2, "")
    error, hint = done.err.splitlines()
    assert error.startswith(f"error: {store}: {reason}")
    assert hint.startswith("hint: ")
    assert store.read_bytes() == before


@clause("CLI-3", "LEDGER-11")
def test_a_ledger_that_may_not_be_written_is_refused(original: Path) -> None:
    with nobodys_directory() as directory:
        file = copied(original, directory)
        store = file.with_suffix(".sqlite3")
        assert gnomon("run", str(file), "--once").code == 0  # and everything is imported
        for path in directory.glob("*.lock"):
            path.unlink()
        store.chmod(0o444)

        with unprivileged():
            done = gnomon("run", str(file), "--once")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {store}: cannot be written\n")


@clause("CLI-3", "LEDGER-11")
def test_a_directory_for_the_ledger_has_to_be_there(file: Path) -> None:
    store = file.parent / "absent" / "run.sqlite3"

    done = gnomon("run", str(file), "--once", "--store", str(store))

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {store}.lock: cannot be opened")
    assert not store.parent.exists()


@clause("CLI-3", "LEDGER-11")
def test_a_ledger_that_is_locked_from_the_beginning_is_said_to_be(file: Path) -> None:
    store = file.with_suffix(".sqlite3")
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        done = gnomon("run", str(file), "--once")

    assert (done.code, done.out) == (2, "")
    expected = f"error: {store}: is locked by another process\nhint: wait, or stop it\n"
    assert done.err == expected


@clause("RUN-4", "LEDGER-11")
def test_a_lock_is_waited_for_and_what_was_due_meanwhile_runs(tmp_path: Path) -> None:
    file = write(tmp_path, TICK)
    with running(file) as process:
        process.until("run ended")
        with closing(sqlite3.connect(file.with_suffix(".sqlite3"), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            failed = process.until("the ledger failed, trying again")
            other.execute("ROLLBACK")
        found = goes_on_and_ends_well(process, file)

    assert "is locked by another process" in str(failed["error"])
    assert (failed["failures"], failed["wait_ms"]) == (1, 100)
    assert found.problems == []


@clause("RUN-4", "LEDGER-11")
def test_a_full_disk_is_waited_for_and_what_was_due_meanwhile_runs(tmp_path: Path) -> None:
    file = write(tmp_path, TICK)
    with running(file) as process:
        process.until("run ended")
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, FULL)
        failures = [process.until("the ledger failed, trying again") for _ in range(4)]
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
        found = goes_on_and_ends_well(process, file)

    assert [failed["wait_ms"] for failed in failures] == [100, 200, 400, 800]
    assert "check the disk" in str(failures[0]["error"])
    assert found.problems == []


def goes_on_and_ends_well(process: Running, file: Path) -> Verdict:
    """The ledger answers again, a run is seen, and all that was owed is there once."""
    process.until("the ledger answers again")
    process.until("run ended")
    process.signal(signal.SIGTERM)
    assert process.end() == 0
    until = int(time.time()) - 1
    write(file.parent, toml(IDLE))
    store = file.with_suffix(".sqlite3")
    assert gnomon_process("run", str(file), "--once").code == 0
    assert gnomon("doctor", "--store", str(store)).code == 0
    return judge(store, file.parent / "jobs.txt", {"tick": 1}, until=until)


@clause("CLI-25")
def test_the_doctor_waits_for_no_lock(file: Path) -> None:
    store = file.with_suffix(".sqlite3")
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE schedules SET updated_at = 'nonsense'")

        done = gnomon("doctor", "--store", str(store))

        other.execute("ROLLBACK")
    assert (done.code, done.err) == (0, "")


@clause("LEDGER-27")
def test_the_loss_of_what_a_killed_owner_had_committed_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, TICK)
    with running(file) as process:
        process.until("run ended")
        pid = process.process.pid
        process.signal(signal.SIGKILL)
        process.end()
    store = file.with_suffix(".sqlite3")
    store.with_name(f"{store.name}-wal").unlink()

    done = gnomon("run", str(file), "--once")
    assert (done.code, done.out) == (2, "")
    assert f"is damaged: its owner (pid {pid} on " in done.err
    assert gnomon("doctor", "--store", str(store)).code == 1


@clause("LEDGER-28", "RUN-16")
def test_a_ledger_that_is_removed_under_its_owner_ends_it(tmp_path: Path) -> None:
    file = write(tmp_path, TICK)
    store = file.with_suffix(".sqlite3")
    with running(file) as process:
        process.until("run ended")
        store.unlink()
        assert process.process.stderr is not None
        last = process.process.stderr.read()
        assert process.process.wait() == 2

    assert f"error: {store}: was removed while this process used it\n" in last
    assert not store.exists()
