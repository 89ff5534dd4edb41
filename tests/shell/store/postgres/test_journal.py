"""The journal on PostgreSQL: what a broken connection does to its owner, and to who follows."""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from gnomon.errors import IncompatibleStateError, OwnershipLostError, StoreError, StoreHeldError
from gnomon.shell.store.journal import StoredJournal
from gnomon.shell.store.postgres.journal import PostgresJournalOpener
from gnomon.shell.store.postgres.tenure import Tenure
from tests.clauses import clause
from tests.contract.journal_desk import change, start
from tests.postgres.server import Server

Beside = asyncpg.Connection
_SESSIONS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE application_name LIKE 'gnomon pid %' AND datname = current_database()
"""


def play(url: str, scenario: Callable[[Beside], Awaitable[None]]) -> None:
    """Play a scenario beside which there is a connection that does not belong to Gnomon."""

    async def scene() -> None:
        beside = await asyncpg.connect(url)
        try:
            await scenario(beside)
        finally:
            await beside.close()

    asyncio.run(scene())


async def write_at_last(journal: StoredJournal[Tenure], number: int) -> None:
    """Write as the first owner; a connection that has just broken may cost one call."""
    try:
        await journal.write(change(start()), fence=1, number=number)
    except OwnershipLostError:
        raise
    except StoreError:
        await journal.write(change(start()), fence=1, number=number)


@clause("JOURNAL-11")
def test_an_owner_whose_connection_was_ended_goes_on_with_a_new_one(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        journal = await PostgresJournalOpener(database).open()
        await journal.acquire(change(), after=0)
        assert await beside.fetchval(_SESSIONS) == 1

        await write_at_last(journal, 1)

        assert (await journal.head()).writes == 1
        with pytest.raises(StoreHeldError, match="is held by pid"):
            await PostgresJournalOpener(database).open()
        await journal.close()

    play(database, scenario)


@clause("JOURNAL-11", "JOURNAL-3")
def test_an_owner_who_was_followed_while_cut_off_writes_nothing_any_more(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        first = await PostgresJournalOpener(database).open()
        await first.acquire(change(owner="anna"), after=0)
        await beside.fetchval(_SESSIONS)
        second = await _opened_at_last(database)
        await second.acquire(change(owner="berta"), after=1)

        with pytest.raises(OwnershipLostError, match="berta"):
            await write_at_last(first, 1)
        await second.write(change(start("b")), fence=2, number=1)

        assert [entry.task for entry in await second.entries()] == ["b"]
        await first.close()
        await second.close()

    play(database, scenario)


async def _opened_at_last(url: str) -> StoredJournal[Tenure]:
    """The server needs a moment to notice that a connection has ended."""
    while True:
        try:
            return await PostgresJournalOpener(url).open()
        except StoreHeldError:
            continue


@clause("JOURNAL-11")
def test_a_connection_that_lives_on_at_the_server_does_not_keep_its_owner_out(
    database: str,
) -> None:
    async def scenario(beside: Beside) -> None:
        journal = await PostgresJournalOpener(database).open()
        await journal.acquire(change(), after=0)
        tenure = journal.source
        former, tenure._connection = tenure._connection, None  # broken on this side only
        assert former is not None

        while not tenure._is_held or tenure._connection is None:
            await journal.head()

        await journal.write(change(start()), fence=1, number=1)
        former.terminate()
        await journal.close()

    play(database, scenario)


@clause("JOURNAL-8")
def test_who_dies_without_a_word_can_be_followed_at_once(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        journal = await PostgresJournalOpener(database).open()
        await journal.acquire(change(start("a")), after=0)
        assert journal.source._connection is not None
        journal.source._connection.terminate()

        second = await _opened_at_last(database)

        assert await second.acquire(change(start("b")), after=1) == 2
        await second.close()

    play(database, scenario)


@clause("JOURNAL-11")
def test_a_server_that_crashed_has_lost_nothing_when_it_is_back() -> None:
    server = Server()
    server.create()

    async def scenario() -> None:
        journal = await PostgresJournalOpener(server.url()).open()
        await journal.acquire(change(start("a"), a="1"), after=0)
        server.stop("immediate")
        with pytest.raises(StoreError) as refusal:
            await journal.write(change(start("b"), a="2"), fence=1, number=1)
        assert refusal.value.transient
        server.start()
        await journal.write(change(start("b"), a="2"), fence=1, number=1)

        assert [entry.task for entry in await journal.entries()] == ["a", "b"]
        assert (await journal.load())[1] == {"a": "2"}
        await journal.close()

    try:
        asyncio.run(scenario())
    finally:
        server.remove()


@clause("JOURNAL-9")
def test_a_newer_journal_is_refused_and_left_as_it_is(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        await (await PostgresJournalOpener(database).open()).close()
        await beside.execute("UPDATE gnomon.journal_meta SET value = '99'")

        with pytest.raises(IncompatibleStateError, match="has schema 99"):
            await PostgresJournalOpener(database).open()

        assert await beside.fetchval("SELECT value FROM gnomon.journal_meta") == "99"

    play(database, scenario)


@clause("JOURNAL-9")
def test_tables_of_another_program_are_refused(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        await beside.execute("CREATE SCHEMA gnomon; CREATE TABLE gnomon.journal_entries (x int)")

        with pytest.raises(StoreError, match="tables of another program"):
            await PostgresJournalOpener(database).open()

    play(database, scenario)


@clause("JOURNAL-7")
def test_a_ledger_and_journals_share_a_database(database: str) -> None:
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    async def scenario(beside: Beside) -> None:
        ledger = await PostgresLedger.open(database)
        journal = await PostgresJournalOpener(database).open()
        await journal.acquire(change(start()), after=0)

        assert await ledger.schedules() == []
        await journal.close()
        await ledger.close()

    play(database, scenario)


@clause("JOURNAL-2")
def test_a_character_that_postgresql_cannot_hold_does_not_stop_the_journal(database: str) -> None:
    async def scenario(beside: Beside) -> None:
        journal = await PostgresJournalOpener(database).open()
        entry = start()._replace(detail="ValueError: a\0b")
        await journal.acquire(change(entry), after=0)

        (found,) = await journal.entries()
        assert found.detail == "ValueError: a\ufffdb"
        await journal.close()

    play(database, scenario)
