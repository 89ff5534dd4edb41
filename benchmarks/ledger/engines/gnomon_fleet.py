"""
Some workers, each a process of its own, share what becomes due on one PostgreSQL.

The workers live from pass to pass, as workers do. Timed is from the word that an hour has struck to
the last end that is written. After each pass every period must have been launched exactly once:
the sum of what the workers have launched is what was due, and the database has that many keys.
"""

import asyncio
import subprocess
import sys
from queue import Queue
from threading import Thread

import asyncpg

from benchmarks.harness.contender import ROOT
from benchmarks.harness.meter import Meter
from benchmarks.ledger.engines.gnomon_runs import hourly
from benchmarks.ledger.population import BEGINS_MS
from gnomon.shell.store.postgres.ledger import PostgresLedger

__all__ = ["FleetFires"]

_HOUR_MS = 3_600_000
_PATIENCE = 120.0
_READY = "ready"


class FleetFires:
    """Hourly schedules that are all due at once, hour after hour, for a number of workers."""

    def __init__(self, url: str, *, workers: int, due: int) -> None:
        self.meter = Meter()
        self._url, self._due = url, due
        self._hour_ms = BEGINS_MS // _HOUR_MS * _HOUR_MS
        self._passes = 0
        self._said: Queue[tuple[int, str]] = Queue()
        self._launched: dict[int, int] = {}
        self._readers: list[Thread] = []
        asyncio.run(self._save())
        self._workers = [self._start(f"worker-{number}") for number in range(workers)]
        for _ in self._workers:
            assert self._said.get(timeout=_PATIENCE)[1] == _READY

    def once(self) -> None:
        """The next hour strikes."""
        self._hour_ms += _HOUR_MS
        self._passes += 1
        left = self._due
        with self.meter.running():
            for worker in self._workers:
                assert worker.stdin is not None
                worker.stdin.write(f"{self._hour_ms + 1}\n")
                worker.stdin.flush()
            while left:
                pid, line = self._said.get(timeout=_PATIENCE)
                ends, launched = map(int, line.split())
                self._launched[pid] = launched
                left -= ends
        owed, launched = self._passes * self._due, sum(self._launched.values())
        written = asyncio.run(self._written())
        assert launched == written == owed, f"{launched} launched, {written} written of {owed}"

    def close(self) -> None:
        for worker in self._workers:
            assert worker.stdin is not None
            worker.stdin.close()
            worker.wait(timeout=_PATIENCE)
        for reader in self._readers:
            reader.join()

    async def _save(self) -> None:
        ledger = await PostgresLedger.open(self._url)
        await ledger.save_all(hourly(self._due), now_ms=self._hour_ms + 1)
        await ledger.close()

    async def _written(self) -> int:
        connection = await asyncpg.connect(self._url)
        count = await connection.fetchval(
            "SELECT count(DISTINCT idempotency_key) FROM gnomon.schedule_runs WHERE state = 'done'"
        )
        await connection.close()
        return int(count or 0)

    def _start(self, name: str) -> "subprocess.Popen[str]":
        module = "benchmarks.ledger.engines.gnomon_worker"
        worker = subprocess.Popen(
            [sys.executable, "-m", module, self._url, name],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        reader = Thread(target=self._read, args=(worker,), daemon=True)
        reader.start()
        self._readers.append(reader)
        return worker

    def _read(self, worker: "subprocess.Popen[str]") -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            self._said.put((worker.pid, line.strip()))
        worker.stdout.close()
