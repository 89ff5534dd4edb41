"""
Prove that workers on PostgreSQL survive: `python -m tests.prove workers-kill [--faults N]`.

Fleets of three workers with twenty faults each, a few at a time, because a fleet spends most of its
time waiting for the next second. Writes docs/evidence/workers-kill.md when all of them were run.
Exits with 1 on any problem and prints the line that runs that fleet again:
`python -m tests.kill.fleet SEED 20`.
"""

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.oracle.random_cases import SEED
from tests.prove.chunk import FAULTS_PER_FLEET, Chunk, ChunkResult
from tests.prove.kill import lines_of, part
from tests.prove.runner import ROOT, State, run_all

__all__ = ["FAULTS", "main", "prove"]

FAULTS = 1_000
FLEETS = 4
"""How many at a time."""
_REPORT = ROOT / "docs" / "evidence" / "workers-kill.md"
_SHOWN_MAX = 20


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove workers-kill")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--faults", type=int, default=FAULTS, help="how many")
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th fleet")
    parser.add_argument("--fleets", type=int, default=FLEETS, help="fleets at a time")
    parser.add_argument("--report", type=Path, help="default: docs/evidence, if all is run")
    options = parser.parse_args(arguments)
    return prove(
        faults=options.faults, sample=options.sample, resume=options.resume,
        fleets=options.fleets, report=options.report,
    )  # fmt: skip


def prove(
    *, faults: int, sample: int, resume: bool, fleets: int = FLEETS, report: Path | None = None
) -> int:
    """Run the fleets, and write the report when all of them were run."""
    numbers = range(0, -(-faults // FAULTS_PER_FLEET), sample)
    chunks = [Chunk(kind="workers-kill", index=index) for index in numbers]
    print(f"seed {SEED}, {len(chunks)} fleets with {FAULTS_PER_FLEET} faults, {fleets} at a time")
    state = State(ROOT / ".prove" / "workers-kill.jsonl", resume=resume)
    try:
        run_all(chunks, state, workers=fleets)
    except KeyboardInterrupt:
        print("interrupted; go on with: python -m tests.prove workers-kill --resume")
        return 130
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := report or (_REPORT if faults >= FAULTS and sample == 1 else None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
        path.write_text(_page(found))
        print(f"report: {path}")
    print(
        f"{found['faults']} faults, {found['periods']} periods, {found['stale_refused']} stale "
        f"writes refused, recovered in {found['recovered_ms']} ms on average, "
        f"{found['slowest_ms']} ms at worst, {found['problems']} problems"
    )
    for line in lines_of(found["lines"])[:_SHOWN_MAX]:
        print(line)
    return 1 if found["problems"] else 0


def _figures(results: Iterable[ChunkResult], *, wall_s: float) -> dict[str, object]:
    every = list(results)
    notes = sum((Counter(result.notes) for result in every), Counter[str]())
    faults = sum(result.cases for result in every)
    return {
        "python": platform.python_version(),
        "seed": SEED,
        "faults": faults,
        "periods": sum(result.answers for result in every),
        "executed": notes["executed"],
        "commands_seen": notes["lines"],
        "executed_without_a_line": notes["unseen"],
        "stale_refused": notes["refused"],
        "runs_lost": notes["lost"],
        "recovered_ms": round(notes["recovered_ms"] / max(faults, 1)),
        "slowest_ms": max((result.notes.get("slowest_ms", 0) for result in every), default=0),
        "outcomes": part(notes, "outcome "),
        "kinds": part(notes, "fault "),
        "wall_s": round(wall_s, 1),
        "problems": sum(result.differences_found for result in every),
        "lines": [line for result in every for line in result.differences],
    }


def _page(found: dict[str, object]) -> str:
    outcomes, kinds = found["outcomes"], found["kinds"]
    assert isinstance(outcomes, dict)
    assert isinstance(kinds, dict)
    return "\n".join([
        "# Evidence: workers on PostgreSQL",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "Three `gnomon run --database` with real commands share one PostgreSQL server.",
        "A worker is killed with SIGKILL and replaced, or frozen with SIGSTOP until its leases are "
        "over and then let go on, or the server is stopped at once and started again.",
        "Each command writes a line of its own into a file.",
        "A judge that shares no code with Gnomon compares that file with the ledger and both with "
        "the calendar, and `gnomon doctor` examines the ledger.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| faults | {found['faults']:,} |",
        *(f"| faults: {kind} | {count:,} |" for kind, count in kinds.items()),
        f"| periods owed | {found['periods']:,} |",
        f"| periods executed, says the ledger | {found['executed']:,} |",
        f"| commands that left a line | {found['commands_seen']:,} |",
        f"| executed without a line | {found['executed_without_a_line']:,} |",
        f"| stale writes, all refused | {found['stale_refused']:,} |",
        f"| next run after a fault, on average, in ms | {found['recovered_ms']:,} |",
        f"| next run after a fault, at worst, in ms | {found['slowest_ms']:,} |",
        "| periods executed twice, without an outcome, or with two | 0 |"
        if not found["problems"]
        else f"| **problems** | {found['problems']:,} |",
        "",
        "| outcome | periods |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in outcomes.items()),
        "",
        f"- Python: {found['python']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in lines_of(found["lines"])),
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
