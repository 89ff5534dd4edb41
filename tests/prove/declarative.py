"""
Prove the declarative scheduler in simulated worlds: `python -m tests.prove declarative`.

In 50,000 of them the process dies before and after every call of the journal, at one of them and at
two; 10,000 are storms; every story of five steps is played; then two years of twenty tasks and
thirty years of one, in pieces of ten days, with trouble from time to time. Writes
docs/evidence/declarative.md when all of it was run. A broken axiom is shown again by the line that
it prints: `python -m gnomon.simulation declarative`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tests.prove.chunk import DECLARATIVE_DAYS, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["WORLDS", "prove"]

WORLDS = 50_000


class _Part(NamedTuple):
    kind: str
    says: str
    chunks: int
    """Of the whole proof."""


PARTS = (
    _Part("declarative-crash", "the process dies at every call, once and twice", 50),
    _Part("declarative-storm", "everything at once", 10),
    _Part("declarative-search", "every story of five steps, with one task and with two", 16),
    _Part("declarative-twenty", "two years of twenty tasks", 2 * 365 // DECLARATIVE_DAYS + 1),
    _Part("declarative-one", "thirty years of one task", 30 * 365 // DECLARATIVE_DAYS + 1),
)


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether every axiom held in all of them."""
    chunks = [
        Chunk(kind=what.kind, index=index)
        for what in PARTS
        for index in range(0, -(-what.chunks * min(worlds, WORLDS) // WORLDS), how.sample)
    ]
    print(f"declarative: {len(chunks)} chunks, {workers} workers")
    state = run_all(chunks, "declarative", how, workers=workers, unit="worlds")
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := how.report("declarative.md", whole=worlds >= WORLDS):
        write_report(path, found, _page(found))
    met = found["met"]
    assert isinstance(met, dict)
    for name, count in met.items():
        print(f"  met {name}: {count:,}")
    for what in PARTS:
        ours = [result for result in results if result.kind == what.kind]
        broken = sum(result.differences_found for result in ours)
        print(f"{what.says}: {sum(one.cases for one in ours):,} worlds, {broken} broken axioms")
    return not found["broken"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> Found:
    return figures(results, wall_s=wall_s) | {
        "workers": workers,
        "parts": [_part(what, [one for one in results if one.kind == what.kind]) for what in PARTS],
        "met": part(notes_of(results), "met "),
        "broken": sum(result.differences_found for result in results),
    }


def _part(what: _Part, results: Sequence[ChunkResult]) -> Found:
    notes = notes_of(results)
    return {
        "kind": what.kind,
        "says": what.says,
        "worlds": sum(result.cases for result in results),
        "calls": notes["calls"],
        "events": notes["events"],
        "starts": sum(result.answers for result in results),
        "simulated_h": round(notes["simulated_s"] / 3600, 1),
        "broken": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results)),
    }


_SAID = (
    "The real `gnomon.Scheduler` over a real SQLite journal lives through simulated worlds on "
    "virtual time; [how Gnomon is tested](../explanation/how-gnomon-is-tested.md) says how.",
    "Its journal, with minutes and dues from an independent scan, is judged by the theory, and the "
    "callbacks' own record is held against it.",
)


def _page(found: Found) -> str:
    parts = found["parts"]
    assert isinstance(parts, list)
    names = ("says", "worlds", "calls", "events", "starts", "simulated_h", "broken", "busy_s")
    head = (
        "worlds", "number", "calls", "events judged", "runs", "simulated hours", "broken",
        "seconds busy",
    )  # fmt: skip
    body = [
        *table(head, ([one[name] for name in names] for one in parts)),
        "## What was met",
        "",
        *counts(("what", "times"), found["met"]),
    ]
    return page("the declarative scheduler", _SAID, body, found)
