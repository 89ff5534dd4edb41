"""
Which workers are there, and how are they doing?

Each worker writes from time to time that it is alive, what it has in hand and what it has counted,
by the time of the database. No run is decided by this: runs are held by leases alone. It is there
for people: for `gnomon doctor`, and for metrics. It also says which zone data it has, so that those
who stay know when the last worker with others is gone.

How far its clock is from the database's it knows from the answer to what it said before. An answer
that was long in coming says little about clocks, and does not count.

Spec: PG-14, PG-20.
"""

import json
import logging
from collections.abc import Mapping
from typing import NamedTuple

import tzdata

from gnomon.ports import Clock
from gnomon.shell.observe.log import log
from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.rights import expect_rights
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.postgres.zone_data import outlast

__all__ = ["BEAT_MS", "FORGET_MS", "SILENT_MS", "Presence", "WorkerRow", "workers"]

BEAT_MS = 5_000
SILENT_MS = 20_000
"""After so long without a word every reader takes a worker for gone."""
FORGET_MS = 3_600_000
SURE_MS = 500
"""An answer that takes longer does not count when clocks are compared."""


class WorkerRow(NamedTuple):
    """A worker as the database has it."""

    owner: str
    host: str
    pid: int
    state: str
    """`running`, `draining` or `stopped`."""
    started_ms: int
    seen_ms: int
    ahead_ms: int
    """By how much its clock was ahead of the database's."""
    holding: int
    counters: Mapping[str, int]
    silent_ms: int
    """How long ago it was last heard of."""

    @property
    def is_there(self) -> bool:
        """Whether it can be taken to be at work."""
        return self.state != "stopped" and not self.is_silent

    @property
    def is_silent(self) -> bool:
        return self.state != "stopped" and self.silent_ms > SILENT_MS


class Presence:
    """What one worker says about itself."""

    def __init__(
        self, pool: Pool, sql: Statements, clock: Clock, *, owner: str, host: str, pid: int,
        zones: str = tzdata.IANA_VERSION,
    ) -> None:  # fmt: skip
        self._pool, self._sql, self._clock = pool, sql, clock
        self._who = owner, host, pid
        self._zones = zones
        self._ahead_ms: int | None = None

    async def admit(self) -> None:
        """Raise what forbids this user to do what a worker does."""
        await expect_rights(self._pool, self._sql)

    async def beat(self, state: str, *, holding: int, counters: Mapping[str, int]) -> None:
        """Say that this worker is there."""
        if self._ahead_ms is None:
            await self._compare(self._sql["time"])
        counted = json.dumps(dict(counters))
        values = state, self._ahead_ms or 0, holding, counted, self._zones
        await self._compare(self._sql["heartbeat"], *self._who, *values)

    async def forget_others(self) -> None:
        """Remove the workers that have been silent for long, and that hold nothing any more."""
        await self._pool.fetch(self._sql["forget_workers"], FORGET_MS)

    async def outlast_others(self) -> None:
        """Undo what workers with other zone data may have computed, once they are gone."""
        if await outlast(self._pool, self._sql, zones=self._zones, silent_ms=SILENT_MS):
            log(logging.INFO, "workers with other zone data are gone", tzdata=self._zones)

    async def _compare(self, statement: str, *values: str | int) -> None:
        """A statement that answers with the time of the database."""
        now_ms, began_ms = self._clock.now_ms(), self._clock.monotonic_ms()
        ((theirs_ms,),) = await self._pool.fetch(statement, *values)
        took_ms = self._clock.monotonic_ms() - began_ms
        if took_ms <= SURE_MS:
            self._ahead_ms = now_ms + took_ms // 2 - theirs_ms


async def workers(pool: Pool, sql: Statements) -> list[WorkerRow]:
    """All workers, in the order in which they began."""
    rows = await pool.fetch(sql["workers"])
    return [
        WorkerRow._make([*seen, json.loads(counters), silent]) for *seen, counters, silent in rows
    ]
