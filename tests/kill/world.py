"""
One world: a directory, a file, and a program that runs it and is killed again and again.

Each life ends by SIGKILL: at a point of its own (`dying_run`), or from outside after a number of
log lines. Nothing waits for time to pass; the process is waited for, or its next line. At the end
one life is stopped as it should be, the ledger is examined, all schedules are taken out of the file
so that everything gets its outcome, and the judge compares. The program is `gnomon run`; worlds of
other programs build on this one.

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

__all__ = ["IDLE", "PATIENCE_S", "ROOT", "SCHEDULES", "Outcome", "World", "run_world", "toml"]

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


def run_world(seed: str, kills: int, kind: "type[World] | None" = None) -> Outcome:
    """Live and die `kills` times, then judge."""
    outcome = Outcome(seed=seed)
    with tempfile.TemporaryDirectory(prefix="gnomon-kill-") as folder:
        world = (kind or World)(Path(folder), outcome)
        dice = random.Random(seed)
        for _ in range(kills):
            world.between_lives(dice)
            if dice.random() < 0.7:
                world.die_at_a_point(dice.randint(1, world.points_max))
            else:
                world.be_killed(dice.randint(1, world.lines_max))
        until = world.end_well()
        verdict = judge(world.store, world.folder / "jobs.txt", world.intervals(), until=until)
        outcome.verdict = verdict
        outcome.problems += verdict.problems
    return outcome


class World:
    """The world of `gnomon run`."""

    points_max, lines_max, last_lines = POINTS_MAX, LINES_MAX, LAST_LINES

    def __init__(self, folder: Path, outcome: Outcome) -> None:
        self.folder = folder
        self.store = folder / "run.sqlite3"
        self.file = folder / "run.toml"
        self.words = ["run", str(self.file), "--store", str(self.store), "--json-log"]
        """How the program is called."""
        self._outcome = outcome
        self.file.write_text(toml(SCHEDULES))

    def intervals(self) -> dict[str, int]:
        """The schedules as the ledger calls them, each with the seconds between its periods."""
        return {name: int(keys["every"][:-1]) for name, keys in SCHEDULES.items()}

    def between_lives(self, dice: random.Random) -> None:
        """What happens to the file meanwhile: nothing."""

    def die_at_a_point(self, number: int) -> None:
        process = self.start("tests.kill.dying_run", str(number), *self.words)
        lines = self.wait(process)
        if self.expect(process, -signal.SIGKILL, f"point {number}", lines):
            self._outcome.died[json.loads(lines[-1])["at"]] += 1
            self._outcome.kills += 1

    def be_killed(self, lines: int) -> None:
        process = self.start("gnomon", *self.words)
        self._read(process, lines)
        process.kill()
        rest = self.wait(process)
        if self.expect(process, -signal.SIGKILL, f"line {lines}", rest):
            self._outcome.died["from outside"] += 1
            self._outcome.kills += 1

    def end_well(self) -> int:
        """Stop one life as it should be, and settle everything; up to when, is returned."""
        self.live_and_stop(self.last_lines)
        self._examine("after the last stop")
        until = int(time.time())
        self.settle()
        self._examine("after everything was settled")
        return until

    def live_and_stop(self, lines: int) -> None:
        process = self.start("gnomon", *self.words, "--grace", "20s")
        self._read(process, lines)
        process.send_signal(signal.SIGTERM)
        self.expect(process, 0, "the end", self.wait(process))

    def settle(self) -> None:
        """Take everything out of the file, so that what waits is settled."""
        self.file.write_text(toml(IDLE))
        process = self.start("gnomon", *self.words, "--once")
        self.expect(process, 0, "settling", self.wait(process))

    def _examine(self, when: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", "doctor", "--store", str(self.store), "--json"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        if done.returncode or json.loads(done.stdout)["findings"]:
            self._outcome.problems.append(f"the doctor, {when}: {done.stdout}{done.stderr}")

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def _read(self, process: "subprocess.Popen[str]", lines: int) -> None:
        assert process.stderr is not None
        for _ in range(lines):
            if not process.stderr.readline():
                return

    def read_until(self, process: "subprocess.Popen[str]", word: str) -> None:
        assert process.stderr is not None
        while (line := process.stderr.readline()) and word not in line:
            pass

    def wait(self, process: "subprocess.Popen[str]") -> list[str]:
        """The lines up to the end; a process that hangs is killed, and that is a problem."""
        try:
            _, text = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, text = process.communicate()
            self._outcome.problems.append(f"hung for {PATIENCE_S} s: {text[-_SHOWN:]}")
        return text.splitlines()

    def expect(
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
