"""
The part of the ledger on SQLite that people ask: changes, and who made them.

Each call is one transaction, with the line in the log that goes with the change.

Spec: PORT-7, PORT-8, LEDGER-13 to LEDGER-17, ASK-1, ASK-2.
"""

import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from gnomon.core.schedule import Schedule
from gnomon.ports import Breach, By, Expected, Judged, RunRow, Saved
from gnomon.shell.store import asked, definition, expectation, logbook
from gnomon.shell.store.asking import Triggered
from gnomon.shell.store.database import Database
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.history import History
from gnomon.shell.store.revision import columns_of
from gnomon.shell.store.transaction import SqliteTransactions

__all__ = ["RequestsOnSqlite"]

_Result = TypeVar("_Result")


class RequestsOnSqlite(History):
    """What is asked of a ledger, over its database."""

    database: Database
    _cache: DefinitionCache

    @property
    @abstractmethod
    def source(self) -> SqliteTransactions: ...

    async def save(
        self, schedule: Schedule, *, now_ms: int, by: By | None = None,
        if_revision: int | None = None,
    ) -> Saved:  # fmt: skip
        return await self._write(
            lambda connection: logbook.within_quota(
                connection,
                by,
                lambda: self._save(connection, schedule, by, if_revision, now_ms),
            )
        )

    async def save_all(
        self, schedules: Sequence[Schedule], *, now_ms: int, by: By | None = None,
        removed: Sequence[str] = (),
    ) -> list[Saved]:  # fmt: skip
        """Save many, and delete others, in one transaction: all of it, or nothing."""

        def all_of_it(connection: sqlite3.Connection) -> list[Saved]:
            for schedule_id in removed:
                self._delete(connection, schedule_id, by, now_ms)
            return [self._save(connection, one, by, None, now_ms) for one in schedules]

        return await self._write(
            lambda connection: logbook.within_quota(connection, by, lambda: all_of_it(connection))
        )

    async def pause(
        self, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int,
        by: By | None = None,
    ) -> bool:  # fmt: skip
        return await self._logged(
            by, "pause", schedule_id, now_ms, False,
            lambda connection: definition.pause(
                connection, schedule_id, until_ms=until_ms, reason=reason, now_ms=now_ms
            ),
        )  # fmt: skip

    async def resume(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._logged(
            by, "resume", schedule_id, now_ms, False,
            lambda connection: definition.resume(connection, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def delete(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._write(
            lambda connection: self._delete(connection, schedule_id, by, now_ms)
        )

    async def trigger(
        self, schedule_id: str, *, name: str, now_ms: int, by: By | None = None,
        nominal: int | None = None, params: str | None = None,
    ) -> RunRow | None:  # fmt: skip
        found = await self._logged(
            by, "trigger", schedule_id, now_ms, Triggered(),
            lambda connection: asked.trigger(
                connection, schedule_id, name=name, now_ms=now_ms, nominal=nominal,
                params=params,
            ),
        )  # fmt: skip
        return found.row

    async def backfill(
        self, schedule_id: str, *, name: str, nominals: Sequence[int], now_ms: int,
        by: By | None = None,
    ) -> int | None:  # fmt: skip
        return await self._logged(
            by, "backfill", schedule_id, now_ms, None,
            lambda connection: asked.backfill(
                connection, schedule_id, name=name, nominals=nominals, now_ms=now_ms
            ),
        )  # fmt: skip

    async def skip_next(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> int | None:
        return await self._logged(
            by, "skip_next", schedule_id, now_ms, None,
            lambda connection: asked.skip_next(connection, self._cache, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def kill(self, key: str, *, by: By, now_ms: int) -> RunRow | None:
        def work(connection: sqlite3.Connection) -> RunRow | None:
            return logbook.logged(
                connection, by, "kill", logbook.schedule_of_run(connection, key) or "", now_ms,
                nothing=None, work=lambda: asked.kill(connection, key, by=by, now_ms=now_ms),
                changed=lambda row: row is not None and row.kill_ms == now_ms,
            )  # fmt: skip

        return await self._write(work)

    async def judge(self, one: Expected, judged: Judged, *, now_ms: int) -> Sequence[Breach]:
        return await self._write(
            lambda connection: expectation.judge(connection, one, judged, now_ms=now_ms)
        )

    async def _logged(
        self, by: By | None, action: str, schedule_id: str, now_ms: int, nothing: _Result,
        work: Callable[[sqlite3.Connection], _Result],
    ) -> _Result:  # fmt: skip
        return await self._write(
            lambda connection: logbook.logged(
                connection, by, action, schedule_id, now_ms, nothing=nothing,
                work=lambda: work(connection),
            )
        )  # fmt: skip

    def _save(
        self, connection: sqlite3.Connection, schedule: Schedule, by: By | None,
        if_revision: int | None, now_ms: int,
    ) -> Saved:  # fmt: skip
        if by is not None or if_revision is not None:
            logbook.check_owner(connection, schedule, by, if_revision)
        saved = definition.save(connection, self._cache, schedule, now_ms=now_ms)
        if by is not None and saved.changed:
            user_id = columns_of(schedule).user_id
            logbook.write_log(connection, by, "upsert", schedule.schedule_id, user_id, now_ms)
        return saved

    def _delete(
        self, connection: sqlite3.Connection, schedule_id: str, by: By | None, now_ms: int
    ) -> bool:
        return logbook.logged(
            connection, by, "delete", schedule_id, now_ms, nothing=False,
            work=lambda: definition.delete(connection, self._cache, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def _read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self.source.hop(lambda: self.database.read(work))

    async def _write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self.source.hop(lambda: self.database.write(work))
