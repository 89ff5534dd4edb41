"""
The operator at work: it watches, keeps the time, and has a pass made over each KronJob in turn.

Its world is two ports, the API server and the clock, so that the same code works on a cluster and
in simulated worlds. What a pass decides is not its business: it gives the pass a view and carries
its questions. A pass may be left at any question, and is, when it takes too long or the operator is
told to stop.

A KronJob is looked at when it or one of its Jobs changes, in its chosen seconds, after trouble, and
now and then for no reason at all. Where a Lease chooses one of several operators, the others watch
and wait.

Spec: OPERATOR-31, OPERATOR-33, OPERATOR-34.
"""

import asyncio
import logging
from collections.abc import Set
from typing import NamedTuple

from gnomon.apps.operator.asking import Agreement, Asking, Heard, Question, Verdict
from gnomon.apps.operator.figures import Figures
from gnomon.apps.operator.herald import Herald
from gnomon.apps.operator.job import CHOSEN, KRONJOB_LABEL, read_job
from gnomon.apps.operator.leader import Elector
from gnomon.apps.operator.notice import event_of
from gnomon.apps.operator.one_pass import one_pass
from gnomon.apps.operator.server_clock import ServerClock
from gnomon.apps.operator.work_queue import WorkQueue
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.ports.kubernetes import (
    Answer,
    ApiServer,
    Denied,
    Done,
    Find,
    Found,
    JsonPatch,
    Kind,
    Object,
)
from gnomon.ports.kubernetes_object import at, digest, mapping, number, text
from gnomon.shell.kubernetes.mirror import Mirror
from gnomon.shell.observe.log import log
from gnomon.shell.wake import Wakeup

__all__ = ["LOOK_MS", "PASSES_MAX", "PASS_MS", "Controller", "LeaseAt"]

PASSES_MAX = 32
"""Passes under way at a time, each over another KronJob."""
PASS_MS = 10_000
"""A pass that takes longer is left, and made anew."""
LOOK_MS = 600_000
"""No KronJob is left alone for longer than that."""

_SLEEP_MS = 5_000  # so soon a clock that was set is noticed
_SET_MS = 2_000


class LeaseAt(NamedTuple):
    """Where the Lease lies that chooses one of several operators."""

    namespace: str
    name: str


