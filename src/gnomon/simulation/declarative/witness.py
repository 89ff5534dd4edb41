"""
What the callbacks themselves have seen, against what the journal says.

A callback knows when it was called, for which occurrence, and how it ended; it survives every crash
here, as a file does that a callback writes to. The witness asks: was it called only after its start
was written, once for each, never beside itself, never after `stop` had returned, never again for
what was settled? Is every end written as it was? And, while nothing goes wrong: was it called for
every occurrence, within a second or two?

It knows the registrations and the minute scan, and nothing of the scheduler.

Spec: SIM-14, SIM-15.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gnomon.simulation.declarative.minutes import Minutes
from gnomon.simulation.kit.notes import Complaint
from gnomon.trace import Event, Kind, Registration

__all__ = ["PROMPT_MS", "Call", "Witness"]

PROMPT_MS = 1_500
"""How soon a callback is called while nothing goes wrong."""
_KEPT = 400  # calls that are remembered; the quiet end of a world has fewer
_HOW = {Kind.RUN_SUCCESS: "success", Kind.RUN_FAILURE: "failure"}


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a callback."""

    task: str
    nominal: int
    attempt: int
    reason: str
    at: int
    highest_ms: int
    """The latest instant that the clock had ever shown by then."""
    ended_at: int | None = None
    how: str = ""
    """`success`, `failure`, or `died` with its process."""


