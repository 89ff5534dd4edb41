"""
Prove the theory: `python -m tests.prove theory [--resume] [--traces N]`.

Holds the quick monitor against the formulas on 100,000 random traces, and searches all states of
one and two tasks, also of tasks that change, for a conflict. Writes docs/evidence/theory.md when
all of it was run. Exits with 1 on any difference or conflict.
"""

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gnomon.theory import AXIOMS
from tests.prove.chunk import TRACES_PER_CHUNK, Chunk, ChunkResult
from tests.prove.report import revision
from tests.prove.runner import ROOT, State, run_all
from tests.theory.state_search import SEARCHES

__all__ = ["TRACES", "main", "prove"]

TRACES = 100_000
_REPORT = ROOT / "docs" / "evidence" / "theory.md"
_SHOWN_MAX = 20


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove theory")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--traces", type=int, default=TRACES, help="how many random traces")
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th chunk")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=Path, help="default: docs/evidence, if all is run")
    options = parser.parse_args(arguments)
    return prove(
        traces=options.traces, sample=options.sample, resume=options.resume,
        workers=options.workers, report=options.report,
    )  # fmt: skip


def prove(
    *, traces: int, sample: int, resume: bool, workers: int, report: Path | None = None
) -> int:
    """Run the searches and the comparisons, and write the report when all of them were run."""
    searches = [Chunk(kind="states", index=index) for index in range(len(SEARCHES))]
    indices = range(0, -(-traces // TRACES_PER_CHUNK), sample)
    chunks = [*searches, *(Chunk(kind="agreement", index=index) for index in indices)]
    print(f"{len(searches)} searches, {len(indices)} chunks of traces, {workers} workers")
    state = State(ROOT / ".prove" / "theory.jsonl", resume=resume)
    try:
        run_all(chunks, state, workers=workers)
    except KeyboardInterrupt:
        print("interrupted; go on with: python -m tests.prove theory --resume")
        return 130
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := report or (_REPORT if traces >= TRACES and sample == 1 else None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
        path.write_text(_page(found))
        print(f"report: {path}")
    problems = found["problems"]
    assert isinstance(problems, list)
    print(f"{found['traces']:,} traces, {found['events']:,} events, {len(problems)} problems")
    print("\n".join(problems[:_SHOWN_MAX]))
    return 1 if problems else 0


def _figures(results: Sequence[ChunkResult], *, wall_s: float) -> dict[str, object]:
    compared = [result for result in results if result.kind == "agreement"]
    notes = sum((Counter(result.notes) for result in compared), Counter[str]())
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "traces": sum(result.cases for result in compared),
        "events": notes["events"],
        "judgements": sum(result.answers for result in compared),
        "broken": {axiom.id: notes[axiom.id] for axiom in AXIOMS},
        "searches": [
            {
                "configurations": list(SEARCHES[result.index].configurations),
                "reconcile": SEARCHES[result.index].reconcile,
                "states": result.cases,
                "transitions": result.answers,
                "conflicts": result.differences_found,
                "seconds": round(result.seconds, 1),
            }
            for result in results
            if result.kind == "states"
        ],
        "busy_s": round(sum(result.seconds for result in results), 1),
        "wall_s": round(wall_s, 1),
        "problems": [line for result in results for line in result.differences],
    }


def _page(found: dict[str, object]) -> str:
    broken, searches, problems = found["broken"], found["searches"], found["problems"]
    assert isinstance(broken, dict)
    assert isinstance(searches, list)
    assert isinstance(problems, list)
    return "\n".join([
        "# Evidence: the theory",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "The quick monitor and the formulas judge the same random traces, half of them wild, half "
        "by a scheduler that is mostly right.",
        "They must find each axiom broken at the same position, or not at all, and put to the test "
        "equally often.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| traces | {found['traces']:,} |",
        f"| events | {found['events']:,} |",
        f"| judgements compared | {found['judgements']:,} |",
        f"| problems | {len(problems)} |",
        "",
        "## How often each axiom was broken in them",
        "",
        "| axiom | traces |",
        "|---|---:|",
        *(f"| {axiom} | {count:,} |" for axiom, count in broken.items()),
        "",
        "## The search of all states",
        "",
        "A conflict would be a start that is owed and whose success S2 forbids, an obligation that "
        "lapses by itself, or one that a restart forgets.",
        "",
        "| tasks | configurations | a new list while up | states | transitions | conflicts |",
        "|---:|---|---|---:|---:|---:|",
        *(
            f"| {len(one['configurations'])} | {', '.join(map(str, one['configurations']))} "
            f"| {'applied in place' if one['reconcile'] else 'refused'} "
            f"| {one['states']:,} | {one['transitions']:,} | {one['conflicts']} |"
            for one in searches
        ),
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in problems),
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
