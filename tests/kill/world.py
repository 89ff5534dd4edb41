"""
One world: a directory, a file of schedules, and a `gnomon run` that is killed again and again.

Each life ends by SIGKILL: at a point of its own (`dying_run`), or from outside after a number of
log lines. Nothing waits for time to pass; the process is waited for, or its next line. At the end
one life is stopped as it should be, the ledger is examined, all schedules are taken out of the file
so that everything gets its outcome, and the judge compares.

`python -m tests.kill.world SEED [KILLS]` runs one world and prints what came of it.
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.judge import Verdict, judge

__all__ = ["IDLE", "PATIENCE_S", "ROOT", "SCHEDULES", "Outcome", "run_world", "toml"]

ROOT = Path(__file__).resolve().parents[2]
POINTS_MAX = 120
LINES_MAX = 25
LAST_LINES = 12
PATIENCE_S = 120
"""Only a hang takes longer, and a hang is a failure."""

_SHOWN = 2_000  # characters of what a process said

_SAY = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD ran" >> jobs.txt'
SCHEDULES: dict[str, dict[str, str]] = {
    "all": {"every": "1s", "shell": _SAY, "overlap": "allow", "catchup": "fire_immediately"},
    "slow": {"every": "1s", "shell": f"{_SAY}; sleep 1.5", "overlap": "skip", "catchup": "latest"},
    "queue": {"every": "2s", "shell": f"{_SAY}; sleep 0.2", "overlap": "queue"},
    "newest": {"every": "2s", "shell": f"{_SAY}; exec sleep 3", "overlap": "replace"},
    "spread": {"every": "2s", "shell": _SAY, "overlap": "allow", "catchup": "spread"},
    "strict": {"every": "1s", "shell": f"{_SAY}; exit 3", "deadline": "0s"},
    "absent": {"every": "3s", "shell": "exit", "cwd": "there/is/no/such/directory"},
}
"""Every policy, and a command that cannot be started."""
IDLE = {"idle": {"once": "2199-01-01T00:00:00Z", "shell": "exit"}}
"""What the file has at the end: all that came before is deleted and settled."""


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
        verdict = self.verdict
        return {
            "executed": verdict.executed,
            "lines": verdict.lines,
            "unseen": verdict.unseen,
            **{f"outcome {name}": count for name, count in verdict.outcomes.items()},
            **{f"died {where}": count for where, count in self.died.items()},
        }


def run_world(seed: str, kills: int) -> Outcome:
    """Live and die `kills` times, then judge."""
    outcome = Outcome(seed=seed)
    with tempfile.TemporaryDirectory(prefix="gnomon-kill-") as folder:
        world = _World(Path(folder), outcome)
        dice = random.Random(seed)
        for _ in range(kills):
            if dice.random() < 0.7:
                world.die_at_a_point(dice.randint(1, POINTS_MAX))
            else:
                world.be_killed(dice.randint(1, LINES_MAX))
        until = world.end_well()
        intervals = {name: int(keys["every"][:-1]) for name, keys in SCHEDULES.items()}
        verdict = judge(world.store, world.folder / "jobs.txt", intervals, until=until)
        outcome.verdict = verdict
        outcome.problems += verdict.problems
    return outcome


class _World:
    def __init__(self, folder: Path, outcome: Outcome) -> None:
        self.folder = folder
        self.store = folder / "run.sqlite3"
        self._outcome = outcome
        self._file = folder / "run.toml"
        self._file.write_text(toml(SCHEDULES))

    def die_at_a_point(self, number: int) -> None:
        process = self._start("tests.kill.dying_run", str(number), "run", str(self._file))
        lines = self._wait(process)
        if self._expect(process, -signal.SIGKILL, f"point {number}", lines):
            self._outcome.died[json.loads(lines[-1])["at"]] += 1
            self._outcome.kills += 1

    def be_killed(self, lines: int) -> None:
        process = self._start("gnomon", "run", str(self._file))
        self._read(process, lines)
        process.kill()
        rest = self._wait(process)
        if self._expect(process, -signal.SIGKILL, f"line {lines}", rest):
            self._outcome.died["from outside"] += 1
            self._outcome.kills += 1

    def end_well(self) -> int:
        """Stop one life as it should be, and settle everything; up to when, is returned."""
        process = self._start("gnomon", "run", str(self._file), "--grace", "20s")
        self._read(process, LAST_LINES)
        process.send_signal(signal.SIGTERM)
        self._expect(process, 0, "the end", self._wait(process))
        self._examine("after the last stop")
        until = int(time.time())
        self._file.write_text(toml(IDLE))
        process = self._start("gnomon", "run", str(self._file), "--once")
        self._expect(process, 0, "settling", self._wait(process))
        self._examine("after everything was settled")
        return until

    def _examine(self, when: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", "doctor", "--store", str(self.store), "--json"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        if done.returncode or json.loads(done.stdout)["findings"]:
            self._outcome.problems.append(f"the doctor, {when}: {done.stdout}{done.stderr}")

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        options = ["--store", str(self.store), "--json-log"]
        return subprocess.Popen(
            [sys.executable, "-m", *arguments, *options],
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def _read(self, process: "subprocess.Popen[str]", lines: int) -> None:
        assert process.stderr is not None
        for _ in range(lines):
            if not process.stderr.readline():
                return

    def _wait(self, process: "subprocess.Popen[str]") -> list[str]:
        """The lines up to the end; a process that hangs is killed, and that is a problem."""
        try:
            _, text = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, text = process.communicate()
            self._outcome.problems.append(f"hung for {PATIENCE_S} s: {text[-_SHOWN:]}")
        return text.splitlines()

    def _expect(
        self, process: "subprocess.Popen[str]", code: int, what: str, lines: list[str]
    ) -> bool:
        if process.returncode == code:
            return True
        last = "\n".join(lines)[-_SHOWN:]
        self._outcome.problems.append(f"{what}: ended with {process.returncode}: {last}")
        return False


def toml(schedules: dict[str, dict[str, str]]) -> str:
    tables = []
    for name, keys in schedules.items():
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        tables.append("\n".join(["[[schedule]]", f"name = {json.dumps(name)}", *lines]))
    return "\n\n".join(tables) + "\n"


if __name__ == "__main__":
    result = run_world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
