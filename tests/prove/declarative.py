"""
Prove the declarative scheduler in simulated worlds: `python -m tests.prove declarative`.

In 50,000 of them the process dies before and after every call of the journal, at one of them and at
two; 10,000 are storms; every story of five steps is played; then two years of twenty tasks and
thirty years of one, in pieces of ten days, with trouble from time to time. Writes
docs/evidence/declarative.md when all of it was run. A broken axiom is shown again by the line that
it prints: `python -m gnomon.simulation declarative`.
"""

import platform
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tests.prove.chunk import DECLARATIVE_DAYS, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report

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
    _Part("declarative-search", "every story of five steps, with one task and with two", 14),
    _Part("declarative-twenty", "two years of twenty tasks", 2 * 365 // DECLARATIVE_DAYS + 1),
    _Part("declarative-one", "thirty years of one task", 30 * 365 // DECLARATIVE_DAYS + 1),
)


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether every axiom held in all of them."""
    chunks = [
        Chunk(kind=part.kind, index=index)
        for part in PARTS
        for index in range(0, -(-part.chunks * min(worlds, WORLDS) // WORLDS), how.sample)
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
    for part in PARTS:
        ours = [result for result in results if result.kind == part.kind]
        broken = sum(result.differences_found for result in ours)
        print(f"{part.says}: {sum(one.cases for one in ours):,} worlds, {broken} broken axioms")
    return not found["broken"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> dict[str, object]:
    met = Counter[str]()
    for result in results:
        met.update({name[4:]: n for name, n in result.notes.items() if name[:4] == "met "})
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "workers": workers,
        "wall_s": round(wall_s, 1),
        "parts": [_part(part, [one for one in results if one.kind == part.kind]) for part in PARTS],
        "met": dict(sorted(met.items())),
        "broken": sum(result.differences_found for result in results),
        "lines": [line for result in results for line in result.differences],
    }


def _part(part: _Part, results: Sequence[ChunkResult]) -> dict[str, object]:
    notes = Counter[str]()
    for result in results:
        notes.update(result.notes)
    return {
        "kind": part.kind,
        "says": part.says,
        "worlds": sum(result.cases for result in results),
        "calls": notes["calls"],
        "events": notes["events"],
        "starts": sum(result.answers for result in results),
        "simulated_h": round(notes["simulated_s"] / 3600, 1),
        "broken": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results), 1),
    }


def _page(found: dict[str, object]) -> str:
    parts, met, lines = found["parts"], found["met"], found["lines"]
    assert isinstance(parts, list)
    assert isinstance(met, dict)
    assert isinstance(lines, list)
    return "\n".join([
        "# Evidence: the declarative scheduler",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "The real `gnomon.Scheduler` over a real SQLite journal lives through simulated worlds on "
        "virtual time; [how Gnomon is tested](../explanation/how-gnomon-is-tested.md) says how.",
        "Its journal, with minutes and dues from an independent scan, is judged by the theory, and "
        "the callbacks' own record is held against it.",
        "",
        "| worlds | number | calls | events judged | runs | simulated hours | broken | busy |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {one['says']} | {one['worlds']:,} | {one['calls']:,} | {one['events']:,} "
            f"| {one['starts']:,} | {one['simulated_h']:,} | {one['broken']:,} "
            f"| {one['busy_s']:,.0f} s |"
            for one in parts
        ),
        "",
        "## What was met",
        "",
        "| what | times |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in met.items()),
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- wall time: {found['wall_s']} s with {found['workers']} workers",
        *(f"- broken: {line}" for line in lines),
        "",
    ])  # fmt: skip
