"""
Prove that `gnomon run` survives kill -9: `python -m tests.prove kill [--resume] [--kills N]`.

Worlds of ten kills each, several at a time, because a world spends most of its time waiting for the
next second. Writes docs/evidence/kill.md when all of them were run. Exits with 1 on any problem and
prints the line that runs that world again: `python -m tests.kill.world SEED 10`.
"""

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.oracle.random_cases import SEED
from tests.prove.chunk import KILLS_PER_WORLD, Chunk, ChunkResult
from tests.prove.runner import ROOT, State, run_all

__all__ = ["KILLS", "lines_of", "main", "part", "prove"]

KILLS = 1_000
WORKERS = 8
_REPORT = ROOT / "docs" / "evidence" / "kill.md"
_SHOWN_MAX = 20


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove kill")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--kills", type=int, default=KILLS, help="how many")
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th world")
    parser.add_argument("--workers", type=int, default=WORKERS, help="worlds at a time")
    parser.add_argument("--report", type=Path, help="default: docs/evidence, if all is run")
    options = parser.parse_args(arguments)
    return prove(
        kills=options.kills, sample=options.sample, resume=options.resume,
        workers=options.workers, report=options.report,
    )  # fmt: skip


def prove(
    *, kills: int, sample: int, resume: bool, workers: int = WORKERS, report: Path | None = None
) -> int:
    """Run the worlds, and write the report when all of them were run."""
    worlds = range(0, -(-kills // KILLS_PER_WORLD), sample)
    chunks = [Chunk(kind="kill", index=index) for index in worlds]
    print(f"seed {SEED}, {len(chunks)} worlds of {KILLS_PER_WORLD} kills, {workers} at a time")
    state = State(ROOT / ".prove" / "kill.jsonl", resume=resume)
    try:
        run_all(chunks, state, workers=workers)
    except KeyboardInterrupt:
        print("interrupted; go on with: python -m tests.prove kill --resume")
        return 130
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := report or (_REPORT if kills >= KILLS and sample == 1 else None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
        path.write_text(_page(found))
        print(f"report: {path}")
    print(f"{found['kills']} kills, {found['periods']} periods, {found['problems']} problems")
    for line in lines_of(found["lines"])[:_SHOWN_MAX]:
        print(line)
    return 1 if found["problems"] else 0


def _figures(results: Iterable[ChunkResult], *, wall_s: float) -> dict[str, object]:
    every = list(results)
    notes = sum((Counter(result.notes) for result in every), Counter[str]())
    return {
        "python": platform.python_version(),
        "seed": SEED,
        "kills": sum(result.cases for result in every),
        "periods": sum(result.answers for result in every),
        "executed": notes["executed"],
        "commands_seen": notes["lines"],
        "executed_without_a_line": notes["unseen"],
        "outcomes": part(notes, "outcome "),
        "died": part(notes, "died "),
        "wall_s": round(wall_s, 1),
        "problems": sum(result.differences_found for result in every),
        "lines": [line for result in every for line in result.differences],
    }


def part(notes: Counter[str], prefix: str) -> dict[str, int]:
    names = sorted(name for name in notes if name.startswith(prefix))
    return {name.removeprefix(prefix): notes[name] for name in names}


def _page(found: dict[str, object]) -> str:
    outcomes, died = found["outcomes"], found["died"]
    assert isinstance(outcomes, dict)
    assert isinstance(died, dict)
    return "\n".join([
        "# Evidence: kill -9",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "`gnomon run` with real commands is killed with SIGKILL, again and again, at chosen points "
        "(before and after every call of the ledger and the launcher, inside transactions, right "
        "after the birth of a process) and from outside.",
        "Each command writes a line of its own into a file.",
        "A judge that shares no code with Gnomon compares that file with the ledger and both with "
        "the calendar, and `gnomon doctor` examines the ledger.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| kills | {found['kills']:,} |",
        f"| periods owed | {found['periods']:,} |",
        f"| periods executed, says the ledger | {found['executed']:,} |",
        f"| commands that left a line | {found['commands_seen']:,} |",
        f"| executed without a line | {found['executed_without_a_line']:,} |",
        "| periods executed twice, without an outcome, or with two | 0 |"
        if not found["problems"]
        else f"| **problems** | {found['problems']:,} |",
        "",
        "Executed without a line means that the worker was killed between writing down the launch "
        "and letting the command begin, or that the run was replaced before it came to write; "
        "[what \"once\" means](../explanation/what-once-means.md) says why this side was chosen.",
        "",
        "| outcome | periods |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in outcomes.items()),
        "",
        "| where it died | times |",
        "|---|---:|",
        *(f"| {where} | {count:,} |" for where, count in died.items()),
        "",
        f"- Python: {found['python']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in lines_of(found["lines"])),
        "",
    ])  # fmt: skip


def lines_of(found: object) -> list[str]:
    assert isinstance(found, list)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
