"""
The people of a world: what they do to its schedules, and when.

They pause and resume, save a definition again, ask for runs, leave one out, end one, and delete a
schedule. What they do they do at an instant of the world; or in the middle of a worker's turn, when
it has loaded a schedule and not written its plan. The record knows of all of it.

Spec: SIM-1, SIM-19.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from gnomon.apps.service.feedback import FeedbackResult, record_feedback
from gnomon.core.schedule_record import read_schedule
from gnomon.ports import By, Ledger, RunRow
from gnomon.ports.executor import Feedback, FeedbackStatus
from gnomon.simulation.ledger.launcher import Way
from gnomon.simulation.ledger.record import Deleted, Effect, Paused, Record, Seen
from gnomon.simulation.ledger.workload import AskPlan, EditPlan, PausePlan, Workload

__all__ = ["LOOKS", "LOOK_MS", "People"]

LOOKS, LOOK_MS = 20, 1_500
"""How often, and how far apart, a caller looks for a run that may be running."""
_GIVEN = ((None,), ('{"try":1}',), ('{"try":1}', '{"try":2}'))
"""The parameters of a run that is asked for, once or twice: the first ones count."""

_Act = Callable[[], Coroutine[None, None, None]]


class People:
    """What is done to the schedules of one world."""

    def __init__(
        self, ledger: Ledger, workload: Workload, record: Record, loop: asyncio.AbstractEventLoop,
        now_ms: Callable[[], int], later: Callable[[int, Callable[[], None]], asyncio.TimerHandle],
    ) -> None:  # fmt: skip
        self._ledger, self._workload, self._record, self._loop = ledger, workload, record, loop
        self._now_ms, self._later = now_ms, later
        self._errands: list[asyncio.Task[None]] = []
        self._interjections: dict[str, list[_Act]] = {}
        """By schedule, what is done to it when it has been loaded."""

    def plan(self) -> None:
        """Have everything done in its time."""
        for pause in self._workload.pauses:
            self._plan_pause(pause)
        for edit in self._workload.edits:
            self._plan_edit(edit)
        for ask in self._workload.asks:
            self._plan_ask(ask)

    async def interject(self, schedule_ids: Sequence[str]) -> None:
        for schedule_id in schedule_ids:
            for act in self._interjections.pop(schedule_id, ()):
                self._record.hit("definition saved between a look and its commit")
                await act()

    def call_back(self, effect: Effect) -> None:
        """Have the service hear from an executor elsewhere that a run is over, at once."""
        word = FeedbackStatus.SUCCESS if effect.success else FeedbackStatus.FAILED

        async def hear() -> None:
            row = await self._ledger.run(effect.key)
            said, now_ms = Feedback(effect.key, word, effect.run_id), self._now_ms()
            heard = await record_feedback(self._ledger, said, now_ms=now_ms)
            self._record.hit(f"executor called back: {heard}")
            grant = self._record.newest_grant(effect.key)
            if heard is FeedbackResult.ACCEPTED and row is not None and grant is not None:
                grant.is_closed = True
                no = self._record.next_no()
                self._record.reports.append(Seen(effect.key, row.fence, "Ended", True, no))

        self._do_later(0, hear)

    def _plan_pause(self, plan: PausePlan) -> None:
        async def pause() -> None:
            now_ms = self._now_ms()
            until_ms = None if plan.length_ms is None else now_ms + plan.length_ms
            self._record.pauses.append(Paused(plan.schedule_id, now_ms, until_ms))
            self._record.hit("paused")
            await self._ledger.pause(
                plan.schedule_id, until_ms=until_ms, reason="test", now_ms=now_ms
            )

        async def resume() -> None:
            self._record.hit("resumed")
            await self._ledger.resume(plan.schedule_id, now_ms=self._now_ms())

        self._do_later(plan.at, pause)
        if plan.resume_at is not None:
            self._do_later(plan.resume_at, resume)

    def _plan_edit(self, plan: EditPlan) -> None:
        async def edit() -> None:
            records = {str(one["schedule_id"]): one for one in self._workload.schedules}
            record = dict(records[plan.schedule_id])
            if plan.turns:
                await self._look_for_unsure(plan.schedule_id, LOOKS)
                record["overlap_policy"] = "replace"
            if plan.changes:
                record["launches_max"] = 5
            has_another = plan.lease not in (None, record["lease"])
            if has_another:
                record["lease"] = plan.lease
            if plan.changes or plan.turns or has_another:
                self._record.edited.append(plan.schedule_id)
            if plan.schedule_id in self._record.deleted:
                return  # it would be there again
            now_ms = self._now_ms()
            saved = await self._ledger.save(read_schedule(record), now_ms=now_ms)
            self._record.in_force_ms[plan.schedule_id].append(now_ms)
            if plan.turns:
                self._record.turned[plan.schedule_id] = self._record.next_no()
                self._record.hit("runs that overlapped replace each other")
            if has_another:
                self._record.leases.setdefault(plan.schedule_id, []).append(str(plan.lease))
                self._record.hit("lease changed")
            self._record.hit("definition changed" if saved.changed else "definition saved again")

        async def wait_for_a_look() -> None:
            self._interjections.setdefault(plan.schedule_id, []).append(edit)

        self._do_later(plan.at, wait_for_a_look if plan.between else edit)

    def _plan_ask(self, plan: AskPlan) -> None:
        """A caller asks for a run, a few of the past, to leave one out, or to end one."""
        name = plan.schedule_id

        async def ask() -> None:
            ledger, record, now_ms = self._ledger, self._record, self._now_ms()
            record.hit(f"asked for: {plan.what}")
            if plan.what == "delete":
                await ledger.delete(name, now_ms=now_ms)
                record.deleted[name] = Deleted(now_ms, record.next_no())
            elif name in record.deleted and plan.what != "kill":
                return
            elif plan.what == "manual":
                await self._trigger(name, plan.at, now_ms)
            elif plan.what == "backfill":
                nominals = [now_ms // 1000 - 86_400 - number for number in range(3)]
                await ledger.backfill(name, name=f"b{plan.at}", nominals=nominals, now_ms=now_ms)
                record.asked += [(name, f"backfill:{name}:b{plan.at}:{one}") for one in nominals]
            elif plan.what == "skip":
                nominal = await ledger.skip_next(name, now_ms=now_ms)
                if nominal is not None:
                    record.left_out.add((name, nominal))
            else:
                await self._kill_one(name, patient=plan.at % 4 > 0)

        self._do_later(plan.at, ask)

    async def _trigger(self, name: str, at: int, now_ms: int) -> None:
        """Ask for a run, mostly with parameters, and often for the same run again with others."""
        key, given = f"manual:{name}:m{at}", _GIVEN[at % len(_GIVEN)]
        for params in given:
            await self._ledger.trigger(name, name=f"m{at}", now_ms=now_ms, params=params)
        self._record.asked.append((name, key))
        if given[0] is not None:
            self._record.given.setdefault(key, given[0])

    async def _kill_one(self, name: str, *, patient: bool) -> None:
        """End a run that may be running and no worker holds, if there is one soon; or another."""
        looks = LOOKS if patient and self._workload.way is Way.KEYED else 1
        rows, unsure = await self._look_for_unsure(name, looks)
        for row in (unsure or rows)[:1]:
            self._record.hit(
                f"asked to end what {'may be running' if unsure else f'is {row.state}'}"
            )
            await self._ledger.kill(row.key, by=By("somebody"), now_ms=self._now_ms())
            self._record.killed.setdefault(row.key, self._record.next_no())

    async def _look_for_unsure(self, name: str, looks: int) -> tuple[list[RunRow], list[RunRow]]:
        """The runs that are not over, and those that may be running and that no worker holds."""
        for left in reversed(range(looks)):
            rows = [row for row in await self._ledger.runs(name, limit=20) if row.state != "done"]
            unsure = [row for row in rows if row.state == "planned" and row.outcome is not None]
            if unsure or not left:
                break
            await asyncio.sleep(LOOK_MS / 1000)
        return rows, unsure

    def _do_later(self, length_ms: int, act: Callable[[], Coroutine[None, None, None]]) -> None:
        def begin() -> None:
            self._errands.append(self._loop.create_task(act()))

        self._later(length_ms, begin)
