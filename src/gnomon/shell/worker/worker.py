"""
One turn of a worker: read the clock, report, look, decide, commit, act.

`now` is read once and passed on. Nothing is started or ended before the ledger has committed it,
and only claims that were won are acted upon. Every `await` is a call of a port. When the ledger
fails in the middle of a turn, what is in hand stays in hand: claims that were won are launched, and
reports written, by a later turn.

Runs are ended beside the turns; the run that waits for that is launched by the turn that finds it
ready. A run that was not launched in the turn that won it may have been killed since, which the
worker asks before. A launch may take its time as well, and is reported when it is known. A run that
goes on without this worker is let go as soon as it is launched.

Spec: RUN-1 to RUN-3, RUN-5 to RUN-8, RUN-13, RUN-17, RUN-37, ASK-9, ASK-11, ASK-17.
"""

import logging
from collections.abc import Callable, Sequence

from gnomon.core.engine import Limits, plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.ports import (
    Claim,
    Clock,
    Ended,
    Failed,
    Launched,
    Launcher,
    Ledger,
    Observer,
    Report,
    Strained,
)
from gnomon.ports.ledger_rows import Renewal
from gnomon.shell.clock import Reading
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.log import log
from gnomon.shell.worker.ending import Ending
from gnomon.shell.worker.held_run import HeldEvent, HeldRun, HeldState
from gnomon.shell.worker.held_runs import HeldRuns
from gnomon.shell.worker.predecessor import take_over
from gnomon.shell.worker.reports import Reports
from gnomon.shell.worker.strain import Strain

__all__ = ["CHUNK", "Worker"]

CHUNK, UNCONFIRMED_CHUNK = 32, 256
"""Runs made ready together, and confirmed by one commit, where starts are confirmed."""
_ADOPTED_FENCE = 0
_LATE = frozenset({HeldState.STARTING, HeldState.LOST})


