"""
One program of the cluster as a process: started, waited for, stopped, killed, started again.

It ends with the process that started it, whatever becomes of that one. A wait that meets its limit
raises with the last lines that the program has written.
"""

import ctypes
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["ClusterError", "Process", "free_port", "until"]

_TAIL = 3_000
_PAUSE_S = 0.1
_PORTS = (20_000, 32_000)
"""Below the ports that the kernel gives to clients, so that a port stays free meanwhile."""
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
"""It starts every program: one that another thread has started ends with that thread."""
_CALLS = ctypes.CDLL(None, use_errno=True)


class ClusterError(Exception):
    """A part of the cluster did not do what it had to; the text ends with what it wrote."""


class Process:
    """A program with its arguments, and the file that it writes to."""

    def __init__(self, command: list[str], log: Path, *, folder: Path | None = None) -> None:
        self.name = Path(command[0]).name
        self.log = log
        self._folder = folder or log.parent
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def code(self) -> int | None:
        """How it ended; a negative number is the signal."""
        return None if self._process is None else self._process.poll()

    @property
    def pid(self) -> int:
        assert self._process is not None, "ask for the id of what was started"
        return self._process.pid

    def start(self) -> None:
        assert not self.runs, f"{self.name} runs"
        self._process = _STARTER.submit(self._spawn).result()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        parent = os.getpid()
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self._command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True, preexec_fn=lambda: _die_with(parent),
            )  # fmt: skip

    def stop(self, *, grace_s: float = 5.0) -> None:
        """Ask it to end; kill it when it has not ended after the grace."""
        if self._process is None or not self.runs:
            return
        self._process.terminate()
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None and self.runs:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def tail(self) -> str:
        if not self.log.exists():
            return "it wrote nothing"
        return self.log.read_bytes()[-_TAIL:].decode(errors="replace")

    def wait_until(self, is_ready: Callable[[], str | None], *, limit_s: float) -> None:
        """Wait until the question has no complaint left; fail when the program has ended."""

        def complaint() -> str | None:
            if not self.runs:
                raise ClusterError(f"{self.name} ended: {self.tail()}")
            return is_ready()

        try:
            until(complaint, limit_s=limit_s)
        except TimeoutError as error:
            raise ClusterError(f"{self.name} is not ready: {error}: {self.tail()}") from None


def until(complaint: Callable[[], str | None], *, limit_s: float) -> None:
    """Ask again until there is no complaint; the last one is in the error at the limit."""
    pause = threading.Event()
    end = time.monotonic() + limit_s
    while said := complaint():
        if time.monotonic() > end:
            raise TimeoutError(f"after {limit_s:.0f} s: {said}")
        pause.wait(_PAUSE_S)


def free_port(start: int) -> int:
    """A port on which nothing listens, and that no client gets by chance; from `start` on."""
    first, last = _PORTS
    for step in range(last - first):
        port = first + (start + step) % (last - first)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ClusterError(f"no free port between {first} and {last}")


def _die_with(parent: int) -> None:
    """In the new process, before the program: end when the parent ends."""
    _CALLS.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
