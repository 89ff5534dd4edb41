"""What is measured while the service works: answers of its API, processor time, memory."""

import asyncio
import os
import sqlite3
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2

__all__ = ["Figures", "lateness_of", "measure", "processor_free"]

BUSY_SECONDS = 3
ASK_EVERY = 0.05
"""Seconds between two questions to the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of one cell."""

    schedules: int
    due_each_second: int
    seconds: int
    due: int
    """Periods that were due in the time that is measured."""
    succeeded: int
    lateness_p50_ms: float
    lateness_p99_ms: float
    lateness_max_ms: float
    processor_share: float
    """Of one core, over the whole time."""
    processor_free: float
    """What a loop that does nothing else was given of one core just before."""
    memory_mb: float
    """The most that was resident."""
    api_requests: int
    api_p50_ms: float
    api_p99_ms: float
    api_max_ms: float
    api_failures: int

    def to_json(self) -> dict[str, float]:
        return asdict(self)


def processor_free() -> float:
    """How much of a core this process can have now; less than one where others want it too."""
    began, used = time.monotonic(), time.process_time()
    while time.monotonic() - began < BUSY_SECONDS:
        pass
    return (time.process_time() - used) / (time.monotonic() - began)


async def measure(
    url: str, token: str, pid: int, *, begin: int, seconds: int
) -> tuple[list[float], int, float, float]:
    """Milliseconds of every answer, how many failed, the share of a core, and the memory."""
    await asyncio.sleep(max(begin - time.time(), 0))
    before, memory = _processor_seconds(pid), 0.0
    began, lengths, failures = time.monotonic(), list[float](), 0
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=30) as client:
        number = 0
        while time.monotonic() - began < seconds:
            at = time.monotonic()
            method, path, body = _question(number)
            answer = await client.request(method, path, json=body)
            lengths.append((time.monotonic() - at) * 1000)
            failures += answer.status_code >= 300
            memory = max(memory, _memory_mb(pid))
            number += 1
            await asyncio.sleep(max(ASK_EVERY - (time.monotonic() - at), 0))
    share = (_processor_seconds(pid) - before) / (time.monotonic() - began)
    return lengths, failures, share, memory


def lateness_of(file: Path, *, begin: int, seconds: int) -> list[float]:
    """How late each period began that was due in that time and ended well, in milliseconds."""
    first = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin))
    last = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin + seconds))
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "SELECT status, (julianday(started_at) - julianday(run_at)) * 86400000.0 "
            "FROM schedule_runs WHERE run_at >= ? AND run_at < ?",
            (first, last),
        ).fetchall()
    connection.close()
    return sorted(float(length) for status, length in rows if status == "SUCCESS")


def _question(number: int) -> tuple[str, str, dict[str, object] | None]:
    """Questions as a dashboard and a deploy would ask them, one after the other."""
    name = f"s{number * 7919 % 1000:06d}"
    pause: dict[str, object] = {"schedule_id": "idle", "paused": number % 8 < 4}
    questions: list[tuple[str, str, dict[str, object] | None]] = [
        ("GET", f"/schedules/{name}", None),
        ("GET", f"/schedules/{name}/runs?limit=20", None),
        ("GET", "/schedules?limit=20", None),
        ("POST", "/schedules/pause", pause),
    ]
    return questions[number % 4]


def _processor_seconds(pid: int) -> float:
    """Processor time of a process so far, as Linux tells it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mb(pid: int) -> float:
    """Resident memory of a process, as Linux tells it."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
