"""
The run launcher: fetches the DAG of a run in its version, and hands it to an executor.

`launch` returns at once and the launch goes on beside the turns, a bounded number at a time, so
that a slow executor does not hold up the worker; what becomes of it is reported like an end. A DAG
that is not there is a permanent failure. When the launcher does not know whether the executor has
taken a run on, it asks again under the same key.

A run of an executor that lives elsewhere is let go as soon as it is taken on. The others are ended
when they take longer than they may.

Spec: SERVICE-14 to SERVICE-16.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never

from gnomon.apps.service.log import MAX_DURATION, ServiceLog
from gnomon.apps.service.schedule_input import Target, feedback_ms, target_of
from gnomon.core.ledger.detail import failure_line, one_line
from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.ledger.period import Kind, kind_of
from gnomon.errors import StoreError
from gnomon.ports import Claim, Clock, Ended, Failed, Launched, Report
from gnomon.ports.dag import DagStore
from gnomon.ports.executor import (
    Accepted,
    Answer,
    Executor,
    Feedback,
    FeedbackStatus,
    Meta,
    Refused,
    Unanswered,
)
from gnomon.shell.wake import all_done_within

__all__ = ["RunLauncher"]

DAGS_MAX = 256
"""How many DAGs are kept in memory."""
_SOURCES = {Kind.PERIOD: "schedule", Kind.MANUAL: "manual", Kind.BACKFILL: "backfill"}


class RunLauncher:
    """A `gnomon.ports.Launcher` over a DAG store and an executor."""

    def __init__(
        self, dags: DagStore, executor: Executor, clock: Clock, *, at_once: int = 64,
        log: ServiceLog | None = None, given: Callable[[str], Awaitable[str | None]] | None = None,
    ) -> None:  # fmt: skip
        """`given` says what a run by hand was given, by its key."""
        self._given = given
        self._dags, self._executor, self._clock = dags, executor, clock
        self._log = log
        self._room = asyncio.Semaphore(at_once)
        self._launches: dict[str, tuple[Claim, asyncio.Task[None]]] = {}
        self._asked = set[str]()
        """Keys that the executor has been asked to run, and has not answered."""
        self._held: dict[str, tuple[Claim, int]] = {}
        """Runs that end with this process, and when they began."""
        self._alarms: dict[str, asyncio.Task[None]] = {}
        self._texts: OrderedDict[tuple[str | int, ...], str] = OrderedDict()
        self._reports: list[Report] = []
        self._some = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None

    @property
    def confirms_start(self) -> bool:
        return False

    @property
    def under_way(self) -> int:
        """How many launches have no answer yet."""
        return len(self._launches)

    async def launch(self, claim: Claim) -> Launched | Failed | None:
        target = target_of(claim.schedule)
        if target is None:
            message = "the schedule names no DAG"
            return Failed(claim.key, claim.fence, message, permanent=True)
        if claim.key in self._launches or claim.key in self._held:
            return Failed(claim.key, claim.fence, "an earlier run has not ended", permanent=False)
        task = asyncio.create_task(self._launch(claim, target))
        self._launches[claim.key] = claim, task
        return None

    async def release(self, key: str) -> None:
        """Nothing waits here."""

    async def adopt(self, key: str, run_id: str) -> bool:
        return await self._executor.adopt(key, run_id)

    async def ended(self) -> Sequence[Report]:
        listener = self._listener
        if listener is None:
            listener = self._listener = asyncio.create_task(self._listen())
            listener.add_done_callback(lambda _: self._some.set())
        await self._some.wait()
        self._some.clear()
        if listener.done() and not listener.cancelled():
            listener.result()  # the executor has failed, and so do we
        reports, self._reports = self._reports, []
        return reports

    async def end(self, key: str, reason: Reason) -> bool | None:
        detached, is_asked = self._executor.detached, key in self._asked
        if detached and is_asked and reason is Reason.UNCERTAIN:
            return False  # what was asked cannot be taken back; its answer says when it began
        under_way = self._launches.get(key)
        if not (detached and is_asked):
            await self._break_off(key)  # before the question, so that nothing begins after it
        if detached and reason is Reason.UNCERTAIN:
            return True  # another worker has it now, under this very key: it is not ours to end
        over = await self._executor.kill(key, reason)
        if over is False:
            return (
                False  # it goes on; so does a launch that was asked for, which says when it began
            )
        if reason is Reason.UNCERTAIN and over:
            self._forget(key)  # its end may go unsaid, when it goes on elsewhere
        if under_way is None:
            return over
        claim, _ = under_way
        if self._launches.get(key) == under_way:
            await self._break_off(key)
        # Whether it had begun is unknown; it is over now.
        detail = f"ended while it was launched: {reason}"
        self._tell(Ended(key, claim.fence, success=False, detail=detail, reason=reason))
        return True

    async def _break_off(self, key: str) -> None:
        """Let no launch of a run go on."""
        under_way = self._launches.pop(key, None)
        if under_way is not None:
            _, task = under_way
            task.cancel()
            await asyncio.wait([task])
            self._held.pop(key, None)

    async def drain(self, *, grace_ms: int) -> None:
        tasks = [task for _, task in self._launches.values()]
        await all_done_within(self._clock, tasks, grace_ms)
        for task in tasks:
            task.cancel()
        await self._executor.drain(grace_ms=grace_ms)
        for alarm in self._alarms.values():
            alarm.cancel()

    async def _launch(self, claim: Claim, target: Target) -> None:
        async with self._room:
            began_ms = self._clock.now_ms()
            if not self._executor.detached:
                self._held[claim.key] = claim, began_ms  # its end may come before the answer
            answer = await self._answer(claim, target)
        self._launches.pop(claim.key, None)
        self._tell(self._report(claim, target, answer, began_ms))

    async def _answer(self, claim: Claim, target: Target) -> Answer:
        """What the executor says; whatever goes wrong is an answer too."""
        try:
            text = await self._dag(target.user_id, target.workflow_id, target.version)
            if text is None:
                message = f"DAG {target.workflow_id} has no version {target.version}"
                return Refused(message, permanent=True)
            kind, params = kind_of(claim.key), target.params
            if kind is Kind.MANUAL and self._given is not None:
                params = await self._given(claim.key) or params
        except StoreError as error:
            return Refused(f"the DAG cannot be read: {error}", permanent=False)
        meta = Meta(
            workflow_id=target.workflow_id, version=target.version, user_id=target.user_id,
            schedule_id=claim.schedule.schedule_id, scheduled_for=claim.nominal,
            idempotency_key=claim.key, source=_SOURCES[kind], attempt=claim.launches,
            fence=claim.fence, params=params,
        )  # fmt: skip
        self._asked.add(claim.key)
        try:
            return await self._executor.run(text, meta)
        except Exception as error:
            return Unanswered(failure_line(error))
        finally:
            self._asked.discard(claim.key)

    async def _dag(self, *name_and_version: str | int) -> str | None:
        """The text of a DAG; a version never changes, so that it is read once."""
        kept = self._texts.get(name_and_version)
        if kept is not None:
            self._texts.move_to_end(name_and_version)
            return kept
        user_id, workflow_id, version = name_and_version
        found = await self._dags.load(str(user_id), str(workflow_id), int(version))
        if found is None:
            return None
        self._texts[name_and_version] = found.text
        if len(self._texts) > DAGS_MAX:
            self._texts.popitem(last=False)
        return found.text

    def _report(
        self, claim: Claim, target: Target, answer: Answer, began_ms: int
    ) -> Launched | Failed:
        match answer:
            case Accepted(run_id=run_id):
                detached = self._executor.detached
                if not detached and target.max_duration_ms is not None:
                    self._watch_length(claim.key, target.max_duration_ms)
                length_ms = feedback_ms(claim.schedule) if detached else None
                if self._log is not None:
                    self._log.launched(claim, run_id, began_ms)
                return Launched(claim.key, claim.fence, one_line(run_id), length_ms, began_ms)
            case Refused(message, permanent, wait_ms):
                failed = Failed(
                    claim.key, claim.fence, one_line(message), permanent, wait_ms=wait_ms
                )
            case Unanswered(message):
                failed = Failed(
                    claim.key, claim.fence, one_line(message), permanent=False,
                    reason=Reason.UNCERTAIN, started_ms=began_ms,
                )  # fmt: skip
            case _:
                assert_never(answer)
        self._held.pop(claim.key, None)
        if self._log is not None:
            self._log.launch_failed(claim, failed)
        return failed

    def _watch_length(self, key: str, length_ms: int) -> None:
        """End a run of this process when it takes too long."""
        if key in self._held:
            self._alarms[key] = asyncio.create_task(self._end_late(key, length_ms))

    async def _end_late(self, key: str, length_ms: int) -> None:
        await self._clock.sleep_ms(length_ms)
        self._alarms.pop(key, None)
        if key in self._held:
            claim, _ = self._held[key]
            if self._log is not None:
                self._log.breached(claim.schedule, key, claim.nominal, MAX_DURATION)
            await self._executor.kill(key, Reason.TIMED_OUT)

    async def _listen(self) -> None:
        while True:
            for feedback in await self._executor.feedback():
                self._hear(feedback)

    def _hear(self, feedback: Feedback) -> None:
        if feedback.status is FeedbackStatus.STARTED:
            return  # its being taken on has been reported
        claim, began_ms = self._forget(feedback.key)
        fence = feedback.fence if feedback.fence is not None else claim.fence if claim else 0
        success = feedback.status is FeedbackStatus.SUCCESS
        if self._log is not None and claim is not None:
            self._log.ended(claim, success=success, detail=feedback.detail)
        self._tell(
            Ended(
                feedback.key, fence, success, one_line(feedback.detail),
                None if success else feedback.reason, feedback.run_id, began_ms, feedback.at_ms,
            )
        )  # fmt: skip

    def _forget(self, key: str) -> tuple[Claim, int] | tuple[None, None]:
        alarm = self._alarms.pop(key, None)
        if alarm is not None:
            alarm.cancel()
        return self._held.pop(key, (None, None))

    def _tell(self, report: Report) -> None:
        self._reports.append(report)
        self._some.set()
