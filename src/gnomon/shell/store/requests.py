"""
What people ask of a ledger: changes, and who made them.

Each call is one transaction, with the line in the log that goes with the change. It is made again
when the database has broken it because of another; who asks once need not ask twice. All of it is
written once for both databases.

Spec: PORT-7, PORT-8, LEDGER-13 to LEDGER-17, ASK-1, ASK-2.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from gnomon.core.schedule import Schedule
from gnomon.ports import Breach, By, Expected, Judged, RunRow, Saved
from gnomon.shell.store import asked, definition, expectation
from gnomon.shell.store.asking import Triggered
from gnomon.shell.store.history import LedgerHistory
from gnomon.shell.store.logbook import logged
from gnomon.shell.store.transaction import Transaction

__all__ = ["LedgerRequests"]

_Result = TypeVar("_Result")


class LedgerRequests(LedgerHistory):
    """What people ask of a ledger, and what they read of it."""

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
        if not schedules and not removed:
            return []
        return await self._save(schedules, now_ms, by, None, removed)

    async def pause(
        self, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int,
        by: By | None = None,
    ) -> bool:  # fmt: skip
        return await self._logged(
            by, "pause", schedule_id, now_ms, False,
            lambda it: definition.pause(
                it, schedule_id, until_ms=until_ms, reason=reason, now_ms=now_ms
            ),
        )  # fmt: skip

    async def resume(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._logged(
            by, "resume", schedule_id, now_ms, False,
            lambda it: definition.resume(it, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def delete(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        return await self._logged(
            by, "delete", schedule_id, now_ms, False,
            lambda it: definition.delete(it, self._cache, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def trigger(
        self, schedule_id: str, *, name: str, now_ms: int, by: By | None = None,
        nominal: int | None = None, params: str | None = None,
    ) -> RunRow | None:  # fmt: skip
        found = await self._logged(
            by, "trigger", schedule_id, now_ms, Triggered(),
            lambda it: asked.trigger(
                it, schedule_id, name=name, now_ms=now_ms, nominal=nominal, params=params
            ),
        )  # fmt: skip
        return found.row

    async def backfill(
        self, schedule_id: str, *, name: str, nominals: Sequence[int], now_ms: int,
        by: By | None = None,
    ) -> int | None:  # fmt: skip
        return await self._logged(
            by, "backfill", schedule_id, now_ms, None,
            lambda it: asked.backfill(
                it, schedule_id, name=name, nominals=nominals, now_ms=now_ms
            ),
        )  # fmt: skip

    async def skip_next(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> int | None:
        return await self._logged(
            by, "skip_next", schedule_id, now_ms, None,
            lambda it: asked.skip_next(it, self._cache, schedule_id, now_ms=now_ms),
        )  # fmt: skip

    async def kill(self, key: str, *, by: By, now_ms: int) -> RunRow | None:
        return await self.source.write(
            lambda it: asked.kill(it, key, by=by, now_ms=now_ms), again=True
        )

    async def judge(self, one: Expected, judged: Judged, *, now_ms: int) -> Sequence[Breach]:
        return await self.source.write(lambda it: expectation.judge(it, one, judged, now_ms=now_ms))

    async def _save(
        self, schedules: Sequence[Schedule], now_ms: int, by: By | None, if_revision: int | None,
        removed: Sequence[str],
    ) -> list[Saved]:  # fmt: skip
        return await self.source.write(
            lambda it: definition.save_and_log(
                it, self._cache, schedules, removed, by, if_revision, now_ms
            ),
            again=True,
        )

    async def _logged(
        self, by: By | None, action: str, schedule_id: str, now_ms: int, nothing: _Result,
        work: Callable[[Transaction], Awaitable[_Result]],
    ) -> _Result:  # fmt: skip
        return await self.source.write(
            lambda it: logged(
                it, by, action, schedule_id, now_ms, nothing=nothing, work=lambda: work(it)
            ),
            again=True,
        )