class Controller:
    """One operator, for all namespaces or for one."""

    def __init__(
        self, api: ApiServer, clock: Clock, *, reporter: str, namespace: str | None = None,
        lease: LeaseAt | None = None,
    ) -> None:  # fmt: skip
        self._api, self._clock, self._reporter = api, clock, reporter
        self.figures = Figures()
        self.queue = WorkQueue()
        self.kronjobs = Mirror(
            api, clock, Find(Kind.KRONJOB, namespace),
            group_of=_own, slim=_slim_kronjob, changed=self._kronjob_changed,
        )  # fmt: skip
        self.jobs = Mirror(
            api, clock, Find(Kind.JOB, namespace, {KRONJOB_LABEL: None}),
            group_of=_owner_of, slim=_slim_job, changed=self._jobs_changed,
        )  # fmt: skip
        self.elector: Elector | None = None
        if lease is not None:
            self.elector = Elector(
                api, clock, namespace=lease.namespace, name=lease.name, identity=reporter,
                changed=self._leader_changed,
            )  # fmt: skip
        self._herald = Herald(api, clock, self.figures)
        self._server_clock = ServerClock()
        self._wakeup = Wakeup()
        self._passes: set[asyncio.Task[None]] = set()
        self._generations: dict[str, object] = {}
        self._troubles: dict[str, str] = {}
        """What stood in the way of the last pass over a KronJob, and of watches and the Lease."""
        self._offset_ms: int | None = None
        self._is_stopping = False
        self.turned_ms: int | None = None
        """When it last looked for what there is to do, on the monotonic clock."""

    @property
    def leads(self) -> bool:
        """Whether this operator is the one that works."""
        return self.elector is None or self.elector.leads

    @property
    def is_synced(self) -> bool:
        return self.kronjobs.alive_ms is not None and self.jobs.alive_ms is not None

    def stop(self) -> None:
        """Begin no pass any more; `run` returns when those under way have ended."""
        self._is_stopping = True
        self._wakeup.set()

    async def run(self, *, grace_ms: int = PASS_MS) -> None:
        """Work until stopped; when cancelled, leave everything where it is."""
        works = [self.kronjobs.run(), self.jobs.run(), self._herald.run()]
        if self.elector is not None:
            works.append(self.elector.run())
        beside = [asyncio.ensure_future(one) for one in works]
        for one in beside:
            one.add_done_callback(lambda _: self._wakeup.set())
        try:
            while not self._is_stopping:
                for one in beside:
                    if one.done():
                        one.result()
                        raise AssertionError("what works beside ends only with the operator")
                await self._turn()
            await self._finish(grace_ms)
        finally:
            for task in (*beside, *self._passes):
                task.cancel()
            await asyncio.gather(*beside, *self._passes, return_exceptions=True)

    async def _turn(self) -> None:
        """Begin the passes that are due, and wait for the next."""
        self._wakeup.clear()
        self._see_clock()
        self._see_troubles()
        now_ms = self._clock.now_ms()
        self.turned_ms = self._clock.monotonic_ms()
        wait_ms = _SLEEP_MS
        if self.leads and self.is_synced:
            while len(self._passes) < PASSES_MAX and (uid := self.queue.take(now_ms)):
                self._begin(uid)
            next_ms = self.queue.next_ms()
            if next_ms is not None and len(self._passes) < PASSES_MAX:
                wait_ms = min(max(next_ms - now_ms, 0), _SLEEP_MS)
        await self._wakeup.wait(self._clock, wait_ms)

    async def _finish(self, grace_ms: int) -> None:
        """Let passes come to their end, tell what is still to be told, and give the Lease back."""
        log(logging.INFO, "stopping", passes=len(self._passes))
        alarm = asyncio.ensure_future(self._clock.sleep_ms(grace_ms))
        ending = asyncio.ensure_future(self._end_well())
        try:
            await asyncio.wait({alarm, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            ending.cancel()
            await asyncio.gather(alarm, ending, return_exceptions=True)

    async def _end_well(self) -> None:
        if self._passes:
            await asyncio.wait(self._passes)
        if self.elector is not None:
            await self.elector.resign()
        await self._herald.flush()

    def _begin(self, uid: str) -> None:
        task = asyncio.ensure_future(self._look_at(uid))
        self._passes.add(task)
        task.add_done_callback(self._passes.discard)
        task.add_done_callback(lambda _: self._wakeup.set())

    async def _look_at(self, uid: str) -> None:
        """One pass over one KronJob, and what follows from it."""
        kronjob = next(iter(self.kronjobs.of(uid)), None)
        if kronjob is None:
            self.queue.forget(uid)
            self._generations.pop(uid, None)
            self._troubles.pop(uid, None)
            return
        now_ms = self._clock.now_ms()
        asking = Asking(kronjob, self.jobs.of(uid), now_ms=now_ms, clock=self._agreement())
        name, held_ms = f"{asking.namespace}/{asking.name}", 0
        try:
            verdict, held_ms = await self._drive(asking)
        except Exception as error:  # one KronJob never takes the others along
            self.figures.bugs += 1
            log(logging.ERROR, "a pass failed", failure=error, kronjob=name)
            verdict = Verdict(trouble=f"a bug in Gnomon: {type(error).__name__}: {error}")
        finally:
            self._fold(asking)
            self._tell(asking)
        now_ms = self._clock.now_ms()
        self._note(uid, name, verdict, {notice.message for notice in asking.notices})
        wake_ms = now_ms + LOOK_MS - int(digest(uid)[:4], 16) % (LOOK_MS // 2)
        if verdict.wake is not None:
            wake_ms = min(wake_ms, verdict.wake * 1000)
        if verdict.again:
            wake_ms = now_ms
        self.queue.done(
            uid, now_ms, wake_ms=wake_ms, trouble=bool(verdict.trouble), held_ms=held_ms
        )

    async def _drive(self, asking: Asking) -> tuple[Verdict, int]:
        """Carry the questions of a pass; how long the server wants to be left alone."""
        steps = one_pass(asking)
        began_ms, held_ms = self._clock.monotonic_ms(), 0
        try:
            question = next(steps)
            while True:
                if self._clock.monotonic_ms() - began_ms > PASS_MS:
                    return Verdict(again=True), held_ms
                asked_ms, since_ms = self._clock.now_ms(), self._clock.monotonic_ms()
                answer = await self._ask(question)
                heard_ms, monotonic_ms = self._clock.now_ms(), self._clock.monotonic_ms()
                if isinstance(answer, Denied) and answer.retry_after_ms:
                    held_ms = max(held_ms, answer.retry_after_ms)
                self._server_clock.see(
                    getattr(answer, "at", None), asked_ms=asked_ms, heard_ms=heard_ms,
                    took_ms=monotonic_ms - since_ms, monotonic_ms=monotonic_ms,
                )  # fmt: skip
                question = steps.send(Heard(answer, heard_ms, self._agreement()))
                self._fold(asking)  # before the watch tells of it, so that it is no news
        except StopIteration as stop:
            verdict: Verdict = stop.value
            return verdict, held_ms
        finally:
            steps.close()

    async def _ask(self, question: Question) -> Answer | Found:
        answer = await (
            self._api.find(question) if isinstance(question, Find) else self._api.send(question)
        )
        self.figures.asked(question, answer)
        if isinstance(question, JsonPatch) and isinstance(answer, Done):
            chosen = _instant(text(answer.object, "metadata", "annotations", CHOSEN))
            if chosen is not None:
                self.figures.lag.add(self._clock.now_ms() - chosen * 1000)
        return answer

    def _fold(self, asking: Asking) -> None:
        """Keep what a pass has seen; also of one that was left."""
        while asking.touched:
            one = asking.touched.pop(0)
            (self.kronjobs if text(one, "kind") == "KronJob" else self.jobs).fold(one)

    def _tell(self, asking: Asking) -> None:
        """Tell what a pass has to tell; each of it is certain."""
        for notice in asking.notices:
            self.figures.told[notice.told.value] += 1
            level = logging.WARNING if notice.is_warning else logging.INFO
            name = f"{asking.namespace}/{asking.name}"
            log(level, notice.told.value, kronjob=name, message=notice.message)
            self._herald.tell(
                event_of(asking.kronjob, notice, now=asking.now, reporter=self._reporter)
            )

    def _note(self, uid: str, name: str, verdict: Verdict, told: Set[str]) -> None:
        """
        Count a pass, and say of trouble when it comes, when it changes, and when it is over.

        What the pass has told in these words is not said again.
        """
        self.figures.passes += 1
        former = self._troubles.pop(uid, "")
        if verdict.trouble:
            self.figures.passes_in_trouble += 1
            self._troubles[uid] = verdict.trouble
            if verdict.trouble not in (former, *told):
                log(logging.WARNING, "trouble", kronjob=name, message=verdict.trouble)
        elif former:
            log(logging.INFO, "trouble is over", kronjob=name)

    def _kronjob_changed(self, uid: str) -> None:
        """It was made, edited or deleted, or its status was written by another."""
        kronjob = next(iter(self.kronjobs.of(uid)), None)
        generation = kronjob and (
            number(kronjob, "metadata", "generation"), at(kronjob, "metadata", "deletionTimestamp")
        )  # fmt: skip
        if self._generations.get(uid) != generation:
            self._generations[uid] = generation
            self.queue.forgive(uid)
        self._jobs_changed(uid)

    def _jobs_changed(self, uid: str) -> None:
        if uid:
            self.queue.add(uid, self._clock.now_ms())
            self._wakeup.set()

    def _leader_changed(self) -> None:
        assert self.elector is not None
        event = "leading" if self.leads else "another operator leads"
        log(logging.INFO, event, holder=self.elector.holder)
        self._wakeup.set()

    def _agreement(self) -> Agreement:
        return self._server_clock.agreement(
            now_ms=self._clock.now_ms(), monotonic_ms=self._clock.monotonic_ms()
        )

    def _see_troubles(self) -> None:
        """Say when nothing is heard of the server any more, and when it is again."""
        for what, one in (
            ("kronjobs", self.kronjobs),
            ("jobs", self.jobs),
            ("lease", self.elector),
        ):
            trouble = "" if one is None else one.trouble
            former = self._troubles.pop(what, "")
            if trouble:
                self._troubles[what] = trouble
            if trouble != former:
                event = f"no sight of {what}" if trouble else f"{what} are seen again"
                log(logging.WARNING if trouble else logging.INFO, event, message=trouble or "-")

    def _see_clock(self) -> None:
        """Whether the clock on the wall was set since the last look."""
        now_ms = self._clock.now_ms()
        offset_ms = now_ms - self._clock.monotonic_ms()
        if self._offset_ms is not None and abs(offset_ms - self._offset_ms) > _SET_MS:
            self.figures.clock_jumps += 1
            log(logging.WARNING, "the clock was set", step_ms=offset_ms - self._offset_ms)
            self.queue.all_now(now_ms)
        self._offset_ms = offset_ms


def _own(kronjob: Object) -> str:
    return text(kronjob, "metadata", "uid")


def _owner_of(job: Object) -> str:
    return read_job(job).owner


def _slim_kronjob(kronjob: Object) -> Object:
    return {**kronjob, "metadata": _without_fields(kronjob)}


def _slim_job(job: Object) -> Object:
    """What a pass reads of a Job; its template stays with the server."""
    spec = {"suspend": at(job, "spec", "suspend")}
    return {**job, "metadata": _without_fields(job), "spec": spec}


def _without_fields(one: Object) -> Object:
    return {key: value for key, value in mapping(one, "metadata").items() if key != "managedFields"}


def _instant(written: str) -> int | None:
    try:
        return to_epoch(parse_instant(written))
    except DefinitionError:
        return None
