"""
The world of krond: a krontab file, and a krond that is killed again and again.

Its jobs have every kind of concurrency, deadlines, windows, and a directory that is not there, and
one runs at boot: once, however many lives krond has, as the machine is booted in none of them. Each
execution writes a line of its own into a file. Between two lives the file may be edited: a job gets
another environment, which makes it another definition, or is suspended, or no longer.

`python -m tests.kill.krond_world SEED [KILLS]` runs one world and prints what came of it.
"""

import random
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.kill.lives import Outcome
from tests.kill.world import World, run_world

__all__ = ["KrondWorld"]

_SAY = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD ran" >> {folder}/jobs.txt'
_JOBS = {
    "all": (1, "@policy(concurrency=allow,deadline=1h{more})", _SAY, ""),
    "slow": (1, "@policy(deadline=10s{more})", f"{_SAY}; sleep 1.5", ""),
    "newest": (2, "@policy(concurrency=replace,deadline=5s{more})", f"{_SAY}; exec sleep 3", ""),
    "strict": (1, "@policy(deadline=0s{more})", f"{_SAY}; exit 3", ""),
    "window": (5, "@win(around,4s) @policy(deadline=1m{more})", _SAY, ""),
    "absent": (3, "@policy(deadline=2s{more})", _SAY, "cwd=/there/is/no/such/directory"),
}
"""Seconds between periods, modifiers, command, and what stands beside."""
_OPEN_FOR_S = {"window": 2}
"""How long the window of a job is open after its period."""
_AT_BOOT = (
    "@reboot @policy(deadline=1h) name=boot shell=true env=EDIT={edit} "
    'command="echo $GNOMON_KEY >> {folder}/boots.txt"'
)
_IDLE = "0 0 1 1 * name=idle command=true\n"


class KrondWorld(World):
    """The world of krond."""

    points_max, lines_max, last_lines = 160, 60, 40
    program = "tests.kill.dying_run", "0"  # or its leases would change from life to life

    def __init__(self, folder: Path, outcome: Outcome) -> None:
        super().__init__(folder, outcome)
        self.store = folder / "state" / "krond.sqlite3"
        self.file = folder / "jobs"
        self.words = [
            "krond", "start", str(self.file), "--state-dir", str(folder / "state"), "--json-log",
        ]  # fmt: skip
        self._suspended: set[str] = set()
        self._edits = dict.fromkeys(_JOBS, 0)
        self._write()

    def intervals(self) -> dict[str, int]:
        return {one: _JOBS[name][0] for one, name in self._saved().items()}

    def open_for(self) -> dict[str, int]:
        return {one: _OPEN_FOR_S.get(name, 0) for one, name in self._saved().items()}

    def _saved(self) -> dict[str, str]:
        """The ids of all jobs that were ever saved, with their names."""
        with sqlite3.connect(self.store) as connection:
            found = [name for (name,) in connection.execute("SELECT schedule_id FROM schedules")]
        connection.close()
        return {one: name for one in found for name in _JOBS if one.startswith(f"{name}-")}

    def between_lives(self, dice: random.Random) -> None:
        name = dice.choice(sorted(_JOBS))
        match dice.randrange(4):
            case 0:
                self._edits[name] += 1
            case 1:
                self._suspended ^= {name}
            case _:
                return
        self._write()

    def end_well(self) -> int:
        self._suspended = set()
        self._write()
        until = super().end_well()
        self._outcome.problems += self._about_boots()
        return until

    def _about_boots(self) -> Iterator[str]:
        """The machine was booted once, before it all: that is one row, and one run at most."""
        query = "SELECT outcome, reason, status FROM schedule_runs WHERE idempotency_key LIKE ?"
        with sqlite3.connect(self.store) as connection:
            rows = connection.execute(query, ("boot:boot-%",)).fetchall()
        connection.close()
        file = self.folder / "boots.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(rows) != 1:
            yield f"one boot has {len(rows)} rows: {rows}"
        elif rows[0][0] != "executed" or (rows[0] == ("executed", None, "SUCCESS") and not lines):
            yield f"the job at boot is {rows[0]} and wrote {lines}"
        if len(lines) > 1:
            yield f"the job at boot ran {len(lines)} times: {lines}"

    def settle(self) -> None:
        self.file.write_text(_IDLE)
        process = self._start(*self.program, *self.words, "--grace", "20s")
        self._read_until(process, '"running"')
        process.send_signal(signal.SIGTERM)
        self._expect(process, 0, "settling", self._wait(process))

    def _write(self) -> None:
        lines = [_AT_BOOT.format(folder=self.folder, edit=sum(self._edits.values()))]
        for name, (seconds, modifiers, command, beside) in _JOBS.items():
            more = ",suspend=true" if name in self._suspended else ""
            text = command.format(folder=self.folder).replace('"', '\\"')
            lines.append(
                f"*/{seconds} * * * * * {modifiers.format(more=more)} name={name} shell=true "
                f'{beside} env=EDIT={self._edits[name]} command="{text}"'
            )
        self.file.write_text("\n".join(lines) + "\n")
        self.file.chmod(0o644)


if __name__ == "__main__":
    result = run_world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10, KrondWorld)
    print(result)
    sys.exit(1 if result.problems else 0)
