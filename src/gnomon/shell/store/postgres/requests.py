"""
The part of the ledger on PostgreSQL that people ask: changes, and who made them.

Each call is one transaction, with the line in the log that goes with the change. It is made again
when the server has broken it because of another; who asks once need not ask twice.

Spec: PORT-7, PORT-8, LEDGER-13 to LEDGER-17, ASK-1, ASK-2.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from gnomon.core.schedule import Schedule
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Breach, By, Expected, Judged, RunRow, Saved
from gnomon.shell.store.asking import Triggered
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.history import History
from gnomon.shell.store.instant_text import END_MS
from gnomon.shell.store.postgres import asked, definition, expectation
from gnomon.shell.store.postgres.commitment import KeyExistsError
from gnomon.shell.store.postgres.definition import save_and_log
from gnomon.shell.store.postgres.logbook import logged
from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.postgres.transaction import PooledTransactions

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["TRIES", "RequestsOnPostgres"]

TRIES = 3
"""How often a transaction is made again because another process added the same key."""
_Result = TypeVar("_Result")


class RequestsOnPostgres(History):
    """What is asked of a ledger, over its connections."""

    pool: Pool
    sql: Statements
    _cache: DefinitionCache

    @property
    def source(self) -> PooledTransactions:
        return PooledTransactions(self.pool, self.sql)

    async def save(
        self, schedule: Schedule, *, now_ms: int, by: By | None = None,
        if_revision: int | None = None,
    ) -> Saved:  # fmt: skip
        return (await self._save([schedule], now_ms, by, if_revision, ()))[0]

    async def save_all(
        self, schedules: Sequence[Schedule], *, now_ms: int, by: By | None = None,
        removed: Sequence[str] = (),
    ) -> list[Saved]:  # fmt: skip
        """Save many, each id once, and delete others: all of it, or nothing."""
        return await self._save(schedules, now_ms, by, None, removed)

    async def pause(
        self, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int,
        by: By | None = None,
    ) -> bool:  # fmt: skip
        _check_instant(until_ms)
        return await self._logged(
            by, "pause", schedule_id, now_ms, False,
            lambda connection: definition.pause(
                connection, self.sql, schedule_id, until_ms=until_ms, reason=reason, now_ms=now_ms
            ),
        )  # fmt: skip

    async def resume(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._logged(
            by, "resume", schedule_id, now_ms, False,
            lambda connection: definition.resume(connection, self.sql, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def delete(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._logged(
            by, "delete", schedule_id, now_ms, False,
            lambda connection: definition.delete(
                connection, self.sql, self._cache, schedule_id, now_ms=now_ms
            ),
        )  # fmt: skip

    async def trigger(
        self, schedule_id: str, *, name: str, now_ms: int, by: By | None = None,
        nominal: int | None = None, params: str | None = None,
    ) -> RunRow | None:  # fmt: skip
        found = await self._logged(
            by, "trigger", schedule_id, now_ms, Triggered(),
            lambda connection: asked.trigger(
                connection, self.sql, schedule_id, name=name, now_ms=now_ms, nominal=nominal,
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
                connection, self.sql, schedule_id, name=name, nominals=nominals, now_ms=now_ms
            ),
        )  # fmt: skip

    async def skip_next(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> int | None:
        return await self._logged(
            by, "skip_next", schedule_id, now_ms, None,
            lambda connection: asked.skip_next(
                connection, self.sql, self._cache, schedule_id, now_ms=now_ms
            ),
        )  # fmt: skip

    async def kill(self, key: str, *, by: By, now_ms: int) -> RunRow | None:
        return await self.pool.transact(
            lambda connection: asked.kill(connection, self.sql, key, by=by, now_ms=now_ms)
        )

    async def judge(self, one: Expected, judged: Judged, *, now_ms: int) -> Sequence[Breach]:
        async with self.pool.transaction() as connection:
            return await expectation.judge(connection, self.sql, one, judged, now_ms=now_ms)

    async def _logged(
        self, by: By | None, action: str, schedule_id: str, now_ms: int, nothing: _Result,
        work: Callable[["Connection"], Awaitable[_Result]],
    ) -> _Result:  # fmt: skip
        return await self.pool.transact(
            lambda connection: logged(
                connection, self.sql, by, action, schedule_id, now_ms, nothing=nothing,
                work=lambda: work(connection),
            )
        )  # fmt: skip

    async def _save(
        self, schedules: Sequence[Schedule], now_ms: int, by: By | None, if_revision: int | None,
        removed: Sequence[str],
    ) -> list[Saved]:  # fmt: skip
        if not schedules and not removed:
            return []
        for _ in range(TRIES):
            try:
                return await self.pool.transact(
                    lambda connection: save_and_log(
                        connection, self.sql, self._cache, schedules, removed, by, if_revision,
                        now_ms,
                    )
                )  # fmt: skip
            except KeyExistsError:
                continue  # another process has just added one of them
        raise self.error_of_keys()

    def error_of_keys(self) -> StoreError:
        return StoreError(
            "has a key that was to be added", where=self.pool.place,
            hint="gnomon doctor --database says more", transient=True,
        )  # fmt: skip


def _check_instant(at_ms: int | None) -> None:
    if at_ms is not None and not 0 <= at_ms < END_MS:
        raise DefinitionError(
            "must lie between the years 1970 and 9999", where="instant", got=at_ms,
            hint="write milliseconds since 1970",
        )  # fmt: skip
