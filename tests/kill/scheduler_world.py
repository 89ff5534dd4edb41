"""
One world: a directory, and a program with a scheduler in it that is killed again and again.

Each life ends by SIGKILL: at a point of its own (`dying_scheduler`), or from outside after a number
of lines. Nothing waits for time to pass; the process is waited for, or its next line. At the end
one life runs until every task was called again, and is stopped; then the judge compares.

`python -m tests.kill.scheduler_world SEED [KILLS]` runs one world and prints what came of it.
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.dying_scheduler import INTERVALS
from tests.kill.scheduler_judge import Verdict, judge, read_database, read_file

__all__ = ["Outcome", "run_world"]

ROOT = Path(__file__).resolve().parents[2]
POINTS_MAX = 60
LINES_MAX = 8
LAST_TIMES = 2
PATIENCE_S = 120
"""Only a hang takes longer, and a hang is a failure."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What happened in a world."""

    seed: str
    kills: int = 0
    died: Counter[str] = field(default_factory=Counter)
    verdict: Verdict = field(default_factory=Verdict)
    problems: list[str] = field(default_factory=list)

    def notes(self) -> dict[str, int]:
        """The figures by name."""
        return {
            "starts": self.verdict.starts,
            "unseen": self.verdict.unseen,
            **{f"reason {name}": count for name, count in self.verdict.reasons.items()},
            **{f"died {where}": count for where, count in self.died.items()},
        }


def run_world(seed: str, kills: int, database: str = "") -> Outcome:
    """Live and die `kills` times, then judge; the facts are in a file, or in a database."""
    outcome = Outcome(seed=seed)
    with tempfile.TemporaryDirectory(prefix="gnomon-kill-") as name:
        folder, dice = Path(name), random.Random(seed)
        for _ in range(kills):
            inside = dice.random() < 0.75
            point = dice.randint(1, POINTS_MAX) if inside else 0
            lines = 0 if inside else dice.randint(1, LINES_MAX)
            _live_and_die(folder, outcome, point, lines, database)
        _end_well(folder, outcome, database)
        written = read_database(database) if database else read_file(folder / "state.sqlite3")
        outcome.verdict = judge(written, folder / "calls.txt", INTERVALS)
        outcome.problems += outcome.verdict.problems
    return outcome


def _live_and_die(folder: Path, outcome: Outcome, point: int, lines: int, database: str) -> None:
    process = _start(folder, point, 0, database)
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    if lines:
        process.kill()
    said = _wait(process, outcome)
    with (folder / "calls.txt").open("a") as file:
        file.write("killed\n")
    if process.returncode != -signal.SIGKILL:
        outcome.problems.append(f"point {point} ended with {process.returncode}: {said[-500:]}")
        return
    outcome.kills += 1
    last = said.splitlines()[-1:] or [""]
    where = json.loads(last[0])["at"] if last[0].startswith("{") else "from outside"
    outcome.died[where] += 1


def _end_well(folder: Path, outcome: Outcome, database: str) -> None:
    process = _start(folder, 0, LAST_TIMES, database)
    said = _wait(process, outcome)
    if process.returncode or "stopped" not in said:
        outcome.problems.append(f"the end: {process.returncode}: {said[-500:]}")


def _start(folder: Path, point: int, times: int, database: str) -> "subprocess.Popen[str]":
    values = [str(folder), str(point), str(times), *([database] if database else [])]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kill.dying_scheduler", *values],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def _wait(process: "subprocess.Popen[str]", outcome: Outcome) -> str:
    """What it says up to its end; a process that hangs is killed, and that is a problem."""
    try:
        text, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        outcome.problems.append(f"hung for {PATIENCE_S} s")
    return text


if __name__ == "__main__":
    result = run_world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
