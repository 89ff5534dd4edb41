"""
`python -m benchmarks.operator [--quick] [--only WORD ...] [--json PATH] [--report PATH]`

Five thousand KronJobs, or CronJobs, on a real cluster of their own: how long the controller takes
to begin, what it asks of the API server and keeps in memory while nothing is due, and how late five
hundred are that are due in one minute. The contenders follow each other, one cluster each. The
status is 0 whatever the figures say: time decides nothing here.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.harness.machine import Machine, this_machine
from benchmarks.harness.table import Table, to_markdown
from benchmarks.operator.contender import CONTENDERS
from benchmarks.operator.round import Dose, Figures, play

__all__ = ["page_of", "table_of"]

_JSON = Path(".bench/operator.json")
_WHOLE = Dose(objects=5_000, due=500, idle_s=120)
_QUICK = Dose(objects=300, due=60, idle_s=20)
_HAND = "## What the figures say"
"""What follows this heading on the page is written by hand, and kept."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator")
    parser.add_argument("--quick", action="store_true", help="300 objects, 60 of them due")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="contenders with such a name")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    parser.add_argument("--report", type=Path, metavar="PATH", help="the table as Markdown")
    wishes = parser.parse_args()
    dose, machine = _QUICK if wishes.quick else _WHOLE, this_machine()
    words = wishes.only or [""]
    chosen = [one for one in CONTENDERS if any(word in one.name for word in words)]
    if not chosen:
        parser.error(f"--only: write a part of one of {', '.join(one.name for one in CONTENDERS)}")
    found = []
    for contender in chosen:
        found.append(play(contender, dose, partial(_progress, contender.name)))
        wishes.json.parent.mkdir(parents=True, exist_ok=True)
        wishes.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    table = table_of(found)
    print(to_markdown(table))
    if wishes.report is not None:
        wishes.report.write_text(page_of(table, dose, machine, wishes.report), encoding="utf-8")


def _progress(name: str, said: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {name}: {said}", file=sys.stderr, flush=True)


def table_of(found: Sequence[Figures]) -> Table:
    rows = {
        "ready after": [f"{one.ready_s:.1f} s" for one in found],
        "its last write at the start": [f"{one.settled_s:.1f} s" for one in found],
        "resident memory at rest": [f"{one.memory_mb:.0f} MB" for one in found],
        "requests a minute at rest": [f"{one.idle_requests_a_minute:.1f}" for one in found],
        "processor at rest": [f"{one.idle_processor:.1%} of a core" for one in found],
        "started of those due": [f"{one.started} of {one.due}" for one in found],
        "started twice": [str(one.twice) for one in found],
        "late p50": [f"{one.late_p50_s:.1f} s" for one in found],
        "late p99": [f"{one.late_p99_s:.1f} s" for one in found],
        "late at worst": [f"{one.late_max_s:.1f} s" for one in found],
        "processor in that minute": [f"{one.busy_processor_s:.1f} s" for one in found],
        "requests in that minute": [str(one.busy_requests) for one in found],
    }
    return Table(
        title=f"{found[0].objects:,} objects at rest, then {found[0].due} due in one minute",
        header=("", *(one.contender for one in found)),
        rows=[(name, *cells) for name, cells in rows.items()],
    )


def page_of(table: Table, dose: Dose, machine: Machine, path: Path) -> str:
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    _, heading, text = kept.partition(_HAND)
    lines = [
        "# KronJob beside CronJob under load",
        "",
        f"Made by `make bench-operator` on {datetime.now(UTC):%Y-%m-%d}, on {machine.cores} cores "
        f"of {machine.cpu} with a load of {machine.load} before, {machine.python}.",
        "Each contender has a cluster of its own: real etcd, API server, controllers and "
        "scheduler, and kwok for pods, all on this machine.",
        f"{dose.objects:,} objects that are due once a year are there before the controller "
        f"starts; it is left alone for {dose.idle_s:.0f} s when it writes nothing more. Then "
        f"{dose.due} more are made, all due in one minute.",
        "A Job counts as started when the API server has answered the request that lets it run: "
        "the creation by the CronJob controller, the release by the operator. Lateness is from "
        "the chosen second, all by the audit log of the API server.",
        "Requests leave out those for the Lease of a leader. The memory of CronJob is that of "
        "kube-controller-manager, which holds other controllers too.",
        "",
        to_markdown(table),
        "",
        heading + text if heading else f"{_HAND}\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
