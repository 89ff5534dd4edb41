"""
`python -m benchmarks.krond [--quick] [--jobs N] [--json PATH]`

A real krond with ten thousand jobs: how long it takes to be ready, for the first time and again,
what memory it has, what it uses while nothing is due, how often it looks; and how late a thousand
jobs are that are due within one minute. The status is 0 whatever the figures say.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from gnomon.apps.krond.control import ask
from gnomon.apps.krond.state import StateDirectory

JOBS, WINDOWS = 10_000, 1_000
TARGETS = {"start_s": 3.0, "restart_s": 3.0, "rss_mb": 120.0, "idle_percent": 0.5}
_JSON = Path(".bench/krond.json")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True, kw_only=True)
class Figures:
    """What was measured."""

    jobs: int
    start_s: float = 0.0
    start_cpu_s: float = 0.0
    restart_s: float = 0.0
    restart_cpu_s: float = 0.0
    rss_mb: float = 0.0
    idle_s: float = 0.0
    idle_percent: float = 0.0
    turns_a_minute: float = 0.0
    load_average: float = 0.0
    windows: int = 0
    windows_missed: int = 0
    windows_late_median_ms: float = 0.0
    windows_late_worst_ms: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.krond")
    parser.add_argument("--quick", action="store_true", help="a shorter rest, and no busy minute")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    wishes = parser.parse_args()
    figures = Figures(jobs=wishes.jobs, load_average=os.getloadavg()[0])
    with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder:
        _measure_rest(Path(folder), figures, rest_s=20 if wishes.quick else 90)
    if not wishes.quick:
        with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder:
            _measure_minute(Path(folder), figures)
    for name, value in asdict(figures).items():
        target = f"  (target {TARGETS[name]})" if name in TARGETS else ""
        print(f"{name:24} {value:,.3f}{target}" if isinstance(value, float)
              else f"{name:24} {value:,}")  # fmt: skip
    wishes.json.parent.mkdir(parents=True, exist_ok=True)
    wishes.json.write_text(json.dumps(asdict(figures), indent=1) + "\n", encoding="utf-8")


def _measure_rest(folder: Path, figures: Figures, *, rest_s: int) -> None:
    file = folder / "jobs"
    file.write_text("".join(
        f"{one % 60} {one // 60 % 24} 1 1 * @tz(Europe/Berlin) @win(after,10m) "
        f'name=job-{one} command="/bin/true {one}"\n'
        for one in range(figures.jobs)
    ))  # fmt: skip
    file.chmod(0o644)
    began = time.monotonic()
    with _krond(file, folder / "state") as pid:
        figures.start_s = time.monotonic() - began
        figures.start_cpu_s = _cpu_s(pid)
    began = time.monotonic()
    with _krond(file, folder / "state") as pid:
        figures.restart_s = time.monotonic() - began
        figures.restart_cpu_s = _cpu_s(pid)
        time.sleep(2)
        before, turns = _cpu_s(pid), _turns(folder / "state")
        time.sleep(rest_s)
        figures.idle_s = rest_s
        figures.idle_percent = 100 * (_cpu_s(pid) - before) / rest_s
        figures.turns_a_minute = 60 * (_turns(folder / "state") - turns) / rest_s
        figures.rss_mb = _status(pid, "VmRSS:") / 1024


def _measure_minute(folder: Path, figures: Figures) -> None:
    """Jobs whose windows fall into the next whole minute, each with a second of its own."""
    file = folder / "jobs"
    minute = time.gmtime(time.time() + 75)
    file.write_text("".join(
        f"{minute.tm_min} {minute.tm_hour} * * * @win(after,59s) name=job-{one} command=true\n"
        for one in range(WINDOWS)
    ))  # fmt: skip
    file.chmod(0o644)
    late: list[float] = []
    with _krond(file, folder / "state", "--json-log") as pid:
        log = folder / "state" / "krond.log"
        while len(late) + figures.windows_missed < WINDOWS:
            time.sleep(5)
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            late = [one["latenessMs"] for one in lines if one["event"] == "trigger"]
            figures.windows_missed = sum(one["event"] == "missed_deadline" for one in lines)
        assert Path(f"/proc/{pid}").exists()
    late.sort()
    figures.windows = WINDOWS
    figures.windows_late_median_ms = late[len(late) // 2]
    figures.windows_late_worst_ms = late[-1]


@contextmanager
def _krond(file: Path, state: Path, *options: str) -> Iterator[int]:
    """A krond that is ready; its process id."""
    ready, telling = os.pipe()
    log = state / "krond.log"
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "krond", "start", str(file), "--state-dir", str(state),
         "--log-file", str(log), "--ready-fd", str(telling), *options],
        pass_fds=(telling,),
    )  # fmt: skip
    os.close(telling)
    said = os.read(ready, 100)
    os.close(ready)
    assert said, f"krond ended with {process.wait()}"
    try:
        yield int(said)
    finally:
        process.terminate()
        process.wait()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND


def _turns(state: Path) -> int:
    """How often krond has looked whether there is something to do."""
    answer = ask(StateDirectory(state), "status")
    assert answer is not None
    counters = answer["counters"]
    assert isinstance(counters, dict)
    return int(counters["turns"])


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


if __name__ == "__main__":
    main()
