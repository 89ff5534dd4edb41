"""The seam between a store and PostgreSQL: columns, keys that are there, and words to workers."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.postgres.journal import PostgresJournalOpener
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.postgres.transaction import TRIES
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import Transaction, Value
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import Fleet, play

LISTS = {"ids": "[]", "keys": "[]", "limit": 1}


def columns_on_sqlite(
    connection: sqlite3.Connection, text: str, names: tuple[str, ...]
) -> set[str]:
    values = {name: LISTS.get(name) for name in names}
    described = connection.execute(text, values).description
    return {column[0] for column in described or ()}


@pytest.mark.parametrize("family", ["journal", "ledger"])
def test_a_statement_with_named_values_has_the_same_columns_on_both_databases(
    database: str, family: str
) -> None:
    file = f"{family}.sql"
    sql, texts = Statements(file=file), named(file)
    shared = [name for name in sql.names if sql.values_of(name)]

    async def scenario(fleet: Fleet) -> dict[str, set[str]]:
        await fleet.open()
        await (await PostgresJournalOpener(database).open()).close()
        beside = await fleet.beside()
        return {
            name: {one.name for one in (await beside.prepare(sql[name])).get_attributes()}
            for name in shared
            if name != "alone_for"  # a lock, which gives no row to read
        }

    found = play(database, "gnomon", scenario)

    with closing(Database(MEMORY, family=family).connection) as connection:
        expected = {
            name: columns_on_sqlite(connection, texts[name], sql.values_of(name))
            for name, columns in found.items()
            if columns
        }
    assert {name: columns for name, columns in found.items() if columns} == expected
    assert expected


@clause("PG-4")
def test_a_key_that_is_there_each_time_is_tried_a_few_times_and_then_told(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.save(minutely("s000"), now_ms=at("00:00:30"))
        tries = []

        async def body(transaction: Transaction) -> None:
            tries.append(transaction)
            await transaction.run("set_meta", name="bird", value="owl")
            row: dict[str, Value] = {
                "id": "s000", "revision": 1, "now_at": at("00:00:40"), "definition": "{}",
            }  # fmt: skip
            await transaction.run_each("insert_revision", [row])

        with pytest.raises(StoreError, match="has a key that was to be added") as refusal:
            await ledger.source.write(body, again=True)

        assert refusal.value.transient
        assert len(tries) == TRIES
        assert await ledger.note("bird") is None

    play(common_database, schema, scenario)


def test_workers_are_told_when_a_transaction_is_committed(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, beside = await fleet.open(), await fleet.beside()
        told = asyncio.Event()
        await beside.add_listener(ledger.sql.channel, lambda *_: told.set())

        async def body(transaction: Transaction) -> None:
            await transaction.tell_workers()
            assert not told.is_set()

        await ledger.source.write(body)

        await told.wait()

    play(common_database, schema, scenario)
