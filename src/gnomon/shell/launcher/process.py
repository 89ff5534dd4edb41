"""
Runs that are processes of this machine.

A process is started in two steps. `launch` starts a shell that does nothing but wait at a pipe;
`release`, which comes after the ledger has committed the launch, lets it become the command. If the
worker dies in between, the pipe closes and the shell exits: nothing has run. So a claim that was
not reported as launched certainly never started.

Each run is the leader of a session and group of its own. It outlives its worker, and is found again
by process id, start time and boot; the end of such a run is seen, its exit status is not.

`ProcessRules` say what is otherwise for a daemon of a whole machine: that a launch which failed may
be tried again, whatever the failure; that what runs use is recorded; that a stop leaves them be.

Needs Linux: /proc says when a process began, and a pidfd (or, without, a look now and then) says
when it is gone. Limits on resources are not its business.

Spec: LAUNCH-1 to LAUNCH-11, LAUNCH-13 to LAUNCH-17.
"""

import asyncio
import contextlib
import errno
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gnomon.core.ledger.detail import one_line
from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.ledger.period import is_manual
from gnomon.errors import DefinitionError
from gnomon.ports import Claim, Clock, Ended, Failed, Launched, Strained
from gnomon.shell.clock import since_boot_ms
from gnomon.shell.launcher.command import (
    CAPTURE,
    environment,
    find_program,
    missing_program_hint,
    parse_command,
)
from gnomon.shell.launcher.ends import Ends, Usage, exit_line
from gnomon.shell.launcher.outputs import FILES_MAX, OUTPUT_MAX, USUAL_UMASK, Output, Sinks
from gnomon.shell.launcher.process_id import ProcessId, identify
from gnomon.shell.launcher.process_start import (
    Account,
    ProcessStart,
    account_of,
    begin,
    files_of,
    identity_of,
    place_of,
    stub,
)
from gnomon.shell.launcher.strain import is_strain
from gnomon.shell.wake import all_done_within

__all__ = ["ProcessLauncher", "ProcessRules"]

KILL_MAX_MS = 5_000
"""How long a killed process may take to be gone."""
LOOK_MS = 100
"""How often one looks after a process where there are no pidfds."""
OUTPUT_LOOK_MS = 1_000
"""How often one looks how much runs have printed."""
STRAINED_MS = 500
"""How long to wait where no run could be started."""
_ADOPTED_FENCE = 0


class ProcessRules(NamedTuple):
    """How a launcher treats its processes."""

    umask: int | None = None
    """What commands get that name none; None for the worker's own."""
    gives_up: bool = True
    """Whether a program that is not there, and the like, is a failure for good; where it is not,
    a period is tried again until its deadline, and what was asked for by hand is tried once."""
    records_usage: bool = False
    leaves: bool = False
    """Whether `drain` leaves what does not end by itself to the next worker."""
    descriptors: int | None = None
    """How many files commands may have open; None for as many as the worker."""


_USUAL = ProcessRules()


@dataclass(slots=True, kw_only=True)
class _Run:
    key: str
    fence: int
    identity: ProcessId
    timeout_ms: int
    grace_ms: int
    process: "subprocess.Popen[bytes] | None"
    """None for a run of a former worker, which is not a child of this process."""
    gate: int | None
    """Where the release is written; None once that is done."""
    output: Path | None
    exit: "asyncio.Future[None]"
    pidfd: int | None = None
    reason: Reason | None = None
    ending: bool = False
    watchers: "set[asyncio.Task[None]]" = field(default_factory=set)


