"""
The ledger on PostgreSQL: the port `Ledger`, each call one transaction, for any number of workers.

What the transactions do stands in the modules beside this one. Leases are judged by the time of the
database (`LeaseTime.DATABASE`); a ledger on virtual time judges them by the instants it is given
(`LeaseTime.GIVEN`), as the ledger on SQLite does.

Spec: PORT-1, PG-1 to PG-9.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Self

from gnomon.core.engine import Change, Due
from gnomon.core.ledger.period import is_backfill
from gnomon.errors import StoreError
from gnomon.ports import Committed, Ended, Held, Renewal, Report
from gnomon.shell.observe.log import log
from gnomon.shell.store.definition_cache import CACHED_MAX, Definition, DefinitionCache
from gnomon.shell.store.postgres import lease
from gnomon.shell.store.postgres.commitment import KeyExistsError, Turn, commit, sort_out
from gnomon.shell.store.postgres.lane import Lane
from gnomon.shell.store.postgres.migration import expect_newest, migrate
from gnomon.shell.store.postgres.pool import Pool, PoolOptions, was_undone
from gnomon.shell.store.postgres.report import NotAllHeldError, report, report_ends
from gnomon.shell.store.postgres.snapshot import look_at
from gnomon.shell.store.postgres.statement import SCHEMA, Statements
from gnomon.shell.store.postgres.transaction import TRIES, PooledTransactions, key_error
from gnomon.shell.store.requests import LedgerRequests

__all__ = ["LeaseTime", "PostgresLedger"]


class LeaseTime(StrEnum):
    """Whose clock says when a lease is over."""

    DATABASE = "database"
    GIVEN = "given"


class PostgresLedger(LedgerRequests):
    """A `gnomon.ports.Ledger` in a PostgreSQL database."""

    def __init__(
        self, pool: Pool, sql: Statements, *, lease_time: LeaseTime, cached_max: int = CACHED_MAX
    ) -> None:
        self.pool = pool
        self.sql = sql
        self._lease_time = lease_time
        self._cache = DefinitionCache(pool.place, cached_max)
        self._lane = Lane()
        self._ahead_ms = 0
        """By how much the worker's clock is ahead of the one that judges leases."""

    @classmethod
    async def open(
        cls, url: str, *, schema: str = SCHEMA, options: PoolOptions | None = None,
        lease_time: LeaseTime = LeaseTime.DATABASE, cached_max: int = CACHED_MAX,
    ) -> Self:  # fmt: skip
        """Connect, and make the schema or bring it forward where needed."""
        pool, sql = await _opened(url, schema, options or PoolOptions(), migrate)
        return cls(pool, sql, lease_time=lease_time, cached_max=cached_max)

    @classmethod
    async def look_into(
        cls, url: str, *, schema: str = SCHEMA, options: PoolOptions | None = None
    ) -> Self:
        """
        Connect to read: nothing is made or brought forward.

        `StoreError` when there is no ledger, and `IncompatibleStateError` when its schema is an
        older one, which only a worker can change.
        """
        pool, sql = await _opened(url, schema, options or PoolOptions(), expect_newest)
        return cls(pool, sql, lease_time=LeaseTime.DATABASE)

    @property
    def source(self) -> PooledTransactions:
        return PooledTransactions(self.pool, self.sql)

    @property
    def cached(self) -> int:
        """How many schedules are kept as values."""
        return len(self._cache)

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        lane, lease_now_ms = self._lane, self._lease_now_ms(now_ms)
        rows = await self.pool.fetch(
            self.sql["load"], now_ms, lease_now_ms, limit, lane.mask, lane.value
        )
        look = look_at(rows)
        self._ahead_ms = now_ms - look.lease_now_ms
        if len(look.heads) < limit:
            lane.leave()
        found, missing = self._cache.look_up(look.revisions())
        if missing:
            await self._read_missing(missing, found, now_ms)
        return look.dues(found)

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        if not changes:
            return Committed((), ())
        turn = Turn(owner, confirmed, now_ms, self._lease_now_ms(now_ms))
        held = Committed((), ())
        for attempt in range(TRIES):
            try:
                several = sort_out(changes, careful=attempt > 0)
                pool = self.pool
                async with pool.alone() if several.is_one_statement else pool.transaction() as it:
                    held = await commit(it, self.sql, several, turn)
                break
            except KeyExistsError:
                if attempt == TRIES - 1:
                    raise key_error(self.pool.place) from None
        if len(held.changes) < len(changes):
            self._lane.change(owner)
        return held

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        if not reports:
            return []
        ends = [report for report in reports if type(report) is Ended]
        keys = {end.key for end in ends}
        if len(keys) == len(reports) and not any(map(is_backfill, keys)):
            with suppress(NotAllHeldError):
                return await self._report_ends(ends, now_ms)
        lease_now_ms = self._lease_now_ms(now_ms)
        return await self.pool.transact(
            lambda connection: report(
                connection, self.sql, self._cache, reports, now_ms=now_ms, lease_now_ms=lease_now_ms
            )
        )

    async def renew(self, runs: Sequence[Held], *, owner: str, now_ms: int) -> list[Renewal]:
        if not runs:
            return []
        keys, fences, lengths_ms = zip(*runs, strict=True)
        rows = await self.pool.fetch(
            self.sql["renew"], keys, fences, lengths_ms, owner, now_ms, self._lease_now_ms(now_ms)
        )
        answers = dict.fromkeys(map(tuple, rows), Renewal.HELD)
        if len(answers) < len(runs):
            # A question of its own, which also sees an end that the renewal has waited for.
            over = await self.pool.fetch(self.sql["over"], keys, fences, owner)
            answers |= dict.fromkeys(map(tuple, over), Renewal.OVER)
        return [answers.get((run.key, run.fence), Renewal.TAKEN) for run in runs]

    async def recover(
        self, *, owner: str, adopted: Sequence[str], now_ms: int
    ) -> list[tuple[str, int]]:
        async with self.pool.transaction() as connection:
            return await lease.recover(
                connection, self.sql, owner=owner, adopted=adopted, now_ms=now_ms,
                lease_now_ms=self._lease_now_ms(now_ms),
            )  # fmt: skip

    async def next_wake_ms(self) -> int | None:
        ((wake_ms, lease_ms),) = await self.pool.fetch(self.sql["next_wake"])
        instants = [] if wake_ms is None else [wake_ms]
        if lease_ms is not None:
            # A lease is over when its last instant has passed, by the clock that judges it.
            instants.append(lease_ms + 1 + self._ahead_ms)
        return min(instants, default=None)

    async def still_owes(self, *, at_ms: int) -> bool:
        """Whether something that was to be started by an instant has not been started yet."""
        next_ms = await self.next_wake_ms()
        if next_ms is not None and next_ms <= at_ms:
            return True
        ((found,),) = await self.pool.fetch(self.sql["still_owes"], at_ms)
        return bool(found)

    async def close(self) -> None:
        await self.pool.close()

    def _lease_now_ms(self, now_ms: int) -> int | None:
        return now_ms if self._lease_time is LeaseTime.GIVEN else None

    async def _report_ends(self, ends: Sequence[Ended], now_ms: int) -> list[bool]:
        try:
            async with self.pool.alone() as connection:
                return await report_ends(connection, self.sql, ends, now_ms=now_ms)
        except StoreError as error:
            if was_undone(error):  # an executor that tells of an end tells it only once
                raise NotAllHeldError from error
            raise

    async def _read_missing(
        self, missing: list[str], found: dict[str, Definition], now_ms: int
    ) -> None:
        """Read definitions; those that cannot be read are put off, and the others go on."""
        rows = await self.pool.fetch(self.sql["definitions"], missing)
        there = {row[0] for row in rows}
        errors = self._cache.read(((row[0], row[1], row[2], row[3]) for row in rows), found)
        for error in errors:
            log(logging.ERROR, "a schedule cannot be read, the others go on", error=str(error))
        if errors:
            unread = [one for one in missing if one in there and one not in found]
            async with self.pool.transaction() as connection:
                await lease.put_off(
                    connection, self.sql, unread, now_ms=now_ms,
                    lease_now_ms=self._lease_now_ms(now_ms),
                )  # fmt: skip


async def _opened(
    url: str,
    schema: str,
    options: PoolOptions,
    check: Callable[[Pool, Statements], Awaitable[None]],
) -> tuple[Pool, Statements]:
    sql = Statements(schema)
    pool = await Pool.open(url, options)
    try:
        await check(pool, sql)
    except BaseException:
        pool.terminate()
        raise
    return pool, sql
