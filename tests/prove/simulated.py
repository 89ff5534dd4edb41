"""
Prove a program in simulated worlds of several kinds, and write the page about it.

A proof names its kinds of worlds and what is counted in them; everything else is the same for each.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.prove.chunk import Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["Part", "Proof", "prove_worlds"]


class Part(NamedTuple):
    """A kind of worlds."""

    kind: str
    says: str
    chunks: int
    """Of the whole proof."""


class Proof(NamedTuple):
    """What is proved, and how its page tells of it."""

    name: str
    title: str
    said: Sequence[str]
    """What was done, one sentence a line."""
    worlds: int
    """Of the first kind, in the whole proof."""
    parts: Sequence[Part]
    answers: str
    """What the worlds are asked about most, by its name in `columns`."""
    columns: Mapping[str, str]
    """What is counted, with its head in the table."""
    promise: str
    """What a world breaks where something is wrong."""


def prove_worlds(proof: Proof, how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether all was well in all of them."""
    chunks = [
        Chunk(kind=one.kind, index=index)
        for one in proof.parts
        for index in range(
            0, -(-one.chunks * min(worlds, proof.worlds) // proof.worlds), how.sample
        )
    ]
    print(f"{proof.name}: {len(chunks)} chunks, {workers} workers")
    state = run_all(chunks, proof.name, how, workers=workers, unit="worlds")
    results = [state.results[chunk] for chunk in chunks]
    found = figures(results, wall_s=state.wall_s) | {
        "workers": workers,
        "parts": [_part(proof, one, _of(one, results)) for one in proof.parts],
        "met": part(notes_of(results), "met "),
        "broken": sum(result.differences_found for result in results),
    }
    if path := how.report(f"{proof.name}.md", whole=worlds >= proof.worlds):
        write_report(path, found, _page(proof, found))
    for one in proof.parts:
        ours = _of(one, results)
        broken = sum(result.differences_found for result in ours)
        print(f"{one.says}: {sum(result.cases for result in ours):,} worlds, "
              f"{broken} {proof.promise}")  # fmt: skip
    return not found["broken"]


def _of(one: Part, results: Sequence[ChunkResult]) -> list[ChunkResult]:
    return [result for result in results if result.kind == one.kind]


def _part(proof: Proof, one: Part, results: Sequence[ChunkResult]) -> Found:
    notes = notes_of(results)
    answers = sum(result.answers for result in results)
    return {
        "kind": one.kind,
        "says": one.says,
        "worlds": sum(result.cases for result in results),
        **{name: answers if name == proof.answers else notes[name] for name in proof.columns},
        "simulated_h": round(notes["simulated_s"] / 3600, 1),
        "broken": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results)),
    }


def _page(proof: Proof, found: Found) -> str:
    parts = found["parts"]
    assert isinstance(parts, list)
    names = ("says", "worlds", *proof.columns, "simulated_h", "broken", "busy_s")
    head = ("worlds", "number", *proof.columns.values(), "simulated hours", "broken",
            "seconds busy")  # fmt: skip
    body = [
        *table(head, ([one[name] for name in names] for one in parts)),
        "## What was met",
        "",
        *counts(("what", "times"), found["met"]),
    ]
    return page(proof.title, proof.said, body, found)
