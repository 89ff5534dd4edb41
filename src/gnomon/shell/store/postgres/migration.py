"""
Is the schema the one this program knows? If it is older or missing, it is brought forward.

Any number of workers may start at once: the first takes a lock that ends with its transaction and
does all of the work in it; the others wait, and find it done. A newer schema is refused, and so is
one in which another program has tables of our names; neither is touched.

Spec: PG-10, PG-11, PG-17.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gnomon.errors import IncompatibleStateError, StoreError
from gnomon.shell.store.looking import FORWARD
from gnomon.shell.store.postgres.pool import OLDEST, PATIENCE_S, PATIENTLY, Pool
from gnomon.shell.store.postgres.statement import Statements, migrations
from gnomon.shell.store.postgres.zone_data import follow_zones, knows_zones

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = [
    "JOURNAL",
    "LEDGER",
    "WORKFLOW",
    "Family",
    "Transactions",
    "absent",
    "bring_forward",
    "expect_newest",
    "migrate",
    "schema_number",
]

_LOCK = 0x676E6F6D  # "gnom"
_ALONE = "SELECT pg_advisory_xact_lock($1, hashtext($2))"
_FIND = """
SELECT current_setting('server_version_num')::int,
  EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
  EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = $2),
  EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = ANY ($3))
"""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of store: its scripts, the table with its number, and other tables it has."""

    name: str
    meta: str
    tables: tuple[str, ...]


LEDGER = Family("ledger", "ledger_meta", ("schedules", "schedule_runs", "schedule_revisions"))
JOURNAL = Family("journal", "journal_meta", ("journal_heads", "journal_tasks", "journal_entries"))
WORKFLOW = Family(
    "workflow", "flow_meta", ("workflow_runs", "workflow_events", "flow_runs", "flow_events")
)
_WORKFLOWS_NAMED = 5
"""From this schema on workflows are in a table that had the DAGs of older ledgers."""


class Transactions(Protocol):
    """Where transactions are had from."""

    @property
    def place(self) -> str: ...

    def transaction(self) -> AbstractAsyncContextManager["Connection"]: ...


async def migrate(pool: Pool, sql: Statements) -> None:
    """Bring the ledger's tables to the newest number, and follow new zone data."""
    await bring_forward(pool, sql, LEDGER)
    async with pool.transaction() as connection:
        if await knows_zones(connection, sql):
            return
    async with pool.transaction() as connection:
        await _wait_alone(connection, sql)
        await follow_zones(connection, sql)


async def expect_newest(pool: Pool, sql: Statements) -> None:
    """Refuse a ledger that is not there, or whose schema a reader cannot read."""
    scripts = migrations(sql.schema)
    async with pool.transaction() as connection:
        number = await _number(connection, pool.place, sql, scripts, LEDGER)
    if number == 0:
        raise absent(pool.place, sql)
    if number < len(scripts):
        raise IncompatibleStateError(
            f"has schema {number}, and this version of Gnomon reads {len(scripts)}",
            where=pool.place, hint=FORWARD,
        )  # fmt: skip


def absent(place: str, sql: Statements) -> StoreError:
    """What is said where there is no ledger."""
    return StoreError(
        f"has no ledger in the schema {sql.schema}", where=place,
        hint="gnomon run --database makes one",
    )  # fmt: skip


async def bring_forward(source: Transactions, sql: Statements, family: Family) -> None:
    """Make the tables of a kind of store, or bring them to the newest number."""
    scripts = migrations(sql.schema, family.name)
    async with source.transaction() as connection:
        if await _number(connection, source.place, sql, scripts, family) == len(scripts):
            return
    async with source.transaction() as connection:
        await _wait_alone(connection, sql)
        number = await _number(connection, source.place, sql, scripts, family)
        if family is WORKFLOW and number < _WORKFLOWS_NAMED:
            await _expect_no_older_ledger(connection, source.place, sql)
        for script in scripts[number:]:
            await connection.execute(script, timeout=PATIENCE_S)
        await connection.execute(sql["set_meta"], "schema", str(len(scripts)))


async def schema_number(
    connection: "Connection", place: str, sql: Statements, family: Family = LEDGER
) -> int:
    """The number of the schema, 0 when it is not there; or why it cannot be used at all."""
    row = await connection.fetchrow(_FIND, sql.schema, family.meta, list(family.tables))
    assert row is not None
    version, has_schema, has_meta, has_tables = row
    if version < OLDEST:
        raise StoreError(
            f"is PostgreSQL {version // 10000}, and Gnomon needs {OLDEST // 10000} or newer",
            where=place, hint="upgrade the server, or name another",
        )  # fmt: skip
    if has_tables and not has_meta:
        raise StoreError(
            f"has tables of another program in the schema {sql.schema}", where=place,
            hint="name another database, or another schema",
        )  # fmt: skip
    if not has_schema:
        return 0
    if not has_meta:
        return 0
    text = await connection.fetchval(sql["get_meta"], "schema")
    if text is None or not (text.isascii() and text.isdigit()):
        newest = len(migrations(sql.schema, family.name))
        raise StoreError(
            f"does not say which schema it has in {sql.schema}.{family.meta}"
            + (f", but {text!r}" if text is not None else ""),
            where=place, hint=f"set 'schema' there, to {newest} if this version wrote it last",
        )  # fmt: skip
    return int(text)


async def _expect_no_older_ledger(connection: "Connection", place: str, sql: Statements) -> None:
    if await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", f"{sql.schema}.workflows"):
        raise IncompatibleStateError(
            f"has a ledger of an older version in the schema {sql.schema}, with the table "
            "workflows that this version needs for something else",
            where=place,
            hint=f"first bring that ledger forward: {FORWARD}",
        )


async def _wait_alone(connection: "Connection", sql: Statements) -> None:
    await connection.execute(PATIENTLY)
    await connection.execute(_ALONE, _LOCK, sql.schema, timeout=PATIENCE_S)


async def _number(
    connection: "Connection", place: str, sql: Statements, scripts: Sequence[str], family: Family
) -> int:
    number = await schema_number(connection, place, sql, family)
    if number > len(scripts):
        raise IncompatibleStateError(
            f"has schema {number}, and this version of Gnomon knows {len(scripts)} at most",
            where=place, hint="install the version that wrote it, or a newer one",
        )  # fmt: skip
    return number
