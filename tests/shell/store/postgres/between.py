"""
Something that happens between two statements of a transaction, in an exact order.

What happens there may have to wait for a row that the transaction has; then it goes on beside it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.pool import Pool
from tests.shell.store.postgres.fleet import Fleet

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["meanwhile"]

_Result = TypeVar("_Result")
_Other = TypeVar("_Other")


async def meanwhile(
    fleet: Fleet, ledger: PostgresLedger, before: str, call: Coroutine[object, object, _Result],
    other: Coroutine[object, object, _Other],
) -> tuple[_Result, _Other]:  # fmt: skip
    """What a call of `ledger` and another answer, which begins before a statement of the first."""
    begun: list[asyncio.Task[_Other]] = []

    async def happen() -> None:
        if not begun:
            begun.append(asyncio.create_task(other))
            await fleet.waits_for_a_lock(begun[0])

    calm, ledger.pool = ledger.pool, _Interrupted(ledger.pool, ledger.sql[before], happen)
    try:
        answer = await call
    finally:
        ledger.pool = calm
    assert begun, f"{before} was not reached"
    return answer, await begun[0]


class _Interrupted(Pool):
    """The connections of another pool, with something that happens before a statement."""

    def __init__(self, calm: Pool, statement: str, happen: Callable[[], Awaitable[None]]) -> None:
        self.__dict__.update(calm.__dict__)
        self._statement, self._happen = statement, happen

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        async with super().transaction() as connection:
            yield cast("Connection", _Watched(connection, self._statement, self._happen))


class _Watched:
    def __init__(
        self, connection: "Connection", statement: str, happen: Callable[[], Awaitable[None]]
    ) -> None:
        self._connection, self._statement, self._happen = connection, statement, happen

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        call = getattr(self._connection, name)

        async def watched(statement: str, *values: object) -> object:
            if statement == self._statement:
                await self._happen()
            return await call(statement, *values)

        return watched