class ProcessLauncher:
    """Starts commands as processes, each in a group of its own."""

    def __init__(
        self, clock: Clock, *, directory: Path | None = None, cwd: Path | None = None,
        output_max: int = OUTPUT_MAX, files_max: int = FILES_MAX, rules: ProcessRules = _USUAL,
        pidfds: bool = hasattr(os, "pidfd_open"), uptime_ms: Callable[[], int] = since_boot_ms,
    ) -> None:  # fmt: skip
        self._clock = clock
        own = account_of()
        self.home, self.user = own.home, own.name
        self._cwd = None if cwd is None else str(cwd)
        self.rules = rules
        self._pidfds = pidfds
        self._uptime_ms = uptime_ms
        self._runs: dict[str, _Run] = {}
        self._ends = Ends()
        self._capping: asyncio.Task[None] | None = None
        self.output = Output(directory, bytes_max=output_max, files_max=files_max)

    @property
    def confirms_start(self) -> bool:
        return True

    async def launch(self, claim: Claim) -> Launched | Failed | Strained:
        try:
            command = parse_command(claim.schedule.target)
        except DefinitionError as error:
            return self._failed(claim.key, claim.fence, error, permanent=True)
        try:
            account = account_of(command.user, command.group)
        except OSError as error:
            return self._not_started(claim.key, claim.fence, error, as_another=False)
        env = environment(claim, command, home=account.home, user=account.name)
        return self.prepare(
            ProcessStart(claim.key, claim.fence, claim.launches, command, env, account)
        )

    def prepare(self, start: ProcessStart) -> Launched | Failed | Strained:
        """Make a process ready, which begins when it is released."""
        key, fence = start.key, start.fence
        if key in self._runs:
            return Failed(key, fence, "an earlier run has not ended", permanent=False)
        try:
            run = self._spawn(start)
        except DefinitionError as error:
            return self._failed(key, fence, error, permanent=True)
        except OSError as error:
            return self._not_started(key, fence, error, as_another=bool(start.command.user))
        return Launched(key, fence, run.identity.text(run.timeout_ms, run.grace_ms))

    async def rest(self) -> None:
        """Wait for a moment, in which what is missing may become free."""
        await self._clock.sleep_ms(STRAINED_MS)

    def _not_started(
        self, key: str, fence: int, error: OSError, *, as_another: bool
    ) -> Failed | Strained:
        if is_strain(error, as_another=as_another):
            return Strained(key, fence, one_line(_said(error)))
        return self._failed(key, fence, error, permanent=error.errno == errno.E2BIG)

    def _failed(self, key: str, fence: int, error: Exception, *, permanent: bool) -> Failed:
        is_final = permanent if self.rules.gives_up else is_manual(key)
        return Failed(key, fence, one_line(_said(error)), permanent=is_final)

    async def release(self, key: str) -> None:
        run = self._runs.get(key)
        if run is None or run.gate is None:
            return
        with contextlib.suppress(BrokenPipeError):  # it is gone, and its end will be reported
            os.write(run.gate, b"\n")
        self._close_gate(run)
        self._limit(run)

    async def adopt(self, key: str, run_id: str) -> bool:
        found = ProcessId.read(run_id)
        if found is None:
            return False
        identity, timeout_ms, grace_ms = found
        if key in self._runs:
            return self._runs[key].identity == identity
        run = _Run(
            key=key, fence=_ADOPTED_FENCE, identity=identity, timeout_ms=timeout_ms,
            grace_ms=grace_ms, process=None, gate=None, output=self.output.newest(key),
            exit=asyncio.get_running_loop().create_future(),
        )  # fmt: skip
        # The watch comes first: a process that is the right one now is then watched for certain.
        try:
            self._watch(run)
        except ProcessLookupError:
            return False
        if identify(identity.pid) != identity:
            self._forget(run)
            for task in run.watchers:
                task.cancel()
            return False
        self.output.follow(run.output)
        self._limit(run, passed_ms=identity.age_ms(since_boot_ms=self._uptime_ms()))
        return True

    async def ended(self) -> Sequence[Ended]:
        self._start_capping()  # a former worker may have left something
        return await self._ends.take()

    async def end(self, key: str, reason: Reason) -> bool | None:
        run = self._runs.get(key)
        return None if run is None else await self._terminate(run, reason)

    async def drain(self, *, grace_ms: int) -> None:
        runs = list(self._runs.values())
        ended = await all_done_within(self._clock, _exits(runs), grace_ms)
        if not ended and not self.rules.leaves:
            left = [run for run in runs if not run.exit.done()]
            await asyncio.gather(*(self._terminate(run, Reason.STOPPED) for run in left))

    def leave(self) -> None:
        """Tell all runs to end and wait for none; a worker that adopts what is left can end it."""
        for run in self._runs.values():
            self._tell_to_end(run)

    def _spawn(self, start: ProcessStart) -> _Run:
        command = start.command
        account = start.account or account_of(command.user, command.group)
        cwd = str(Path(self._cwd or account.place, command.cwd or "").absolute())
        umask = self.rules.umask if command.umask is None else command.umask
        captures = CAPTURE in (command.stdout, command.stderr)
        path = self.output.path(start.key, start.attempt) if captures else None
        with contextlib.ExitStack() as undoing:
            undoing.callback(self.output.settle, path)
            with contextlib.ExitStack() as closing:
                place = closing.enter_context(place_of(account, cwd))
                arguments = _program(start, account, cwd)
                file_umask = USUAL_UMASK if umask is None else umask
                sinks = Sinks(account, place, file_umask, lambda: self.output.open(path))
                outputs = closing.enter_context(sinks.opened(command.stdout, command.stderr))
                waiting_end, gate = os.pipe()
                undoing.callback(os.close, gate)
                closing.callback(os.close, waiting_end)
                process = begin(
                    stub(self.rules.descriptors), arguments, account, cwd=cwd, env=start.env,
                    stdin=waiting_end, outputs=outputs, umask=umask,
                )  # fmt: skip
                undoing.callback(process.wait)
                undoing.callback(process.kill)
                run = self._admit(start, process, gate, path, cwd)
            undoing.pop_all()
        return run

    def _admit(
        self, start: ProcessStart, process: "subprocess.Popen[bytes]", gate: int, path: Path | None,
        cwd: str,
    ) -> _Run:  # fmt: skip
        run = _Run(
            key=start.key, fence=start.fence, identity=identity_of(process, cwd),
            timeout_ms=start.command.timeout_ms, grace_ms=start.command.grace_ms,
            process=process, gate=gate, output=path,
            exit=asyncio.get_running_loop().create_future(),
        )  # fmt: skip
        self._watch(run)
        return run

    def _watch(self, run: _Run) -> None:
        """See to it that `_settle` is called when the process is gone."""
        try:
            run.pidfd = os.pidfd_open(run.identity.pid) if self._pidfds else None
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EPERM):
                raise
            self._pidfds = False  # an old kernel, or a sandbox that does not let us
        if run.pidfd is not None:
            asyncio.get_running_loop().add_reader(run.pidfd, self._settle, run)
        else:
            self._in_background(run, self._look(run))
        self._runs[run.key] = run
        self._start_capping()

    async def _look(self, run: _Run) -> None:
        while identify(run.identity.pid) == run.identity:
            await self._clock.sleep_ms(LOOK_MS)
        self._settle(run)

    def _start_capping(self) -> None:
        if self._capping is None and (self._runs or self.output.is_growing):
            self._capping = asyncio.ensure_future(self._cap_output())

    async def _cap_output(self) -> None:
        while self._runs or self.output.is_growing:
            await self._clock.sleep_ms(OUTPUT_LOOK_MS)
            self.output.look()
        self._capping = None

    def _limit(self, run: _Run, *, passed_ms: int = 0) -> None:
        """See to it that a run ends in time, of which some may have passed."""
        if run.timeout_ms:
            self._in_background(run, self._time_out(run, max(run.timeout_ms - passed_ms, 0)))

    async def _time_out(self, run: _Run, left_ms: int) -> None:
        if not await all_done_within(self._clock, [run.exit], left_ms):
            await self._terminate(run, Reason.TIMED_OUT)

    async def _terminate(self, run: _Run, reason: Reason | None) -> bool:
        """TERM to the group, then KILL; whether its leader is gone."""
        run.reason = run.reason or reason
        run.ending = True
        self._tell_to_end(run)
        if await all_done_within(self._clock, [run.exit], run.grace_ms):
            return True
        self._signal(run, signal.SIGKILL)
        return await all_done_within(self._clock, [run.exit], KILL_MAX_MS)

    def _tell_to_end(self, run: _Run) -> None:
        self._signal(run, signal.SIGTERM)
        self._signal(run, signal.SIGCONT)  # one that was stopped could not heed it

    def _signal(self, run: _Run, number: signal.Signals) -> None:
        if not run.exit.done():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(run.identity.pid, number)

    def _settle(self, run: _Run) -> None:
        """The leader is gone. Until it is reaped its number is not given to anybody else."""
        if run.ending:
            self._signal(run, signal.SIGKILL)  # what is left of its group
        self._forget(run)
        status, usage = (None, None) if run.process is None else _reap(run.process)
        self.output.settle(run.output)
        success = status == 0 and not run.ending
        reason = run.reason or (Reason.UNCERTAIN if status is None else None)
        line = exit_line(status, usage if self.rules.records_usage else None)
        now_ms = self._clock.now_ms()
        self._ends.add(Ended(run.key, run.fence, success, line, reason, ended_ms=now_ms))
        run.exit.set_result(None)

    def _forget(self, run: _Run) -> None:
        del self._runs[run.key]
        self._close_gate(run)
        if run.pidfd is not None:
            asyncio.get_running_loop().remove_reader(run.pidfd)
            os.close(run.pidfd)
            run.pidfd = None

    def _close_gate(self, run: _Run) -> None:
        if run.gate is not None:
            os.close(run.gate)
            run.gate = None

    def _in_background(self, run: _Run, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        run.watchers.add(task)
        task.add_done_callback(run.watchers.discard)


def _program(start: ProcessStart, account: Account, cwd: str) -> tuple[str, ...]:
    """The program, as an absolute path, and its arguments."""
    name, *arguments = start.command.arguments
    with files_of(account):
        program = find_program(name, cwd=cwd, path=start.env["PATH"])
    if program is None:
        raise DefinitionError(
            "is no program that can be run", where="target.command", got=name,
            hint=missing_program_hint(name, cwd=cwd, path=start.env["PATH"]),
        )  # fmt: skip
    return (program, *arguments)


def _said(error: Exception) -> str:
    """What went wrong, and with which file."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    return str(error)


def _reap(process: "subprocess.Popen[bytes]") -> tuple[int, Usage]:
    """How an ended process ended, and what it has used."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    own_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory_kib = used.ru_maxrss if used.ru_maxrss > own_kib else None
    return process.returncode, Usage(used.ru_utime, used.ru_stime, memory_kib)


def _exits(runs: Iterable[_Run]) -> "list[asyncio.Future[None]]":
    return [run.exit for run in runs]
