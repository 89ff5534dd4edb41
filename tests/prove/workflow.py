"""
Prove the workflow host in simulated worlds: `python -m tests.prove workflow`.

In 50,000 simulated worlds the process dies before and after calls of the store, of handlers, of
tools and of `reconcile`, at one of them and at two; 10,000 are storms. Writes
docs/evidence/workflow.md when all of it was run. A finding prints the line that shows it again.
"""

from collections.abc import Sequence

from tests.prove.chunk import CRASH_CHUNK, WORKFLOW, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["WORLDS", "prove"]

WORLDS = 50_000
_SAYS = {
    "workflow-crash": "the process dies at every kind of call, once and twice",
    "workflow-storm": "everything at once",
}
_STORMS = 5  # worlds of crashes for each storm


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether nothing was made twice and nothing lost."""
    counts = {"workflow-crash": worlds, "workflow-storm": worlds // _STORMS}
    chunks = [
        Chunk(kind=kind, index=index)
        for kind in WORKFLOW
        for index in range(0, -(-counts[kind] // CRASH_CHUNK), how.sample)
    ]
    print(f"workflow: {len(chunks)} chunks, {workers} workers")
    state = run_all(chunks, "workflow", how, workers=workers, unit="worlds")
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := how.report("workflow.md", whole=worlds >= WORLDS):
        write_report(path, found, _page(found))
    for kind in WORKFLOW:
        ours = [result for result in results if result.kind == kind]
        broken = sum(result.differences_found for result in ours)
        print(f"{_SAYS[kind]}: {sum(one.cases for one in ours):,} worlds, {broken} broken promises")
    return not found["broken"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> Found:
    return figures(results, wall_s=wall_s) | {
        "workers": workers,
        "parts": [_part(kind, [one for one in results if one.kind == kind]) for kind in WORKFLOW],
        "met": part(notes_of(results), "met "),
        "broken": sum(result.differences_found for result in results),
    }


def _part(kind: str, results: Sequence[ChunkResult]) -> Found:
    notes = notes_of(results)
    return {
        "kind": kind,
        "says": _SAYS[kind],
        "worlds": sum(result.cases for result in results),
        "calls": notes["calls"],
        "runs": notes["runs"],
        "mutations": sum(result.answers for result in results),
        "simulated_h": round(notes["simulated_s"] / 3600, 1),
        "broken": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results)),
    }


_SAID = (
    "The real host over a real SQLite database lives through simulated worlds on virtual time.",
    "A system outside counts what was done to it; an audit that reads the tables with plain SQL "
    "compares.",
)


def _page(found: Found) -> str:
    parts = found["parts"]
    assert isinstance(parts, list)
    names = ("says", "worlds", "calls", "runs", "mutations", "simulated_h", "broken", "busy_s")
    head = (
        "worlds", "number", "calls", "runs", "mutations", "simulated hours", "broken",
        "seconds busy",
    )  # fmt: skip
    body = [
        *table(head, ([one[name] for name in names] for one in parts)),
        "## What was met",
        "",
        *counts(("what", "times"), found["met"]),
    ]
    return page("workflows", _SAID, body, found)
