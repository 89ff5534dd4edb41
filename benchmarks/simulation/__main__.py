"""
`python -m benchmarks.simulation [--quick] [--json PATH]`

Twenty tasks that are due every minute, with real SQLite, the theory as judge and trouble from time
to time; the best of some runs, in processor time. The status is 0 whatever the figures say.
"""

import argparse
import json
import sys
from pathlib import Path
from time import process_time

from gnomon.simulation.declarative.plan import World, draw_spec
from gnomon.simulation.declarative.world import run_world

TARGET, AIM = 3.0, 10.0
TASKS = 20
_HOUR_MS = 3_600_000
_JSON = Path(".bench/simulation.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation")
    parser.add_argument("--quick", action="store_true", help="ten seconds, coarser figures")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    wishes = parser.parse_args()
    rounds, hours = (2, 6) if wishes.quick else (5, 24)
    figures: dict[str, float] = {}
    for tasks in (TASKS, 1):
        rates = [_rate(tasks, hours, seed) for seed in range(rounds)]
        figures[f"{tasks} tasks"] = max(rates)
        print(f"{tasks} tasks: {max(rates):,.1f} simulated hours/s, best of {rounds}")
    print(f"target at {TASKS} tasks: {TARGET}, aim {AIM}", file=sys.stderr)
    wishes.json.parent.mkdir(parents=True, exist_ok=True)
    wishes.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _rate(tasks: int, hours: int, seed: int) -> float:
    spec = draw_spec(World.LONG, seed, tasks=tasks, length_ms=hours * _HOUR_MS)
    began = process_time()
    trial = run_world(spec)
    assert not trial.complaints, trial.complaints[0]
    return trial.lasted_ms / _HOUR_MS / (process_time() - began)


if __name__ == "__main__":
    main()
