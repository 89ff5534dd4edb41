"""`gnomon run` as a process of its own, followed by what it writes; nothing waits for a time."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon.apps.run.schedule_file import load_schedules
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.engine import plan
from gnomon.shell.store.belonging import BELONGS_TO, Door
from gnomon.shell.store.sqlite import SqliteLedger
from tests.acceptance.command_line import gnomon_process

__all__ = [
    "EVERY_SECOND",
    "HOURLY",
    "HOUR_MS",
    "LONG",
    "Running",
    "copied",
    "miss",
    "owe",
    "running",
    "runs",
    "write",
]

HOUR_MS = 3_600_000
HOURLY = """
[[schedule]]
name = "hourly"
every = "1h"
shell = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD $WORD" >> jobs.txt; echo printed'
env = { WORD = "done" }
overlap = "allow"
catchup = "fire_immediately"
"""
EVERY_SECOND = """
[[schedule]]
name = "tick"
every = "1s"
command = ["true"]
"""
LONG = """
[[schedule]]
name = "long"
every = "1h"
shell = "echo $$ > pid.txt; exec sleep 600"
catchup = "latest"
"""
_PATIENCE_S = 60
_WITHOUT_A_RUN = ("run.skipped", "run.missed")


class Running:
    """A process that is running, or has ended."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[dict[str, object]] = []

    def until(self, event: str, **facts: object) -> dict[str, object]:
        """Read lines up to one about this event, which a run that did not start never brings."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            line: dict[str, object] = json.loads(text)
            self.lines.append(line)
            if facts.items() <= line.items():
                if line["event"] == event:
                    return line
                if "key" in facts and line["event"] in _WITHOUT_A_RUN:
                    break
        raise AssertionError(f"no {event} {facts} in {self.lines}")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for the end, and give the exit code."""
        _, text = self.process.communicate(timeout=_PATIENCE_S)
        self.lines += [json.loads(line) for line in text.splitlines()]
        return self.process.returncode


@contextmanager
def running(file: Path, *options: str) -> Iterator[Running]:
    """`gnomon run FILE --json-log`; killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "run", str(file), "--json-log", *options],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=dict(os.environ),
    )  # fmt: skip
    try:
        yield Running(process)
    finally:
        process.kill()
        process.communicate()


def write(folder: Path, text: str, name: str = "run.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def copied(file: Path, folder: Path) -> Path:
    """Copy the file and its ledger; no process may have the ledger open."""
    for one in (file, file.with_suffix(".sqlite3")):
        shutil.copy(one, folder)
    return folder / file.name


def runs(file: Path, *options: str) -> list[dict[str, object]]:
    found = gnomon_process("history", str(file), "--json", *options).json["runs"]
    assert isinstance(found, list)
    return found


async def owe(file: Path, *, hours: int) -> None:
    """Make a ledger in which the schedules of the file were saved some hours ago."""
    ledger = SqliteLedger.open(file.with_suffix(".sqlite3"))
    now_ms = time.time_ns() // 1_000_000
    schedules = [entry.schedule for entry in load_schedules(file, to_run=True)]
    await ledger.save_all(schedules, now_ms=now_ms - hours * HOUR_MS)
    await ledger.note_once(BELONGS_TO, Door.RUN)
    await ledger.close()


async def miss(file: Path, *, saved: str, seen: str) -> None:
    """Make a ledger in which all that fell between two instants was missed."""
    ledger = SqliteLedger.open(file.with_suffix(".sqlite3"))
    schedules = [entry.schedule for entry in load_schedules(file, to_run=True)]
    await ledger.save_all(schedules, now_ms=_ms(saved))
    changes = plan(await ledger.load(now_ms=_ms(seen), limit=100), now_ms=_ms(seen))
    await ledger.commit(changes, owner="nobody", confirmed=True, now_ms=_ms(seen))
    await ledger.close()


def _ms(text: str) -> int:
    return to_epoch(parse_instant(text)) * 1000
