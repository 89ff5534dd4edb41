"""
A fleet: three real workers on one real PostgreSQL, to which everything happens.

A fault is one of: a worker is killed and another begins; a worker is frozen (SIGSTOP) until its
leases are over, and goes on; the server is stopped as if its machine had lost power, and started
again. Between two faults the fleet must make progress. Nothing waits for a time: what the workers
write is read until it says what is waited for. At the end all but one are stopped, the last takes
over what the dead have left, all schedules are taken out of the file, and the judge compares.

`python -m tests.kill.fleet SEED [FAULTS]` runs one fleet and prints what came of it.
"""

import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.kill.judge import Verdict, judge_database
from tests.kill.lives import PATIENCE_S, ROOT
from tests.kill.world import IDLE, SCHEDULES, toml
from tests.postgres.server import Server

__all__ = ["FleetOutcome", "run_fleet"]

WORKERS = 3
LEASE_S = 3
FREEZE_S = LEASE_S + 2
KINDS = ("kill", "kill", "freeze", "server")


@dataclass(slots=True, kw_only=True)
class FleetOutcome:
    """What happened to a fleet."""

    seed: str
    faults: Counter[str] = field(default_factory=Counter)
    recovered_ms: list[int] = field(default_factory=list)
    """For each fault, how long after it the next run began."""
    events: Counter[str] = field(default_factory=Counter)
    verdict: Verdict = field(default_factory=Verdict)
    problems: list[str] = field(default_factory=list)

    def notes(self) -> dict[str, int]:
        """The figures by name."""
        verdict = self.verdict
        return {
            "executed": verdict.executed,
            "lines": verdict.lines,
            "unseen": verdict.unseen,
            "refused": self.events["report refused"],
            "lost": self.events["run lost"],
            "recovered_ms": sum(self.recovered_ms),
            "slowest_ms": max(self.recovered_ms, default=0),
            **{f"outcome {name}": count for name, count in verdict.outcomes.items()},
            **{f"fault {kind}": count for kind, count in self.faults.items()},
        }


def run_fleet(seed: str, faults: int) -> FleetOutcome:
    """Let faults happen, then judge."""
    outcome = FleetOutcome(seed=seed)
    server = Server()
    server.create()
    try:
        with tempfile.TemporaryDirectory(prefix="gnomon-fleet-") as folder:
            fleet = _Fleet(Path(folder), server, outcome)
            try:
                fleet.live(random.Random(seed), faults)
            finally:
                fleet.end()
    finally:
        server.remove()
    return outcome


class _Fleet:
    def __init__(self, folder: Path, server: Server, outcome: FleetOutcome) -> None:
        self._server, self._outcome = server, outcome
        self._url = server.url()
        self._log = folder / "jobs.txt"
        self._file = folder / "run.toml"
        self._intervals = {name: int(keys["every"][:-1]) for name, keys in SCHEDULES.items()}
        leased = {name: keys | {"lease": f"{LEASE_S}s"} for name, keys in SCHEDULES.items()}
        self._file.write_text(toml(leased))
        self._said: queue.Queue[dict[str, object]] = queue.Queue()
        self._spoke: dict[int, threading.Event] = {}
        self._readers: list[threading.Thread] = []
        self._workers: list[subprocess.Popen[str]] = []

    def live(self, dice: random.Random, faults: int) -> None:
        # The first one saves the schedules, so that the others find them there.
        self._workers.append(self._start(self._file))
        self._hear("running")
        self._workers += [self._start(self._file) for _ in range(WORKERS - 1)]
        self._hear("run ended", WORKERS)
        for _ in range(faults):
            kind = dice.choice(KINDS)
            self._outcome.faults[kind] += 1
            began = self._let_happen(kind, dice.randrange(WORKERS))
            line = self._hear("run started", since=began)
            self._outcome.recovered_ms.append(round((_at(line) - began) * 1000))
            self._hear("run ended", dice.randint(1, 8))
        until = self._settle()
        self._outcome.verdict = judge_database(self._url, self._log, self._intervals, until=until)
        self._outcome.problems += self._outcome.verdict.problems

    def end(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()
        for reader in self._readers:
            reader.join()

    def _let_happen(self, kind: str, number: int) -> float:
        """One fault; from which instant on to look for progress, is returned."""
        worker, began = self._workers[number], time.time()
        match kind:
            case "kill":
                worker.kill()
                worker.wait()
                self._workers[number] = self._start(self._file)
            case "freeze":
                worker.send_signal(signal.SIGSTOP)
                self._hear("run started", since=began + FREEZE_S)
                worker.send_signal(signal.SIGCONT)
                began = time.time()
            case _:
                self._server.stop("immediate")
                self._server.start()
        return began

    def _settle(self) -> int:
        """Stop the fleet as it should be, and settle everything; up to when, is returned."""
        *others, last = self._workers
        for worker in others:
            self._stop(worker)
        self._hear("run started", since=time.time() + LEASE_S + 1)
        self._stop(last)
        self._examine("after the last stop")
        until = int(time.time())
        self._file.write_text(toml(IDLE))
        settling = self._start(self._file, "--once")
        self._expect(settling, "settling")
        self._examine("after everything was settled")
        return until

    def _stop(self, worker: "subprocess.Popen[str]") -> None:
        assert self._spoke[worker.pid].wait(PATIENCE_S)  # before that it knows no signals
        worker.send_signal(signal.SIGTERM)
        self._expect(worker, "a stop")

    def _expect(self, worker: "subprocess.Popen[str]", what: str) -> None:
        if code := worker.wait(PATIENCE_S):
            self._outcome.problems.append(f"{what}: ended with {code}")

    def _examine(self, when: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", "doctor", "--database", self._url, "--json"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        found = json.loads(done.stdout)["findings"] if done.stdout else [{"code": done.stderr}]
        # Whoever was killed has not said good-bye; the doctor is right to say so.
        if left := [one for one in found if one["code"] != "silent"]:
            self._outcome.problems.append(f"the doctor, {when}: {left}")

    def _start(self, file: Path, *options: str) -> "subprocess.Popen[str]":
        worker = subprocess.Popen(
            [sys.executable, "-m", "gnomon", "run", str(file), "--database", self._url,
             "--json-log", "--grace", "20s", *options],
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._spoke[worker.pid] = threading.Event()
        reader = threading.Thread(target=self._read, args=(worker,), daemon=True)
        reader.start()
        self._readers.append(reader)
        return worker

    def _read(self, worker: "subprocess.Popen[str]") -> None:
        assert worker.stderr is not None
        for text in worker.stderr:
            if text.endswith("}\n"):  # whoever is killed may not come to the end of a line
                line = json.loads(text)
                self._spoke[worker.pid].set()
                self._outcome.events[line["event"]] += 1
                self._said.put(line)
        worker.stderr.close()

    def _hear(self, event: str, times: int = 1, *, since: float = 0) -> dict[str, object]:
        """Read on until somebody has said this so often, at or after an instant."""
        while True:
            line = self._said.get(timeout=PATIENCE_S)
            if line["event"] == event and _at(line) >= since:
                times -= 1
                if not times:
                    return line


def _at(line: dict[str, object]) -> float:
    return datetime.fromisoformat(str(line["at"])).timestamp()


if __name__ == "__main__":
    result = run_fleet(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
