"""
The journal on PostgreSQL: the port `Journal`, one transaction for each call.

The rows are those of the journal on SQLite, and so are the promises. A write takes the head as it
was seen and puts the next one in its place; where another process has changed it meanwhile, nothing
is written. Who owns a journal is the business of `tenure`.

Spec: JOURNAL-1 to JOURNAL-8, JOURNAL-11.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.errors import IncompatibleStateError, OwnershipLostError, StoreError
from gnomon.ports.journal import Change, Entry, Event, Head, JournalView, Registered
from gnomon.shell.store.journal import DEFAULT_NAMESPACE, ENTRIES_KEPT, check_namespace
from gnomon.shell.store.looked_text import looked_from_text, looked_to_text
from gnomon.shell.store.postgres.fault import check_address, place_of
from gnomon.shell.store.postgres.migration import JOURNAL, bring_forward, schema_number
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.statement import SCHEMA, Statements, migrations
from gnomon.shell.store.postgres.tenure import Tenure

if TYPE_CHECKING:
    import asyncpg

    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["PostgresJournal", "PostgresJournalOpener", "look_into_shared_journal"]

_PAGE_MAX = 10_000


class PostgresJournal:
    """A `gnomon.ports.Journal` in a PostgreSQL database."""

    def __init__(self, tenure: Tenure, sql: Statements, *, namespace: str, kept: int) -> None:
        self.tenure = tenure
        self._sql = sql
        self._namespace = namespace
        self._kept = kept

    @property
    def owner(self) -> str:
        return self.tenure.name

    async def load(self) -> tuple[Head, dict[str, str]]:
        async with self.tenure.transaction() as connection:
            # Two statements see the same: only the owner writes, and this is the owner's hand.
            rows = await connection.fetch(self._sql["records"], self._namespace)
            return await self._head(connection), {row[0]: row[1] for row in rows}

    async def head(self) -> Head:
        async with self.tenure.transaction() as connection:
            return await self._head(connection)

    async def acquire(self, change: Change, *, after: int) -> int:
        async with self.tenure.transaction() as connection:
            head = await self._head(connection)
            if head.fence != after:
                raise self._lost(head)
            await self._apply(connection, change, head, fence=after + 1, writes=0)
        return after + 1

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        async with self.tenure.transaction() as connection:
            head = await self._head(connection)
            if head.fence != fence:
                raise self._lost(head)
            if head.writes == number:  # it was made, and its answer was lost
                return
            assert head.writes == number - 1, (head, number)
            await self._apply(connection, change, head, fence=fence, writes=number)

    async def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        values = (self._namespace, after, min(limit, _PAGE_MAX))
        async with self.tenure.transaction() as connection:
            return [_entry(row) for row in await connection.fetch(self._sql["entries"], *values)]

    async def close(self) -> None:
        await self.tenure.close()

    async def _head(self, connection: "Connection") -> Head:
        row = await connection.fetchrow(self._sql["head"], self._namespace)
        if row is None:
            return Head()
        return Head(*row)._replace(looked=looked_from_text(row["looked"]))

    async def _apply(
        self, connection: "Connection", change: Change, head: Head, *, fence: int, writes: int
    ) -> None:
        sql, namespace = self._sql, self._namespace
        count = head.entries + len(change.entries)
        seen = await connection.fetchval(
            sql["set_head"], namespace, fence, writes, change.identifier, change.ended,
            change.t_ms, change.wall_ms, change.through_ms, change.calls, count,
            looked_to_text(change.looked), head.fence, head.writes,
        )  # fmt: skip
        if seen is None:
            raise self._lost(await self._head(connection))
        if change.entries:
            columns = _columns(change.entries, head.entries + 1)
            await connection.execute(sql["add_entries"], namespace, *columns)
        put = {name: record for name, record in change.records.items() if record is not None}
        if put:
            await connection.execute(
                sql["put_records"], namespace, list(put), list(put.values())
            )  # fmt: skip
        if len(put) < len(change.records):
            gone = [name for name in change.records if name not in put]
            await connection.execute(sql["remove_records"], namespace, gone)
        if count > self._kept:
            await connection.execute(sql["trim"], namespace, count - self._kept)

    def _lost(self, head: Head) -> OwnershipLostError:
        return OwnershipLostError(
            f"belongs to another scheduler now ({head.identifier})", where=self.tenure.place,
            hint="stop this one; what it has not written is lost",
        )  # fmt: skip


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

    async def open(self) -> PostgresJournal:
        tenure = Tenure(self._url, self._namespace, self._sql, self._options)
        try:
            await tenure.take()
            await bring_forward(tenure, self._sql, JOURNAL)
        except BaseException:
            await tenure.close()
            raise
        return PostgresJournal(tenure, self._sql, namespace=self._namespace, kept=self._kept)


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
            known = [row[0] for row in await connection.fetch(sql["namespaces"])]
            check_namespace(namespace, known, place=pool.place)
            entries = await connection.fetch(sql["entries"], namespace, 0, None)
            records = await connection.fetch(sql["records"], namespace)
            return JournalView(
                [_entry(row) for row in entries], {row[0]: row[1] for row in records}
            )
    finally:
        await pool.close()


def _columns(entries: Sequence[Entry], first: int) -> tuple[list[object], ...]:
    """The entries as columns, for one statement."""
    rows = [
        (
            number, entry.event.value, entry.t_ms, entry.wall_ms, entry.task, entry.call,
            json.dumps(entry.registrations) if entry.registrations else None,
            entry.detail.replace("\0", "\ufffd"),  # which a text of PostgreSQL cannot hold
        )
        for number, entry in enumerate(entries, first)
    ]  # fmt: skip
    return tuple(list(column) for column in zip(*rows, strict=True))


def _entry(row: "asyncpg.Record") -> Entry:
    event, t_ms, wall_ms, task, call, registrations, detail, number = row
    found = () if registrations is None else tuple(
        Registered(*one) for one in json.loads(registrations)
    )  # fmt: skip
    return Entry(Event(event), t_ms, wall_ms, task, call, found, detail, number)
