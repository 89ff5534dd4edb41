"""
The fault shim, and the doors that run under it: commands and scripts as users start them.

The shim is written in C and built at the time of the test. What faults there are is said by two
bytes of a file that all processes have mapped, so that they change from one call to the next.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self
from urllib.request import urlopen

from tests.system.packages import provide

__all__ = ["DOORS", "SHARED", "Door", "Life", "build", "set_fault", "until"]

PATIENCE_S = 120
_LOOK_S = 0.05
_SOURCE = Path(__file__).with_name("fault_shim.c")

_SAY = "echo $GNOMON_PERIOD"
_RUN = """
[[schedule]]
name = "tick"
every = "1s"
overlap = "allow"
catchup = "fire_immediately"
shell = 'echo "$GNOMON_PERIOD" >> jobs.txt'
"""
_SCRIPT = """
import contextlib
import gnomon

def tick():
    with contextlib.suppress(OSError), open("jobs.txt", "a") as lines:
        print("ran", file=lines)

gnomon.run([("tick", gnomon.every("1s"), tick, __import__("datetime").timedelta(seconds=1))],
           gnomon.Scheduler("script.sqlite3"))
"""
_HOST = """
import asyncio
import contextlib
import gnomon.workflow

async def serve():
    async with gnomon.workflow.host("workflows.sqlite3") as running:
        while True:
            running.look()
            with contextlib.suppress(OSError), open("jobs.txt", "a") as lines:
                print("looked", file=lines)
            await asyncio.sleep(0.5)

asyncio.run(serve())
"""


class Door(NamedTuple):
    """One way to run schedules."""

    name: str
    store: str
    arguments: tuple[str, ...]
    file: str = ""
    text: str = ""
    code: int = 2
    """How it exits when its store is of no use any more."""
    works: bool = True
    """Whether it writes a line to `jobs.txt` for all that it does."""
    once: bool = False
    """Whether a line that is there twice is a period that ran twice."""


DOORS = {
    door.name: door
    for door in [
        Door("run", "run.sqlite3", ("-m", "gnomon", "run", "run.toml"), "run.toml", _RUN,
             once=True),
        Door("krond", "state/krond.sqlite3",
             ("-m", "gnomon", "krond", "start", "jobs", "--state-dir", "state"), "jobs",
             "* * * * * * name=tick shell=true "
             f'command="{_SAY} >> {{folder}}/jobs.txt"\n',
             once=True),
        Door("up", "data/service.sqlite3",
             ("-m", "gnomon", "up", "--data", "data", "--port", "0"), works=False),
        Door("scheduler", "script.sqlite3", ("script.py",), "script.py", _SCRIPT, code=1),
        Door("host", "workflows.sqlite3", ("serve.py",), "serve.py", _HOST, code=1),
    ]
}  # fmt: skip

SHARED = {
    door.name: door
    for door in [
        Door("shared run", "", ("-m", "gnomon", "run", "run.toml", "--database", "{url}"),
             "run.toml", _RUN, once=True),
        Door("shared scheduler", "", ("script.py",), "script.py",
             _SCRIPT.replace("script.sqlite3", "{url}"), code=1),
        Door("shared host", "", ("serve.py",), "serve.py",
             _HOST.replace("workflows.sqlite3", "{url}"), code=1),
    ]
}  # fmt: skip
"""The doors that can stand on PostgreSQL."""


def build(folder: Path) -> Path:
    """The shim as a library."""
    library = folder / "fault_shim.so"
    compiler = provide("cc", "gcc")
    line = [compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(line, check=True, capture_output=True)
    return library


def until(happens: Callable[[], bool], what: str) -> None:
    """Wait for something that is certain to happen; a bound only for when it is not."""
    ends = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < ends, f"waited in vain: {what}"
        time.sleep(_LOOK_S)


def set_fault(file: Path, what: str = "\0", percent: int = 0) -> None:
    """For all that have the file mapped, which stays as long as it is."""
    with file.open("r+b") as told:
        told.write(bytes([ord(what), percent]))


class Life:
    """A door at work in a folder of its own, under the shim; ended and begun again as one likes."""

    def __init__(self, door: Door, folder: Path, library: Path, url: str = "") -> None:
        self.door, self.folder, self._url = door, folder, url
        self.store = folder / door.store
        self._faults = folder / "faults"
        self._faults.write_bytes(b"\0\0")
        self._log = folder / "log"
        self._environment = {
            **os.environ, "LD_PRELOAD": str(library), "GNOMON_FAULTS": str(self._faults),
            "TICK_MS": "1000",
        }  # fmt: skip
        if door.file:
            text = door.text.replace("{folder}", str(folder)).replace("{url}", url)
            (folder / door.file).write_text(text, encoding="utf-8")
            (folder / door.file).chmod(0o644)
        self._begun = 0
        self.process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.process.kill()
        self.process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def lines(self) -> list[str]:
        """What was done."""
        done = self.folder / "jobs.txt"
        return done.read_text(encoding="utf-8").split() if done.exists() else []

    def fault(self, what: str = "\0", percent: int = 0) -> None:
        """From now on there is this fault, and no other."""
        set_fault(self._faults, what, percent)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def again(self) -> None:
        self.process = self._start()

    def works(self) -> None:
        """Wait until it has done something more, or serves at least."""
        before = len(self.lines())

        def has_gone_on() -> bool:
            assert self.process.poll() is None, self.log[-3_000:]
            if self.door.works:
                return len(self.lines()) > before + 1
            return self.is_ready()

        until(has_gone_on, f"{self.door.name} to go on; {self.log[-500:]}")

    def goes_on(self) -> bool:
        """Whether it has done something more, and has not ended by itself."""
        if self.door.once:  # until it says a word, a child of the former life may write
            until(lambda: len(self.log) > self._begun, f"a word of {self.door.name}")
        before = len(self.lines())

        def is_known() -> bool:
            if self.process.poll() is not None:
                return True
            return len(self.lines()) > before if self.door.works else self.is_ready()

        until(is_known, f"{self.door.name} to go on or to end; {self.log[-500:]}")
        return self.process.poll() is None

    def is_ready(self) -> bool:
        """Whether a service says so, at the address that it has told."""
        told = re.findall(r"up at (http://\S+)/ ", self.log[self._begun :])
        if not told:
            return False
        try:
            with urlopen(f"{told[-1]}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def ends(self) -> int:
        """Its exit code, once it has ended by itself."""
        until(lambda: self.process.poll() is not None, f"the end of {self.door.name}")
        return self.process.returncode

    def wal(self) -> Path:
        return self.store.with_name(f"{self.store.name}-wal")

    def _start(self) -> "subprocess.Popen[bytes]":
        self._begun = len(self.log) if self._log.exists() else 0
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *(one.replace("{url}", self._url) for one in self.door.arguments)],
                cwd=self.folder, env=self._environment, stdout=log, stderr=log,
            )  # fmt: skip
