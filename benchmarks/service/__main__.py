"""
`python -m benchmarks.service [--quick] [--json PATH] [--report PATH]`

A hundred thousand schedules on SQLite, a thousand due each second for a minute, and an executor
that does nothing: how late runs begin, what it costs, and how quickly the API answers meanwhile.
The status is 0 whatever the figures say: time decides nothing here.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.service.load import Figures, lateness_of, measure, processor_free

_JSON = Path(".bench/service.json")
_CELLS = {False: (100_000, 100, 60), True: (10_000, 100, 15)}
"""Schedules, seconds between two periods of one, and how long to measure; with --quick or not."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service")
    parser.add_argument("--quick", action="store_true", help="a tenth of it, a quarter as long")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    parser.add_argument("--report", type=Path, metavar="PATH", help="the table as Markdown")
    parser.add_argument("--directory", type=Path, metavar="PATH", help="where the ledger is kept")
    wishes = parser.parse_args()
    figures = _run(wishes.directory, *_CELLS[wishes.quick])
    wishes.json.parent.mkdir(parents=True, exist_ok=True)
    wishes.json.write_text(json.dumps(figures.to_json(), indent=1) + "\n", encoding="utf-8")
    print(_table(figures))
    if wishes.report is not None:
        wishes.report.write_text(_page(figures), encoding="utf-8")


def _run(place: Path | None, schedules: int, interval: int, seconds: int) -> Figures:
    with TemporaryDirectory(prefix="gnomon-bench-", dir=place) as name:
        directory = Path(name)
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.service.server", name, str(schedules),
             str(interval)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            port, begin = map(int, server.stdout.readline().split())
            token = (directory / "token").read_text()
            url, free = f"http://127.0.0.1:{port}", processor_free()
            lengths, failures, share, memory = asyncio.run(
                measure(url, token, server.pid, begin=begin, seconds=seconds)
            )
            server.communicate("")
            late = lateness_of(directory / "service.sqlite3", begin=begin, seconds=seconds)
        finally:
            server.kill()
            server.wait()
    lengths.sort()
    return Figures(
        schedules=schedules, due_each_second=schedules // interval, seconds=seconds,
        due=schedules // interval * seconds,
        succeeded=len(late), lateness_p50_ms=_share(late, 0.5), lateness_p99_ms=_share(late, 0.99),
        lateness_max_ms=late[-1], processor_share=share, processor_free=free, memory_mb=memory,
        api_requests=len(lengths), api_p50_ms=_share(lengths, 0.5),
        api_p99_ms=_share(lengths, 0.99), api_max_ms=lengths[-1], api_failures=failures,
    )  # fmt: skip


def _share(values: list[float], share: float) -> float:
    return values[min(int(len(values) * share), len(values) - 1)]


def _table(found: Figures) -> str:
    rows = {
        f"schedules, of which {found.due_each_second:,} due each second": f"{found.schedules:,}",
        f"periods due in {found.seconds} s": f"{found.due:,}",
        "of them ended well by the end": f"{found.succeeded:,}",
        "lateness p50 / p99 / max": f"{found.lateness_p50_ms:,.0f} / {found.lateness_p99_ms:,.0f} "
        f"/ {found.lateness_max_ms:,.0f} ms",
        "processor": f"{found.processor_share:.0%} of a core; a busy loop just before it was given "
        f"{found.processor_free:.0%}",
        "memory": f"{found.memory_mb:,.0f} MB",
        "API p50 / p99 / max": f"{found.api_p50_ms:,.0f} / {found.api_p99_ms:,.0f} / "
        f"{found.api_max_ms:,.0f} ms",
        "API requests, of which failed": f"{found.api_requests:,}, {found.api_failures:,}",
    }
    return "\n".join(["| service under load | |", "|---|---|"] + [
        f"| {name} | {value} |" for name, value in rows.items()
    ])  # fmt: skip


def _page(found: Figures) -> str:
    lines = [
        "# The service under load",
        "",
        "Made by `make bench-service`: API, worker and an executor that does nothing in one "
        "process, on a SQLite file with full durability.",
        "Lateness is from the planned instant to the recorded start of a run; questions to the "
        "API, a quarter of them writes, come twenty times a second meanwhile.",
        f"The machine had {os.cpu_count()} cores and a load of {os.getloadavg()[0]:.1f} when "
        "this was written.",
        "",
        _table(found),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
