"""
Questions to the registrar: schedules, runs, reasons, revisions and the log, each for its tenant.

What belongs to another tenant is not there. The history of a deleted schedule still is, for the
user it belonged to. Nothing here changes anything.

Spec: REGISTRAR-1, REGISTRAR-2, REGISTRAR-8 to REGISTRAR-10.
"""

import json
from collections.abc import AsyncIterator

from gnomon.apps.service.explanation import explain
from gnomon.apps.service.run_search import RunFilter, place_after, read_place, runs_only
from gnomon.apps.service.schedule_input import target_of
from gnomon.apps.service.upsert_diff import flat_record
from gnomon.apps.service.views import (
    AuditEntry,
    Explanation,
    Page,
    RevisionView,
    RunView,
    ScheduleView,
    instant_text,
    run_view,
    schedule_view,
)
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.ledger.period import Kind
from gnomon.errors import DefinitionError, NotFoundError
from gnomon.ports import Clock, Ledger
from gnomon.ports.ledger_rows import Actor, LogRow, Only, RevisionRow, RunRow, ScheduleRow

__all__ = ["Queries", "owner_of", "read_instant"]

REVISIONS_MAX = 1_000
_PAGE = 500


class Queries:
    """The part of the registrar that only reads."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    async def ping(self) -> None:
        """`StoreError` while the ledger cannot be reached."""
        await self._ledger.next_wake_ms()

    async def get_schedule(self, actor: Actor, schedule_id: str, *, count: int = 5) -> ScheduleView:
        """A schedule, with this many of its next planned instants."""
        row = await self._own(actor, schedule_id)
        return schedule_view(row, now_ms=self._clock.now_ms(), count=count)

    async def list_schedules(
        self, actor: Actor, wanted: Only, *, after: str = "", limit: int = 100
    ) -> Page[ScheduleView]:
        """The schedules that are found, in the order of their ids."""
        only = only_of(actor, wanted)
        if only is None:
            return Page(items=[])
        rows = await self._ledger.schedules(after=after, limit=limit + 1, only=only)
        now_ms = self._clock.now_ms()
        found = [schedule_view(row, now_ms=now_ms) for row in rows[:limit]]
        return Page(items=found, next=found[-1].schedule_id if len(rows) > limit else None)

    async def runs(
        self, actor: Actor, schedule_id: str, *, after: str | None = None, limit: int = 100
    ) -> Page[RunView]:
        """What became of the periods of a schedule, newest first."""
        before, key = _read_cursor(after)
        await self._owner(actor, schedule_id)
        rows = await self._ledger.runs(schedule_id, before=before, before_key=key, limit=limit + 1)
        last = rows[limit - 1] if len(rows) > limit else None
        return Page(
            items=[run_view(row) for row in rows[:limit]],
            next=None if last is None else f"{last.nominal}~{last.key}",
        )

    async def find_runs(
        self, actor: Actor, wanted: RunFilter, *, after: str | None = None, limit: int = 100
    ) -> Page[RunView]:
        """Runs of all schedules: open ones, newest planned first, then the last ended first."""
        only = runs_only(actor, wanted, now_ms=self._clock.now_ms())
        place = read_place(after)
        if only is None:
            return Page(items=[])
        rows = await self._ledger.find_runs(only, after=place, limit=limit + 1)
        return Page(
            items=[run_view(row) for row in rows[:limit]],
            next=place_after(rows[limit - 1]) if len(rows) > limit else None,
        )

    async def run(self, actor: Actor, key: str) -> RunView:
        """One run."""
        row, _ = await self._own_run(actor, key)
        return run_view(row)

    async def explain(self, actor: Actor, schedule_id: str, run_at: str) -> Explanation:
        """Why the period at this instant ran, or why it did not."""
        nominal = read_instant(run_at, "run_at")
        row = await self._own(actor, schedule_id)
        covering = await self._ledger.covering(schedule_id, nominal)
        runs = [one for one in covering if one.kind in (Kind.PERIOD, Kind.RANGE)]
        return explain(row, runs[0] if runs else None, nominal=nominal, now_ms=self._clock.now_ms())

    async def revisions(self, actor: Actor, schedule_id: str) -> list[RevisionView]:
        """Every definition that a schedule has had, newest first."""
        await self._owner(actor, schedule_id)
        rows = await self._ledger.revisions(schedule_id, limit=REVISIONS_MAX)
        return [_revision_view(row) for row in rows]

    async def audit_log(
        self,
        actor: Actor,
        *,
        schedule_id: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Page[AuditEntry]:
        """Who changed what, newest first."""
        rows = await self._ledger.log(
            schedule_id=schedule_id, user_id=actor.tenant, before=before, limit=limit + 1
        )
        more = len(rows) > limit
        return Page(
            items=[_audit_entry(row) for row in rows[:limit]],
            next=str(rows[limit - 1].number) if more else None,
        )

    async def _own(self, actor: Actor, schedule_id: str) -> ScheduleRow:
        """The row of a schedule that is there for the actor."""
        row = await self._ledger.get(schedule_id)
        if row is None or not _may_see(actor, row):
            raise NotFoundError(where="schedule_id", got=schedule_id)
        return row

    async def _owner(self, actor: Actor, schedule_id: str) -> str:
        """Whose schedule it is or, when it was deleted, was."""
        row = await self._ledger.get(schedule_id)
        former = [] if row is not None else await self._ledger.revisions(schedule_id, limit=1)
        schedule = row.schedule if row is not None else former[0].schedule if former else None
        target = None if schedule is None else target_of(schedule)
        if target is None or not actor.may_see(target.user_id):
            raise NotFoundError(where="schedule_id", got=schedule_id)
        return target.user_id

    async def _own_run(self, actor: Actor, key: str) -> tuple[RunRow, str]:
        """A run that is there for the actor, and whose it is."""
        row = await self._ledger.run(key)
        if row is not None:
            try:
                return row, await self._owner(actor, row.schedule_id)
            except NotFoundError:
                pass
        raise NotFoundError(where="key", got=key)

    async def _rows(self, only: Only) -> AsyncIterator[ScheduleRow]:
        after = ""
        while rows := await self._ledger.schedules(after=after, limit=_PAGE, only=only):
            for row in rows:
                yield row
            after = rows[-1].schedule.schedule_id


def owner_of(row: ScheduleRow) -> str:
    """Whose schedule this is."""
    target = target_of(row.schedule)
    assert target is not None, row.schedule.schedule_id
    return target.user_id


def only_of(actor: Actor, wanted: Only) -> Only | None:
    """Which rows are to be looked at; None when the actor can see none of those."""
    if wanted.user_id is not None and not actor.may_see(wanted.user_id):
        return None
    return wanted._replace(user_id=wanted.user_id or actor.tenant)


def read_instant(text: str, where: str) -> int:
    return to_epoch(parse_instant(text, where=where), where=where)


def _may_see(actor: Actor, row: ScheduleRow) -> bool:
    target = target_of(row.schedule)
    return target is not None and actor.may_see(target.user_id)


def _read_cursor(text: str | None) -> tuple[int | None, str]:
    if text is None:
        return None, ""
    nominal, tilde, key = text.partition("~")
    digits = nominal.removeprefix("-")
    if not (tilde and key and digits.isascii() and digits.isdigit() and len(digits) < 13):
        raise DefinitionError(
            "must be the next of a former page", where="after", got=text, hint="leave it out"
        )
    return int(nominal), key


def _revision_view(row: RevisionRow) -> RevisionView:
    return RevisionView(
        revision=row.revision,
        effective_at=instant_text(row.effective_ms),
        definition=flat_record(row.schedule),
    )


def _audit_entry(row: LogRow) -> AuditEntry:
    detail = json.loads(row.detail)
    return AuditEntry(
        number=row.number,
        at=instant_text(row.at_ms),
        subject=row.subject,
        user_id=row.user_id,
        action=row.action,
        schedule_id=row.schedule_id,
        detail=detail if isinstance(detail, dict) else {},
    )