class Witness:
    """Hears the callbacks and the journal of one world."""

    def __init__(self, minutes: Minutes) -> None:
        self.complaints: list[Complaint] = []
        self.calls: list[Call] = []
        """The latest calls."""
        self.count = 0
        self.running: dict[str, Call] = {}
        self.orphans: set[str] = set()
        """Names whose start was written, and whose process died before the end was."""
        self._minutes = minutes
        self._written = Counter[str]()
        self._called = Counter[str]()
        self._unwritten: dict[str, list[Call]] = {}
        self._open: dict[str, Call | None] = {}
        """Starts that were written and have no end yet, with the call that followed."""
        self._settled: dict[str, int] = {}
        self._cut_off: dict[str, int] = {}
        """The minutes of runs that died with their process and were not started again yet."""
        self._leapt: dict[str, int] = {}
        """Of each task, the latest run that was for a minute the clock had leapt over."""
        self._registered: dict[str, Registration] = {}
        self._started: dict[str, Registration | None] = {}
        """What was registered under a name when its latest start was written."""
        self._foreign: set[str] = set()
        """Names whose latest start was one of a task that has been changed since."""
        self._is_closed = False

    def called(self, call: Call) -> None:
        """A callback is called."""
        task = call.task
        self.count += 1
        self.calls.append(call)
        if len(self.calls) > 2 * _KEPT:
            del self.calls[:_KEPT]
        self._called[task] += 1
        if task in self.running:
            self._complain("overlap", call, "its last run is going on")
        if self._called[task] > self._written[task]:
            self._complain("too early", call, "no start of it is written")
        if self._is_closed:
            self._complain("after stop", call, "stop() had returned")
        if self._settled.get(task) == call.nominal:
            self._complain("again", call, "a run for this occurrence had succeeded")
        self._examine_reason(call)
        self.running[task] = self._open[task] = call
        self._cut_off.pop(task, None)

    def ended(self, call: Call, how: str, at: int) -> None:
        """A callback has come to its end."""
        call.how, call.ended_at = how, at
        if self.running.get(call.task) is call:
            del self.running[call.task]
        self._unwritten.setdefault(call.task, []).append(call)

    def written(self, event: Event, registered: dict[str, Registration]) -> None:
        """The journal has this event now."""
        match event.kind:
            case Kind.RUN_START:
                self._start_written(event.task)
            case Kind.RUN_SUCCESS | Kind.RUN_FAILURE:
                self._end_written(event.task, _HOW[event.kind], event.wall_ms)
            case Kind.INIT_SUCCESS:
                self._apply(registered)

    def initializing(self) -> None:
        """initialize() is called."""
        self._is_closed = False

    def stopped(self) -> None:
        """stop() has returned, and the program has not called initialize() since it called stop."""
        self._is_closed = True
        for call in self.running.values():
            self._complain("after stop", call, "is running when stop() returns")

    def clock_set_back(self, passed: Collection[int]) -> None:
        """What was settled when the clock leapt over its minute may come in its own time."""
        running = {call.task: call.nominal for call in self.running.values()}
        for task, nominal in [*self._settled.items(), *self._cut_off.items(), *running.items()]:
            if nominal // 60 not in passed:
                self._leapt[task] = nominal
                self._settled.pop(task, None)

    def died(self, at: int) -> None:
        for call in self.running.values():
            call.how, call.ended_at = "died", at
        self.orphans |= set(self._open)
        self._cut_off |= {call.task: call.nominal for call in self._open.values() if call}
        self.running.clear()
        self._open.clear()
        self._unwritten.clear()
        self._called = self._written.copy()
        self._is_closed = False

    def examine_quiet(
        self, first_at: int, last_at: int, wall_ms: int, *, tasks: Iterable[str],
        passed: Collection[int] = (),
    ) -> None:  # fmt: skip
        """
        From `first_at` to `last_at` nothing went wrong, and these were registered.

        `wall_ms` is what the clock showed at `first_at`; it ran evenly. The minutes in `passed`
        had come before.
        """
        by_task: dict[str, list[Call]] = {name: [] for name in tasks}
        for call in self.calls:
            if call.task in by_task:
                by_task[call.task].append(call)
        first = -(-wall_ms // 60_000) * 60_000
        for minute_ms in range(first, wall_ms + last_at - first_at - PROMPT_MS, 60_000):
            if minute_ms // 60_000 in passed:
                continue
            at = first_at + minute_ms - wall_ms
            texts = self._minutes.due(minute_ms // 1_000)
            for name, calls in by_task.items():
                if self._registered[name].cron in texts and not _is_served(calls, at, last_at):
                    text = f"was due at {minute_ms // 1_000} and not called"
                    self.complaints.append(Complaint("lost", name, text))

    def _start_written(self, task: str) -> None:
        if self._written[task] > self._called[task]:
            self._object("never called", task, "a start was written and nothing followed")
        self._written[task] += 1
        self._started[task] = self._registered.get(task)
        self._open[task] = None
        self._foreign.discard(task)
        self.orphans.discard(task)

    def _end_written(self, task: str, how: str, wall_ms: int | None) -> None:
        ended = self._unwritten.get(task)
        if not ended:
            self._object("invented", task, f"a {how} was written, and no call has ended")
            return
        call = ended.pop(0)
        if call.how != how:
            self._object("told wrongly", task, f"a {how} was written, and it was a {call.how}")
        self._open.pop(task, None)
        # Before its own minute, by a clock that was set back, a success settles nothing.
        is_early = wall_ms is not None and wall_ms < call.nominal * 1_000
        is_early |= self._leapt.get(task) == call.nominal
        if how == "success" and task not in self._foreign and not is_early:
            self._settled[task] = call.nominal

    def _apply(self, registered: dict[str, Registration]) -> None:
        for name in {**self._registered, **registered}:
            if registered.get(name) != self._registered.get(name):
                self._settled.pop(name, None)  # another task by this name owes the minute anew
                self._foreign.add(name)
        self.orphans &= set(registered)
        self._registered = dict(registered)

    def _examine_reason(self, call: Call) -> None:
        registered = self._started.get(call.task)
        if registered is None:
            self._complain("stranger", call, "is not registered")
        elif call.reason == "due" and registered.cron not in self._minutes.due(call.nominal):
            self._complain("no occurrence", call, f"{registered.cron!r} does not match it")
        elif call.nominal * 1_000 > call.highest_ms:
            self._complain("before its time", call, f"the clock has shown {call.highest_ms}")

    def _complain(self, rule: str, call: Call, text: str) -> None:
        self._object(rule, call.task, f"({call.reason} {call.nominal}, at {call.at}) {text}")

    def _object(self, rule: str, task: str, text: str) -> None:
        self.complaints.append(Complaint(rule, task, text))


def _is_served(calls: list[Call], at: int, last_at: int) -> bool:
    """Whether one of the calls answers what was due then, or cannot have yet."""
    since = at
    for call in calls:
        end_at = last_at if call.ended_at is None else call.ended_at
        if call.at < at <= end_at:
            since = max(since, end_at)  # it had to wait for the run before
    if since + PROMPT_MS > last_at:
        return True
    return any(at <= call.at <= since + PROMPT_MS for call in calls)
