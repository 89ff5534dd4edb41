"""
The registrar: what people and programs ask of the service, by every way in.

Every method takes the actor first. What belongs to another tenant is not there for it. Every change
is written together with the actor, in one transaction, and then told to the callers that watch. A
request that cannot be meant raises before anything is written. Questions are in `queries`,
requests for runs in `run_requests`; here are the definitions.

Spec: REGISTRAR-1, REGISTRAR-3, REGISTRAR-4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.apps.service.queries import only_of, owner_of, read_instant
from gnomon.apps.service.run_requests import RunRequests, by_of
from gnomon.apps.service.schedule_input import ScheduleInput, target_of
from gnomon.apps.service.upsert_diff import compare
from gnomon.apps.service.upsert_warnings import check_ahead, upsert_warnings
from gnomon.apps.service.views import (
    ScheduleView,
    UpsertDiff,
    Upserted,
    schedule_view,
)
from gnomon.apps.service.withdrawal import is_of_trigger, to_withdraw
from gnomon.core.civil.instant import format_instant
from gnomon.errors import ConflictError, DefinitionError, NotFoundError
from gnomon.ports.ledger_rows import Actor, By, Only, Saved, ScheduleRow

__all__ = ["BULK_MAX", "DeployedSchedules", "Registrar"]

BULK_MAX = 10_000
"""How many schedules are paused at once."""
DIFF_COUNT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedSchedules:
    """What deploying a DAG did to its schedules."""

    upserted: tuple[Upserted, ...]
    deleted: tuple[str, ...]


class Registrar(RunRequests):
    """Where schedules are registered, looked at and changed."""

    async def upsert_schedule(
        self, actor: Actor, given: ScheduleInput, *, if_revision: int | None = None
    ) -> Upserted:
        """Register a schedule, or change it; an equal one changes nothing, and a pause stays."""
        schedule, now_ms = self._asked(actor, given), self._clock.now_ms()
        if await self._ledger.get(schedule.schedule_id) is None:
            check_ahead(schedule, now_ms=now_ms)
        said = await upsert_warnings(schedule, self._dags, is_there=False, now_ms=now_ms)
        saved = await self._ledger.save(
            schedule, now_ms=now_ms, by=self._saving(actor, given.user_id), if_revision=if_revision
        )
        self._tell_saved(saved, given.user_id)
        return _upserted(saved, said)

    async def preview_upsert(
        self, actor: Actor, given: ScheduleInput, *, count: int = DIFF_COUNT
    ) -> UpsertDiff:
        """What an upsert would change, and which runs would come and go."""
        schedule = self._asked(actor, given)
        row = await self._ledger.get(schedule.schedule_id)
        if row is not None and owner_of(row) != given.user_id:
            raise ConflictError(
                "belongs to another user", where="schedule_id", got=schedule.schedule_id,
                hint="choose another, or leave it out",
            )  # fmt: skip
        former, now_ms = None if row is None else row.schedule, self._clock.now_ms()
        if former is None:
            check_ahead(schedule, now_ms=now_ms)
        said = await upsert_warnings(schedule, self._dags, is_there=False, now_ms=now_ms)
        return compare(former, schedule, now=now_ms // 1000, count=count, warnings=said)

    async def deploy(
        self, actor: Actor, upserts: Sequence[ScheduleInput], *, workflow_id: str, user_id: str
    ) -> DeployedSchedules:
        """Have exactly these schedules for a DAG; those with ids of their own stay."""
        schedules = [self._asked(actor, given) for given in upserts]
        wanted = {schedule.schedule_id for schedule in schedules}
        only = Only(user_id=user_id, workflow_id=workflow_id)
        gone = [
            row.schedule.schedule_id
            async for row in self._rows(only)
            if row.schedule.schedule_id not in wanted
            and (target := target_of(row.schedule)) is not None
            and is_of_trigger(row, target)
        ]
        now_ms = self._clock.now_ms()
        said = [
            await upsert_warnings(one, self._dags, is_there=True, now_ms=now_ms)
            for one in schedules
        ]
        saved = await self._ledger.save_all(
            schedules, now_ms=now_ms, by=self._saving(actor, user_id), removed=gone
        )
        for one in saved:
            self._tell_saved(one, user_id)
        for schedule_id in gone:
            self._tell("schedule.deleted", user_id, schedule_id)
        upserted = tuple(map(_upserted, saved, said))
        return DeployedSchedules(upserted=upserted, deleted=tuple(gone))

    async def withdraw(
        self, actor: Actor, workflow_id: str, version: int | None, *, user_id: str
    ) -> list[str]:
        """Delete the schedules that came with a DAG, or with one version of it; their ids."""
        only = Only(user_id=user_id, workflow_id=workflow_id)
        gone = to_withdraw([row async for row in self._rows(only)], version)
        await self._ledger.save_all(
            [], now_ms=self._clock.now_ms(), by=by_of(actor, user_id), removed=gone
        )
        for schedule_id in gone:
            self._tell("schedule.deleted", user_id, schedule_id)
        return gone

    async def pause_schedule(
        self,
        actor: Actor,
        schedule_id: str,
        paused: bool,
        *,
        until: str | None = None,
        reason: str = "",
    ) -> ScheduleView:
        """Pause a schedule, until an instant or until further notice, or let it go on."""
        until_ms = self._until_ms(until, paused=paused)
        row = await self._own(actor, schedule_id)
        await self._pause(actor, row, paused, until_ms=until_ms, reason=reason)
        return schedule_view(await self._own(actor, schedule_id), now_ms=self._clock.now_ms())

    async def pause_many(
        self,
        actor: Actor,
        wanted: Only,
        paused: bool,
        *,
        until: str | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> list[str]:
        """Pause every schedule that is found, or let them go on; the ids of those it concerns."""
        until_ms = self._until_ms(until, paused=paused)
        found = await self._to_pause(actor, wanted, paused)
        for row in [] if dry_run else found:
            await self._pause(actor, row, paused, until_ms=until_ms, reason=reason)
        return [row.schedule.schedule_id for row in found]

    async def delete_schedule(self, actor: Actor, schedule_id: str) -> None:
        """Forget a schedule; its history stays."""
        owner = owner_of(await self._own(actor, schedule_id))
        if not await self._ledger.delete(
            schedule_id, now_ms=self._clock.now_ms(), by=by_of(actor, owner)
        ):
            raise NotFoundError(where="schedule_id", got=schedule_id)
        self._tell("schedule.deleted", owner, schedule_id)

    def _saving(self, actor: Actor, user_id: str) -> By:
        """Who saves schedules, and how many their owner may have."""
        return by_of(actor, user_id)._replace(
            schedules_max=self._settings.schedules_per_user or None
        )

    async def _to_pause(self, actor: Actor, wanted: Only, paused: bool) -> list[ScheduleRow]:
        """Those that are found and are not as they are to be."""
        only, now_ms = only_of(actor, wanted), self._clock.now_ms()
        found: list[ScheduleRow] = []
        if only is None:
            return found
        async for row in self._rows(only):
            if (row.pause is not None and row.pause.lasts(now_ms)) != paused:
                found.append(row)
            if len(found) > BULK_MAX:
                raise DefinitionError(
                    f"must find at most {BULK_MAX} schedules", where="filter", got="more",
                    hint="say more about which are meant",
                )  # fmt: skip
        return found

    async def _pause(
        self, actor: Actor, row: ScheduleRow, paused: bool, *, until_ms: int | None, reason: str
    ) -> None:
        schedule_id, owner, now_ms = row.schedule.schedule_id, owner_of(row), self._clock.now_ms()
        by = by_of(actor, owner, reason=reason)
        if paused:
            done = await self._ledger.pause(
                schedule_id, until_ms=until_ms, reason=reason, now_ms=now_ms, by=by
            )
        else:
            done = await self._ledger.resume(schedule_id, now_ms=now_ms, by=by)
        if not done:
            raise NotFoundError(where="schedule_id", got=schedule_id)
        kind = "schedule.paused" if paused else "schedule.resumed"
        self._tell(kind, owner, schedule_id, reason=reason)

    def _until_ms(self, until: str | None, *, paused: bool) -> int | None:
        if until is None:
            return None
        if not paused:
            raise DefinitionError(
                "goes with a pause only", where="until", got=until, hint="leave it out"
            )
        until_ms = read_instant(until, "until") * 1000
        if until_ms <= self._clock.now_ms():
            raise DefinitionError(
                "must lie ahead", where="until", got=until, hint="leave it out to pause for good"
            )
        return until_ms

    def _tell_saved(self, saved: Saved, user_id: str) -> None:
        if saved.changed:
            revision = saved.revision
            self._tell("schedule.upserted", user_id, saved.schedule_id, revision=revision)


def _upserted(saved: Saved, warnings: list[str]) -> Upserted:
    following = saved.next_nominal
    return Upserted(
        schedule_id=saved.schedule_id,
        next_run_at=None if following is None else format_instant(following),
        revision=saved.revision,
        changed=saved.changed,
        warnings=warnings,
    )
