"""
One turn of a worker: read the clock, report, look, decide, commit, act.

`now` is read once and passed on. Nothing is started or ended before the ledger has committed it,
and only claims that were won are acted upon. Every `await` is a call of a port. When the ledger
fails in the middle of a turn, a later turn launches the claims that were won and writes reports.

Runs are ended beside the turns; the run that waits for that is launched by the turn that finds it
ready. Who was not launched in the turn that won it may have been killed since, which is asked
before. A launch may take its time as well, and is reported when it is known. A run that goes on
without this worker is let go as soon as it is launched.

Spec: RUN-1 to RUN-3, RUN-5 to RUN-8, RUN-13, RUN-17, RUN-37, ASK-9, ASK-11, ASK-17.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from gnomon.core.engine import Change, Limits, plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.ports import Claim, Clock, Ended, Failed, Launched, Launcher, Ledger, Report, Strained
from gnomon.ports.renewal import Renewal
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.log import log
from gnomon.shell.worker.claims import Claims
from gnomon.shell.worker.ending import Ending
from gnomon.shell.worker.holding import Holding, Moment
from gnomon.shell.worker.predecessor import take_over
from gnomon.shell.worker.reports import Reports
from gnomon.shell.worker.strain import Strain

__all__ = ["CHUNK", "Worker"]

CHUNK, UNCONFIRMED_CHUNK = 32, 256
"""Runs made ready together, and confirmed by one commit, where starts are confirmed."""
_ADOPTED_FENCE = 0


class Worker:
    """What one worker has in hand, and the turn that moves it on."""

    def __init__(
        self, ledger: Ledger, launcher: Launcher, clock: Clock, owner: str, *,
        limits: Limits, batch: int, telemetry: Telemetry, wake: Callable[[], None],
        tell: Callable[[Sequence[Change]], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """`tell` is called after each commit with the changes that were written."""
        self.ledger, self.launcher, self.clock = ledger, launcher, clock
        self.owner, self.limits, self.batch = owner, limits, batch
        self.telemetry = telemetry
        self.reports = Reports(batch)
        self.holding = Holding()
        self._wake, self._tell = wake, tell
        self._claims = Claims()
        self._unconfirmed: list[Launched] = []
        self._launched: dict[str, int] = {}
        """The runs that the launcher has, with their fencing numbers."""
        self._adopted: dict[str, int] = {}
        self._under_way: dict[tuple[str, int], Claim] = {}
        """Launches that take their time."""
        self._given_up: list[Claim] = []
        """Claims that are held, and not started any more, because this worker stops."""
        self._strain = Strain(clock)
        self.ending = Ending(ledger, launcher, owner, self.reports, wake)

    @property
    def has_claims(self) -> bool:
        """Whether there are claims that are not launched and confirmed."""
        return bool(self._claims or self._unconfirmed)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing in hand: no claim, no run, nothing to report."""
        return not (self.has_claims or self.has_runs or len(self.reports))

    @property
    def has_runs(self) -> bool:
        return bool(self._launched)

    def moment(self) -> Moment:
        return Moment(self.clock.now_ms(), self.clock.monotonic_ms())

    async def turn(self, at: Moment, *, claiming: bool) -> int | None:
        """Move everything on; return when there is more to do, None for not before an event."""
        self.telemetry.turns += 1
        self.telemetry.see_clock(at.now_ms, at.monotonic_ms)
        # Ends come first, before anything looks at what is in flight.
        await self._report(at)
        await self._renew(at)
        if self._claims.let_in():
            await self._see_kills(at, at_once=True)
        more = claiming and not self._strain.rest_ms() and await self._claim(at)
        await self._act(at)
        await self._see_kills(at)
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
                continue
            claim = self._under_way.pop((report.key, report.fence), None)
            if claim is not None and self._launched.get(claim.key) == claim.fence:
                self._note_late_launch(claim, report)
        self._wake()

    async def recover(self, at: Moment) -> None:
        """Take over from a former worker: adopt what still runs; the rest of its runs is lost."""
        self.ending.is_alone = True
        taken = await take_over(self.ledger, self.launcher, self.owner, now_ms=at.now_ms)
        for key, fence, schedule in taken:
            self._launched[key] = self._adopted[key] = fence
            if schedule is not None:
                self.holding.take(key, fence, schedule, at=at)

    def _by_now(self, at: Moment) -> int:
        """What the clock would show by now: the ledger may have kept us waiting since."""
        return at.now_ms + self._passed_ms(at)

    def _passed_ms(self, at: Moment) -> int:
        return self.clock.monotonic_ms() - at.monotonic_ms

    async def _report(self, at: Moment) -> None:
        refused = await self.reports.write(self.ledger, now_ms=self._by_now(at))
        launches = []
        for report in refused:
            if not isinstance(report, Launched):
                self._note_refusal(report)
            elif report.detached_ms is None:  # else an end was faster, and it is not held here
                launches.append(report)
        for launched, answer in zip(launches, await self._still_held(launches, at), strict=True):
            if answer is not Renewal.HELD:
                self._note_refusal(launched)
                self._lose(launched.key, launched.fence, answer)
        await self._confirm(at)

    async def _renew(self, at: Moment) -> None:
        due = self.holding.due(at)
        for first in range(0, len(due), self.batch):
            runs = due[first : first + self.batch]
            answers = await self.ledger.renew(runs, owner=self.owner, now_ms=at.now_ms)
            for run, answer in self.holding.answered(runs, answers, at=at):
                self._lose(run.key, run.fence, answer)
        if due:
            self.holding.look_again()

    async def _claim(self, at: Moment) -> bool:
        """Claim what is due; whether there may be more."""
        dues = await self.ledger.load(now_ms=at.now_ms, limit=self.batch)
        if not (changes := plan(dues, now_ms=at.now_ms, limits=self.limits)):
            return False
        held, claims = await self.ledger.commit(
            changes, owner=self.owner, confirmed=self.launcher.confirms_start, now_ms=at.now_ms
        )
        self._tell(held)
        claimed = State.CLAIMED
        wanted = [fact for change in changes for fact in change.facts if fact.state is claimed]
        self.telemetry.claims_won += len(claims)
        self.telemetry.claims_lost += len(wanted) - len(claims)
        self._take(claims, at)
        return len(dues) >= self.batch

    def _take(self, claims: Sequence[Claim], at: Moment) -> None:
        """Hold what was won; what nothing stands in the way of is ready."""
        take, ready, launched = self.holding.take, self._claims.ready, self._launched
        for claim in claims:
            schedule, key, _, _, _, fence, replaces, _, _ = claim
            take(key, fence, schedule, at)
            if replaces or key in launched:
                self._wait_for_room(claim)
            else:
                ready.append(claim)

    def _wait_for_room(self, claim: Claim) -> None:
        free = claim.detached
        mine = [one for one in claim.replaces if one[0] in free or self._is_mine(*one)]
        self._claims.waiting[claim.key] = claim
        self.ending.do_beside(self._make_room(claim, mine))

    async def _act(self, at: Moment) -> None:
        while self._claims.ready and not self._strain.rest_ms():
            # Much may have happened to who was kept waiting: frozen, one comes back to leases that
            # are over, and starts nothing that others have taken since.
            await self._renew(at.plus(self._passed_ms(at)))
            launched = await self._launch_some()
            self.telemetry.launches += len(launched)
            self.telemetry.lag.add_all(self._by_now(at), [claim.fire_ms for claim in launched])
            await self._confirm(at)

    async def _launch_some(self) -> list[Claim]:
        """Launch a chunk of what is ready; those that were."""
        launched, launch, claims = list[Claim](), self.launcher.launch, self._claims
        ready, confirms = claims.ready, self.launcher.confirms_start
        chunk = CHUNK if confirms else UNCONFIRMED_CHUNK
        for _ in range(min(len(ready), chunk)):
            if not ready:
                break  # a claim may be lost while another is launched
            claim = claims.launching = ready.popleft()
            try:
                result = await launch(claim)
            except Exception as error:
                # It may have been started or not: for the schedule's rule about that to say.
                log(logging.ERROR, "the launcher failed", failure=error, key=claim.key)
                self.holding.drop(claim.key, claim.fence)
                continue
            finally:
                claims.launching = None
            if isinstance(result, Strained):
                self._hold_back(claim, result)
                return launched
            if result is None:
                self._launched[claim.key] = claim.fence
                self._under_way[claim.key, claim.fence] = claim
            elif self._note_launch(claim, result, confirms):
                launched.append(claim)
        self._strain.end()
        return launched

    def _hold_back(self, claim: Claim, strained: Strained) -> None:
        """Start nothing for a while; what has a deadline is judged again by then."""
        self._strain.begin(strained)
        if not self._claims.hold_back(claim):
            self._given_up.append(claim)
            self.give_back()

    def _note_launch(self, claim: Claim, result: Launched | Failed, confirms: bool) -> bool:
        """Whether it was launched."""
        if isinstance(result, Failed):
            self._fail(claim, result)
            return False
        key, fence, _, detached_ms, _ = result
        if detached_ms is None:
            self._launched[key] = fence
        else:
            self.holding.drop(key, fence)
        if confirms:
            self._unconfirmed.append(result)
        else:
            self.reports.add_launch(result)
        return True

    def _note_late_launch(self, claim: Claim, result: Launched | Failed) -> None:
        """A launcher that took its time has come to an end with it."""
        del self._launched[claim.key]
        if self._note_launch(claim, result, self.launcher.confirms_start):
            self.telemetry.launches += 1
            self.telemetry.lag.add_all(self.clock.now_ms(), [claim.fire_ms])

    async def _confirm(self, at: Moment) -> None:
        """Let runs begin whose launch the ledger has accepted; end the others."""
        if not self._unconfirmed:
            return
        accepted = await self.ledger.report(self._unconfirmed, now_ms=self._by_now(at))
        answers = dict.fromkeys(self._unconfirmed, Renewal.HELD)
        told = zip(self._unconfirmed, accepted, strict=True)
        refused = [one for one, is_accepted in told if not is_accepted]
        answers.update(zip(refused, await self._still_held(refused, at), strict=True))
        self._unconfirmed = []
        for launched, answer in answers.items():
            if answer is Renewal.HELD:
                await self.launcher.release(launched.key)
            else:
                self._note_refusal(launched)
                self._lose(launched.key, launched.fence, answer)

    async def _still_held(self, refused: Sequence[Launched], at: Moment) -> list[Renewal]:
        """
        For each launch that the ledger refused, whether the run is this worker's all the same.

        Then the launch had been written before, and the answer was lost on its way.
        """
        if not refused:
            return []
        runs = [self.holding.held(launched.key, launched.fence) for launched in refused]
        return await self.ledger.renew(runs, owner=self.owner, now_ms=at.now_ms)

    def _note_refusal(self, report: Report) -> None:
        self.telemetry.reports_refused += 1
        why = "the run is over, or another worker has taken it over"
        log(logging.WARNING, "report refused", key=report.key, fence=report.fence, why=why)

    def _fail(self, claim: Claim, failed: Failed) -> None:
        self.telemetry.launches_failed += 1
        self.holding.drop(claim.key, claim.fence)
        self.reports.add_end(failed)
        log(
            logging.WARNING, "launch failed", schedule=claim.schedule.schedule_id, key=claim.key,
            message=failed.message, permanent=failed.permanent,
        )  # fmt: skip

    def _note_end(self, end: Ended) -> None:
        if end.fence == _ADOPTED_FENCE:  # a launcher is not told the number of what it adopted
            end = end._replace(fence=self._adopted.pop(end.key, _ADOPTED_FENCE))
        key, fence = end.key, end.fence
        if self._launched.get(key) == fence:
            del self._launched[key]
        if self._under_way:
            self._under_way.pop((key, fence), None)
        self.holding.drop(key, fence)
        self.reports.add_end(end)
        self._strain.ease()
        self.telemetry.ends += 1
        self.telemetry.ends_failed += not end.success

    def _lose(self, key: str, fence: int, answer: Renewal) -> None:
        """A run is not this worker's any more: end what goes on; its reports will be refused."""
        if answer is Renewal.TAKEN:
            self.telemetry.leases_lost += 1
            log(logging.WARNING, "run lost", key=key, fence=fence)
        self.holding.drop(key, fence)
        self._claims.withdraw(key, fence)
        if self._launched.get(key) == fence:
            self.ending.do_beside(self._end_lost(key, fence))

    async def _end_lost(self, key: str, fence: int) -> None:
        over = await self.ending.end(key, Reason.UNCERTAIN, is_mine=True)
        if over and self._launched.get(key) == fence:
            del self._launched[key]

    async def _make_room(self, claim: Claim, mine: Sequence[tuple[str, int]]) -> None:
        """End what is in the way of a claim; then it is ready, or has failed."""
        ends = [
            self.ending.end_detached(key, fence, Reason.REPLACED)
            if key in claim.detached
            else self._replace(key, fence)
            for key, fence in mine
        ]
        if claim.key in self._launched:
            ends.append(self.ending.end(claim.key, Reason.UNCERTAIN, is_mine=True))
        # A run under another number is another worker's, and cannot be ended here.
        over = all(await asyncio.gather(*ends)) and len(mine) == len(claim.replaces)
        # Else it was lost, or replaced in its turn.
        if self._claims.waiting.get(claim.key) is claim:
            del self._claims.waiting[claim.key]
            if over:
                self._claims.freed.append(claim)
            else:
                message = "the run in flight could not be ended"
                self._fail(claim, Failed(claim.key, claim.fence, message, permanent=False))
        self._wake()

    def _is_mine(self, key: str, fence: int) -> bool:
        """Whether this worker has a run, or its claim, or knows that it is over."""
        is_launched = self._launched.get(key) == fence or self.reports.has_end(key, fence)
        return is_launched or self._claims.is_launching(key, fence) or self._claims.has(key, fence)

    async def _replace(self, key: str, fence: int) -> bool:
        """End a run that is this worker's, if it is not over by now."""
        if self._claims.is_launching(key, fence) or self._launched.get(key, fence) != fence:
            return False  # it cannot be ended in this very moment, or a later try of it is there
        for claim in self._claims.withdraw(key, fence):
            return await self._give_way(claim)
        # What is not known to be over is ended: a launch that has failed since may have worked.
        over = self.reports.has_end(key, fence)
        return over or await self.ending.end(key, Reason.REPLACED, is_mine=True)

    async def _give_way(self, claim: Claim) -> bool:
        """Never start a claim that another takes the place of; whether none of its tries runs."""
        key, fence = place = claim.key, claim.fence
        over, giving_way = claim.launches == 1, self._claims.giving_way
        if not over:  # an earlier try may be running
            giving_way[place] = claim
            over = await self.ending.end(key, Reason.REPLACED)
            if giving_way.pop(place, None) is None:
                return over  # it was given back meanwhile
        message = "replaced before it began" if over else "an earlier try could not be ended"
        reason = Reason.SUPERSEDED if over else Reason.LAUNCH_FAILED
        self._fail(claim, Failed(key, fence, message, permanent=over, reason=reason))
        return over

    async def _see_kills(self, at: Moment, *, at_once: bool = False) -> None:
        """End the runs that callers want ended, if this worker holds them or none does."""
        for key, fence, detached in await self.ending.to_end(at, at_once=at_once):
            if detached or self._launched.get(key) == fence:
                self.ending.kill(key, fence, detached=detached)
            for claim in self._claims.withdraw(key, fence):
                message, reason = "ended before it began", Reason.KILLED
                self._fail(claim, Failed(key, fence, message, permanent=True, reason=reason))
                # An earlier try may be running: then any worker may end it from now on.
                self.ending.is_called |= claim.launches > 1

    def give_up_waiting(self) -> None:
        """Start none of the claims that wait: for another end, an earlier try, or descriptors."""
        strained = self._strain.rest_ms() > 0
        self._given_up += self._claims.give_up_waiting(strained=strained)

    def give_back(self) -> None:
        """Let others start those; as long as runs are in their way that would be in vain."""
        for claim in self._given_up:
            key, fence, message = claim.key, claim.fence, "stopped before it began"
            self.holding.drop(key, fence)
            self.reports.add_end(Failed(key, fence, message, False, Reason.STOPPED))
            log(logging.INFO, "given back", schedule=claim.schedule.schedule_id, key=key)
        self._given_up.clear()
