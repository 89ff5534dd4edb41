"""
How krond starts, runs and stops: `gnomon krond start`.

The krontab files are read first: with an error in one of them nothing is opened and nothing runs.
Then the state is locked and examined, what a former krond left behind is taken over, and the jobs
are installed. From then on the control socket answers, HUP loads the files again, and TERM lets the
jobs that run come to their end; those that take too long are left to the next krond.

A krond without a terminal is the same program, started once more with its lines in a file. The
process that started it waits until it is ready, or hears why it is not.

After a clock that was ahead, the state of a krond that does not run is opened to plan again.

Spec: KROND-17 to KROND-23, KROND-38, CLI-41.
"""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.krond.control import Answer, serving
from gnomon.apps.krond.daemon import Daemon
from gnomon.apps.krond.files import load_jobs
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.log import JobLog, KronLines
from gnomon.apps.krond.state import StateDirectory, advised
from gnomon.compose.krond_beside import Beside, BesideOptions
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Clock
from gnomon.shell.boot import read_boot
from gnomon.shell.clock import since_boot_ms
from gnomon.shell.launcher.process import ProcessLauncher, ProcessRules
from gnomon.shell.launcher.strain import raise_limit
from gnomon.shell.observe.log import log, logs_to
from gnomon.shell.store.belonging import Door, belong
from gnomon.shell.store.instant_text import maybe_to_text, to_text
from gnomon.shell.store.replanning import Replanned
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from gnomon.shell.worker.process import Stopper

__all__ = [
    "Detached",
    "StartOptions",
    "replan_stopped",
    "replanned_record",
    "start_detached",
    "start_krond",
]

