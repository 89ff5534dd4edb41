"""
A scheduler at work on a store that it owns: from the first list of registrations to the last end.

A turn takes the writer, decides what has ended and what is due (`task_plan`), writes it, and only
then calls the callbacks. Between turns the session rests until something is due, a retry is, a run
ends or a caller rings, and never longer than 30 s. When the store fails, it tries again, and
forgets nothing meanwhile.

Spec: POLL-1 to POLL-3, STORE-1 to STORE-3, STOP-1, STOP-5, STOP-8, OWNER-3, OVERRIDE-5, LIVE-7.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gnomon.apps.declarative.journal_time import JournalTime, Timekeeper
from gnomon.apps.declarative.journal_writer import JournalWriter, Loss, Observer, init_start
from gnomon.apps.declarative.live_check import LOOK_MS, LiveCheck
from gnomon.apps.declarative.log import LogEvent, SessionLog, log
from gnomon.apps.declarative.registration import Registration, classify, resume, set_back
from gnomon.apps.declarative.runner import Run, Runner, StopLimit
from gnomon.apps.declarative.task import TaskRecord, TaskState, read_record
from gnomon.apps.declarative.task_plan import End, Step, TaskPlan
from gnomon.apps.declarative.telemetry import SchedulerTelemetry
from gnomon.errors import StopSchedulerError, StoreError
from gnomon.ports import Change, Clock, Entry, Event, Journal
from gnomon.shell.wake import Wakeup

__all__ = ["Session", "SessionOptions"]

REST_MAX_MS = 30_000
BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
BACKOFF_HELD_MAX_MS = 1_000
LAST_TRIES = 5
"""How often a session that is to end tries to write what is left, before it gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session works with, as a scheduler makes it of its own options."""

    clock: Clock
    telemetry: SchedulerTelemetry
    threads: int
    observe: Observer
    timeout_ms: int | None = None
    """How long a run may take."""
    rejects: bool = False
    """Whether a second list is turned away."""
    is_monitored: bool = True


class Session:
    """One ownership of a journal."""

    def __init__(
        self, journal: Journal, writer: JournalWriter, session_log: SessionLog,
        check: LiveCheck | None,
        given: SessionOptions, after: Mapping[str, "Future[None]"],
    ) -> None:  # fmt: skip
        self.loss = Loss()
        self._journal = journal
        self._writer = writer
        self._log = session_log
        self._check = check
        self._clock = given.clock
        self._telemetry = given.telemetry
        self._plan = TaskPlan()
        self._changed: dict[str, TaskRecord] = {}
        """The records that the clock has changed since they were written, at the beginning."""
        self._runner = Runner(
            self._on_end, threads=given.threads, clock=given.clock, timeout_ms=given.timeout_ms,
            after=after,
        )  # fmt: skip
        self._limit = StopLimit(self._runner, given.clock, lambda: self._wake.set())
        self._ends: list[End] = []
        self._wake = Wakeup()
        self._held = Wakeup()
        """Rung when nothing is to be started any more."""
        self._stop_call = 0
        """The number of the call that asked to stop, once that is written."""
        self._ended = False
        self._failures = 0
        self._polling: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    @classmethod
    async def begin(
        cls, journal: Journal, registrations: Sequence[Registration], given: SessionOptions, *,
        after: Mapping[str, "Future[None]"],
    ) -> "Session":  # fmt: skip
        """
        Own the journal and apply the registrations, as one write; nothing runs yet.

        `after` has the runs that a session before this one left behind.
        """
        head, texts = await journal.load()
        records = {name: read_record(name, text) for name, text in texts.items()}
        session_log = SessionLog(given.telemetry)
        keeper = Timekeeper(given.clock, head, session_log.clock_stepped_back)
        check = LiveCheck(given.telemetry, rejects=given.rejects) if given.is_monitored else None

        def tell(change: Change) -> None:
            if check is not None:
                check.told(change)
            given.observe(change.entries)

        writer = JournalWriter(journal, keeper, head, tell=tell)
        session = cls(journal, writer, session_log, check, given, after)
        now = keeper.time()
        session_log.began(now)
        session._changed = set_back(registrations, records, keeper.take_backs())
        records |= session._changed
        entries = [] if head.ended else [
            Entry(Event.UNEXPECTED_SHUTDOWN, head.t_ms, head.wall_ms)
        ]  # fmt: skip
        change, plan = session._application(registrations, records, now, entries)
        if check is not None:
            check.begin(head, records, registrations, now)
        await writer.acquire(change, after=head.fence, clock=given.clock)
        session._plan, session._changed = plan, {}
        session_log.resolved(classify(registrations, records))
        for record in records.values():
            if record.state is TaskState.RUNNING:
                session_log.interrupted(record)
        return session

    async def reconcile(self, registrations: Sequence[Registration]) -> None:
        """Apply another list in place: all of it, or nothing."""
        async with self._taken() as now:
            records = self._plan.records()
            change, plan = self._application(registrations, records, now, [])
            if self._check is not None:
                self._check.know(registrations)

            def follow() -> None:
                self._plan = plan
                self._log.resolved(classify(registrations, records))

            await self._writer.write(change, follow)
        self.poll()

    async def refuse(self, registrations: Sequence[Registration]) -> None:
        """Write down that a call of `initialize` was turned away."""
        async with self._taken() as now:
            call = self._writer.next_call()
            entries = [
                init_start(registrations, now, call),
                Entry(Event.INIT_FAILURE, now.t_ms, now.wall_ms, call=call),
            ]
            change = self._writer.change(now, entries, self._plan.unwritten())
            await self._writer.write(change, lambda: None)

    def poll(self) -> None:
        """Take turns from now on, for as long as there is something to wait for."""
        self._wake.set()
        # A task that was cancelled before its first step is done, and never said so.
        polls = self._polling is not None and not self._polling.done()
        if not polls and not self._plan.is_empty:
            log(logging.INFO, LogEvent.POLLING_STARTED, state="Active")
            self._polling = asyncio.create_task(self._poll(), name="gnomon polling")
        if self._check is not None and self._looking is None and not self._plan.is_empty:
            self._looking = asyncio.create_task(self._look(self._check), name="gnomon monitor")

    def own_run(self) -> Run | None:
        """The run of this session that this is called by, if it goes on."""
        return self._runner.own()

    async def others_over(self, own: Run) -> None:
        """Return when nothing runs but those that wait for the end themselves, as `own` does."""
        self._runner.ask_to_stop(own)
        await self._runner.idle_but_those_who_ask()

    def limit(self, at_ms: int) -> None:
        """From this time on, which never goes back, wait for no run: cut it short, or leave it."""
        self._limit.set(at_ms)

    @property
    def left(self) -> dict[str, "Future[None]"]:
        """The runs that go on although the session has ended."""
        return self._runner.left()

    @property
    def is_held(self) -> bool:
        return self._held.is_set

    def hold(self) -> None:
        """Start nothing any more."""
        if not self._held.is_set:
            running = len(self._plan.running)
            log(logging.DEBUG, LogEvent.POLLING_STOP_REQUESTED, state="Stopping", running=running)
        self._held.set()
        self._wake.set()

    async def end(self) -> None:
        """Let the runs end, write that down, and let go of the store; `StopSchedulerError`."""
        self.hold()
        failure: Exception | None = None
        try:
            await self._leave()
        except (StoreError, TimeoutError) as error:
            failure = error
        finally:
            self._runner.close()
            self._limit.lift()
            if self._looking is not None:
                self._looking.cancel()
            try:
                await self._journal.close()
            except StoreError as error:
                failure = failure or error
        if failure is not None:
            raise StopSchedulerError(failure) from failure

    async def turn(self) -> None:
        """Decide, write, act."""
        async with self._taken() as now:
            ends = list(self._ends)
            step = self._plan.next_step(ends, now=now, starting=not self._held.is_set)
            entries = list(step.entries)
            call = self._ask_to_stop(entries, now)
            if entries or step.records:
                change = self._writer.change(now, entries, step.records)
                await self._writer.write(change, lambda: self._follow(step, now, call))

    @asynccontextmanager
    async def _taken(self) -> AsyncIterator[JournalTime]:
        """Hold the writer, and have made of the clock what it shows."""
        async with self._writer.taken() as now:
            self._go_back(now)
            yield now

    def _go_back(self, now: JournalTime) -> None:
        """See what the clock did to what is due; nothing may be about to be written."""
        for t_ms, back in self._writer.take_backs():
            for error in self._plan.go_back(back, now=now):
                log(logging.ERROR, LogEvent.CALCULATION_FAILED, failure=error, error=str(error))
            if self._check is not None:
                self._check.go_back(t_ms, back)

    def _follow(self, step: Step, now: JournalTime, call: int, *, ended: bool = False) -> None:
        """What was decided is written: now it happens."""
        self._stop_call = call or self._stop_call
        self._ended = ended
        del self._ends[: len(step.ends)]
        for error in self._plan.apply(step, now=now):
            log(logging.ERROR, LogEvent.CALCULATION_FAILED, failure=error, error=str(error))
        self._log.stepped(step, self._writer.time())
        for start in step.starts:
            self._runner.start(start)

    def _on_end(self, end: End) -> None:
        self._ends.append(end)
        self._wake.set()

    async def _poll(self) -> None:
        try:
            while self._goes_on():
                self._wake.clear()
                rest_ms = self._rest_ms()
                if rest_ms:
                    await self._wake.wait(self._clock, rest_ms)
                else:
                    await self._try_turn()
        finally:
            # Nothing may be awaited between the last look and this, or `poll` would be fooled.
            self._polling = None
            log(logging.INFO, LogEvent.POLLING_STOPPED, state="Inactive")

    async def _look(self, check: LiveCheck) -> None:
        """Let the live check look, whatever the polling does, for as long as the store is ours."""
        while self.loss.error is None:
            await self._clock.sleep_ms(LOOK_MS)
            now, is_free = self._writer.time(), self._writer.is_free
            if is_free:
                self._go_back(now)
            check.look(now, is_free=is_free)

    def _goes_on(self) -> bool:
        if self.loss.error is not None or self._runner.is_given_up:
            return False
        if self._ends:
            return not self._held.is_set or self._failures < LAST_TRIES
        return bool(self._plan.running) or not (self._held.is_set or self._plan.is_empty)

    def _rest_ms(self) -> int:
        """How long there is nothing to do, unless a caller rings; 0 when a turn is to be taken."""
        if self._ends or self._writer.is_in_doubt:
            return 0
        if self._held.is_set:
            return REST_MAX_MS if self._stop_call else 0
        now = self._writer.time()
        if self._writer.has_gone_back:
            return 0
        rest_ms = self._plan.rest_ms(now)
        return REST_MAX_MS if rest_ms is None else min(rest_ms, REST_MAX_MS)

    async def _try_turn(self) -> None:
        """A turn; when it fails, return when the time to try again has come."""
        try:
            await self.turn()
        except Exception as error:
            if not self.loss.is_due_to(error):
                await self._back_off(error)
        else:
            if self._failures:
                log(logging.INFO, LogEvent.STORE_RECOVERED, failures=self._failures)
                self._failures = 0

    async def _back_off(self, error: Exception) -> None:
        self._telemetry.store_errors += 1
        wait_ms = min(BACKOFF_MS * 2 ** min(self._failures, 20), BACKOFF_MAX_MS)
        self._failures += 1
        stored = isinstance(error, StoreError)
        log(
            logging.WARNING if stored else logging.ERROR,
            LogEvent.STORE_FAILED if stored else LogEvent.TURN_FAILED,
            failure=None if stored else error, error=str(error), failures=self._failures,
            wait_ms=wait_ms,
        )  # fmt: skip
        if self._held.is_set:
            await self._clock.sleep_ms(min(wait_ms, BACKOFF_HELD_MAX_MS))
        else:
            await self._held.wait(self._clock, wait_ms)

    async def _leave(self) -> None:
        """Wait for the runs, and write what is left: their ends, and that nothing runs."""
        if self._polling is not None:
            await asyncio.wait([self._polling])
        tries = LAST_TRIES
        while True:
            await self._runner.idle()
            if self.loss.error is not None:
                raise self.loss.error
            try:
                if await self._write_stop_end():
                    return
                if self._runner.is_given_up:
                    raise self._limit.exceeded(self._plan.running)
            except StoreError as error:
                tries -= 1
                if not tries:
                    raise
                if not self.loss.is_due_to(error):
                    await self._back_off(error)

    async def _write_stop_end(self) -> bool:
        """Write that nothing runs; False when a start that was in doubt was made, and goes on."""
        async with self._taken() as now:
            if self._ended:  # it was written after all
                return True
            step = self._plan.next_step(list(self._ends), now=now, starting=False)
            over = len(step.ends) == len(self._plan.running)
            entries = list(step.entries)
            call = self._ask_to_stop(entries, now) or self._stop_call
            if over:
                entries.append(Entry(Event.STOP_END, now.t_ms, now.wall_ms, call=call))
            change = self._writer.change(now, entries, step.records, ended=over)
            await self._writer.write(change, lambda: self._follow(step, now, call, ended=over))
            return over

    def _ask_to_stop(self, entries: list[Entry], now: JournalTime) -> int:
        """Add that a stop was asked for, if it was and that is not written yet; else 0."""
        if self._stop_call or not self._held.is_set:
            return 0
        call = self._writer.next_call()
        entries.append(Entry(Event.STOP_START, now.t_ms, now.wall_ms, call=call))
        return call

    def _application(
        self, registrations: Sequence[Registration], records: dict[str, TaskRecord],
        now: JournalTime, entries: Sequence[Entry],
    ) -> tuple[Change, TaskPlan]:  # fmt: skip
        """What applying a list writes, and the task plan that it gives."""
        after = resume(
            registrations, records, now=now, identifier=self._writer.identifier,
            running=self._plan.running,
        )  # fmt: skip
        plan = self._plan.prepare(registrations, after, now)
        call = self._writer.next_call()
        success = Entry(Event.INIT_SUCCESS, now.t_ms, now.wall_ms, call=call)
        unwritten = self._changed or self._plan.unwritten()
        changed: dict[str, TaskRecord | None] = {
            name: record
            for name, record in after.items()
            if record != records.get(name) or name in unwritten
        }
        changed |= {name: None for name in records if name not in after}
        written = [*entries, init_start(registrations, now, call), success]
        return self._writer.change(now, written, changed), plan
