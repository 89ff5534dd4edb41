"""
The journal on SQLite: the port `Journal`, one transaction and one hop for each call.

As with the ledger, a call runs as a whole on the executor it was opened with, or inline without
one. `:memory:` is a journal that lives as long as its opener or itself. The newest entries are
kept, so that the file stays bounded however long the scheduler runs; a file may hold several
journals, which know nothing of each other, each under its namespace and with an owner of its own.

Spec: JOURNAL-1 to JOURNAL-9.
"""

import asyncio
import json
import os
import socket
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar
from weakref import finalize

from gnomon.errors import OwnershipLostError, StoreError
from gnomon.ports.journal import Change, Entry, Event, Head, JournalView, Registered
from gnomon.shell.store.database import BUSY_MS, MEMORY, Database
from gnomon.shell.store.instant_text import from_text, to_text
from gnomon.shell.store.looked_text import looked_from_text, looked_to_text
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.queries import named

__all__ = [
    "DEFAULT_NAMESPACE",
    "ENTRIES_KEPT",
    "SqliteJournal",
    "SqliteJournalOpener",
    "check_namespace",
    "look_into_journal",
]

DEFAULT_NAMESPACE = "default"
ENTRIES_KEPT = 100_000
"""How many entries a journal keeps, unless told otherwise."""

_PAGE_MAX = 10_000
_NO_LIMIT = -1  # as SQLite has it
_SQL = named("journal.sql")
_Result = TypeVar("_Result")


class SqliteJournal:
    """A `gnomon.ports.Journal` in a SQLite file, or in memory."""

    def __init__(
        self, database: Database, *, namespace: str = DEFAULT_NAMESPACE,
        executor: Executor | None = None, ownership: Ownership | None = None,
        kept: int = ENTRIES_KEPT, lasting: bool = False,
    ) -> None:  # fmt: skip
        self.database = database
        self._namespace = namespace
        self._executor = executor
        self._ownership = ownership
        self._kept = kept
        self._lasting = lasting

    @property
    def owner(self) -> str:
        return f"pid {os.getpid()} on {socket.gethostname()}"

    async def load(self) -> tuple[Head, dict[str, str]]:
        return await self._hop(lambda: self.database.read(self._load))

    async def head(self) -> Head:
        return await self._hop(lambda: self.database.read(self._head))

    async def acquire(self, change: Change, *, after: int) -> int:
        def work(connection: sqlite3.Connection) -> int:
            head = self._head(connection)
            if head.fence != after:
                raise self._lost(head)
            self._apply(connection, change, head, fence=after + 1, writes=0)
            return after + 1

        return await self._hop(lambda: self.database.write(work))

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            head = self._head(connection)
            if head.fence != fence:
                raise self._lost(head)
            if head.writes == number:  # it was made, and its answer was lost
                return
            assert head.writes == number - 1, (head, number)
            self._apply(connection, change, head, fence=fence, writes=number)

        await self._hop(lambda: self.database.write(work))

    async def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        values = (self._namespace, after, min(limit, _PAGE_MAX))
        return await self._hop(
            lambda: self.database.read(
                lambda connection: [
                    _entry(row) for row in connection.execute(_SQL["entries"], values)
                ]
            )
        )

    async def close(self) -> None:
        if not self._lasting:
            await self._hop(self.database.close)
        if self._ownership is not None:
            self._ownership.release()
            self._ownership = None
        if isinstance(self._executor, ThreadPoolExecutor):
            self._executor.shutdown(wait=False)

    def _load(self, connection: sqlite3.Connection) -> tuple[Head, dict[str, str]]:
        rows = connection.execute(_SQL["records"], (self._namespace,))
        return self._head(connection), dict(rows.fetchall())

    def _head(self, connection: sqlite3.Connection) -> Head:
        row = connection.execute(_SQL["head"], (self._namespace,)).fetchone()
        if row is None:
            return Head()
        fence, writes, identifier, ended, t_ms, wall_at, through_at, calls, entries, looked = row
        return Head(
            fence, writes, identifier, bool(ended), t_ms, from_text(wall_at),
            from_text(through_at), calls, entries, looked_from_text(looked),
        )  # fmt: skip

    def _apply(
        self, connection: sqlite3.Connection, change: Change, head: Head, *, fence: int, writes: int
    ) -> None:
        namespace, count = self._namespace, head.entries + len(change.entries)
        connection.executemany(
            _SQL["add_entry"],
            [
                (namespace, number, *_row(entry))
                for number, entry in enumerate(change.entries, head.entries + 1)
            ],
        )
        connection.executemany(
            _SQL["put_record"],
            [(namespace, *item) for item in change.records.items() if item[1] is not None],
        )
        connection.executemany(
            _SQL["remove_record"],
            [(namespace, name) for name, record in change.records.items() if record is None],
        )
        if count > self._kept:
            connection.execute(_SQL["trim"], (namespace, count - self._kept))
        connection.execute(
            _SQL["set_head"],
            (
                namespace, fence, writes, change.identifier, change.ended, change.t_ms,
                to_text(change.wall_ms), to_text(change.through_ms), change.calls, count,
                looked_to_text(change.looked),
            ),
        )  # fmt: skip

    def _lost(self, head: Head) -> OwnershipLostError:
        return OwnershipLostError(
            f"belongs to another scheduler now ({head.identifier})", where=self.database.path,
            hint="stop this one; what it has not written is lost",
        )  # fmt: skip

    async def _hop(self, work: Callable[[], _Result]) -> _Result:
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


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

    async def open(self) -> SqliteJournal:
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

    def _open(self, executor: Executor | None) -> SqliteJournal:
        if self._path == MEMORY:
            if self._memory is None:
                self._memory = Database(MEMORY, family="journal")
                finalize(self._memory, self._memory.connection.close)
            return SqliteJournal(
                self._memory, namespace=self._namespace, executor=executor, kept=self._kept,
                lasting=True,
            )  # fmt: skip
        beside = "" if self._namespace == DEFAULT_NAMESPACE else f".{self._namespace}"
        ownership = Ownership(lock_beside(self._path, beside))
        try:
            database = Database(
                self._path, family="journal", busy_ms=self._busy_ms, owner=ownership
            )
        except BaseException:
            ownership.release()
            raise
        return SqliteJournal(
            database, namespace=self._namespace, executor=executor, ownership=ownership,
            kept=self._kept,
        )  # fmt: skip

    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="gnomon-journal")


