"""
The daemon: jobs in a ledger, and a process that runs them.

What the krontab files say is installed in the ledger in one transaction, at the start and at each
reload; a file that is wrong changes nothing, and is remembered as the problem until one is right.
Everything else is the process's and the engine's.

It knows neither signals nor sockets: its caller has them, and calls `reload`.

Spec: KROND-13, KROND-18 to KROND-20, KROND-38, KROND-39, KROND-41.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from gnomon.apps.krond.files import OtherKronds
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.log import JobLog
from gnomon.apps.krond.state import REPAIRED
from gnomon.core.civil.instant import format_instant
from gnomon.core.recurrence import Boot
from gnomon.errors import DefinitionError, KrontabError, StoreError
from gnomon.ports import Clock, Launcher
from gnomon.shell.boot import MachineBoot
from gnomon.shell.observe.log import log
from gnomon.shell.store.installation import Installed
from gnomon.shell.store.replanning import Replanned
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.worker.process import Process

__all__ = ["AHEAD", "BATCH", "Condition", "Daemon"]

AHEAD = "gnomon krond replan has run after all what was not started and lies ahead"
"""What can be done when the clock was ahead."""

BATCH = 20_000
"""All that is due at one second is claimed in one turn, so that no job makes another late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a daemon says about itself."""

    started_ms: int
    jobs: int
    loaded_ms: int
    """When the definitions that are in force were loaded."""
    problem: str | None = None
    """Why a later reload was refused."""
    problem_ms: int | None = None


class Daemon:
    """Runs the jobs that `load` gives."""

    def __init__(
        self, ledger: SqliteLedger, launcher: Launcher, clock: Clock, *,
        load: Callable[[], list[Job]], job_log: JobLog, executor: Executor | None = None,
    ) -> None:  # fmt: skip
        self.process = Process(
            ledger, launcher, clock, batch=BATCH, observer=job_log, ahead_hint=AHEAD
        )
        self._ledger = ledger
        self._clock = clock
        self._load = load
        self._job_log = job_log
        self._executor = executor
        self._reloading = asyncio.Lock()
        self.others = OtherKronds()
        self._asked = 0
        now_ms = clock.now_ms()
        self.condition = Condition(started_ms=now_ms, jobs=0, loaded_ms=now_ms)

    async def begin(self, jobs: Sequence[Job], boot: MachineBoot | None = None) -> None:
        """Take over from the predecessor, and install the first jobs; what a boot starts, too."""
        self._job_log.jobs = {job.schedule_id: job for job in jobs}
        await self.process.runtime.recover()
        await self._install(jobs, boot)
        if boot is None and any(isinstance(job.schedule.recurrence, Boot) for job in jobs):
            hint = "krond needs /proc to tell one boot of the machine from another"
            log(logging.WARNING, "no boot", message="jobs with @reboot do not start", hint=hint)

    async def reload(self) -> Condition:
        """Load the files again; what is wrong with them leaves everything as it is."""
        async with self._reloading:
            try:
                jobs = await self._loaded()
                await self._install(jobs)
            except KrontabError as error:
                self._refuse(error.report)
            except StoreError as error:
                self._refuse(str(error))
            self.process.runtime.wake()
            return self.condition

    async def run_now(self, text: str) -> tuple[str, "asyncio.Future[tuple[bool, str]]"]:
        """Have a job run once more, beside its periods: the run's key, and what comes of it."""
        job = self._find(text)
        name = format_instant(self._clock.now_ms() // 1000).replace(":", "")
        self._asked += 1
        row = await self._ledger.trigger(
            job.schedule_id, name=f"{name}-{self._asked}", now_ms=self._clock.now_ms()
        )
        assert row is not None  # the job is installed
        waiter = self._job_log.waiters[row.key] = asyncio.get_running_loop().create_future()
        self.process.runtime.wake()
        return row.key, waiter

    async def replan(self) -> Replanned:
        """Plan again what lies ahead and was judged by a clock that was ahead."""
        replanned = await self._ledger.replan(now_ms=self._clock.now_ms())
        log(
            logging.INFO, "replanned", jobs=replanned.schedules, periods=replanned.periods,
            all=replanned.is_all,
        )  # fmt: skip
        self.process.runtime.wake()
        return replanned

    def _find(self, text: str) -> Job:
        jobs = self._job_log.jobs.values()
        found = [job for job in jobs if text in (job.identity, job.name)]
        exact = [job for job in found if job.identity == text]
        if len(found) == 1 or exact:
            return (exact or found)[0]
        problem = "is the name of several jobs" if found else "is no job of this krond"
        hint = "write its file, a colon and its name" if found else "krond status lists them"
        raise DefinitionError(problem, where="job", got=text, hint=hint)

    async def _loaded(self) -> list[Job]:
        """Read the files, beside the loop: others must not be late because of it."""
        if self._executor is None:
            return self._load()
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._load)

    def _refuse(self, problem: str) -> None:
        now_ms = self._clock.now_ms()
        log(logging.ERROR, "error", message=f"reload refused, the old jobs stay: {problem}")
        self.condition = Condition(
            started_ms=self.condition.started_ms, jobs=self.condition.jobs,
            loaded_ms=self.condition.loaded_ms, problem=problem, problem_ms=now_ms,
        )  # fmt: skip

    async def _install(self, jobs: Sequence[Job], boot: MachineBoot | None = None) -> None:
        now_ms = self._clock.now_ms()
        repaired = await self._ledger.note(REPAIRED)
        installed = await self._ledger.install(
            [job.schedule for job in jobs],
            suspended={job.schedule_id for job in jobs if job.suspend}, now_ms=now_ms,
            after_ms=0 if repaired is None else int(repaired), boot=boot,
        )  # fmt: skip
        former, by_id = self._job_log.jobs, {job.schedule_id: job for job in jobs}
        self._job_log.jobs = by_id
        _say_installed(installed, {**former, **by_id})
        self.others.look(job.file for job in jobs)
        self.condition = Condition(
            started_ms=self.condition.started_ms, jobs=len(jobs), loaded_ms=now_ms
        )


def _say_installed(installed: Installed, jobs: dict[str, Job]) -> None:
    def identity(schedule_id: str) -> str:
        job = jobs.get(schedule_id)
        return schedule_id if job is None else job.identity

    for saved in installed.saved:
        following = saved.next_nominal
        level = logging.INFO if saved.revision > 1 else logging.DEBUG  # a new job has not moved
        log(
            level, "reschedule", identity=identity(saved.schedule_id),
            revision=saved.revision,
            nextPeriodId=None if following is None else format_instant(following),
        )  # fmt: skip
    for event, names in (
        ("removed", installed.removed),
        ("suspended", installed.suspended),
        ("resumed", installed.resumed),
        ("booted", installed.booted),
    ):
        for name in names:
            log(logging.INFO, event, identity=identity(name))
