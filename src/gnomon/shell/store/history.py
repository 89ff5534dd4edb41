"""
Looking back: schedules and rows as their readers see them, and what retention removes.

Lists come in pages. Retention removes finished rows, oldest end first, and remembers for each
schedule up to where its history is gone; the cursor stays, so that nothing of it is owed again. A
deleted schedule goes with its last row, and only its numbers are remembered.

Everything here is written once for both databases.

Spec: LEDGER-18 to LEDGER-20, LEDGER-40, PORT-7, CLI-41, SERVICE-20.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports import Expected, LogRow, Only, RevisionRow, RunRow, ScheduleRow, ToEnd
from gnomon.ports.ledger_rows import RunsOnly, RunsPlace
from gnomon.shell.store.asking import read_skips
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import END_MS
from gnomon.shell.store.run_search import PAGE_MAX, parts_of
from gnomon.shell.store.transaction import Body, Transaction, TransactionSource, Value

__all__ = ["PAGE_MAX", "LedgerHistory", "run_of", "runs_of"]

_NEWEST_REVISION = 2**31 - 1
_NEWEST_LINE = 2**62


class LedgerHistory(ABC):
    """What readers ask of a ledger, and what retention takes from it."""

    _cache: DefinitionCache

    @property
    @abstractmethod
    def source(self) -> TransactionSource:
        """Where its transactions come from."""

    async def schedules(
        self, *, after: str = "", limit: int = 100, only: Only | None = None
    ) -> list[ScheduleRow]:
        wanted = only or Only()
        statement = "schedules" if wanted == Only() else "schedules_where"
        statement = statement if wanted.user_id is None else "schedules_of_user"
        values: dict[str, Value] = {"after": after, "limit": min(limit, PAGE_MAX)}
        return await self.source.read(
            lambda it: _schedules(it, self._cache, statement, values | wanted._asdict())
        )

    async def get(self, schedule_id: str) -> ScheduleRow | None:
        found = await self.source.read(
            lambda it: _schedules(it, self._cache, "schedule", {"id": schedule_id})
        )
        return found[0] if found else None

    async def runs(
        self, schedule_id: str, *, before: int | None = None, before_key: str = "", limit: int = 100
    ) -> list[RunRow]:
        before_ms = END_MS - 1 if before is None else before * 1000
        return await self.source.read(
            lambda it: runs_of(
                it, "runs", id=schedule_id, before_at=before_ms, key=before_key,
                limit=min(limit, PAGE_MAX),
            )
        )  # fmt: skip

    async def run(self, key: str) -> RunRow | None:
        return await self.source.read(lambda it: run_of(it, key))

    async def covering(self, schedule_id: str, nominal: int) -> list[RunRow]:
        return await self.source.read(
            lambda it: runs_of(it, "covering", id=schedule_id, covered_at=nominal * 1000)
        )

    async def find_runs(
        self, only: RunsOnly, *, after: RunsPlace | None = None, limit: int = 100
    ) -> list[RunRow]:
        async def body(transaction: Transaction) -> list[RunRow]:
            found: list[RunRow] = []
            for part in parts_of(only, after, limit):
                found += await runs_of(
                    transaction, "find_open" if part.is_open else "find_ended",
                    since_at=only.since_ms, before_at=part.before_ms, key=part.key,
                    limit=part.limit - len(found), user_id=only.user_id,
                    workflow_id=only.workflow_id, state=only.state, status=only.status,
                    outcome=only.outcome, reason=only.reason,
                )  # fmt: skip
            return found

        return await self.source.read(body)

    async def orphans(self, *, owner: str) -> list[RunRow]:
        return await self.source.read(lambda it: runs_of(it, "orphans", owner=owner))

    async def to_end(self, *, owner: str) -> list[ToEnd]:
        rows = await self.source.read(lambda it: it.rows(_ToEndRow, "to_end", owner=owner))
        return [ToEnd(key, fence, bool(detached)) for key, fence, detached in rows]

    async def revisions(
        self, schedule_id: str, *, before: int | None = None, limit: int = 100
    ) -> list[RevisionRow]:
        newest = _NEWEST_REVISION if before is None else before
        rows = await self.source.read(
            lambda it: it.rows(
                _RevisionColumns, "revisions", id=schedule_id, before=newest,
                limit=min(limit, PAGE_MAX),
            )
        )  # fmt: skip
        return [
            RevisionRow(revision, effective_ms, self._cache.value_of(schedule_id, text))
            for revision, effective_ms, text in rows
        ]

    async def log(
        self, *, schedule_id: str | None = None, user_id: str | None = None,
        before: int | None = None, limit: int = 100,
    ) -> list[LogRow]:  # fmt: skip
        newest = _NEWEST_LINE if before is None else before
        rows = await self.source.read(
            lambda it: it.rows(
                _LogColumns, "read_log", id=schedule_id, user_id=user_id, before=newest,
                limit=min(limit, PAGE_MAX),
            )
        )  # fmt: skip
        return [LogRow(*row) for row in rows]

    async def expected(self, *, now_ms: int, limit: int) -> list[Expected]:
        rows = await self.source.read(
            lambda it: it.rows(_ExpectedRow, "expected", now_at=now_ms, limit=limit)
        )
        return [Expected(schedule_id, after_ms // 1000) for schedule_id, after_ms in rows]

    async def note(self, name: str) -> str | None:
        """What was written down under a name; None for nothing."""
        return await self.source.read(lambda it: _note(it, name))

    async def set_note(self, name: str, value: str) -> None:
        await self.source.write(lambda it: it.run("set_meta", name=name, value=value))

    async def note_once(self, name: str, value: str) -> str:
        """Write something down, unless there is something under this name; what is there now."""

        async def body(transaction: Transaction) -> str:
            # The second of two waits for the first to commit, and then sees what the first wrote.
            await transaction.run("set_meta_once", name=name, value=value)
            found = await _note(transaction, name)
            assert found is not None  # notes are never taken away
            return found

        return await self.source.write(body)

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` rows that ended before an instant; say how many."""
        return await self.source.write(_retention(before_ms, limit))


