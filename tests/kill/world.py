"""
One world: a directory, a file, and a program that runs it and is killed again and again.

Each life ends by SIGKILL: at a point of its own (`dying_run`), or from outside after a number of
log lines. Before the latter some are stopped at a point (SIGSTOP), and go on when their leases are
over and periods have passed. At the end
one life is stopped as it should be, the ledger is examined, all schedules are taken out of the file
so that everything gets its outcome, and the judge compares. The program is `gnomon run`; worlds of
other programs build on this one.

`python -m tests.kill.world SEED [KILLS]` runs one world and prints what came of it.
"""

import json
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.kill.judge import judge
from tests.kill.lives import Lives, Outcome

__all__ = ["IDLE", "LEASE_S", "SCHEDULES", "World", "run_world", "toml"]

POINTS_MAX = 120
LINES_MAX = 25
LAST_LINES = 12
LEASE_S = 1
STOPPED_S = 1.5, 5
"""For how long a process is stopped: longer than its leases, and for up to so many periods."""

_MINED = "tests.kill.dying_run"
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


def run_world(seed: str, kills: int, kind: "type[World] | None" = None) -> Outcome:
    """Live and die `kills` times, then judge."""
    outcome = Outcome(seed=seed)
    with tempfile.TemporaryDirectory(prefix="gnomon-kill-") as folder:
        world = (kind or World)(Path(folder), outcome)
        dice = random.Random(seed)
        for _ in range(kills):
            world.live(dice)
        until = world.end_well()
        verdict = judge(
            world.store, world.folder / "jobs.txt", world.intervals(), until=until,
            open_for=world.open_for(),
        )  # fmt: skip
        outcome.verdict = verdict
        outcome.problems += verdict.problems
    return outcome


class World(Lives):
    """The world of `gnomon run`."""

    points_max, lines_max, last_lines = POINTS_MAX, LINES_MAX, LAST_LINES
    program: tuple[str, ...] = ("gnomon",)
    """What is started where it is not to die or stop by itself."""

    def __init__(self, folder: Path, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.folder = folder
        self.store = folder / "run.sqlite3"
        self.file = folder / "run.toml"
        self.words = ["run", str(self.file), "--store", str(self.store), "--json-log"]
        """How the program is called."""
        leased = {name: keys | {"lease": f"{LEASE_S}s"} for name, keys in SCHEDULES.items()}
        self.file.write_text(toml(leased))

    def intervals(self) -> dict[str, int]:
        """The schedules as the ledger calls them, each with the seconds between its periods."""
        return {name: int(keys["every"][:-1]) for name, keys in SCHEDULES.items()}

    def open_for(self) -> dict[str, int]:
        """How many seconds the windows of schedules are open after their periods: none has one."""
        return {}

    def between_lives(self, dice: random.Random) -> None:
        """What happens to the file meanwhile: nothing."""

    def live(self, dice: random.Random) -> None:
        """One life, which ends by SIGKILL."""
        self.between_lives(dice)
        what = dice.random()
        point, lines = dice.randint(1, self.points_max), dice.randint(1, self.lines_max)
        if what < 0.55:
            self.die_at_a_point(point, _MINED, *self.words)
        elif what < 0.8:
            self.be_stopped(point, dice.uniform(*STOPPED_S), lines, _MINED, *self.words)
        else:
            self.be_killed(lines, *self.program, *self.words)

    def end_well(self) -> int:
        """Stop one life as it should be, and settle everything; up to when, is returned."""
        self.live_and_stop(self.last_lines)
        self._examine("after the last stop", "--store", str(self.store))
        until = int(time.time())
        self.settle()
        self._examine("after everything was settled", "--store", str(self.store))
        return until

    def live_and_stop(self, lines: int) -> None:
        process = self._start(*self.program, *self.words, "--grace", "20s")
        self._read(process, lines)
        process.send_signal(signal.SIGTERM)
        self._expect(process, 0, "the end", self._wait(process))

    def settle(self) -> None:
        """Take everything out of the file, so that what waits is settled."""
        self.file.write_text(toml(IDLE))
        process = self._start("gnomon", *self.words, "--once")
        self._expect(process, 0, "settling", self._wait(process))


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