def look_into_journal(path: str, *, namespace: str = DEFAULT_NAMESPACE) -> JournalView:
    """What stands in a journal, owned or not; nothing is written, made or brought forward."""

    def work(connection: sqlite3.Connection) -> JournalView:
        check_namespace(
            namespace, [name for (name,) in connection.execute(_SQL["namespaces"])], place=path
        )
        entries = connection.execute(_SQL["entries"], (namespace, 0, _NO_LIMIT))
        records = connection.execute(_SQL["records"], (namespace,))
        return JournalView([_entry(row) for row in entries], dict(records.fetchall()))

    database = Database(path, family="journal", to_look=True)
    try:
        return database.read(work)
    finally:
        database.close()


def check_namespace(namespace: str, known: Sequence[str], *, place: str) -> None:
    """Refuse to look for a journal that is not in the store."""
    if namespace not in known:
        others = ", ".join(known)
        raise StoreError(
            f"has no journal in the namespace {namespace!r}", where=place,
            hint=f"write --namespace with one of {others}" if known
            else "no gnomon.Scheduler has been initialized with it yet",
        )  # fmt: skip


_Row = tuple[str, int, str, str, int, str | None, str]


def _row(entry: Entry) -> _Row:
    registrations = json.dumps(entry.registrations) if entry.registrations else None
    return (
        entry.event, entry.t_ms, to_text(entry.wall_ms), entry.task, entry.call, registrations,
        entry.detail,
    )  # fmt: skip


def _entry(row: tuple[str, int, str, str, int, str | None, str, int]) -> Entry:
    event, t_ms, wall_at, task, call, registrations, detail, number = row
    found = () if registrations is None else tuple(
        Registered(*one) for one in json.loads(registrations)
    )  # fmt: skip
    return Entry(
        Event(event), t_ms, from_text(wall_at), task, call, found, detail, number
    )  # fmt: skip
