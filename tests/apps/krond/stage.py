"""
The real daemon on virtual time: files that are texts, a clock to be set, runs that are timers.

What a job does follows from its command: `true` ends at once, `sleep 90` after ninety seconds,
`missing` cannot be started, and `stubborn` cannot be ended. The launcher keeps a file of its own of
what was executed, and what runs goes on when the daemon dies, as processes do.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from gnomon.apps.krond.daemon import Daemon
from gnomon.apps.krond.execution import read_target
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import read_krontab
from gnomon.apps.krond.log import JobLog
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.ledger.period import is_manual
from gnomon.errors import KrontabError
from gnomon.ports import Claim, Ended, Failed, Launched, RunRow
from gnomon.shell.boot import MachineBoot
from gnomon.shell.observe.log import LOGGER
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.worker.process import Stopper
from tests.shell.virtual_time import VirtualClock, run_virtually

__all__ = ["FILE", "Execution", "Stage", "play"]

FILE = "/etc/krond.d/jobs"
_T = TypeVar("_T")


class Execution(NamedTuple):
    """That a job ran: its name, the period, and the second at which it began."""

    job: str
    period: str
    at: str


class Outside:
    """The processes of the machine, and their own account of what was executed."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.executed: list[Execution] = []
        self.keys: list[str] = []
        """Of what was executed, in the same order."""
        self.running: dict[str, asyncio.TimerHandle | None] = {}
        self.listener: Launcher | None = None
        self.broken: set[str] = set()
        """Commands that cannot be started at present."""

    def begin(self, claim: Claim) -> None:
        name = claim.schedule.decider.identity.removeprefix(f"{FILE}:")
        at = format_instant(self.clock.now_ms() // 1000)
        self.executed.append(Execution(name, format_instant(claim.nominal), at))
        self.keys.append(claim.key)
        command, *rest = read_target(claim.schedule.target).arguments
        loop = asyncio.get_running_loop()
        self.running[claim.key] = None
        if command != "stubborn":
            length_s = int(rest[0]) if rest else 0
            self.running[claim.key] = loop.call_later(length_s, self.over, claim.key, True, None)

    def over(self, key: str, success: bool, reason: Reason | None) -> None:
        timer = self.running.pop(key)
        if timer is not None:
            timer.cancel()
        if self.listener is not None:
            self.listener.hear(key, success, reason)


class Launcher:
    """A `gnomon.ports.Launcher` that begins runs outside, and confirms their starts."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self._claims: dict[str, Claim] = {}
        self._fences: dict[str, int] = {}
        self._ends: list[Ended] = []
        self._some = asyncio.Event()
        outside.listener = self

    @property
    def confirms_start(self) -> bool:
        return True

    async def launch(self, claim: Claim) -> Launched | Failed:
        command = read_target(claim.schedule.target).arguments[0]
        if command in self.outside.broken:
            is_final = is_manual(claim.key)
            return Failed(claim.key, claim.fence, f"{command} is not there", permanent=is_final)
        self._claims[claim.key] = claim
        self._fences[claim.key] = claim.fence
        return Launched(claim.key, claim.fence, f"4711:{claim.fence}:boot:0:10000")

    async def release(self, key: str) -> None:
        self.outside.begin(self._claims.pop(key))

    async def adopt(self, key: str, run_id: str) -> bool:
        self._fences[key] = 0
        return key in self.outside.running

    async def ended(self) -> Sequence[Ended]:
        await self._some.wait()
        self._some.clear()
        ends, self._ends = self._ends, []
        return ends

    async def end(self, key: str, reason: Reason) -> bool:
        if self.outside.running.get(key, 0) is None:
            return False
        if key in self.outside.running:
            self.outside.over(key, False, reason)
        return True

    async def drain(self, *, grace_ms: int) -> None:
        """Runs go on."""

    def hear(self, key: str, success: bool, reason: Reason | None) -> None:
        detail = "exit 0" if success else "signal 15"
        fence = self._fences.pop(key, 0)
        self._ends.append(Ended(key, fence, success, detail, reason))
        self._some.set()


class Stage:
    """A machine with one krond, which can be killed and started again."""

    def __init__(self, text: str, at: str) -> None:
        self.clock = VirtualClock()
        self.set_clock(at)
        self.text = text
        self.ledger = SqliteLedger.open(":memory:")
        self.outside = Outside(self.clock)
        self.told: list[Happening] = []
        self.daemon: Daemon | None = None
        self._running: asyncio.Task[bool] | None = None
        self.boots = 1
        self._booted_ms = 0
        """When the machine was booted, by the clock that is never set."""

    def set_clock(self, at: str) -> None:
        """Set the clock on the wall; a task that waits for a time is not told."""
        wanted_ms = round(datetime.fromisoformat(at).timestamp() * 1000)
        self.clock.offset_ms += wanted_ms - self.clock.now_ms()

    async def start(self) -> None:
        job_log = JobLog(self.clock, tell=self.told.append)
        self.daemon = Daemon(
            self.ledger, Launcher(self.outside), self.clock, load=self._jobs, job_log=job_log
        )
        await self.daemon.begin(self._jobs(), self.boot())
        process = self.daemon.process
        self._running = asyncio.create_task(process.run(Stopper(0), keep_ms=None))

    async def kill(self) -> None:
        """The daemon is gone, without a word; what runs goes on."""
        assert self._running is not None
        self.outside.listener = None
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        self.daemon = self._running = None

    def boot(self) -> MachineBoot:
        """What the kernel says about the boot of this machine, as the clock is now."""
        up_ms = self.clock.monotonic_ms() - self._booted_ms
        return MachineBoot(f"b{self.boots}", (self.clock.now_ms() - up_ms) // 1000)

    async def power_off(self) -> None:
        """The machine is gone with all that runs on it; when it starts, that is another boot."""
        if self._running is not None:
            await self.kill()
        for timer in self.outside.running.values():
            if timer is not None:
                timer.cancel()
        self.outside.running.clear()
        self.boots += 1
        self._booted_ms = self.clock.monotonic_ms()

    async def reload(self, text: str) -> str | None:
        """Load another text; why it was refused."""
        assert self.daemon is not None
        self.text = text
        return (await self.daemon.reload()).problem

    async def pass_s(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def pass_until(self, at: str) -> None:
        """Let time pass until the clock on the wall shows this."""
        wanted_ms = round(datetime.fromisoformat(at).timestamp() * 1000)
        await asyncio.sleep(max(wanted_ms - self.clock.now_ms(), 0) / 1000)

    async def rows(self, name: str) -> list[RunRow]:
        """The rows of a job, oldest first."""
        (schedule_id,) = await self.ledger.ids(f"{name}-")
        return (await self.ledger.runs(schedule_id, limit=1000))[::-1]

    async def told_of(self, name: str) -> list[str]:
        """What became of each period of a job, oldest first, as `02:00 missed(deadline)`."""
        words = []
        for row in await self.rows(name):
            span = f"..{format_instant(row.last_nominal)[11:16]}" if row.last_nominal else ""
            outcome = f"{row.outcome or row.state}" + (f"({row.reason})" if row.reason else "")
            words.append(f"{format_instant(row.nominal)[11:16]}{span} {outcome}")
        return words

    @property
    def is_running(self) -> bool:
        return self._running is not None

    def starts(self, name: str) -> list[str]:
        """When a job was executed, as times of day."""
        return [one.at[11:16] for one in self.outside.executed if one.job == name]

    def periods(self, name: str) -> list[str]:
        """The periods for which a job was executed, as times of day."""
        return [one.period[11:16] for one in self.outside.executed if one.job == name]

    def _jobs(self) -> list[Job]:
        krontab = read_krontab(self.text, file=FILE)
        if krontab.errors:
            first = krontab.errors[0]
            report = f"{FILE}:{first.line}:{first.column}: {first.where} {first.reason}"
            raise KrontabError(report, count=len(krontab.errors))
        return list(krontab.jobs)


def play(scenario: Coroutine[object, object, _T]) -> _T:
    """Run a scenario on virtual time; its log lines are of interest to few."""
    former = LOGGER.level
    LOGGER.setLevel(logging.CRITICAL)
    try:
        return run_virtually(scenario)
    finally:
        LOGGER.setLevel(former)
