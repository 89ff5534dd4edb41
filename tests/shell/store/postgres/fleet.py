"""Several workers on one PostgreSQL database, and connections beside them for plain SQL."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from gnomon.core.engine import Change, plan
from gnomon.ports import Claim, Ledger
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.postgres.pool import PoolOptions
from tests.contract.ledger_desk import at, minutely

__all__ = ["Fleet", "play"]

_Result = TypeVar("_Result")


class Fleet:
    """Opens ledgers on one schema, and closes them all."""

    def __init__(self, url: str, schema: str) -> None:
        self.url, self.schema = url, schema
        self._opened: list[PostgresLedger] = []
        self._beside: list[asyncpg.Connection[asyncpg.Record]] = []

    async def open(
        self, *, lease_time: LeaseTime = LeaseTime.GIVEN, options: PoolOptions | None = None
    ) -> PostgresLedger:
        ledger = await PostgresLedger.open(
            self.url, schema=self.schema, lease_time=lease_time, options=options
        )
        self._opened.append(ledger)
        return ledger

    async def beside(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A connection beside the ledgers, for SQL that a test writes by hand."""
        connection = await asyncpg.connect(self.url)
        await connection.execute(f"SET search_path = {self.schema}")
        self._beside.append(connection)
        return connection

    async def waits_for_a_lock(self, call: "asyncio.Task[_Result]") -> None:
        """Return when a call waits for a row, or is over."""
        connection = await asyncpg.connect(self.url)
        try:
            while not call.done() and not await connection.fetchval(_WAITING, self.schema):
                pass
        finally:
            await connection.close()

    async def close(self) -> None:
        for connection in self._beside:
            await connection.close()
        for ledger in self._opened:
            await ledger.close()


_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND position($1 || '.' IN query) > 0 AND pid <> pg_backend_pid()
"""


def play(url: str, schema: str, scenario: Callable[[Fleet], Awaitable[_Result]]) -> _Result:
    """Let a scenario happen, and close what it opened."""

    async def whole() -> _Result:
        fleet = Fleet(url, schema)
        try:
            return await scenario(fleet)
        finally:
            await fleet.close()

    return asyncio.run(whole())


async def save_many(ledger: PostgresLedger, count: int, **more: object) -> None:
    schedules = [minutely(f"s{number:03d}", **more) for number in range(count)]
    await ledger.save_all(schedules, now_ms=at("00:00:30"))


async def plan_at(ledger: Ledger, now: str, *, limit: int = 1000) -> list[Change]:
    return plan(await ledger.load(now_ms=at(now), limit=limit), now_ms=at(now))


async def commit_at(
    ledger: Ledger, changes: list[Change], now: str, *, owner: str = "anna"
) -> list[Claim]:
    held = await ledger.commit(changes, owner=owner, confirmed=False, now_ms=at(now))
    return list(held.claims)
