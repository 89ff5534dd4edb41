"""
Does the scheduler that runs here keep the axioms?

The monitor of the theory is told of every entry after it was written, and of the pulses in between
(`live_pulses`); every half minute it is told that time has passed, so that a start that never comes
is noticed. A violation is a log line and a counter, and changes nothing about what the scheduler
does. When the monitor itself fails, it says so and is silent from then on.

Where it begins, the records in the store are taken at their word: they say which runs a crash cut
off, which retries are pending, and since when occurrences are owed. What the scheduler makes of
that is judged; what led to it is not, for a journal may have forgotten it.

Spec: LIVE-1 to LIVE-6.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gnomon.apps.declarative.journal_time import Back, JournalTime
from gnomon.apps.declarative.live_pulses import LivePulses
from gnomon.apps.declarative.log import LogEvent, log
from gnomon.apps.declarative.recorder import trace_events
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import TaskRecord, TaskState
from gnomon.apps.declarative.telemetry import SchedulerTelemetry
from gnomon.ports import Change, Head, Looked
from gnomon.theory import Monitor, Violation
from gnomon.trace import CallId, Event, Kind
from gnomon.trace import Registration as Listed

__all__ = ["LAG_MS", "LOOK_MS", "LiveCheck"]

LOOK_MS = 30_000
"""How often it is told that time has passed."""

LAG_MS = 60_000
"""How long a start that is owed may take, as everywhere in the theory unless said otherwise."""

_FROZEN_MS = LOOK_MS + 5_000
"""A check that has not looked for longer than this could not."""

_LINES_MAX = 10
"""So many lines about one axiom at one look; the rest is counted."""

_PROLOGUE = -1


class LiveCheck:
    """Judges one ownership of a journal."""

    def __init__(self, telemetry: SchedulerTelemetry, *, rejects: bool) -> None:
        self._telemetry = telemetry
        # The scheduler need not make dues go on for ever, and may apply a new list.
        self._passed_over = {"EA4", "EA5"} if rejects else {"EA4", "EA5", "S6"}
        self._monitor = Monitor()
        self._pulses = LivePulses()
        self._lists: dict[CallId, tuple[Listed, ...]] = {}
        self._entry = 0
        self._seen_t = 0
        self._held_t: int | None = None
        """Since which look the writer has not been free; None while it is."""
        self._is_fresh = True
        self._is_well = True

    def begin(
        self, head: Head, records: Mapping[str, TaskRecord],
        registrations: Sequence[Registration], now: JournalTime,
    ) -> None:  # fmt: skip
        """The journal is about to be owned; this is what stands in it."""
        self._carefully(lambda: self._begin(head, records, registrations, now))

    def go_back(self, t_ms: int, back: Back) -> None:
        """The clock was set back to what is new."""
        self._carefully(lambda: self._go_back(t_ms, back))

    def know(self, registrations: Sequence[Registration]) -> None:
        """This list is about to be applied."""
        self._carefully(lambda: self._pulses.know(registrations))

    def told(self, change: Change) -> None:
        """This was written."""
        self._carefully(lambda: self._told(change))

    def look(self, now: JournalTime, *, is_free: bool) -> None:
        """
        Time has passed. `is_free` says that no decision still waits to be written: what comes
        after a decision must not be judged to come before it.
        """
        self._carefully(lambda: self._look(now, is_free=is_free))

    def _begin(
        self, head: Head, records: Mapping[str, TaskRecord],
        registrations: Sequence[Registration], now: JournalTime,
    ) -> None:  # fmt: skip
        self._pulses.know(registrations)
        self._pulses.islands, self._is_fresh = now.islands, now.looked.fresh_ms is not None
        self._entry, self._seen_t = head.entries, now.t_ms
        known = {record.name: _listed(record) for record in records.values()}
        for event in _prologue(records.values(), tuple(known.values())):
            self._monitor.see(event)
        for record in records.values():
            if record.retry_t_ms is not None and not record.interrupted:
                self._pulses.retry_at(record.name, record.retry_t_ms)
        for one in registrations:
            listed = Listed(one.name, one.cron, one.retry_ms)
            if known.get(one.name) != listed:
                continue
            record = records[one.name]
            is_due = self._pulses.resume(
                listed, settled_ms=record.settled_ms, through_ms=now.through_ms
            )
            if is_due or record.owed is not None:
                self._monitor.see(Event(Kind.DUE, now.t_ms, one.name, cron=one.cron))
        self._pulses.skip_to(now.t_ms)

    def _told(self, change: Change) -> None:
        self._held_t = None
        found = self._advance(change.t_ms, change.through_ms)
        found += self._freshen(change.t_ms, change.looked)
        for event in trace_events(change.entries):
            self._entry += 1
            for pulse in self._follow(event, change):
                found += self._monitor.see(pulse)
            found += self._monitor.see(event)
            if event.kind is Kind.INIT_SUCCESS:
                self._monitor.forget()
        self._report(found)

    def _go_back(self, t_ms: int, back: Back) -> None:
        found = self._advance(t_ms, back.former_ms)
        for pulse in self._pulses.go_back(t_ms, back):
            found += self._monitor.see(pulse)
        self._report(found)

    def _freshen(self, t_ms: int, looked: Looked) -> list[Violation]:
        """When a fresh minute is followed by one that has been, nothing is due in that."""
        was_fresh, self._is_fresh = self._is_fresh, looked.fresh_ms is not None
        if self._is_fresh or not was_fresh:
            return []
        return [one for pulse in self._pulses.stale(t_ms) for one in self._monitor.see(pulse)]

    def _follow(self, event: Event, change: Change) -> Iterator[Event]:
        """What an event means for the pulses, and those that come with it."""
        match event.kind:
            case Kind.INIT_START:
                self._lists[event.call] = event.registrations
            case Kind.INIT_SUCCESS:
                accepted = self._lists.pop(event.call, ())
                fresh_ms = change.looked.fresh_ms
                yield from self._pulses.enlist(
                    accepted, t=event.t, through_ms=change.through_ms,
                    new_ms=change.through_ms if fresh_ms is None else fresh_ms - 1,
                )  # fmt: skip
            case Kind.INIT_FAILURE:
                self._lists.pop(event.call, None)
            case Kind.RUN_START:
                self._pulses.started(event.task)
            case Kind.RUN_SUCCESS:
                self._pulses.ended(event.task, failed_t=None)
            case Kind.RUN_FAILURE:
                self._pulses.ended(event.task, failed_t=event.t)

    def _look(self, now: JournalTime, *, is_free: bool) -> None:
        if is_free:
            self._held_t = None
            found = self._advance(now.t_ms, now.through_ms)
            found += self._freshen(now.t_ms, now.looked)
        else:
            self._thaw(now.t_ms)
            if self._held_t is None:
                self._held_t = now.t_ms
            if now.t_ms - self._held_t <= LAG_MS:
                return
            found = []
        self._report([*found, *self._monitor.look(now.t_ms)])

    def _advance(self, t: int, through_ms: int) -> list[Violation]:
        self._thaw(t)
        return [
            one for pulse in self._pulses.until(t, through_ms) for one in self._monitor.see(pulse)
        ]  # fmt: skip

    def _thaw(self, t: int) -> None:
        """A process that could not act is not late: the time that it was frozen is not counted."""
        passed_ms, self._seen_t = t - self._seen_t, max(t, self._seen_t)
        if passed_ms > _FROZEN_MS:
            self._monitor.excuse(passed_ms - LOOK_MS)
            self._pulses.skip_to(t)

    def _report(self, found: Sequence[Violation]) -> None:
        lines: dict[str, int] = {}
        for one in found:
            if one.axiom in self._passed_over or one.task in self._pulses.unknown:
                continue
            self._telemetry.violations[one.axiom] += 1
            lines[one.axiom] = lines.get(one.axiom, 0) + 1
            if lines[one.axiom] <= _LINES_MAX:
                log(
                    logging.ERROR, LogEvent.AXIOM_VIOLATED, axiom=one.axiom, task=one.task,
                    explanation=one.explanation, position=one.position, entry=self._entry,
                )  # fmt: skip
        for axiom, count in lines.items():
            if count > _LINES_MAX:
                text = f"{count - _LINES_MAX} more of the same"
                log(
                    logging.ERROR, LogEvent.AXIOM_VIOLATED, axiom=axiom, task="",
                    explanation=text, entry=self._entry,
                )  # fmt: skip

    def _carefully(self, work: Callable[[], None]) -> None:
        if not self._is_well:
            return
        try:
            work()
        except Exception as error:  # a judge that stumbles must not stop the scheduler
            self._is_well = False
            log(logging.ERROR, LogEvent.MONITOR_FAILED, failure=error, error=str(error))


def _listed(record: TaskRecord) -> Listed:
    return Listed(record.name, record.cron, record.retry_ms)


def _prologue(records: Iterable[TaskRecord], listed: tuple[Listed, ...]) -> Iterator[Event]:
    """Events after which all is as the records say; whether they keep the axioms is not asked."""
    yield Event(Kind.INIT_START, 0, call=_PROLOGUE, registrations=listed)
    yield Event(Kind.INIT_SUCCESS, 0, call=_PROLOGUE)
    failures = []
    for record in records:
        waits = record.state is TaskState.AWAITING_RETRY and not record.interrupted
        if record.state is not TaskState.AWAITING_RUN:
            yield Event(Kind.RUN_START, 0, record.name)
        if waits and record.retry_t_ms is not None:
            failures.append(
                Event(Kind.RUN_FAILURE, _failed_t(record.retry_t_ms, record), record.name)
            )
    yield from sorted(failures, key=lambda event: event.t)
    yield Event(Kind.CRASH, 0)


def _failed_t(retry_t_ms: int, record: TaskRecord) -> int:
    return max(retry_t_ms - record.retry_ms, 0)
