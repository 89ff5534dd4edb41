"""
The declarative scheduler: hand over a list of what is to run when, and stop.

    scheduler = gnomon.Scheduler("gnomon.sqlite3")
    await scheduler.initialize([("backup", "0 3 * * *", backup, timedelta(minutes=5))])
    ...
    await scheduler.stop()

This module is the life of a scheduler: which call waits for which, and what a failure leaves. What
is to run is decided in `task_plan`, and carried out by a `Session`.

Spec: INIT-1 to INIT-10, STOP-1 to STOP-5, STOP-7 to STOP-9, OWNER-1 to OWNER-4.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import timedelta
from enum import StrEnum
from os import PathLike, fspath

from gnomon.apps.declarative.callback import Function, read_timeout
from gnomon.apps.declarative.journal_writer import Observer
from gnomon.apps.declarative.log import LogEvent, log
from gnomon.apps.declarative.registration import Registration, read_registrations
from gnomon.apps.declarative.session import Session, SessionOptions
from gnomon.apps.declarative.telemetry import SchedulerTelemetry
from gnomon.core.civil.zone import load_zone
from gnomon.core.recurrence import Recurrence
from gnomon.errors import (
    DefinitionError,
    IncompatibleStateError,
    SchedulerAlreadyActiveError,
    ScheduleTaskError,
    StopSchedulerError,
    StoreError,
    StoreHeldError,
)
from gnomon.ports import Clock, Entry, Journal, JournalOpener
from gnomon.shell.clock import SystemClock
from gnomon.shell.host_zone import host_zone
from gnomon.shell.settings import environment
from gnomon.shell.store.file_name import check_file_name
from gnomon.shell.store.journal import DEFAULT_NAMESPACE, ENTRIES_KEPT, SqliteJournalOpener

__all__ = ["DEFAULT_STORE", "Scheduler", "SchedulerState"]

DEFAULT_STORE = "gnomon.sqlite3"
STANDBY_MS = 500
"""How often a scheduler on standby looks whether the store has become free."""

THREADS = 16
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")

RegistrationTuple = tuple[str, str | Recurrence, Function, timedelta]


class SchedulerState(StrEnum):
    """Where a scheduler stands in its life."""

    UNINITIALIZED = "Uninitialized"
    INITIALIZING = "Initializing"
    RUNNING = "Running"
    REINITIALIZING = "Reinitializing"
    STOPPING = "Stopping"
    STOPPED = "Stopped"


class Reinitialize(StrEnum):
    """What `initialize` does while the scheduler runs."""

    RECONCILE = "reconcile"
    REJECT = "reject"


class Scheduler:
    """
    Runs callbacks when they are due, and knows after a crash what it owes.

    `store` is a file, the URL of a PostgreSQL database (the extra `postgres`), or `":memory:"` for
    one that lives as long as this object. `zone` is the zone
    that cron texts are read in, the host's unless named. `reinitialize` says what `initialize` does
    while running: `"reconcile"` applies the new list in place, `"reject"` raises. With `standby`,
    `initialize` waits while another process owns the store. `threads` bounds how many callbacks
    that are no coroutines run at once, `timeout` how long a run may take, and `kept` how many
    entries the journal keeps. With `monitor`, the axioms of `gnomon.theory` are watched: one that
    is broken is logged and counted.
    """

    def __init__(
        self, store: str | PathLike[str] = DEFAULT_STORE, *, zone: str | None = None,
        reinitialize: str = "reconcile", standby: bool = False,
        namespace: str = DEFAULT_NAMESPACE, threads: int = THREADS, kept: int = ENTRIES_KEPT,
        timeout: timedelta | str | None = None,
        telemetry: SchedulerTelemetry | None = None, clock: Clock | None = None,
        journal: JournalOpener | None = None, observe: Observer | None = None,
        monitor: bool = True,
    ) -> None:  # fmt: skip
        if zone is not None:
            load_zone(zone)
        _check_count("threads", threads, at_least=0)
        _check_count("kept", kept, at_least=1)
        self._zone = zone
        self._reinitialize = _reinitialize(reinitialize)
        self._standby = standby
        self._clock = clock or SystemClock()
        self._given = SessionOptions(
            clock=self._clock,
            telemetry=telemetry or SchedulerTelemetry(),
            threads=threads,
            timeout_ms=read_timeout(timeout, where="timeout"),
            observe=observe or _unobserved,
            rejects=self._reinitialize is Reinitialize.REJECT,
            is_monitored=monitor,
        )
        self._opener = journal or _opener(store, namespace, kept, threaded=clock is None)
        self._state = SchedulerState.UNINITIALIZED
        self._session: Session | None = None
        self._ending: Session | None = None
        """The session that is coming to its end."""
        self._left: dict[str, Future[None]] = {}
        """Runs that a stop did not wait for."""
        self._stopping: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._stops = 0
        """How many calls of `stop` are under way."""
        self._abandoned = 0
        """How many calls of `initialize` were cancelled and are still under way."""

    async def initialize(self, registrations: Sequence[RegistrationTuple]) -> None:
        """
        Run these from now on: tuples of name, cron expression, callback and retry delay.

        The list is checked first, and an error in it changes nothing. When this returns, the list
        is stored and in force. Cancelling it leaves things as they were.
        """
        try:
            read = read_registrations(registrations, zone=self._zone or self._host_zone())
        except DefinitionError as error:
            self._log(LogEvent.INITIALIZATION_FAILED, logging.ERROR, error=str(error))
            raise
        work = asyncio.create_task(self._initialize(read))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await self._abandon(work)
            raise

    async def stop(self, *, within: timedelta | str | None = None) -> None:
        """
        Start nothing more, wait for what runs, and let go of the store; a no-op when stopped.

        After `within`, coroutines are cancelled; what still runs a second later is left behind
        with a `StopSchedulerError`, and counts as cut off by a crash. Cancelling this call ends the
        waiting at once, and the stop goes on by itself. In a callback it waits for all runs but
        those that have called it too.
        """
        limit_ms = read_timeout(within, where="within", least=timedelta(0))
        until_ms = None if limit_ms is None else self._clock.monotonic_ms() + limit_ms
        session = self._session or self._ending
        if session is not None:
            self._hold(session)
            if until_ms is not None:
                session.limit(until_ms)
        self._stops += 1
        work = asyncio.create_task(self._stop(until_ms), name="gnomon stop")
        self._stopping.add(work)
        work.add_done_callback(self._forget)
        own = None if session is None else session.own_run()
        if session is None or own is None:
            await asyncio.shield(work)
            return
        others = asyncio.create_task(session.others_over(own), name="gnomon stop of a run")
        try:
            await asyncio.wait([work, others], return_when=asyncio.FIRST_COMPLETED)
            if work.done() or own.is_over:
                await asyncio.shield(work)
        finally:
            others.cancel()

    def _host_zone(self) -> str:
        return host_zone(environment(), now=self._clock.now_ms() // 1000)

    async def _initialize(self, registrations: list[Registration]) -> bool:
        """Whether the scheduler was brought to life by this call."""
        async with self._lock:
            if self._session is not None and self._session.loss.error is not None:
                await self._put_down()
            if self._session is None:
                await self._begin(registrations)
                return True
            await self._begin_again(self._session, registrations)
            return False

    async def _abandon(self, work: "asyncio.Task[bool]") -> None:
        """The caller has gone: let it come to its end and, if it was a beginning, undo it."""
        self._abandoned += 1
        try:
            await asyncio.wait([work])
        finally:
            self._abandoned -= 1
        if not work.cancelled() and work.exception() is None and work.result():
            await self.stop()

    async def _begin(self, registrations: list[Registration]) -> None:
        self._state = SchedulerState.INITIALIZING
        self._log(LogEvent.INITIALIZATION_STARTED, tasks=len(registrations))
        journal: Journal | None = None
        try:
            journal = await self._own()
            session = await Session.begin(journal, registrations, self._given, after=self._left)
            self._left = {}
        except BaseException as error:
            self._state = SchedulerState.UNINITIALIZED
            self._log(LogEvent.INITIALIZATION_FAILED, logging.ERROR, error=str(error))
            if journal is not None:
                await _close(journal)
            if isinstance(error, StoreError | IncompatibleStateError):
                raise _not_scheduled(registrations, error) from error
            raise
        self._session, self._state = session, SchedulerState.RUNNING
        self._log(LogEvent.INITIALIZATION_COMPLETED, tasks=len(registrations))
        if not self._stops:
            session.poll()

    async def _own(self) -> Journal:
        """Open the store; when another owns it, wait or give up."""
        waiting = False
        while True:
            try:
                return await self._opener.open()
            except StoreHeldError as error:
                if not self._standby or self._stops or self._abandoned:
                    raise SchedulerAlreadyActiveError(
                        "running", store=self._opener.name, owner=error.holder
                    ) from error
                if not waiting:
                    waiting = True
                    self._log(LogEvent.STANDBY, owner=error.holder)
            await self._clock.sleep_ms(STANDBY_MS)

    async def _begin_again(self, session: Session, registrations: list[Registration]) -> None:
        if self._reinitialize is Reinitialize.REJECT:
            try:
                await session.refuse(registrations)
            except StoreError as error:  # the answer is the same whether it is written or not
                log(logging.WARNING, LogEvent.STORE_FAILED, error=str(error))
            raise SchedulerAlreadyActiveError("running")
        self._state = SchedulerState.REINITIALIZING
        self._log(LogEvent.REINITIALIZATION_STARTED, tasks=len(registrations))
        try:
            await session.reconcile(registrations)
        except StoreError as error:
            self._log(LogEvent.REINITIALIZATION_FAILED, logging.ERROR, error=str(error))
            await self._put_down()
            raise _not_scheduled(registrations, error) from error
        except BaseException:
            self._state = SchedulerState.RUNNING
            raise
        self._state = SchedulerState.RUNNING
        self._log(LogEvent.REINITIALIZATION_COMPLETED, tasks=len(registrations))

    async def _put_down(self) -> None:
        """The store is of no use any more: let the runs end, and be as before the beginning."""
        session, self._session = self._session, None
        assert session is not None
        try:
            await self._end(session)
        except StopSchedulerError as error:
            self._log(LogEvent.STOP_FAILED, logging.ERROR, error=str(error))
        finally:
            self._state = SchedulerState.UNINITIALIZED

    async def _end(self, session: Session) -> None:
        self._ending = session
        try:
            await session.end()
        finally:
            self._ending = None
            self._left |= session.left

    async def _stop(self, until_ms: int | None) -> None:
        async with self._lock:
            try:
                session, self._session = self._session, None
                if session is None:
                    return
                self._hold(session)
                if until_ms is not None:
                    session.limit(until_ms)
                self._state = SchedulerState.STOPPING
                await self._end(session)
                self._state = SchedulerState.STOPPED
                self._log(LogEvent.STOPPED)
            except StopSchedulerError as error:
                self._log(LogEvent.STOP_FAILED, logging.ERROR, error=str(error))
                raise
            finally:
                self._stops -= 1
                if self._state is SchedulerState.STOPPING:
                    self._state = SchedulerState.STOPPED

    def _hold(self, session: Session) -> None:
        """From here on the session starts nothing, even if another call ends first."""
        if not session.is_held:
            log(logging.INFO, LogEvent.STOP_REQUESTED, state=SchedulerState.STOPPING.value)
            session.hold()

    def _forget(self, work: "asyncio.Task[None]") -> None:
        self._stopping.discard(work)
        if not work.cancelled():
            work.exception()  # it is in the log, and the callers that waited have it

    def _log(self, event: LogEvent, level: int = logging.INFO, **facts: object) -> None:
        log(level, event, failure=None, state=self._state.value, **facts)


async def _close(journal: Journal) -> None:
    try:
        await journal.close()
    except StoreError as error:
        log(logging.WARNING, LogEvent.STORE_FAILED, error=str(error))


def _not_scheduled(registrations: list[Registration], error: Exception) -> ScheduleTaskError:
    first = registrations[0] if registrations else None
    return ScheduleTaskError(first.name if first else "", first.cron if first else "", error)


def _opener(
    store: str | PathLike[str], namespace: str, kept: int, *, threaded: bool
) -> JournalOpener:
    path = fspath(store)
    if not _NAMESPACE.fullmatch(namespace):
        raise DefinitionError(
            "must be letters, digits, dots, dashes or underscores, at most 64", where="namespace",
            got=namespace, hint='write e.g. "default"',
        )  # fmt: skip
    if _URL.match(path):
        from gnomon.shell.store.postgres.journal import PostgresJournalOpener

        return PostgresJournalOpener(path, namespace=namespace, kept=kept)
    if isinstance(store, str):
        check_file_name(store)
    return SqliteJournalOpener(path, namespace=namespace, kept=kept, threaded=threaded)


def _reinitialize(name: str) -> Reinitialize:
    try:
        return Reinitialize(name)
    except ValueError:
        raise DefinitionError(
            "must be a known way to initialize again", where="reinitialize", got=name,
            hint=f"write one of {', '.join(Reinitialize)}",
        ) from None  # fmt: skip


def _check_count(where: str, got: int, *, at_least: int) -> None:
    if type(got) is not int or got < at_least:
        raise DefinitionError(
            f"must be a whole number, {at_least} or more", where=where, got=got,
            hint="leave it out for the default",
        )  # fmt: skip


def _unobserved(entries: Sequence[Entry]) -> None:
    """For a scheduler without an observer."""


async def failed(scheduler: Scheduler) -> None:
    """Return when the store of a scheduler that runs is of no use any more."""
    session = scheduler._session
    await (asyncio.Event() if session is None else session.loss.event).wait()