class Worker:
    """What one worker has in hand, and the turn that moves it on."""

    def __init__(
        self, ledger: Ledger, launcher: Launcher, clock: Clock, owner: str, *,
        limits: Limits, batch: int, telemetry: Telemetry, wake: Callable[[], None],
        observer: Observer,
    ) -> None:  # fmt: skip
        self.ledger, self.launcher, self.clock = ledger, launcher, clock
        self.owner, self.limits, self.batch = owner, limits, batch
        self.telemetry = telemetry
        self.reports = Reports(batch, observer)
        self.runs = HeldRuns()
        self.ending = Ending(ledger, launcher, owner, self.runs, self.reports, telemetry, wake)
        self._wake, self._observer = wake, observer
        self._staged: list[tuple[HeldRun, Launched]] = []
        """What was made ready, in that order, with what the launcher said of it."""
        self._strain = Strain(clock)
        self._is_stopping = False

    @property
    def has_claims(self) -> bool:
        """Whether there are claims that are not launched and confirmed."""
        return self.runs.has_claims

    @property
    def has_runs(self) -> bool:
        """Whether the launcher has runs."""
        return self.runs.has_launched

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing in hand: no claim, no run, nothing to report."""
        return not (self.has_claims or self.has_runs or len(self.reports))

    def reading(self) -> Reading:
        return Reading(self.clock.now_ms(), self.clock.monotonic_ms())

    async def turn(self, at: Reading, *, claiming: bool) -> int | None:
        """Move everything on; return when there is more to do, None for not before an event."""
        self.telemetry.turns += 1
        self.telemetry.see_clock(at.now_ms, at.monotonic_ms)
        # Ends come first, before anything looks at what is in flight.
        await self._report(at)
        await self._renew(at)
        if self.runs.let_in():
            await self.ending.see_kills(at, at_once=True)
        more = claiming and not self._strain.rest_ms() and await self._claim(at)
        await self._act(at)
        await self.ending.see_kills(at)
        if rest_ms := self._strain.rest_ms():
            return self._by_now(at) + rest_ms
        if more:
            return at.now_ms
        return await self.ledger.next_wake_ms() if claiming else None

    async def collect(self) -> None:
        """Wait for runs to end, and take note of those that have."""
        for report in await self.launcher.ended():
            if isinstance(report, Ended):
                self._note_end(report)
            elif run := self.runs.get(report.key, report.fence):
                self._note_late_launch(run, report)
        self._wake()

    async def recover(self, at: Reading) -> None:
        """Take over from a former worker: adopt what still runs; the rest of its runs is lost."""
        self.ending.is_alone = True
        found, taken = await take_over(self.ledger, self.launcher, self.owner, now_ms=at.now_ms)
        self._observer.took_over(found, [key for key, _, _ in taken])
        for key, fence, schedule in taken:
            self.runs.adopt(key, fence, schedule, at)

    def give_up_waiting(self) -> None:
        """Start none of the claims that wait: for another end, an earlier try, or descriptors."""
        self._is_stopping = True
        self.runs.park(strained=self._strain.rest_ms() > 0)

    def give_back(self) -> None:
        """Let others start those; as long as runs are in their way that would be in vain."""
        for run in self.runs.parked:
            self._give_back(run)

    def _by_now(self, at: Reading) -> int:
        """What the clock would show by now: the ledger may have kept us waiting since."""
        return at.now_ms + self._passed_ms(at)

    def _passed_ms(self, at: Reading) -> int:
        return self.clock.monotonic_ms() - at.monotonic_ms

    async def _report(self, at: Reading) -> None:
        refused = await self.reports.write(self.ledger, now_ms=self._by_now(at))
        launches = []
        for report in refused:
            if not isinstance(report, Launched):
                self._note_refusal(report)
            elif report.detached_ms is None:  # else an end was faster, and it is not held here
                launches.append(report)
        for launched, answer in zip(launches, await self._still_held(launches, at), strict=True):
            if answer is Renewal.HELD:  # it was written, and the answer lost
                self._observer.reported([launched])
            else:
                self._note_refusal(launched)
                self._lose(launched.key, launched.fence, answer)
        await self._confirm(at)

    async def _renew(self, at: Reading) -> None:
        due = self.runs.due(at)
        for first in range(0, len(due), self.batch):
            runs = due[first : first + self.batch]
            answers = await self.ledger.renew(runs, owner=self.owner, now_ms=at.now_ms)
            for run, answer in self.runs.answered(runs, answers, at=at):
                self._lose(run.key, run.fence, answer)
        if due:
            self.runs.look_again()

    async def _claim(self, at: Reading) -> bool:
        """Claim what is due; whether there may be more."""
        dues = await self.ledger.load(now_ms=at.now_ms, limit=self.batch)
        if not (changes := plan(dues, now_ms=at.now_ms, limits=self.limits)):
            return False
        held = await self.ledger.commit(
            changes, owner=self.owner, confirmed=self.launcher.confirms_start, now_ms=at.now_ms
        )
        self._observer.committed(held)
        claimed, claims = State.CLAIMED, held.claims
        wanted = [fact for change in changes for fact in change.facts if fact.state is claimed]
        self.telemetry.claims_won += len(claims)
        self.telemetry.claims_lost += len(wanted) - len(claims)
        self._take(claims, at)
        return len(dues) >= self.batch

    def _take(self, claims: Sequence[Claim], at: Reading) -> None:
        """Hold what was won; what nothing stands in the way of is ready."""
        take, in_launcher = self.runs.take, self.runs.in_launcher
        for claim in claims:
            blocked = bool(claim.replaces) or in_launcher(claim.key) is not None
            run = take(claim, at, blocked=blocked)
            if blocked:
                self.ending.make_room(run)

    async def _act(self, at: Reading) -> None:
        while self.runs.has_ready and not self._strain.rest_ms():
            # A worker that was frozen comes back to leases that are over, and must not start those.
            await self._renew(at.plus(self._passed_ms(at)))
            launched = await self._launch_some()
            self.telemetry.launches += len(launched)
            self.telemetry.lag.add_all(self._by_now(at), launched)
            await self._confirm(at)

    async def _launch_some(self) -> list[int]:
        """Launch a chunk of what is ready; the chosen instants of those that were."""
        fires, launch, move = list[int](), self.launcher.launch, self.runs.move
        chunk = CHUNK if self.launcher.confirms_start else UNCONFIRMED_CHUNK
        for _ in range(chunk):
            run = self.runs.next_ready()
            if run is None:
                break  # a claim may be withdrawn while another is launched
            try:
                result = await launch(run.claim)
            except Exception as error:
                # It may have been started or not: for the schedule's rule about that to say.
                log(logging.ERROR, "the launcher failed", failure=error, key=run.key)
                if run.state is HeldState.LAUNCHING:
                    move(run, HeldEvent.RAISED)
                continue
            if isinstance(result, Strained):
                self._hold_back(run, result)
                return fires
            if result is None:
                if run.state is HeldState.LAUNCHING:
                    move(run, HeldEvent.DELAYED)
            elif self._note_launch(run, result):
                fires.append(run.claim.fire_ms)
        self._strain.end()
        return fires

    def _hold_back(self, run: HeldRun, strained: Strained) -> None:
        """Start nothing for a while; what has a deadline is judged again by then."""
        self._strain.begin(strained)
        if run.state is not HeldState.LAUNCHING:
            return
        if self._is_stopping or run.claim.schedule.policy.deadline is not None:
            self.runs.move(run, HeldEvent.STOPPING)
            self._give_back(run)
        else:
            self.runs.move(run, HeldEvent.STRAINED)

    def _give_back(self, run: HeldRun) -> None:
        self.runs.move(run, HeldEvent.DRAINED)
        message, name = "stopped before it began", run.claim.schedule.schedule_id
        self.reports.add_end(Failed(run.key, run.fence, message, False, Reason.STOPPED))
        log(logging.INFO, "given back", schedule=name, key=run.key)

    def _note_launch(self, run: HeldRun, result: Launched | Failed) -> bool:
        """Whether it was launched."""
        if isinstance(result, Failed):
            self.ending.fail(run, HeldEvent.FAILED, result)
            return False
        if run.state is HeldState.GONE:  # it was over before its launcher had answered
            self.reports.add_launch(result)
        elif result.detached_ms is not None:
            self.runs.move(run, HeldEvent.LET_GO)
            self.reports.add_launch(result)
        elif self.launcher.confirms_start:
            if self.runs.move(run, HeldEvent.MADE_READY) is HeldState.STAGED:
                self._staged.append((run, result))
        else:
            self.runs.move(run, HeldEvent.STARTED)
            self.reports.add_launch(result)
        if run.state is HeldState.LOST:  # while its launch took its time
            self.ending.end_lost(run)
        return True

    def _note_late_launch(self, run: HeldRun, result: Launched | Failed) -> None:
        """A launcher that took its time has come to an end with it."""
        if run.state in _LATE and self._note_launch(run, result):
            self.telemetry.launches += 1
            self.telemetry.lag.add_all(self.clock.now_ms(), [run.claim.fire_ms])

    async def _confirm(self, at: Reading) -> None:
        """Let runs begin whose launch the ledger has accepted; end the others."""
        if not self._staged:
            return
        staged = {launched: run for run, launched in self._staged}
        accepted = await self.ledger.report(list(staged), now_ms=self._by_now(at))
        answers = dict.fromkeys(staged, Renewal.HELD)
        told = zip(staged, accepted, strict=True)
        refused = [one for one, is_accepted in told if not is_accepted]
        answers.update(zip(refused, await self._still_held(refused, at), strict=True))
        self._staged = []
        self._observer.reported([one for one in staged if answers[one] is Renewal.HELD])
        for launched, answer in answers.items():
            if answer is not Renewal.HELD:
                self._note_refusal(launched)
                self._lose(launched.key, launched.fence, answer)
            elif staged[launched].state is HeldState.STAGED:
                self.runs.move(staged[launched], HeldEvent.STARTED)
                await self.launcher.release(launched.key)

    async def _still_held(self, refused: Sequence[Launched], at: Reading) -> list[Renewal]:
        """
        For each launch that the ledger refused, whether the run is this worker's all the same.

        Then the launch had been written before, and the answer was lost on its way.
        """
        if not refused:
            return []
        runs = [self.runs.held(launched.key, launched.fence) for launched in refused]
        return await self.ledger.renew(runs, owner=self.owner, now_ms=at.now_ms)

    def _note_refusal(self, report: Report) -> None:
        self.telemetry.reports_refused += 1
        why = "the run is over, or another worker has taken it over"
        log(logging.WARNING, "report refused", key=report.key, fence=report.fence, why=why)

    def _note_end(self, end: Ended) -> None:
        if end.fence == _ADOPTED_FENCE:  # a launcher is not told the number of what it adopted
            end = end._replace(fence=self.runs.adopted_fence(end.key))
        run = self.runs.get(end.key, end.fence)
        if run is not None:
            self.runs.move(run, HeldEvent.ENDED)
        self.reports.add_end(end)
        self._strain.ease()
        self.telemetry.ends += 1
        self.telemetry.ends_failed += not end.success

    def _lose(self, key: str, fence: int, answer: Renewal) -> None:
        """A run is not this worker's any more: end what goes on; its reports will be refused."""
        if answer is Renewal.TAKEN:
            self.telemetry.leases_lost += 1
            log(logging.WARNING, "run lost", key=key, fence=fence)
        run = self.runs.get(key, fence)
        if run is not None and self.runs.move(run, HeldEvent.REFUSED) is HeldState.LOST:
            self.ending.end_lost(run)
