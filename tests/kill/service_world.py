"""
One world: a worker of the service that is killed again and again, and an executor that counts.

The executor is a process of its own and lives on; what it has done stands in its own file. The
worker dies at points of its own (`dying_service`), or from outside after a number of callbacks;
before the latter it is stopped now and then, for longer than its leases are. At
the end one life is stopped as it should be, the last ends when everything up to then has an
outcome, and the judge compares: every period that was due has one effect, or a reason why not.

`python -m tests.kill.service_world SEED [KILLS] [postgres]` runs one and prints what came of it.
"""

import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from tests.kill.dying_service import INTERVALS
from tests.kill.judge import Row, Table, judge_tables, tables_of, tables_of_database
from tests.kill.lives import PATIENCE_S, ROOT, Lives, Outcome
from tests.postgres.server import Server

__all__ = ["ServiceLives", "judge_strictly", "run_world", "run_world_on_postgres"]

LINES_MAX = 12
LAST_LINES = 6
STOPPED_S = 2.5, 6
"""For how long a worker is stopped: longer than its leases, and for up to so many periods."""
EXECUTED = ("executed", None, "SUCCESS")
WITHOUT_AN_EFFECT = {"slow": {("skipped", "overlap", "SKIPPED"), ("missed", "outage", "SKIPPED")}}
"""What a period without an effect may have come to, and of which schedule: the one that skips runs,
and makes up only for the latest of those that it has missed."""


def run_world(seed: str, kills: int, *, database: str | None = None) -> Outcome:
    """Live and die `kills` times, then judge."""
    outcome = Outcome(seed=seed)
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-kill-") as folder,
        _executor(Path(folder), seed) as (url, secret),
        socket.create_server(("127.0.0.1", 0), backlog=100) as listening,
    ):
        store = Path(folder) / "service.sqlite3"
        world = _World(outcome, database or str(store), url, secret, listening.fileno())
        for _ in range(kills):
            world.live(dice)
        until = world.end_well()
        effects = _up_to(until, Path(folder))
        names = list(INTERVALS)
        found = tables_of(store, names) if database is None else tables_of_database(database, names)
        tables = {
            name: Table(created, [row for row in rows if row.first <= until])
            for name, (created, rows) in found.items()
        }
        verdict = judge_tables(tables, effects, INTERVALS, until=until)
        for name in INTERVALS:
            outcome.problems += judge_strictly(name, tables[name].rows)
        outcome.verdict = verdict
        outcome.problems += verdict.problems
        outcome.asked_again = _lines(Path(folder), "asked") - _lines(Path(folder), "effects")
    return outcome


def _up_to(until: int, folder: Path) -> Path:
    """The effects of periods up to an instant; others may still be under way."""
    chosen = folder / "chosen.txt"
    with (folder / "effects.txt").open() as effects, chosen.open("w") as file:
        for line in effects:
            if datetime.fromisoformat(line.split(" ")[1]).timestamp() <= until:
                file.write(line)
    return chosen


def _lines(folder: Path, name: str) -> int:
    return len((folder / f"{name}.txt").read_text().splitlines())


def judge_strictly(name: str, rows: list[Row]) -> list[str]:
    """
    Everything was executed, and is known to have been, but for what the schedule says.

    No run is left uncertain: its executor goes on, and can be asked again until it answers.
    """
    allowed = {EXECUTED, *WITHOUT_AN_EFFECT.get(name, ())}
    return [
        f"{name} {row.first}: was {row.outcome}({row.reason}), {row.status}"
        for row in rows
        if (row.outcome, row.reason, row.status) not in allowed
    ]


def run_world_on_postgres(seed: str, kills: int) -> Outcome:
    """The same on a server of its own."""
    server = Server()
    server.create()
    try:
        return run_world(seed, kills, database=server.url())
    finally:
        server.remove()


class ServiceLives(Lives):
    """Lives of a program that is called with a point to die at and `arguments`, and its ledger."""

    module: str
    points_max: int

    def __init__(self, outcome: Outcome, place: str, *arguments: str) -> None:
        super().__init__(outcome)
        self._place = place
        self._arguments = (place, *arguments)

    def live(self, dice: random.Random) -> None:
        """One life, which ends by SIGKILL."""
        what = dice.random()
        point, lines = dice.randint(1, self.points_max), dice.randint(1, LINES_MAX)
        if what < 0.6:
            self.die_at_a_point(point, self.module, *self._arguments)
        elif what < 0.85:
            seconds = dice.uniform(*STOPPED_S)
            self.be_stopped(point, seconds, lines, self.module, *self._arguments)
        else:
            self.be_killed(lines, self.module, "0", *self._arguments)

    def end_well(self) -> int:
        """Stop one life as it should be, and settle everything; up to when, is returned."""
        process = self._start(self.module, "0", *self._arguments)
        self._read(process, LAST_LINES)
        process.send_signal(signal.SIGTERM)
        self._expect(process, 0, "the end", self._wait(process))
        until = int(time.time())
        process = self._start(self.module, "0", *self._arguments, str(until))
        self._expect(process, 0, "settling", self._wait(process))
        option = "--database" if self._place.startswith("postgresql") else "--store"
        self._examine("after everything was settled", option, self._place)
        return until


class _World(ServiceLives):
    module, points_max = "tests.kill.dying_service", 150

    def __init__(
        self, outcome: Outcome, place: str, url: str, secret: str, descriptor: int
    ) -> None:
        super().__init__(outcome, place, url, secret, str(descriptor))
        self._descriptor = descriptor

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        return self._popen(arguments, keeps=(self._descriptor,))


@contextmanager
def _executor(folder: Path, seed: str) -> Iterator[tuple[str, str]]:
    """An executor that counts, until the world is over: its URL and its secret."""
    secret = random.Random(seed).randbytes(32).hex()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kill.counting_executor", str(folder), seed, secret],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}/runs", secret
    finally:
        process.communicate(timeout=PATIENCE_S)


if __name__ == "__main__":
    world = run_world_on_postgres if sys.argv[3:] == ["postgres"] else run_world
    result = world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
