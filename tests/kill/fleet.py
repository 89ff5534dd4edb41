"""
A fleet: three real workers on one real PostgreSQL, to which everything happens.

A fault is one of: a worker is killed and another begins; a worker is frozen (SIGSTOP) until its
leases are over, and goes on; a worker is told to stop and another begins; the server is stopped as
if its machine had lost power, and started again. Between two faults the fleet must make progress.
Nothing waits for a time: what the workers write is read until it says what is waited for.

Minutes are the exception: for each, two of the workers are hit within a second and a half of its
start, when a schedule is due that has to be executed every minute, whichever worker owned it.

Where there is a network (tests/system), the first worker reaches the server through it alone, and a
fault may be that it is cut until the leases are over, and mended; then that worker has to be heard
of again. Where there is a disk, the server has its data there, and a fault may be that there is no
room left until a worker has complained.

At the end all but one are stopped, the last takes over what the dead have left, all schedules are
taken out of the file, and the judge compares.

`python -m tests.kill.fleet SEED [FAULTS [MINUTES]]` runs one fleet and prints what came of it.
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
from typing import Protocol

from tests.kill.judge import Verdict, judge_database
from tests.kill.lives import ROOT
from tests.kill.world import IDLE, SCHEDULES, toml
from tests.postgres.server import Server

__all__ = ["BLOWS_AT_A_MINUTE", "FAILED", "FleetOutcome", "Network", "run_fleet"]

PATIENCE_S = 900
"""Only a hang takes longer; a dozen workers on a machine that has too much to do are no hang."""
WORKERS = 3
LEASE_S = 3
FREEZE_S = LEASE_S + 2
KINDS = ("kill", "kill", "freeze", "drain", "server")
KINDS_OF_A_NETWORK = ("cut", "cut", "kill", "freeze")
KINDS_OF_A_DISK = ("full", "full", "kill", "freeze")
BLOWS = ("kill", "freeze", "drain")
BLOWS_AT_A_MINUTE = 2
NEAR_S = 1.5
"""How near to the start of a minute a blow is struck."""
MINUTELY = "minute"
FAILED = "the ledger failed, trying again"


class Network(Protocol):
    """What one of the workers reaches the server through."""

    address: str
    """Of the server, in it."""

    def inside(self, command: list[str]) -> list[str]:
        """The command that runs another one at the far end."""

    def cut(self) -> None: ...
    def mend(self) -> None: ...


class Disk(Protocol):
    """What the server writes to."""

    path: Path

    def fill(self) -> None: ...
    def make_room(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class FleetOutcome:
    """What happened to a fleet."""

    seed: str
    faults: Counter[str] = field(default_factory=Counter)
    recovered_ms: list[int] = field(default_factory=list)
    """For each fault, how long after it the next run began."""
    back_ms: list[int] = field(default_factory=list)
    """For each cut, how long after it was mended its worker was heard of."""
    complaints: list[str] = field(default_factory=list)
    """What a worker said first each time when there was no room."""
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


def run_fleet(
    seed: str, faults: int, minutes: int = 0, network: Network | None = None,
    disk: Disk | None = None,
) -> FleetOutcome:  # fmt: skip
    """Let faults happen, then some around the starts of minutes, then judge."""
    outcome = FleetOutcome(seed=seed)
    server = Server(None if disk is None else disk.path / "server")
    server.create()
    try:
        if network is not None:
            server.listen(network.address)
        with tempfile.TemporaryDirectory(prefix="gnomon-fleet-") as folder:
            fleet = _Fleet(Path(folder), server, outcome, network, disk)
            try:
                fleet.live(random.Random(seed), faults, minutes)
            finally:
                fleet.end()
    finally:
        server.remove()
    return outcome


class _Fleet:
    def __init__(
        self, folder: Path, server: Server, outcome: FleetOutcome, network: Network | None,
        disk: Disk | None,
    ) -> None:  # fmt: skip
        self._server, self._outcome, self._network, self._disk = server, outcome, network, disk
        self._url = server.url()
        self._log = folder / "jobs.txt"
        self._file = folder / "run.toml"
        self._intervals = {name: int(keys["every"][:-1]) for name, keys in SCHEDULES.items()}
        self._intervals[MINUTELY] = 60
        minutely = {"cron": "* * * * *"} | {
            key: SCHEDULES["all"][key] for key in ("shell", "overlap", "catchup")
        }
        schedules = SCHEDULES | {MINUTELY: minutely}
        leased = {name: keys | {"lease": f"{LEASE_S}s"} for name, keys in schedules.items()}
        self._file.write_text(toml(leased))
        self._said: queue.Queue[dict[str, object]] = queue.Queue()
        self._spoke: dict[int, threading.Event] = {}
        self._errors: dict[int, list[str]] = {}
        """What a worker has written that is no line of its log."""
        self._readers: list[threading.Thread] = []
        self._workers: list[subprocess.Popen[str]] = []

    def live(self, dice: random.Random, faults: int, minutes: int) -> None:
        # The first one saves the schedules, so that the others find them there.
        self._workers.append(self._begin(0))
        self._hear("running")
        self._workers += [self._begin(number) for number in range(1, WORKERS)]
        self._hear("run ended", WORKERS)
        for _ in range(faults):
            kind = dice.choice(self._kinds())
            self._outcome.faults[kind] += 1
            began = self._let_happen(kind, dice.randrange(WORKERS))
            line = self._hear("run started", since=began)
            self._outcome.recovered_ms.append(round((_at(line) - began) * 1000))
            self._hear("run ended", dice.randint(1, 8))
        for _ in range(minutes):
            self._strike_at_a_minute(dice)
        until, manned = self._settle()
        self._outcome.verdict = judge_database(
            self._url, self._log, self._intervals, until=until, certain={MINUTELY: manned}
        )
        self._outcome.problems += self._outcome.verdict.problems

    def _kinds(self) -> tuple[str, ...]:
        if self._disk is not None:
            return KINDS_OF_A_DISK
        return KINDS if self._network is None else KINDS_OF_A_NETWORK

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
                self._workers[number] = self._begin(number)
            case "freeze":
                worker.send_signal(signal.SIGSTOP)
                self._hear("run started", since=began + FREEZE_S)
                worker.send_signal(signal.SIGCONT)
                began = time.time()
            case "drain":
                self._workers[number] = self._begin(number)
                self._stop(worker)
            case "cut":
                began = self._cut()
            case "full":
                began = self._fill()
            case _:
                for each in self._workers:
                    self._await_word(each)  # who finds no server when it starts, gives up
                began = time.time()
                self._server.stop("immediate")
                self._server.start()
        return began

    def _cut(self) -> float:
        """Cut the network until leases are over, and mend it; when, is returned."""
        assert self._network is not None
        worker, began = self._workers[0], time.time()
        self._await_word(worker)
        self._network.cut()
        self._hear("run started", since=began + FREEZE_S)
        self._network.mend()
        mended = time.time()
        line = self._hear("run started", since=mended, pid=worker.pid)
        self._outcome.back_ms.append(round((_at(line) - mended) * 1000))
        return mended

    def _fill(self) -> float:
        """Fill the disk until a worker complains; return the time at which there is room again."""
        assert self._disk is not None
        for each in self._workers:
            self._await_word(each)
        began = time.time()
        self._disk.fill()
        line = self._hear(FAILED, since=began)
        self._outcome.complaints.append(str(line["error"]))
        self._disk.make_room()
        self._server.revive()
        return time.time()

    def _strike_at_a_minute(self, dice: random.Random) -> None:
        """Hit some of the workers at about the start of the next minute."""
        numbers = dice.sample(range(WORKERS), BLOWS_AT_A_MINUTE)
        places = sorted(dice.uniform(-NEAR_S, NEAR_S) for _ in numbers)
        minute = (int(time.time() + NEAR_S) // 60 + 1) * 60
        self._hear("run started", since=minute - NEAR_S - 1)
        frozen, leaving = [], []
        for number, place in zip(numbers, places, strict=True):
            kind, worker = dice.choice(BLOWS), self._workers[number]
            self._await_word(worker)
            time.sleep(max(minute + place - time.time(), 0))
            self._outcome.faults[f"{kind} at a minute"] += 1
            if kind == "freeze":
                worker.send_signal(signal.SIGSTOP)
                frozen.append(worker)
                continue
            if kind == "kill":
                worker.kill()
                worker.wait()
            else:
                worker.send_signal(signal.SIGTERM)
                leaving.append(worker)
            self._workers[number] = self._begin(number)
        began = time.time()
        line = self._hear("run started", since=began)
        self._outcome.recovered_ms.append(round((_at(line) - began) * 1000))
        if frozen:
            self._hear("run started", since=began + FREEZE_S)
        for worker in frozen:
            worker.send_signal(signal.SIGCONT)
        for worker in leaving:
            self._expect(worker, "a stop at a minute")

    def _settle(self) -> tuple[int, int]:
        """
        Stop the fleet as it should be, and settle everything.

        Returned are the instants up to when, and up to when there was a worker for sure.
        """
        *others, last = self._workers
        for worker in others:
            self._stop(worker)
        self._hear("run started", since=time.time() + LEASE_S + 1)
        manned = int(time.time()) - 1
        self._stop(last)
        self._examine("after the last stop")
        until = int(time.time())
        self._file.write_text(toml(IDLE))
        settling = self._start(self._file, "--once")
        self._expect(settling, "settling")
        self._examine("after everything was settled")
        return until, manned

    def _stop(self, worker: "subprocess.Popen[str]") -> None:
        self._await_word(worker)  # before that it knows no signals
        worker.send_signal(signal.SIGTERM)
        self._expect(worker, "a stop")

    def _await_word(self, worker: "subprocess.Popen[str]") -> None:
        """Return when a worker has said anything at all."""
        for _ in range(PATIENCE_S):
            if self._spoke[worker.pid].wait(1):
                return
            if worker.poll() is not None:
                error = " ".join(self._errors[worker.pid])
                raise RuntimeError(f"a worker ended with {worker.returncode}: {error}")
        raise TimeoutError(f"a worker has said nothing for {PATIENCE_S} s")

    def _expect(self, worker: "subprocess.Popen[str]", what: str) -> None:
        if code := worker.wait(PATIENCE_S):
            self._outcome.problems.append(f"{what}: ended with {code}")

    def _examine(self, when: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", "doctor", "--database", self._url, "--json"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        found = json.loads(done.stdout)["findings"] if done.stdout else [{"code": done.stderr}]
        # A killed worker has not said good-bye, but by now others have all that it held.
        if found:
            self._outcome.problems.append(f"the doctor, {when}: {found}")

    def _begin(self, number: int) -> "subprocess.Popen[str]":
        """A worker for that place; the first one's is at the far end of the network."""
        return self._start(self._file, far=self._network if number == 0 else None)

    def _start(
        self, file: Path, *options: str, far: Network | None = None
    ) -> "subprocess.Popen[str]":
        url = self._url if far is None else f"postgresql://postgres@{far.address}/postgres"
        command = [
            sys.executable, "-m", "gnomon", "run", str(file), "--database", url, "--json-log",
            "--grace", "20s", *options,
        ]  # fmt: skip
        worker = subprocess.Popen(
            command if far is None else far.inside(command),
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._spoke[worker.pid], self._errors[worker.pid] = threading.Event(), []
        reader = threading.Thread(target=self._read, args=(worker,), daemon=True)
        reader.start()
        self._readers.append(reader)
        return worker

    def _read(self, worker: "subprocess.Popen[str]") -> None:
        assert worker.stderr is not None
        for text in worker.stderr:
            if text.endswith("}\n"):  # a killed worker may not finish its line
                line = json.loads(text) | {"worker": worker.pid}
                self._spoke[worker.pid].set()
                self._outcome.events[line["event"]] += 1
                self._said.put(line)
            else:
                self._errors[worker.pid].append(text.strip())
        worker.stderr.close()

    def _hear(
        self, event: str, times: int = 1, *, since: float = 0, pid: int | None = None
    ) -> dict[str, object]:
        """Read on until a worker, or a certain one, has said this so often since an instant."""
        while True:
            line = self._said.get(timeout=PATIENCE_S)
            is_meant = line["event"] == event and pid in (None, line["worker"])
            if is_meant and _at(line) >= since:
                times -= 1
                if not times:
                    return line


def _at(line: dict[str, object]) -> float:
    return datetime.fromisoformat(str(line["at"])).timestamp()


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[2:]] or [10]
    result = run_fleet(sys.argv[1], numbers[0], sum(numbers[1:]))
    print(result)
    sys.exit(1 if result.problems else 0)
