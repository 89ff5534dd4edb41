"""The seam between a store and its database: what a body is given, and what becomes of it."""

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from gnomon.errors import DamagedStoreError
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.transaction import (
    NAMED_VALUE,
    SqliteTransactions,
    Transaction,
    driven,
)
from tests.clauses import clause

STATEMENTS = {
    "make": "CREATE TABLE birds (name TEXT, seen_at TEXT, gone_until TEXT)",
    "add": "INSERT INTO birds (name, seen_at) VALUES (:name, :seen_at)",
    "leave": "UPDATE birds SET gone_until = :gone_until WHERE name = :name",
    "birds": "SELECT name, seen_at, gone_until FROM birds ORDER BY name",
    "some": "SELECT name FROM birds WHERE name IN (SELECT value FROM json_each(:names))",
    "as_stored": "SELECT seen_at AS text FROM birds",
}
NOON_MS = 1_772_366_400_000


class Bird(NamedTuple):
    name: str
    seen_at: int
    gone_until: int | None


class Name(NamedTuple):
    name: str


class Text(NamedTuple):
    text: str


@pytest.fixture
def source() -> Iterator[SqliteTransactions]:
    source = SqliteTransactions(Database(MEMORY, family="journal"), STATEMENTS)
    driven(source.write(lambda it: it.run("make")))
    yield source
    driven(source.close())


def birds(source: SqliteTransactions) -> list[Bird]:
    return driven(source.read(lambda it: it.rows(Bird, "birds")))


@clause("LEDGER-3")
def test_instants_are_milliseconds_inside_and_texts_on_disk(source: SqliteTransactions) -> None:
    driven(source.write(lambda it: it.run("add", name="owl", seen_at=NOON_MS + 5)))
    driven(source.write(lambda it: it.run("leave", name="owl", gone_until=NOON_MS + 7)))

    assert birds(source) == [Bird("owl", NOON_MS + 5, NOON_MS + 7)]
    assert driven(source.read(lambda it: it.rows(Text, "as_stored"))) == [
        Text("2026-03-01T12:00:00.005Z")
    ]


def test_a_statement_says_how_many_rows_it_has_changed(source: SqliteTransactions) -> None:
    driven(source.write(lambda it: it.run("add", name="owl", seen_at=NOON_MS)))

    leave = "leave"
    assert driven(source.write(lambda it: it.run(leave, name="owl", gone_until=None))) == 1
    assert driven(source.write(lambda it: it.run(leave, name="jay", gone_until=None))) == 0


def test_many_rows_are_written_in_their_order_and_lists_are_looked_into(
    source: SqliteTransactions,
) -> None:
    rows = [{"name": name, "seen_at": NOON_MS} for name in ("jay", "owl", "tit")]
    driven(source.write(lambda it: it.run_each("add", rows)))

    found = driven(source.read(lambda it: it.rows(Name, "some", names=["tit", "jay"])))
    assert found == [Name("jay"), Name("tit")]


@clause("PORT-1")
def test_a_body_that_raises_has_done_nothing(source: SqliteTransactions) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("add", name="owl", seen_at=NOON_MS)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        driven(source.write(body))

    assert birds(source) == []


@clause("PORT-1")
def test_a_body_that_waits_is_refused_and_has_done_nothing(source: SqliteTransactions) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("add", name="owl", seen_at=NOON_MS)
        await asyncio.sleep(0)

    with pytest.raises(AssertionError, match="has waited"):
        driven(source.write(body))

    assert birds(source) == []


@clause("LEDGER-11")
def test_a_row_with_other_columns_than_its_kind_is_damage(source: SqliteTransactions) -> None:
    driven(source.write(lambda it: it.run("add", name="owl", seen_at=NOON_MS)))

    with pytest.raises(DamagedStoreError, match="birds has the columns name, seen_at, gone_until"):
        driven(source.read(lambda it: it.rows(Name, "birds")))


def test_a_cast_and_a_word_in_quotes_are_no_values() -> None:
    text = "SELECT x::text, y FROM t WHERE key NOT GLOB 'manual:*' AND at < :now_at AND id=:id"

    assert NAMED_VALUE.findall(text) == ["now_at", "id"]
