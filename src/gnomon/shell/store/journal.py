"""
The journal of a declarative scheduler: the port `Journal`, written once for both databases.

Each call is one transaction. The newest entries are kept, so that a journal stays bounded however
long the scheduler runs. A store may hold several journals, which know nothing of each other, each
under its namespace and with an owner of its own. A write takes the head as it was seen and puts the
next one in its place; where another process has changed it meanwhile, nothing is written.

Here is also what opens a journal on SQLite: a file with its owner and a thread of its own, or
`:memory:`, which lives as long as its opener. What opens one on PostgreSQL is in
`postgres.journal`.

Spec: JOURNAL-1 to JOURNAL-9.
"""

import asyncio
import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, NamedTuple, TypeVar
from weakref import finalize

from gnomon.errors import OwnershipLostError, StoreError
from gnomon.ports.journal import Change, Entry, Event, Head, JournalView, Registered
from gnomon.shell.store.database import BUSY_MS, MEMORY, Database
from gnomon.shell.store.looked_text import looked_from_text, looked_to_text
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import (
    SqliteTransactions,
    Transaction,
    TransactionSource,
    Value,
    driven,
)

__all__ = [
    "DEFAULT_NAMESPACE",
    "ENTRIES_KEPT",
    "SqliteJournalOpener",
    "StoredJournal",
    "look_into_journal",
    "view_of",
]

DEFAULT_NAMESPACE = "default"
ENTRIES_KEPT = 100_000
"""How many entries a journal keeps, unless told otherwise."""

_PAGE_MAX = 10_000
_ALL = 2**62
_SQL = named("journal.sql")
_Source = TypeVar("_Source", bound=TransactionSource)


class _HeadRow(NamedTuple):
    fence: int
    writes: int
    identifier: str
    ended: int
    t_ms: int
    wall_at: int
    through_at: int
    calls: int
    entries: int
    looked: str


class _EntryRow(NamedTuple):
    event: str
    t_ms: int
    wall_at: int
    task: str
    call: int
    registrations: str | None
    detail: str
    number: int


class _RecordRow(NamedTuple):
    name: str
    record: str


class _NamespaceRow(NamedTuple):
    namespace: str


class StoredJournal(Generic[_Source]):
    """A `gnomon.ports.Journal` in a database."""

    def __init__(
        self, source: _Source, *, namespace: str = DEFAULT_NAMESPACE, kept: int = ENTRIES_KEPT
    ) -> None:
        self.source = source
        self._namespace = namespace
        self._kept = kept

    @property
    def owner(self) -> str:
        return f"pid {os.getpid()} on {socket.gethostname()}"

    async def load(self) -> tuple[Head, dict[str, str]]:
        async def body(transaction: Transaction) -> tuple[Head, dict[str, str]]:
            # Two statements see the same on PostgreSQL too: only the owner writes, which this is.
            records = await _records(transaction, self._namespace)
            return await self._head(transaction), records

        return await self.source.read(body)

    async def head(self) -> Head:
        return await self.source.read(self._head)

    async def acquire(self, change: Change, *, after: int) -> int:
        async def body(transaction: Transaction) -> int:
            head = await self._head(transaction)
            if head.fence != after:
                raise self._lost(head)
            await self._apply(transaction, change, head, fence=after + 1, writes=0)
            return after + 1

        return await self.source.write(body)

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        async def body(transaction: Transaction) -> None:
            head = await self._head(transaction)
            if head.fence != fence:
                raise self._lost(head)
            if head.writes == number:  # it was made, and its answer was lost
                return
            if head.writes != number - 1:
                raise RuntimeError(f"write {number} of a journal that has had {head.writes}")
            await self._apply(transaction, change, head, fence=fence, writes=number)

        await self.source.write(body)

    async def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        return await self.source.read(
            lambda transaction: _entries(
                transaction, self._namespace, after=after, limit=min(limit, _PAGE_MAX)
            )
        )

    async def close(self) -> None:
        await self.source.close()

    async def _head(self, transaction: Transaction) -> Head:
        rows = await transaction.rows(_HeadRow, "head", namespace=self._namespace)
        if not rows:
            return Head()
        fence, writes, identifier, ended, t_ms, wall_ms, through_ms, calls, entries, looked = rows[
            0
        ]
        return Head(
            fence, writes, identifier, bool(ended), t_ms, wall_ms, through_ms, calls, entries,
            looked_from_text(looked),
        )  # fmt: skip

    async def _apply(
        self, transaction: Transaction, change: Change, head: Head, *, fence: int, writes: int
    ) -> None:
        namespace, count = self._namespace, head.entries + len(change.entries)
        changed = await transaction.run(
            "set_head", namespace=namespace, fence=fence, writes=writes,
            identifier=change.identifier, ended=change.ended, t_ms=change.t_ms,
            wall_at=change.wall_ms, through_at=change.through_ms, calls=change.calls,
            entries=count, looked=looked_to_text(change.looked), seen_fence=head.fence,
            seen_writes=head.writes,
        )  # fmt: skip
        if not changed:
            raise self._lost(await self._head(transaction))
        numbered = enumerate(change.entries, head.entries + 1)
        await transaction.run_each(
            "add_entry", [_values(namespace, number, entry) for number, entry in numbered]
        )
        await transaction.run_each(
            "put_record",
            [
                {"namespace": namespace, "name": name, "record": record}
                for name, record in change.records.items()
                if record is not None
            ],
        )
        await transaction.run_each(
            "remove_record",
            [
                {"namespace": namespace, "name": name}
                for name, record in change.records.items()
                if record is None
            ],
        )
        if count > self._kept:
            await transaction.run("trim", namespace=namespace, through=count - self._kept)

    def _lost(self, head: Head) -> OwnershipLostError:
        return OwnershipLostError(
            f"belongs to another scheduler now ({head.identifier})", where=self.source.place,
            hint="stop this one; what it has not written is lost",
        )  # fmt: skip


