"""Which right on which table a worker needs, and what it hears when one is missing."""

import re
from collections.abc import Iterator

import asyncpg
import pytest

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.rights import expect_rights
from gnomon.shell.store.postgres.statement import Statements
from tests.clauses import clause
from tests.shell.store.postgres.fleet import Fleet, play

ASKED = frozenset({
    "insert_schedule", "change_schedule", "insert_revision", "expect", "write_log", "read_log",
    "put_dag", "restore_dag", "remove_dags",
})  # fmt: skip
"""What an API alone or `gnomon run` at its start says, and no worker in its turns."""

_WRITES = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM) gnomon\.(\w+)")
_READS = re.compile(r"\b(?<!DELETE )(?:FROM|JOIN) gnomon\.(\w+)")
_TAKES = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b")
_LISTED = re.compile(r"'gnomon\.(\w+)', '{([A-Z, ]+)}'")


def needed(statement: str) -> Iterator[tuple[str, str]]:
    """The rights that a statement asks for, as its words say."""
    for verb, table in _WRITES.findall(statement):
        yield table, verb.split()[0]
        yield table, "SELECT"  # its condition reads, or what it answers, or whether it was there
        if verb == "INSERT INTO" and "DO UPDATE" in statement:
            yield table, "UPDATE"
    read = _READS.findall(statement)
    yield from ((table, "SELECT") for table in read)
    if read and _TAKES.search(statement):
        yield read[0], "UPDATE"


def listed() -> set[tuple[str, str]]:
    tables = _LISTED.findall(Statements()["missing_rights"])
    return {(table, right) for table, rights in tables for right in rights.split(", ")}


@clause("UP-10")
def test_what_a_worker_needs_is_what_its_statements_do() -> None:
    files = [Statements(), Statements(file="dag.sql")]
    said = {
        right
        for sql in files
        for name in sql.names
        if name not in ASKED
        for right in needed(sql[name])
    }
    assert said == listed()


@clause("UP-10", "PG-9")
def test_each_right_that_is_missing_is_named(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()
        owner = await asyncpg.connect(fleet.url)
        role = f"worker_of_{schema}"
        pool = None
        try:
            await owner.execute(
                f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role};"
                f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}"
            )
            url = fleet.url.replace("postgres@", f"{role}@")
            pool, sql = await Pool.open(url, PoolOptions()), Statements(schema)
            await expect_rights(pool, sql)
            for table, right in sorted(listed()):
                await owner.execute(f"REVOKE {right} ON {schema}.{table} FROM {role}")
                with pytest.raises(StoreError) as caught:
                    await expect_rights(pool, sql)
                assert f"(a worker needs {right} on the table {table})" in caught.value.reason
                assert not caught.value.transient
                await owner.execute(f"GRANT {right} ON {schema}.{table} TO {role}")

            await owner.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}")
            await owner.execute(f"GRANT ALL ON {schema}.workers TO {role}")
            with pytest.raises(StoreError, match="needs SELECT, INSERT, UPDATE, DELETE on the tab"):
                await expect_rights(pool, sql)
        finally:
            if pool is not None:
                await pool.close()
            await owner.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
            await owner.close()

    play(common_database, schema, scenario)
