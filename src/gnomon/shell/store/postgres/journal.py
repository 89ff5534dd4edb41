"""
What opens a journal on PostgreSQL.

The journal itself is `shell.store.journal`, the same as on SQLite, and so are the promises. Who
owns one is the business of `tenure`, which also makes its transactions.

Spec: JOURNAL-8, JOURNAL-11.
"""

from gnomon.errors import IncompatibleStateError, StoreError
from gnomon.ports.journal import JournalView
from gnomon.shell.store.journal import DEFAULT_NAMESPACE, ENTRIES_KEPT, StoredJournal, view_of
from gnomon.shell.store.postgres.fault import check_address, place_of
from gnomon.shell.store.postgres.migration import JOURNAL, bring_forward, schema_number
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.statement import SCHEMA, Statements, migrations
from gnomon.shell.store.postgres.tenure import Tenure
from gnomon.shell.store.postgres.transaction import PostgresTransaction

__all__ = ["PostgresJournalOpener", "look_into_shared_journal"]


class PostgresJournalOpener:
    """Opens one journal of a database again and again, each time with a connection of its own."""

    def __init__(
        self, url: str, *, namespace: str = DEFAULT_NAMESPACE, kept: int = ENTRIES_KEPT,
        schema: str = SCHEMA, options: PoolOptions | None = None,
    ) -> None:  # fmt: skip
        check_address(url)
        self._url = url
        self._namespace = namespace
        self._kept = kept
        self._sql = Statements(schema, "journal.sql")
        self._options = options or PoolOptions()

    @property
    def name(self) -> str:
        return place_of(self._url)

    async def open(self) -> StoredJournal[Tenure]:
        tenure = Tenure(self._url, self._namespace, self._sql, self._options)
        try:
            await tenure.take()
            await bring_forward(tenure, self._sql, JOURNAL)
        except BaseException:
            await tenure.close()
            raise
        return StoredJournal(tenure, namespace=self._namespace, kept=self._kept)


async def look_into_shared_journal(
    url: str, *, namespace: str = DEFAULT_NAMESPACE, schema: str = SCHEMA
) -> JournalView:
    """What stands in a journal, owned or not; nothing is written, made or brought forward."""
    sql, newest = Statements(schema, "journal.sql"), len(migrations(schema, JOURNAL.name))
    pool = await Pool.open(url, PoolOptions(connections=1))
    try:
        async with pool.transaction() as connection:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            number = await schema_number(connection, pool.place, sql, JOURNAL)
            if number == 0:
                raise StoreError(
                    f"has no journal of a gnomon.Scheduler in the schema {schema}",
                    where=pool.place, hint="name the address that the scheduler was given",
                )  # fmt: skip
            if number != newest:
                raise IncompatibleStateError(
                    f"has schema {number}, and this version of Gnomon reads {newest}",
                    where=pool.place, hint="read it with the version that its scheduler runs",
                )  # fmt: skip
            return await view_of(PostgresTransaction(connection, sql), namespace, place=pool.place)
    finally:
        await pool.close()