class SqliteJournalOpener:
    """Opens one file again and again, each time with a thread of its own."""

    def __init__(
        self, path: str, *, namespace: str = DEFAULT_NAMESPACE, kept: int = ENTRIES_KEPT,
        threaded: bool = True, busy_ms: int = BUSY_MS,
    ) -> None:  # fmt: skip
        self._path = path
        self._namespace = namespace
        self._kept = kept
        self._threaded = threaded
        self._busy_ms = busy_ms
        self._memory: Database | None = None

    @property
    def name(self) -> str:
        return self._path

    async def open(self) -> StoredJournal[SqliteTransactions]:
        executor = self._thread() if self._threaded else None
        try:
            if executor is None:
                return self._open(None)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(executor, self._open, executor)
        except BaseException:
            if executor is not None:
                executor.shutdown(wait=False)
            raise

    def _open(self, executor: ThreadPoolExecutor | None) -> StoredJournal[SqliteTransactions]:
        if self._path == MEMORY:
            if self._memory is None:
                self._memory = Database(MEMORY, family="journal")
                finalize(self._memory, self._memory.connection.close)
            return self._journal(self._memory, executor, None)
        beside = "" if self._namespace == DEFAULT_NAMESPACE else f".{self._namespace}"
        ownership = Ownership(lock_beside(self._path, beside))
        try:
            database = Database(
                self._path, family="journal", busy_ms=self._busy_ms, owner=ownership
            )
        except BaseException:
            ownership.release()
            raise
        return self._journal(database, executor, ownership)

    def _journal(
        self, database: Database, executor: ThreadPoolExecutor | None, ownership: Ownership | None
    ) -> StoredJournal[SqliteTransactions]:
        def let_go() -> None:
            if ownership is not None:
                ownership.release()
            if executor is not None:
                executor.shutdown(wait=False)

        source = SqliteTransactions(
            database, _SQL, executor=executor, let_go=let_go, is_lasting=ownership is None
        )
        return StoredJournal(source, namespace=self._namespace, kept=self._kept)

    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="gnomon-journal")


def look_into_journal(path: str, *, namespace: str = DEFAULT_NAMESPACE) -> JournalView:
    """What stands in a journal, owned or not; nothing is written, made or brought forward."""
    source = SqliteTransactions(Database(path, family="journal", to_look=True), _SQL)
    try:
        return driven(source.read(lambda it: view_of(it, namespace, place=path)))
    finally:
        driven(source.close())


async def view_of(transaction: Transaction, namespace: str, *, place: str) -> JournalView:
    """Everything that is kept of a journal; `StoreError` where the store has none of that name."""
    known = [row.namespace for row in await transaction.rows(_NamespaceRow, "namespaces")]
    if namespace not in known:
        others = ", ".join(known)
        raise StoreError(
            f"has no journal in the namespace {namespace!r}", where=place,
            hint=f"write --namespace with one of {others}" if known
            else "no gnomon.Scheduler has been initialized with it yet",
        )  # fmt: skip
    entries = await _entries(transaction, namespace, after=0, limit=_ALL)
    return JournalView(entries, await _records(transaction, namespace))


async def _records(transaction: Transaction, namespace: str) -> dict[str, str]:
    rows = await transaction.rows(_RecordRow, "records", namespace=namespace)
    return {row.name: row.record for row in rows}


async def _entries(
    transaction: Transaction, namespace: str, *, after: int, limit: int
) -> list[Entry]:
    rows = await transaction.rows(
        _EntryRow, "entries", namespace=namespace, after=after, limit=limit
    )
    return [_entry(row) for row in rows]


def _values(namespace: str, number: int, entry: Entry) -> dict[str, Value]:
    return {
        "namespace": namespace,
        "number": number,
        "event": entry.event.value,
        "t_ms": entry.t_ms,
        "wall_at": entry.wall_ms,
        "task": entry.task,
        "call": entry.call,
        "registrations": json.dumps(entry.registrations) if entry.registrations else None,
        "detail": entry.detail.replace("\0", "\ufffd"),  # which PostgreSQL cannot hold
    }


def _entry(row: _EntryRow) -> Entry:
    event, t_ms, wall_ms, task, call, registrations, detail, number = row
    found = () if registrations is None else tuple(
        Registered(*one) for one in json.loads(registrations)
    )  # fmt: skip
    return Entry(Event(event), t_ms, wall_ms, task, call, found, detail, number)
