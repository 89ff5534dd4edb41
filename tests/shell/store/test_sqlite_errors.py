"""The ledger on SQLite: what goes wrong is said clearly, and nothing is half written."""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError, IncompatibleStateError, StoreError
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, minutely
from tests.unprivileged import nobodys_directory, unprivileged


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def desk(path: Path) -> Iterator[Desk]:
    with asyncio.Runner() as runner:
        desk = Desk(runner, lambda: SqliteLedger.open(path, busy_ms=1))
        yield desk
        desk.close()


def connection_of(desk: Desk) -> sqlite3.Connection:
    assert isinstance(desk.ledger, SqliteLedger)
    return desk.ledger.database.connection


def damage(path: Path) -> None:
    """Overwrite every page after the first, as a failing disk might."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


@clause("LEDGER-11")
def test_a_file_that_is_not_a_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"hello, I am a text file\n" * 100)

    with pytest.raises(StoreError, match=r"ledger\.sqlite3: is not a database; name another file"):
        SqliteLedger.open(path)
    assert path.read_bytes().startswith(b"hello")


@clause("LEDGER-11")
def test_a_damaged_file_is_refused_with_what_to_do(path: Path) -> None:
    asyncio.run(SqliteLedger.open(path).close())
    damage(path)

    with pytest.raises(StoreError, match="is damaged; stop, keep a copy, and restore") as raised:
        SqliteLedger.open(path)
    assert not raised.value.transient


@clause("LEDGER-11")
def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (title TEXT)")
    other.close()

    with pytest.raises(StoreError, match="is a database of another program"):
        SqliteLedger.open(path)
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]
    other.close()


@clause("LEDGER-11")
def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    asyncio.run(SqliteLedger.open(path).close())
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()

    with pytest.raises(IncompatibleStateError, match="has schema 99, and this version") as raised:
        SqliteLedger.open(path)
    assert raised.value.hint == "install the version that wrote it, or a newer one"


@clause("LEDGER-11")
def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"absent/ledger\.sqlite3: cannot be opened; check that"):
        SqliteLedger.open(tmp_path / "absent" / "ledger.sqlite3")
    with pytest.raises(StoreError, match=r"absent/ledger\.sqlite3\.lock: cannot be opened"):
        SqliteLedger.open(tmp_path / "absent" / "ledger.sqlite3", exclusive=True)


@clause("LEDGER-11")
def test_a_file_that_may_not_be_written_is_refused() -> None:
    with nobodys_directory() as directory:
        path = directory / "ledger.sqlite3"
        asyncio.run(SqliteLedger.open(path).close())
        path.chmod(0o444)

        with (
            unprivileged(),
            pytest.raises(StoreError, match="cannot be written; give this user write access"),
        ):
            SqliteLedger.open(path)


@clause("LEDGER-11")
def test_a_ledger_that_became_read_only_says_so(desk: Desk) -> None:
    connection_of(desk).execute("PRAGMA query_only = 1")

    with pytest.raises(StoreError, match="cannot be written; give this user write access"):
        desk.save()
    assert desk.do(desk.ledger.schedules()) == []


@clause("LEDGER-11")
def test_a_full_disk_writes_nothing_and_goes_on_when_there_is_room(desk: Desk) -> None:
    connection = connection_of(desk)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [minutely(f"s{number}", target="x" * 500) for number in range(100)]

    assert isinstance(desk.ledger, SqliteLedger)
    with pytest.raises(StoreError, match="cannot grow: the disk or its quota is full") as raised:
        desk.do(desk.ledger.save_all(many, now_ms=at("00:00:30")))
    assert raised.value.transient
    assert desk.do(desk.ledger.schedules()) == []

    connection.execute("PRAGMA max_page_count = 1000000")
    assert len(desk.do(desk.ledger.save_all(many, now_ms=at("00:00:30")))) == 100


@clause("LEDGER-11")
def test_a_full_disk_in_the_middle_of_a_commit_claims_nothing(desk: Desk) -> None:
    assert isinstance(desk.ledger, SqliteLedger)
    many = [minutely(f"s{number}") for number in range(100)]
    desk.do(desk.ledger.save_all(many, now_ms=at("00:00:30")))
    connection = connection_of(desk)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    changes = desk.plan("00:01:00")

    with pytest.raises(StoreError):
        desk.commit(changes, "00:01:00")
    assert all(desk.words(f"s{number}") == [] for number in range(100))

    connection.execute("PRAGMA max_page_count = 1000000")
    assert len(desk.commit(changes, "00:01:00")) == 100


@clause("LEDGER-11")
def test_a_file_locked_by_another_process_can_be_tried_again(desk: Desk, path: Path) -> None:
    desk.save()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="is locked by another process; wait, or stop") as raised:
        desk.turn("00:01:00")
    assert raised.value.transient
    other.execute("ROLLBACK")
    other.close()
    assert len(desk.turn("00:01:00")) == 1


@clause("LEDGER-4")
def test_two_processes_on_one_file_win_each_period_once(desk: Desk, path: Path) -> None:
    desk.save()
    with asyncio.Runner() as runner:
        other = Desk(runner, lambda: SqliteLedger.open(path))
        first, second = desk.plan("00:01:00"), other.plan("00:01:00")

        assert len(other.commit(second, "00:01:00", owner="boris")) == 1
        assert desk.commit(first, "00:01:00", owner="anna") == []
        assert desk.row().owner == "boris"
        other.close()


@clause("LEDGER-11")
def test_a_ledger_that_was_closed_says_so(path: Path) -> None:
    ledger = SqliteLedger.open(path)
    asyncio.run(ledger.close())

    with pytest.raises(StoreError, match="closed"):
        asyncio.run(ledger.schedules())


@clause("LEDGER-11")
def test_closing_twice_is_closing_once(path: Path) -> None:
    ledger = SqliteLedger.open(path, exclusive=True)
    asyncio.run(ledger.close())
    asyncio.run(ledger.close())


@clause("LEDGER-11")
def test_a_definition_that_cannot_be_read_is_named_and_the_others_go_on(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.save("a")
    desk.save("b")
    connection_of(desk).execute(
        "UPDATE schedule_revisions SET definition = '{\"colour\": 1}' WHERE schedule_id = 'a'"
    )
    desk.reopen()

    assert desk.loaded("00:01:00") == ["b"]
    assert "holds a definition of a that cannot be read" in caplog.text
    desk.turn("00:01:00")
    assert desk.wake() == "00:02:00"
    with pytest.raises(StoreError, match="delete that schedule, or save it again"):
        desk.get("a")


@clause("LEDGER-11")
def test_a_lost_run_of_a_definition_that_cannot_be_read_is_put_off(desk: Desk) -> None:
    desk.claim(lease="10s")
    connection_of(desk).execute("UPDATE schedule_revisions SET definition = 'null'")
    desk.reopen()

    assert desk.loaded("00:01:30") == []
    assert desk.wake() == "00:02:30"
    desk.save(now="00:01:40")
    assert desk.loaded("00:02:31") == ["report"]


@clause("LEDGER-11")
def test_a_definition_that_cannot_be_read_can_be_saved_again_or_deleted(desk: Desk) -> None:
    desk.save()
    connection_of(desk).execute("UPDATE schedule_revisions SET definition = 'null'")

    assert desk.save(now="00:00:40").revision == 2
    connection_of(desk).execute("UPDATE schedule_revisions SET definition = '{'")
    desk.reopen()
    assert desk.delete("00:00:50")


@clause("LEDGER-3")
@pytest.mark.parametrize("until_ms", [-1, 253_402_300_800_000])
def test_an_instant_that_has_no_text_of_that_width_is_refused(desk: Desk, until_ms: int) -> None:
    desk.save()

    with pytest.raises(DefinitionError, match="instant: must lie between the years 1970 and 9999"):
        desk.do(desk.ledger.pause("report", until_ms=until_ms, reason="", now_ms=at("00:01:00")))
    assert desk.get().pause is None
