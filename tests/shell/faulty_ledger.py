"""A real ledger that fails when a test says so, before or after it has done its work."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from gnomon.core.engine import Change, Due
from gnomon.errors import StoreError
from gnomon.ports import Committed, Held, Renewal, Report
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = ["FaultyLedger"]

_T = TypeVar("_T")


class FaultyLedger(SqliteLedger):
    """SQLite in memory; `fail` names a call, and whether its work is done all the same."""

    calls: list[str]
    faults: dict[str, list[bool]]
    commit_ms = 0
    """How long a commit takes."""
    failure: StoreError = StoreError("is out of order", where="test", transient=True)

    @classmethod
    def make(cls) -> "FaultyLedger":
        ledger = cls.open(":memory:")
        assert isinstance(ledger, FaultyLedger)
        ledger.calls, ledger.faults = [], {}
        return ledger

    def fail(self, name: str, *, times: int = 1, done: bool = False) -> None:
        self.faults[name] = [done] * times

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        return await self._maybe("load", super().load(now_ms=now_ms, limit=limit))

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        work = super().commit(changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
        await asyncio.sleep(self.commit_ms / 1000)
        return await self._maybe("commit", work)

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        return await self._maybe("report", super().report(reports, now_ms=now_ms))

    async def renew(self, runs: Sequence[Held], *, owner: str, now_ms: int) -> list[Renewal]:
        return await self._maybe("renew", super().renew(runs, owner=owner, now_ms=now_ms))

    async def _maybe(self, name: str, work: Awaitable[_T]) -> _T:
        self.calls.append(name)
        faults = self.faults.get(name)
        done = faults.pop() if faults else None
        if done is False:
            work.close()  # type: ignore[attr-defined]
        else:
            result = await work
        if done is not None:
            raise self.failure
        return result
