"""
Prove the theory: `python -m tests.prove theory`.

Holds the quick monitor against the formulas on 100,000 random traces, and searches all states of
one and two tasks, also of tasks that change, for a conflict. Writes docs/evidence/theory.md when
all of it was run. Exits with 1 on any difference or conflict.
"""

import platform
from collections import Counter
from collections.abc import Sequence

from gnomon.theory import AXIOMS
from tests.prove.chunk import TRACES_PER_CHUNK, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report
from tests.theory.state_search import SEARCHES

__all__ = ["TRACES", "prove"]

TRACES = 100_000


def prove(how: Run, *, traces: int, workers: int) -> bool:
    """Run the searches and the comparisons, and say whether there was no problem."""
    searches = [Chunk(kind="states", index=index) for index in range(len(SEARCHES))]
    indices = range(0, -(-traces // TRACES_PER_CHUNK), how.sample)
    chunks = [*searches, *(Chunk(kind="agreement", index=index) for index in indices)]
    print(f"theory: {len(searches)} searches, {len(indices)} chunks of traces, {workers} workers")
    state = run_all(chunks, "theory", how, workers=workers, unit="traces and states")
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := how.report("theory.md", whole=traces >= TRACES):
        write_report(path, found, _page(found))
    problems = found["problems"]
    assert isinstance(problems, list)
    print(f"{found['traces']:,} traces, {found['events']:,} events, {len(problems)} problems")
    return not problems


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
