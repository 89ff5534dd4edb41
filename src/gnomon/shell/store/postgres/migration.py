"""
Is the schema the one this program knows? If it is older or missing, it is brought forward.

Any number of workers may start at once: the first takes a lock that ends with its transaction and
does all of the work in it; the others wait, and find it done. A newer schema is refused, and so is
one in which another program has tables of our names; neither is touched.

Spec: PG-10, PG-11, PG-17.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tzdata

from gnomon.errors import IncompatibleStateError, StoreError
from gnomon.shell.store.postgres.pool import OLDEST, Pool
from gnomon.shell.store.postgres.statement import Statements, migrations

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["migrate", "schema_number"]

_LOCK = 0x676E6F6D  # "gnom"
_ALONE = "SELECT pg_advisory_xact_lock($1, hashtext($2))"
_PATIENTLY = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
_PATIENCE_S = 600
_TABLES = ("schedules", "schedule_runs", "schedule_revisions")
_FIND = """
SELECT current_setting('server_version_num')::int,
  EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
  EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'ledger_meta'),
  EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = ANY ($2))
"""


async def migrate(pool: Pool, sql: Statements) -> None:
    """Bring the schema to the newest number, and follow new zone data."""
    scripts = migrations(sql.schema)
    async with pool.transaction() as connection:
        number = await _number(connection, pool.place, sql, scripts)
        is_ready = number == len(scripts) and await _knows_zones(connection, sql)
    if is_ready:
        return
    async with pool.transaction() as connection:
        await connection.execute(_PATIENTLY)
        await connection.execute(_ALONE, _LOCK, sql.schema, timeout=_PATIENCE_S)
        number = await _number(connection, pool.place, sql, scripts)
        for script in scripts[number:]:
            await connection.execute(script, timeout=_PATIENCE_S)
        await connection.execute(sql["set_meta"], "schema", str(len(scripts)))
        await _follow_zones(connection, sql)


async def schema_number(connection: "Connection", place: str, sql: Statements) -> int:
    """The number of the schema, 0 when it is not there; or why it cannot be used at all."""
    row = await connection.fetchrow(_FIND, sql.schema, list(_TABLES))
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
            hint="name another schema, or another database",
        )  # fmt: skip
    if not has_schema:
        return 0
    text = await connection.fetchval(sql["get_meta"], "schema") if has_meta else "0"
    return int(text or 0)


async def _number(
    connection: "Connection", place: str, sql: Statements, scripts: Sequence[str]
) -> int:
    number = await schema_number(connection, place, sql)
    if number > len(scripts):
        raise IncompatibleStateError(
            f"has schema {number}, and this version of Gnomon knows {len(scripts)} at most",
            where=place, hint="install the version that wrote it, or a newer one",
        )  # fmt: skip
    return number


async def _knows_zones(connection: "Connection", sql: Statements) -> bool:
    return bool(await connection.fetchval(sql["get_meta"], "tzdata") == tzdata.IANA_VERSION)


async def _follow_zones(connection: "Connection", sql: Statements) -> None:
    """New zone data may move what was computed from the old: look at every zoned schedule again."""
    if not await _knows_zones(connection, sql):
        await connection.execute(sql["set_meta"], "tzdata", tzdata.IANA_VERSION)
        await connection.execute(sql["wake_zoned"])
