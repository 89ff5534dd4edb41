"""
The ledger on SQLite: the port `Ledger`, one transaction and one hop for each call.

A call runs as a whole on the executor it was opened with: one dedicated thread in production
(`ledger_thread`), or inline, without one, in simulations and tests. What the transactions do stands
in the modules beside this one. `:memory:` is a ledger that lives as long as the object.

Spec: PORT-1, LEDGER-1, LEDGER-2, LEDGER-10 to LEDGER-12, LEDGER-27.
"""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from os import PathLike, fspath
from typing import NamedTuple, Self, TypeVar

import tzdata

from gnomon.core.engine import Change, Due
from gnomon.core.schedule import Schedule
from gnomon.errors import StoreError
from gnomon.ports import Committed, Held, Renewal, Report
from gnomon.shell.boot import MachineBoot
from gnomon.shell.store import commitment, lease, snapshot
from gnomon.shell.store.database import BUSY_MS, MEMORY, Database
from gnomon.shell.store.definition_cache import CACHED_MAX, Definition, DefinitionCache
from gnomon.shell.store.installation import Installed, install
from gnomon.shell.store.instant_text import BEGINNING
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.queries import named
from gnomon.shell.store.replanning import Replanned, replan
from gnomon.shell.store.report import report
from gnomon.shell.store.requests import LedgerRequests
from gnomon.shell.store.transaction import SqliteTransactions

__all__ = ["MOVED_TO", "SqliteLedger", "ledger_thread"]

MOVED_TO = "moved_to"
"""The name under which a file says that its ledger is in a database now."""

_SQL = named("ledger.sql")
_Result = TypeVar("_Result")