LOG_BYTES, LOG_FILES = 10_000_000, 5
"""How long the log of a krond without a terminal becomes, and how many old ones are kept."""
"""Each job that runs takes one."""
_JOBS = ProcessRules(umask=0o022, gives_up=False, records_usage=True, leaves=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How to run."""

    sources: tuple[Path, ...]
    state: StateDirectory
    grace_ms: int
    keep_ms: int | None
    json_log: bool
    debug: bool
    log_file: Path | None
    ready_fd: int | None
    beside: BesideOptions
    describe: Callable[[DefinitionError], str]
    """How an error is said to a caller at the socket."""


def start_krond(options: StartOptions, clock: Clock) -> bool:
    """Run until told to stop; False when it was told twice."""
    os.umask(0o077)  # whatever krond makes is for its user; jobs have a umask of their own
    early: list[int] = []
    signal.signal(signal.SIGHUP, lambda number, _: early.append(number))
    gc.disable()  # until the jobs are there, which stay
    jobs = load_jobs(options.sources)
    options.state.prepare()
    with _logging(options):
        return asyncio.run(_run(jobs, options, clock, early))


class Detached(NamedTuple):
    """What became of a krond that was started in the background."""

    pid: int | None
    """None when it could not start."""
    log: Path
    code: int = 0
    said: str = ""
    """Why it could not start."""


def start_detached(arguments: Sequence[str], options: StartOptions) -> Detached:
    """Start the same in the background, and return when it is ready or has ended."""
    os.umask(0o077)
    options.state.prepare()
    log_file = options.log_file or options.state.log
    ready, telling = os.pipe()
    try:
        with os.fdopen(options.state.open_log(log_file), "ab") as lines:
            before = lines.tell()
            process = subprocess.Popen(  # noqa: S603 (it is this very program)
                [sys.executable, "-m", "gnomon", *arguments, "--log-file", str(log_file),
                 "--ready-fd", str(telling)],
                stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, pass_fds=(telling,),
                start_new_session=True,
            )  # fmt: skip
        os.close(telling)
        said = os.read(ready, 100).decode()
    finally:
        os.close(ready)
    if said:
        process.returncode = 0  # it goes on by itself, and this process does not wait for it
        return Detached(int(said), log_file)
    code = process.wait()
    with log_file.open("rb") as lines:
        lines.seek(before)
        return Detached(None, log_file, code, lines.read().decode(errors="replace"))


async def replan_stopped(state: StateDirectory, clock: Clock) -> Replanned:
    """Plan again in the state of a krond that does not run."""
    if not state.ledger.exists():
        raise StoreError(
            "holds no state of krond",
            where=str(state.path),
            hint="name the directory with --state-dir",
        )
    state.check()
    with advised(state):
        ledger = SqliteLedger.open(state.ledger, exclusive=True)
        try:
            return await ledger.replan(now_ms=clock.now_ms())
        finally:
            await ledger.close()


def replanned_record(replanned: Replanned) -> dict[str, int]:
    """What was planned again, as JSON."""
    return {"jobs": replanned.schedules, "periods": replanned.periods, "all": replanned.is_all}


async def _run(jobs: list[Job], options: StartOptions, clock: Clock, early: Sequence[int]) -> bool:
    """Run until told to stop; `early` are the reloads that were asked for before this was ready."""
    stopper = Stopper(options.grace_ms)
    reading = ThreadPoolExecutor(max_workers=1, thread_name_prefix="krond-reload")
    async with stopper.listening(), _open(options.state) as ledger:
        rules = _JOBS._replace(descriptors=raise_limit())
        launcher = ProcessLauncher(clock, directory=options.state.output, rules=rules)
        beside = Beside(clock, options.beside, options.state)
        job_log = JobLog(clock, tell=beside.tell, output_of=launcher.output.newest)
        daemon = Daemon(
            ledger, launcher, clock, load=lambda: load_jobs(options.sources),
            job_log=job_log, executor=reading,
        )  # fmt: skip
        boot = read_boot(now_ms=clock.now_ms(), since_boot_ms=since_boot_ms())
        await daemon.begin(jobs, boot)
        gc.freeze()
        gc.enable()
        desk = _Desk(daemon, launcher, stopper, options)
        async with serving(options.state, desk.answer), _reloading(daemon, early):
            log(logging.INFO, "running", jobs=len(jobs), state=str(options.state.path))
            _say_ready(options.ready_fd)
            works = beside.works(daemon, job_log)
            try:
                return await daemon.process.run(stopper, keep_ms=options.keep_ms, beside=works)
            finally:
                daemon.others.close()
                await beside.finish()


class _LogFile(RotatingFileHandler):
    """The log of a krond without a terminal, opened anew for each of its files."""

    def __init__(self, state: StateDirectory, path: Path) -> None:
        self._state, self._path = state, path
        super().__init__(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        return os.fdopen(self._state.open_log(self._path), "a", encoding="utf-8")


class _Desk:
    """Answers what comes over the control socket."""

    def __init__(
        self, daemon: Daemon, launcher: ProcessLauncher, stopper: Stopper, options: StartOptions
    ) -> None:
        self._daemon, self._launcher = daemon, launcher
        self._stopper, self._options = stopper, options
        self._commands: dict[str, Callable[[Mapping[str, object]], Awaitable[Answer]]] = {
            "status": self._status, "reload": self._reload, "stop": self._stop,
            "run-now": self._run_now, "replan": self._replan,
        }  # fmt: skip

    async def answer(self, request: Mapping[str, object]) -> Answer:
        command = self._commands.get(str(request.get("command")))
        if command is None:
            return {"ok": False, "error": f"the commands are {', '.join(self._commands)}"}
        return await command(request)

    async def _status(self, _: Mapping[str, object]) -> Answer:
        condition, telemetry = self._daemon.condition, self._daemon.process.runtime.telemetry
        return {
            "ok": True,
            "pid": os.getpid(),
            "startedAt": to_text(condition.started_ms),
            "sources": [str(source) for source in self._options.sources],
            "jobs": condition.jobs,
            "loadedAt": to_text(condition.loaded_ms),
            "problem": condition.problem,
            "problemAt": maybe_to_text(condition.problem_ms),
            "counters": telemetry.counters(),
            "maxLatenessMs": telemetry.lag.max_ms,
        }

    async def _reload(self, _: Mapping[str, object]) -> Answer:
        condition = await self._daemon.reload()
        if condition.problem is not None:
            return {"ok": False, "error": condition.problem}
        return {"ok": True, "jobs": condition.jobs}

    async def _run_now(self, request: Mapping[str, object]) -> Answer:
        try:
            key, ending = await self._daemon.run_now(str(request.get("job")))
        except DefinitionError as error:
            return {"ok": False, "error": self._options.describe(error)}
        if not request.get("wait"):
            return {"ok": True, "key": key}
        success, detail = await ending
        return {"ok": True, "key": key, "success": success, "detail": detail}

    async def _replan(self, _: Mapping[str, object]) -> Answer:
        return {"ok": True, **replanned_record(await self._daemon.replan())}

    async def _stop(self, request: Mapping[str, object]) -> Answer:
        grace_ms = request.get("graceMs")
        if request.get("kill"):
            self._launcher.rules = self._launcher.rules._replace(leaves=False)
        self._stopper.stop(grace_ms if isinstance(grace_ms, int) else self._options.grace_ms)
        return {"ok": True, "active": self._daemon.process.runtime.in_hand}


@contextlib.asynccontextmanager
async def _open(state: StateDirectory) -> AsyncIterator[SqliteLedger]:
    with ledger_thread() as thread:
        with advised(state):
            ledger = SqliteLedger.open(state.ledger, executor=thread, exclusive=True)
        try:
            await belong(
                ledger, Door.KROND, place=str(state.ledger), otherwise=", and not to krond",
                hint="name another directory with --state-dir",
            )  # fmt: skip
            yield ledger
        finally:
            await ledger.close()


@contextlib.asynccontextmanager
async def _reloading(daemon: Daemon, early: Sequence[int]) -> AsyncIterator[None]:
    """HUP loads the files again, also one that came while they were loaded for the first time."""
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[object]]()

    def reload() -> None:
        task = asyncio.ensure_future(daemon.reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGHUP, reload)
    if early:
        reload()
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def _logging(options: StartOptions) -> Iterator[None]:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if options.log_file is not None:
        handler = _LogFile(options.state, options.log_file)
    handler.setFormatter(KronLines(as_json=options.json_log))
    with logs_to(handler, level=logging.DEBUG if options.debug else logging.INFO):
        yield
    handler.close()


def _say_ready(descriptor: int | None) -> None:
    if descriptor is not None:
        os.write(descriptor, f"{os.getpid()}\n".encode())
        os.close(descriptor)
