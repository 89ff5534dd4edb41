"""
What is owed, and the compute that was given: which obligation has waited too long?

Obligations to start (L1) wait in the order in which they arose; of the same list the oldest is the
first to run out, so only it is looked at. Calls (L2, L3) are few and are all looked at. Most of the
time a comparison of two instants is enough: nothing can be overdue within the lag. The sentences
for the reader who looks for the cause of a violation are here too.

Spec: THEORY-8, THEORY-9, THEORY-12.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from gnomon.theory.budget import allowance, excess, time_bits
from gnomon.theory.memory import NEVER, KnownName, KnownTask
from gnomon.trace import CallId, Witnesses

__all__ = ["Obligations", "WaitingCall", "late_call", "late_start", "why_not_owed"]

_FOREVER = 2**62
_TICKS_KEPT = 4_096
_LATE_KEPT = 10_000

_ASKED = {
    "L2": "initialize() of call {call!r} has not returned",
    "L3": "stop() of call {call!r} has not returned although nothing is running",
}


class WaitingCall(NamedTuple):
    """A call that must be answered: which axiom says so, and since when."""

    axiom: str
    call: CallId
    position: int
    t: int
    compute: int
    bits: int


class Obligations:
    """Open obligations, the compute that was given, and the budgets of both."""

    def __init__(self, witnesses: Witnesses, *, is_metered: bool) -> None:
        self.witnesses = witnesses
        self.is_metered = is_metered
        self.deadline = _FOREVER
        """No obligation can be overdue at or before this instant."""
        self.bits = 0
        """The size of the registered list."""
        self.compute = 0
        self.opened = 0
        self.waiting: list[WaitingCall] = []
        self.worst: dict[int, int] = {}
        """For each size of an input: the most compute that an answer took."""
        self.worst_ms = 0
        # A millisecond may hold compute at both of its ends, hence one less with a meter.
        self._grace_ms = witnesses.lag_ms - is_metered
        self._owed: deque[tuple[int, KnownTask]] = deque()
        # What has been reported as late and is still to come, for the witnesses.
        self._late: list[WaitingCall] = []
        self._late_starts: deque[tuple[int, KnownTask]] = deque(maxlen=_LATE_KEPT)
        # When compute was given, and how much there had been by then; as old as is needed.
        self._tick_t: list[int] = []
        self._tick_total: list[int] = []
        self._ticks_max = _TICKS_KEPT
        self._forgotten = 0
        self._safe: dict[tuple[int, float], int] = {}

    def owe(self, task: KnownTask, position: int, t: int) -> None:
        """A start of the task is an obligation from now on."""
        task.owed_position = position
        task.owed_t = t
        task.owed_compute = self.compute
        self.opened += 1
        self._owed.append((position, task))
        if t + self._grace_ms < self.deadline:
            self.deadline = t + self._grace_ms

    def settle(self, task: KnownTask, t: int) -> None:
        """The obligation is met, or is one no more."""
        if t - task.owed_t > self.worst_ms:
            self.worst_ms = t - task.owed_t
        if self.is_metered:
            self._sample(self.bits, task.owed_t, task.owed_compute)
        task.owed_position = NEVER

    def wait(self, waiting: WaitingCall) -> None:
        """A call must be answered from now on."""
        self.waiting.append(waiting)
        self.deadline = min(self.deadline, waiting.t + self._grace_ms)

    def answer(self, axiom: str, call: CallId | None, t: int) -> None:
        """The call is answered; with None, all calls are."""
        for calls in (self.waiting, self._late):
            for one in list(calls):
                if one.axiom == axiom and call in (None, one.call):
                    calls.remove(one)
                    self.worst_ms = max(self.worst_ms, t - one.t)
                    self._sample(one.bits, one.t, one.compute)

    def excuse(self, frozen_ms: int) -> None:
        """Time has passed that does not count."""
        for position, task in self._owed:
            if task.owed_position == position:
                task.owed_t += frozen_ms
        self.waiting = [one._replace(t=one.t + frozen_ms) for one in self.waiting]
        self._set_deadline()

    def spend(self, t: int, units: int) -> None:
        """Compute was given."""
        self.compute += units
        self._tick_t.append(t)
        self._tick_total.append(self.compute)
        if len(self._tick_t) > self._ticks_max:
            self._forget_ticks()

    def overdue(self, t: int) -> Iterator[WaitingCall | KnownTask]:
        """Whatever has waited too long, each once, and then only when it is owed again."""
        while (oldest := self._oldest()) is not None and self._is_late(
            oldest.owed_t, oldest.owed_compute, self.bits, t
        ):
            self._late_starts.append(self._owed.popleft())
            yield oldest
        for one in list(self.waiting):
            if self._is_late(one.t, one.compute, one.bits, t):
                self.waiting.remove(one)
                self._late.append(one)
                yield one
        self._set_deadline()

    def open_starts(self) -> list[KnownTask]:
        """The obligations to start that are neither met nor reported as overdue."""
        return [task for position, task in self._owed if task.owed_position == position]

    def granted(self) -> tuple[int, float]:
        """The compute since the oldest open question, and what it may take."""
        t, compute, bits = min(self._questions(), default=(0, self.compute, 0))
        return self.compute - compute, allowance(self.witnesses, bits, t)

    def samples(self, t: int) -> tuple[dict[int, int], int]:
        """The worst answers so far, with those that are still waited for."""
        worst, worst_ms = self.worst, self.worst_ms
        self.worst = dict(worst)
        for since_t, since_compute, bits in self._questions():
            self.worst_ms = max(self.worst_ms, t - since_t)
            self._sample(bits, since_t, since_compute)
        found = self.worst, self.worst_ms
        self.worst, self.worst_ms = worst, worst_ms
        return found

    def _questions(self) -> list[tuple[int, int, int]]:
        """When and at what compute each unanswered question was asked, and its size."""
        starts = [
            (task.owed_t, task.owed_compute, self.bits)
            for position, task in (*self._late_starts, *self._owed)
            if task.owed_position == position
        ]
        calls = [(one.t, one.compute, one.bits) for one in (*self.waiting, *self._late)]
        return starts + calls

    def _is_late(self, since_t: int, since_compute: int, bits: int, t: int) -> bool:
        if t - since_t <= self._grace_ms:
            return False
        if not self.is_metered:
            return True
        budget = allowance(self.witnesses, bits, since_t)
        question = since_compute, budget
        if self.compute <= max(since_compute + budget, self._safe.get(question, 0)):
            return False
        start = bisect_right(self._tick_total, since_compute)
        if len(self._tick_total) - start <= self.witnesses.lag_ms:
            return False
        beyond = excess(self._ticks_from(start), self.witnesses.lag_ms)
        if beyond > budget:
            return True
        # Each further unit adds one at most, so until then there is no need to look again.
        self._safe[question] = self.compute + int(budget - beyond)
        return False

    def _ticks_from(self, start: int) -> Iterator[tuple[int, int]]:
        before = self._tick_total[start - 1] if start else self._forgotten
        for t, total in zip(self._tick_t[start:], self._tick_total[start:], strict=True):
            yield t, total - before
            before = total

    def _oldest(self) -> KnownTask | None:
        while self._owed:
            position, task = self._owed[0]
            if task.owed_position == position:
                return task
            self._owed.popleft()
        return None

    def _set_deadline(self) -> None:
        oldest = self._oldest()
        starts = [one.t for one in self.waiting]
        if oldest is not None:
            starts.append(oldest.owed_t)
        self.deadline = min(starts) + self._grace_ms if starts else _FOREVER

    def _forget_ticks(self) -> None:
        """Drop the ticks before the oldest question."""
        needed = min((compute for _, compute, _ in self._questions()), default=self.compute)
        start = bisect_right(self._tick_total, needed)
        if start:
            self._forgotten = self._tick_total[start - 1]
        del self._tick_t[:start], self._tick_total[:start]
        self._ticks_max = 2 * len(self._tick_t) + _TICKS_KEPT
        self._safe.clear()

    def _sample(self, bits: int, t: int, since_compute: int) -> None:
        size, took = bits + time_bits(t), self.compute - since_compute
        if took > self.worst.get(size, -1):
            self.worst[size] = took


def why_not_owed(name: KnownName, *, is_active: bool) -> str:
    """What was missing when a run started that should not have."""
    started = f"{name.text!r} started"
    if name.registered is None:
        return f"{started} and is not registered"
    if not is_active:
        return f"{started} while the scheduler was not active"
    if name.is_running:
        return f"{started} while its last run was going on"
    return f"{started} and nothing asked for it: no due, retry or interrupted run was pending"


def late_start(task: KnownTask, t: int) -> str:
    """A start that is overdue."""
    since = f"since position {task.owed_position} (t {task.owed_t})"
    return f"{task.name.text!r} is owed {since} and has not started {t - task.owed_t} ms later"


def late_call(waiting: WaitingCall, t: int) -> str:
    """A call that is overdue."""
    text = _ASKED[waiting.axiom].format(call=waiting.call)
    return f"{text} {t - waiting.t} ms after position {waiting.position}"
