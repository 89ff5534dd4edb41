"""
The runs in one worker's hands: by key and fencing number, in the order in which they may start.

Those that were blocked and are free by now join the queue with the next turn, which asks first
whether a caller has killed them meanwhile.

A lease is renewed when a third of it has passed, for the length that it had when the run was taken,
whatever becomes of the definition. Both clocks are asked: the one on the wall, because the ledger
may judge leases by it, and the one that never jumps, because another machine may.

Spec: RUN-6, RUN-38.
"""

from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from gnomon.core.schedule import Schedule
from gnomon.ports import Claim, Held, Renewal
from gnomon.shell.clock import Reading
from gnomon.shell.worker.held_run import (
    IN_LAUNCHER,
    STEPS,
    WAITING,
    HeldEvent,
    HeldRun,
    HeldState,
    Lease,
)

__all__ = ["HeldRuns"]

_MS = timedelta(milliseconds=1)


class HeldRuns:
    """Runs from their claims until the worker has no part in them any more."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, int], HeldRun] = {}
        self._in_launcher: dict[str, HeldRun] = {}
        self._ready: deque[HeldRun] = deque()
        self._freed: deque[HeldRun] = deque()
        self._adopted: dict[str, int] = {}
        """The fencing numbers of adopted runs: their launcher does not know them."""
        self._waiting = 0
        self._first: Reading | None = None
        """No lease is to be renewed earlier than this."""
        self._newest: tuple[Reading, timedelta, Lease] | None = None
        """What was taken last, and when: much is taken in one turn, and on the same terms."""

    def __len__(self) -> int:
        """How many are this worker's: those that it has lost are not."""
        return sum(run.state is not HeldState.LOST for run in self._runs.values())

    @property
    def has_claims(self) -> bool:
        """Whether there are claims that are not launched and confirmed."""
        return self._waiting > 0

    @property
    def has_launched(self) -> bool:
        """Whether the launcher has runs."""
        return bool(self._in_launcher)

    @property
    def has_ready(self) -> bool:
        return bool(self._ready)

    @property
    def parked(self) -> list[HeldRun]:
        return [run for run in self._runs.values() if run.state is HeldState.PARKED]

    def get(self, key: str, fence: int) -> HeldRun | None:
        return self._runs.get((key, fence))

    def in_launcher(self, key: str) -> HeldRun | None:
        """The try of a key that the launcher has."""
        return self._in_launcher.get(key)

    def take(self, claim: Claim, at: Reading, *, blocked: bool) -> HeldRun:
        """Hold a claim that was won."""
        schedule, key, _, _, _, fence, _, _, _ = claim
        state = HeldState.BLOCKED if blocked else HeldState.READY
        run = HeldRun(key, fence, state, self._lease(schedule, at), claim)
        self._runs[key, fence] = run
        self._waiting += 1
        if not blocked:
            self._ready.append(run)
        return run

    def adopt(self, key: str, fence: int, schedule: Schedule | None, at: Reading) -> None:
        """Hold what a former worker has left running; without its schedule it has no lease."""
        lease = None if schedule is None else self._lease(schedule, at)
        run = HeldRun(key, fence, HeldState.RUNNING, lease, None)
        self._runs[key, fence] = self._in_launcher[key] = run
        self._adopted[key] = fence

    def adopted_fence(self, key: str) -> int:
        """The number of an adopted run that has ended; 0 for none."""
        return self._adopted.pop(key, 0)

    def next_ready(self) -> HeldRun | None:
        """The first that may start, which the launcher is now asked to do."""
        if not self._ready:
            return None
        run = self._ready.popleft()
        run.state = STEPS[run.state, HeldEvent.LAUNCH]
        return run

    def let_in(self) -> bool:
        """Let those join the queue that were freed; whether an earlier turn has left any there."""
        self._ready.extend(self._freed)
        self._freed.clear()
        return bool(self._ready)

    def move(self, run: HeldRun, event: HeldEvent) -> HeldState:
        """Take note of what has happened to a run; its state from now on."""
        before, after = run.state, STEPS.get((run.state, event))
        if after is None:
            raise ValueError(f"a run that is {before} cannot be {event}: {run.key}, {run.fence}")
        run.state = after
        if before is HeldState.READY:
            self._unqueue(run)
        if before in WAITING:
            self._waiting -= 1
        if after in WAITING:
            self._waiting += 1
            if after is HeldState.READY:
                self._enqueue(run, event)
        if after in IN_LAUNCHER:
            if before not in IN_LAUNCHER:
                self._hand_over(run)
            if after is HeldState.LOST:
                run.lease = None
        elif after is HeldState.GONE:
            self._forget(run)
        return after

    def park(self, *, strained: bool) -> None:
        """Give up what waits for another end; where nothing can be started, what is ready too."""
        states = {HeldState.BLOCKED, HeldState.GIVING_WAY}
        waiting = [run for run in self._runs.values() if run.state in states]
        for run in (*waiting, *(self._ready if strained else ())):
            self.move(run, HeldEvent.STOPPING)

    def due(self, at: Reading) -> list[Held]:
        """The leases to renew now."""
        if self._first is None or not self._first.has_come(at):
            return []
        self.look_again()
        return [
            Held(run.key, run.fence, run.lease.length_ms)
            for run in self._runs.values()
            if run.lease is not None and run.lease.renew.has_come(at)
        ]

    def held(self, key: str, fence: int) -> Held:
        """A run as it is held; for as long as its schedule says, where it is not."""
        run = self._runs.get((key, fence))
        if run is None or run.lease is None:
            return Held(key, fence)
        return Held(key, fence, run.lease.length_ms)

    def look_again(self) -> None:
        """Find out when the next lease is to be renewed, now that some have been or are gone."""
        self._first = None
        for run in self._runs.values():
            if run.lease is not None:
                self._bound(run.lease.renew)

    def answered(
        self, runs: Sequence[Held], answers: Sequence[Renewal], *, at: Reading
    ) -> list[tuple[Held, Renewal]]:
        """Take note of what the ledger said; the runs that are not held any more."""
        gone = list[tuple[Held, Renewal]]()
        for held, answer in zip(runs, answers, strict=True):
            run = self._runs.get((held.key, held.fence))
            if answer is not Renewal.HELD:
                gone.append((held, answer))
            elif run is not None and run.lease is not None:
                run.lease = run.lease._replace(renew=at.plus(run.lease.third_ms))
        return gone

    def rest_ms(self, at: Reading) -> int | None:
        """How long nothing has to be renewed; None when nothing is held."""
        if self._first is None or not self._runs:
            return None
        first = self._first
        return max(min(first.now_ms - at.now_ms, first.monotonic_ms - at.monotonic_ms), 0)

    def _lease(self, schedule: Schedule, at: Reading) -> Lease:
        length, newest = schedule.policy.lease, self._newest
        if newest is not None and newest[0] is at and newest[1] is length:
            return newest[2]
        length_ms = length // _MS
        lease = Lease(length_ms, at.plus(max(length_ms // 3, 1)))
        self._newest = at, length, lease
        self._bound(lease.renew)
        return lease

    def _bound(self, renew: Reading) -> None:
        first = self._first
        self._first = renew if first is None else Reading(
            min(first.now_ms, renew.now_ms), min(first.monotonic_ms, renew.monotonic_ms)
        )  # fmt: skip

    def _enqueue(self, run: HeldRun, event: HeldEvent) -> None:
        if event is HeldEvent.STRAINED:
            self._ready.appendleft(run)
        else:
            self._freed.append(run)

    def _unqueue(self, run: HeldRun) -> None:
        for queue in (self._ready, self._freed):
            if run in queue:
                queue.remove(run)

    def _hand_over(self, run: HeldRun) -> None:
        """The launcher has this try of its key; of an earlier one, which was ended, no more."""
        former = self._in_launcher.get(run.key)
        self._in_launcher[run.key] = run
        if former is not None:
            self.move(former, HeldEvent.ENDED)

    def _forget(self, run: HeldRun) -> None:
        run.lease = None
        del self._runs[run.key, run.fence]
        if self._in_launcher.get(run.key) is run:
            del self._in_launcher[run.key]
