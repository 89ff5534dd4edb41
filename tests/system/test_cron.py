"""
krond beside the cron of Debian, in the same minutes on the same machine: who is late, at what cost.

Both run the same jobs, every minute; each job writes its name and the instant into a pipe, and
nothing else is waited for. What is promised is that every job runs once a minute under both; how
late they are and what the daemons use is printed.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.krond_process import krond
from tests.clauses import clause
from tests.system.packages import provide

JOBS = 30
MINUTES = 2
CRON_FILE = Path("/etc/cron.d/gnomon-beside")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="cron needs root")


def say(pipe: Path, daemon: str, number: int) -> str:
    return f"echo {daemon} {number} $(date +%s.%N) > {pipe}"


@contextmanager
def cron(pipe: Path) -> Iterator[int]:
    """The system's cron with the same jobs; its process id."""
    program = provide("cron", "cron")
    lines = [f"* * * * * root {say(pipe, 'cron', one).replace('%', chr(92) + '%')}"
             for one in range(JOBS)]  # fmt: skip
    CRON_FILE.write_text("SHELL=/bin/sh\n" + "\n".join(lines) + "\n")
    CRON_FILE.chmod(0o644)
    process = subprocess.Popen([program, "-f", "-L", "0"], start_new_session=True)
    try:
        yield process.pid
        assert process.poll() is None, "cron has ended; does another one run?"
    finally:
        CRON_FILE.unlink()
        process.kill()
        process.wait()


def write_jobs(folder: Path, pipe: Path) -> Path:
    file = folder / "jobs"
    lines = [
        f'* * * * * name=job-{one} shell=true command="{say(pipe, "krond", one)}"'
        for one in range(JOBS)
    ]
    file.write_text("\n".join(lines) + "\n")
    file.chmod(0o644)
    return file


def cpu_s(pid: int) -> float:
    """What a process has used so far, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


@clause("KROND-1", "KROND-15")
def test_every_job_runs_once_a_minute_beside_the_systems_cron(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o622)
    reader = os.open(pipe, os.O_RDWR)  # so that writers never wait, nor see it closed
    seen: Counter[tuple[str, int, int]] = Counter()
    late: dict[str, list[float]] = {"cron": [], "krond": []}
    with (
        os.fdopen(reader, "r", encoding="ascii") as lines,
        cron(pipe) as cron_pid,
        krond(write_jobs(tmp_path, pipe), tmp_path / "state") as running,
    ):
        pids = {"cron": cron_pid, "krond": running.process.pid}
        before = {name: cpu_s(pid) for name, pid in pids.items()}
        while len(seen) < 2 * JOBS * MINUTES:
            daemon, number, instant = lines.readline().split()
            minute, offset = divmod(float(instant), 60)
            seen[daemon, int(number), int(minute)] += 1
            late[daemon].append(offset)
        used = {name: cpu_s(pid) - before[name] for name, pid in pids.items()}

    sys.stdout.write(f"\n{JOBS} jobs a minute, {MINUTES} minutes, seconds after the minute:\n")
    for daemon, offsets in late.items():
        offsets.sort()
        sys.stdout.write(
            f"  {daemon:6} first {offsets[0]:.3f}  median {offsets[len(offsets) // 2]:.3f}  "
            f"last {offsets[-1]:.3f}  processor {used[daemon]:.2f} s\n"
        )
    assert set(seen.values()) == {1}