async def run_of(transaction: Transaction, key: str) -> RunRow | None:
    """The run with this key."""
    found = await runs_of(transaction, "run", key=key)
    return found[0] if found else None


async def runs_of(transaction: Transaction, statement: str, **values: Value) -> list[RunRow]:
    """The runs that a statement gives."""
    return [_run_row(row) for row in await transaction.rows(_RunColumns, statement, **values)]


async def _schedules(
    transaction: Transaction, cache: DefinitionCache, statement: str, values: dict[str, Value]
) -> list[ScheduleRow]:
    rows = await transaction.rows(_ScheduleColumns, statement, **values)
    wanted = [(row.schedule_id, row.revision) for row in rows]
    found, errors = await cache.find_in(transaction, wanted)
    for error in errors:
        raise error
    if not transaction.has_one_view:  # one may be deleted since, and forgotten
        rows = [row for row in rows if row.schedule_id in found]
    return [
        ScheduleRow(
            schedule=found[row.schedule_id].schedule,
            revision=row.revision,
            version=row.lock_version,
            cursor=row.cursor_at // 1000,
            wake_ms=row.wake_at,
            pause=Pause(row.paused_until) if row.paused else None,
            pause_reason=row.pause_reason,
            in_flight=row.in_flight,
            created_ms=row.created_at,
            updated_ms=row.updated_at,
            skips=read_skips(row.skips, row.cursor_at // 1000),
        )
        for row in rows
    ]


async def _note(transaction: Transaction, name: str) -> str | None:
    rows = await transaction.rows(_NoteRow, "get_meta", name=name)
    return rows[0].value if rows else None


def _retention(before_ms: int, limit: int) -> Body[int]:
    async def body(transaction: Transaction) -> int:
        removed = 0
        rows = await transaction.rows(_FinishedRow, "finished", before_at=before_ms, limit=limit)
        if rows:
            floors: dict[str, int] = {}
            for _, schedule_id, last_ms in rows:
                floors[schedule_id] = max(last_ms, floors.get(schedule_id, last_ms))
            await transaction.rows(_IdRow, "take", ids=list(floors))
            # Another worker may have removed some of them while this one waited.
            removed = await transaction.run(
                "remove_runs", keys=[row.idempotency_key for row in rows]
            )
            await transaction.run_each(
                "raise_floor", [{"id": one, "floor_at": at_ms} for one, at_ms in floors.items()]
            )
        forgotten = await transaction.rows(_IdRow, "forgotten", before_at=before_ms, limit=limit)
        if ids := [row.schedule_id for row in forgotten]:
            await transaction.run("remember_forgotten", ids=ids)
            await transaction.run("remove_revisions", ids=ids)
            await transaction.run("remove_schedules", ids=ids)
        return removed

    return body


class _ScheduleColumns(NamedTuple):
    schedule_id: str
    revision: int
    lock_version: int
    cursor_at: int
    wake_at: int | None
    paused: int
    paused_until: int | None
    pause_reason: str
    created_at: int
    updated_at: int
    skips: str
    in_flight: int


class _RunColumns(NamedTuple):
    idempotency_key: str
    schedule_id: str
    run_at: int
    status: str | None
    run_id: str | None
    created_at: int
    updated_at: int
    last_run_at: int | None
    periods: int
    fire_at: int
    state: str
    outcome: str | None
    reason: str | None
    launches: int
    fence: int
    owner: str | None
    lease_until: int | None
    confirmed: int
    detail: str | None
    revision: int
    started_at: int | None
    ended_at: int | None
    kill_at: int | None
    kill_by: str | None
    chosen_at: int | None
    params: str | None


class _RevisionColumns(NamedTuple):
    revision: int
    effective_at: int
    definition: str


class _LogColumns(NamedTuple):
    number: int
    logged_at: int
    subject: str
    user_id: str | None
    action: str
    schedule_id: str
    detail: str


class _ToEndRow(NamedTuple):
    idempotency_key: str
    fence: int
    detached: int


class _ExpectedRow(NamedTuple):
    schedule_id: str
    after_at: int


class _FinishedRow(NamedTuple):
    idempotency_key: str
    schedule_id: str
    last_at: int


class _IdRow(NamedTuple):
    schedule_id: str


class _NoteRow(NamedTuple):
    value: str


def _run_row(row: _RunColumns) -> RunRow:
    return RunRow(
        key=row.idempotency_key,
        schedule_id=row.schedule_id,
        nominal=row.run_at // 1000,
        last_nominal=(row.last_run_at or 0) // 1000,
        periods=row.periods,
        fire_ms=row.fire_at,
        state=State(row.state),
        outcome=None if row.outcome is None else Outcome(row.outcome),
        reason=None if row.reason is None else Reason(row.reason),
        status=None if row.status is None else Status(row.status),
        launches=row.launches,
        fence=row.fence,
        owner=row.owner,
        lease_ms=row.lease_until,
        run_id=row.run_id,
        detail=row.detail,
        revision=row.revision,
        started_ms=row.started_at,
        ended_ms=row.ended_at,
        created_ms=row.created_at,
        updated_ms=row.updated_at,
        kill_ms=row.kill_at,
        kill_by=row.kill_by,
        first_fire_ms=row.chosen_at,
        params=row.params,
    )