def ledger_thread() -> ThreadPoolExecutor:
    """The one thread on which a ledger works."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="gnomon-ledger")


class _RevisionRow(NamedTuple):
    definition: str


class SqliteLedger(LedgerRequests):
    """A `gnomon.ports.Ledger` in a SQLite file."""

    def __init__(
        self, database: Database, *, executor: Executor | None, ownership: Ownership | None,
        cached_max: int = CACHED_MAX,
    ) -> None:  # fmt: skip
        self.database = database
        self._source = SqliteTransactions(
            database, _SQL, executor=executor,
            let_go=None if ownership is None else ownership.release,
        )  # fmt: skip
        self._cache = DefinitionCache(database.path, cached_max)

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, executor: Executor | None = None,
        exclusive: bool = False, busy_ms: int = BUSY_MS, cached_max: int = CACHED_MAX,
    ) -> Self:  # fmt: skip
        """
        Open a file, making it or bringing its schema forward where needed.

        With `exclusive`, this process becomes the owner of the file, or gets a `StoreError` that
        names who is. The executor is the caller's to shut down, after `close`.
        """
        file = fspath(path)
        # A file may have two names, and must not have two owners.
        ownership = Ownership(lock_beside(file)) if exclusive and file != MEMORY else None
        try:
            database = Database(file, family="ledger", busy_ms=busy_ms, owner=ownership)
            _refuse_moved(database)
            database.write(_follow_zones)
        except BaseException:
            if ownership is not None:
                ownership.release()
            raise
        return cls(database, executor=executor, ownership=ownership, cached_max=cached_max)

    @classmethod
    def look_into(cls, path: str | PathLike[str]) -> Self:
        """
        Open a file for reading only: nothing is written or made, and no writer is waited for.

        `IncompatibleStateError` when its schema is an older one, which only a writer can change.
        """
        database = Database(fspath(path), family="ledger", to_look=True)
        return cls(database, executor=None, ownership=None)

    @property
    def source(self) -> SqliteTransactions:
        return self._source

    @property
    def cached(self) -> int:
        """How many schedules are kept as values."""
        return len(self._cache)

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        return await self.source.hop(lambda: self._load(now_ms, limit))

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        if not changes:
            return Committed((), ())
        return await self._write(
            lambda connection: commitment.commit(
                connection, changes, owner=owner, confirmed=confirmed, now_ms=now_ms
            )
        )

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        if not reports:
            return []
        return await self._write(
            lambda connection: report(connection, self._cache, reports, now_ms=now_ms)
        )

    async def renew(self, runs: Sequence[Held], *, owner: str, now_ms: int) -> list[Renewal]:
        if not runs:
            return []
        return await self._write(
            lambda connection: lease.renew(connection, runs, owner=owner, now_ms=now_ms)
        )

    async def recover(
        self, *, owner: str, adopted: Sequence[str], now_ms: int
    ) -> list[tuple[str, int]]:
        return await self._write(
            lambda connection: lease.recover(
                connection, owner=owner, adopted=adopted, now_ms=now_ms
            )
        )

    async def next_wake_ms(self) -> int | None:
        return await self._read(snapshot.next_wake_ms)

    async def still_owes(self, *, at_ms: int) -> bool:
        """Whether something that was to be started by an instant has not been started yet."""
        return await self._read(lambda connection: snapshot.still_owes(connection, at_ms=at_ms))

    async def install(
        self, schedules: Sequence[Schedule], *, suspended: Collection[str], now_ms: int,
        after_ms: int = 0, boot: MachineBoot | None = None,
    ) -> Installed:  # fmt: skip
        """Make these all the schedules there are, in one transaction: all of it, or nothing."""
        return await self.source.write(
            lambda it: install(
                it, self._cache, schedules, suspended=suspended, now_ms=now_ms,
                after_ms=after_ms, boot=boot,
            )
        )  # fmt: skip

    async def definition(self, schedule_id: str, revision: int) -> Schedule | None:
        """A schedule as it was in one of its revisions; None when there is no such."""
        rows = await self.source.read(
            lambda it: it.rows(_RevisionRow, "revision", id=schedule_id, revision=revision)
        )
        found: dict[str, Definition] = {}
        DefinitionCache(self.database.path, cached_max=1).read(
            [(schedule_id, revision, 0, row.definition) for row in rows], found
        )
        return found[schedule_id].schedule if found else None

    async def ids(self, prefix: str) -> list[str]:
        """The ids that begin so, those of deleted schedules too."""
        values = {"from": prefix, "to": f"{prefix}\U0010ffff"}
        return await self._read(
            lambda connection: [row[0] for row in connection.execute(_SQL["ids"], values)]
        )

    async def replan(self, *, now_ms: int) -> Replanned:
        """Plan again what lies ahead and was judged by a clock that was ahead."""
        return await self._write(lambda connection: replan(connection, self._cache, now_ms=now_ms))

    async def close(self) -> None:
        await self.source.close()

    async def _read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self.source.hop(lambda: self.database.read(work))

    async def _write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self.source.hop(lambda: self.database.write(work))

    def _load(self, now_ms: int, limit: int) -> list[Due]:
        dues, unread = self.database.read(
            lambda connection: snapshot.load(connection, self._cache, now_ms=now_ms, limit=limit)
        )
        if unread:
            self.database.write(
                lambda connection: snapshot.put_off(connection, unread, now_ms=now_ms)
            )
        return dues


def _meta(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute(_SQL["get_meta"], {"name": name}).fetchone()
    return None if row is None else str(row[0])


def _refuse_moved(database: Database) -> None:
    moved_to = database.read(lambda connection: _meta(connection, MOVED_TO))
    if moved_to is not None:
        database.close()
        also = " and --schema" if ", schema " in moved_to else ""
        raise StoreError(
            f"has moved to {moved_to}", where=database.path,
            hint=f"use --database{also} with that address",
        )  # fmt: skip


def _follow_zones(connection: sqlite3.Connection) -> None:
    """New zone data may move what was computed from the old: look at every zoned schedule again."""
    if _meta(connection, "tzdata") != tzdata.IANA_VERSION:
        values = {"name": "tzdata", "value": tzdata.IANA_VERSION}
        connection.execute(_SQL["set_meta"], values)
        connection.execute(_SQL["wake_zoned"], {"at": BEGINNING})
