"""krond as a process of its own, followed by what it logs; nothing waits for a time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.acceptance.command_line import Done, gnomon_process
from tests.acceptance.running import Running

__all__ = ["TICK", "ask_krond", "krond", "periods_of", "write_krontab"]

TICK = '* * * * * * name=tick command="echo tick"\n'


@contextmanager
def krond(file: Path, state: Path, *options: str) -> Iterator[Running]:
    """`gnomon krond start FILE`, once it runs; killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "krond", "start", str(file), "--state-dir", str(state),
         "--json-log", *options],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=dict(os.environ),
    )  # fmt: skip
    try:
        started = Running(process)
        started.until("running")
        yield started
    finally:
        process.kill()
        process.communicate()


def ask_krond(state: Path, *arguments: str) -> Done:
    return gnomon_process("krond", *arguments, "--state-dir", str(state))


def periods_of(state: Path, job: str, *options: str) -> list[dict[str, object]]:
    found = ask_krond(state, "history", job, "--json", *options).json["periods"]
    assert isinstance(found, list)
    return found


def write_krontab(folder: Path, text: str) -> Path:
    file = folder / "jobs"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o644)
    return file
