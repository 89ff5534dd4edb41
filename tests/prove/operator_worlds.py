"""
Prove the operator in simulated worlds: `python -m tests.prove operator-worlds`.

In 8,000 worlds operators die before and after every call, and after a call that arrives when they
are dead, at one of them and at two; 2,000 are storms and 250 are days on which clocks change.
Writes docs/evidence/operator-worlds.md when all of it was run. A finding prints the line that shows
it again.
"""

from collections.abc import Sequence

from tests.prove.chunk import OPERATOR, OPERATOR_CHUNK, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["WORLDS", "prove"]

WORLDS = 8_000
_SAYS = {
    "operator-crash": "operators die at every call, once and twice",
    "operator-storm": "everything at once",
    "operator-calendar": "days on which clocks change",
}
_SHARES = {"operator-crash": 1, "operator-storm": 4, "operator-calendar": 32}
"""Worlds of crashes for each of them."""
_SAID = (
    "Operators live through simulated worlds on virtual time, with their watches, queues and "
    "Leases, over an API server in memory that keeps the contract of a real one.",
    "Calls die, are lost and arrive late; watches lag; people delete Jobs, take their names, edit, "
    "suspend, make again and wipe statuses between a call and its answer; the server refuses; "
    "clocks are set.",
    "A judge that shares no code with the operator reads what the server stored; the audit log of "
    "a real cluster is judged by the same rules.",
)


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether nothing ran twice and nothing was lost."""
    chunks = [
        Chunk(kind=kind, index=index)
        for kind in OPERATOR
        for index in range(0, -(-worlds // _SHARES[kind] // OPERATOR_CHUNK), how.sample)
    ]
    print(f"operator-worlds: {len(chunks)} chunks, {workers} workers")
    state = run_all(chunks, "operator-worlds", how, workers=workers, unit="worlds")
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := how.report("operator-worlds.md", whole=worlds >= WORLDS):
        write_report(path, found, _page(found))
    for kind in OPERATOR:
        ours = [result for result in results if result.kind == kind]
        broken = sum(result.differences_found for result in ours)
        print(f"{_SAYS[kind]}: {sum(one.cases for one in ours):,} worlds, {broken} broken promises")
    return not found["broken"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> Found:
    return figures(results, wall_s=wall_s) | {
        "workers": workers,
        "parts": [_part(kind, [one for one in results if one.kind == kind]) for kind in OPERATOR],
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
        "due": sum(result.answers for result in results),
        "executions": notes["executions"],
        "candidates": notes["candidates"],
        "simulated_h": round(notes["simulated_s"] / 3600, 1),
        "broken": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results)),
    }


def _page(found: Found) -> str:
    parts = found["parts"]
    assert isinstance(parts, list)
    names = ("says", "worlds", "calls", "due", "executions", "candidates", "simulated_h", "broken",
             "busy_s")  # fmt: skip
    head = (
        "worlds", "number", "calls", "periods that had to run", "Jobs that ran",
        "Jobs made and never released", "simulated hours", "broken", "seconds busy",
    )  # fmt: skip
    body = [
        *table(head, ([one[name] for name in names] for one in parts)),
        "## What was met",
        "",
        *counts(("what", "times"), found["met"]),
    ]
    return page("the operator in simulated worlds", _SAID, body, found)
