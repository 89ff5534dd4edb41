"""
The ledger on PostgreSQL for a simulated world: each call is done when it is made.

A world has no sockets, and its time stands still while a callback runs. So the connections live in
a loop of their own, on a thread, and a call waits for its answer there, as a call of SQLite does.
"""

import asyncio
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import TypeVar, cast

from gnomon.ports import Ledger
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger

__all__ = ["PostgresStores"]

_Result = TypeVar("_Result")
_Do = Callable[[Coroutine[None, None, object]], object]
_TABLES = ("schedule_runs", "schedule_revisions", "schedules")


class PostgresStores:
    """Makes stores for worlds, one after the other, in one schema."""

    def __init__(self, url: str, schema: str) -> None:
        self._schema = schema
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.ledger = self.do(PostgresLedger.open(url, schema=schema, lease_time=LeaseTime.GIVEN))

    def __call__(self) -> "_Store":
        tables = ", ".join(f"{self._schema}.{name}" for name in _TABLES)
        self.do(self.ledger.pool.fetch(f"TRUNCATE {tables}"))
        return _Store(self)

    def do(self, call: Coroutine[None, None, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def close(self) -> None:
        self.do(self.ledger.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Store:
    def __init__(self, stores: PostgresStores) -> None:
        self._stores = stores

    def open(self) -> Ledger:
        shared = self._stores.ledger
        ledger = PostgresLedger(shared.pool, shared.sql, lease_time=LeaseTime.GIVEN)
        return cast(Ledger, _Blocking(ledger, cast(_Do, self._stores.do)))

    def close(self) -> None:
        """The next world empties it."""


class _Blocking:
    """A ledger whose calls are over when they are made."""

    def __init__(self, ledger: PostgresLedger, do: _Do) -> None:
        self._ledger, self._do = ledger, do

    def __getattr__(self, name: str) -> Callable[..., Coroutine[None, None, object]]:
        call = getattr(self._ledger, name)

        async def blocking(*values: object, **named: object) -> object:
            return self._do(call(*values, **named))

        return blocking
