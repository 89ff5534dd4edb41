"""Files that a journal cannot use: each is named, explained, and left as it is."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.errors import IncompatibleStateError, StoreError, StoreHeldError
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause


def make_ledger(path: Path) -> None:
    asyncio.run(SqliteLedger.open(path).close())


def make_text(path: Path) -> None:
    path.write_text("this is no database, and it is long enough to be taken for one " * 40)


def make_foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE birds (name TEXT)")
    connection.close()


def make_directory(path: Path) -> None:
    path.mkdir()


@clause("JOURNAL-9")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_ledger, "is a file of Gnomon, but holds no journal"),
        (make_text, "is not a database"),
        (make_foreign, "is a database of another program"),
        (make_directory, "cannot be opened"),
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    path = tmp_path / "store"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(StoreError) as refusal:
        asyncio.run(SqliteJournalOpener(str(path)).open())

    assert refusal.value.reason == reason
    assert refusal.value.where == str(path)
    assert refusal.value.hint
    assert before is None or path.read_bytes() == before


@clause("JOURNAL-9")
def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "store"

    with pytest.raises(StoreError, match=r"cannot be opened .*check that the directory is there"):
        asyncio.run(SqliteJournalOpener(str(path)).open())


@clause("JOURNAL-9")
def test_a_journal_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store"

    async def make() -> None:
        await (await SqliteJournalOpener(str(path)).open()).close()

    asyncio.run(make())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()

    with pytest.raises(IncompatibleStateError, match="has schema 9"):
        asyncio.run(SqliteJournalOpener(str(path)).open())


@clause("JOURNAL-9")
def test_a_file_that_was_refused_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "store"
    make_text(path)
    opener = SqliteJournalOpener(str(path))
    for _ in range(2):
        with pytest.raises(StoreError) as refusal:
            asyncio.run(opener.open())
        assert not isinstance(refusal.value, StoreHeldError)
    path.unlink()

    asyncio.run(_opened_and_closed(opener))


@clause("JOURNAL-9")
def test_a_journal_cannot_be_opened_as_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "store"
    asyncio.run(_opened_and_closed(SqliteJournalOpener(str(path))))

    with pytest.raises(StoreError, match="is a file of Gnomon, but holds no ledger"):
        SqliteLedger.open(path)


async def _opened_and_closed(opener: SqliteJournalOpener) -> None:
    await (await opener.open()).close()
