"""
Prove the protocol of the operator: `python -m tests.prove protocol`.

Every state of a model of one KronJob, its Jobs, one or two operators and the faults between them,
for 32 mixtures of policies and faults; then every protocol that lacks a part must break its clause.
Writes docs/evidence/protocol.md when all of it was searched.
"""

from collections.abc import Sequence

from tests.protocol.searches import BROKEN, SEARCHES, described
from tests.prove.chunk import Chunk, ChunkResult
from tests.prove.page import Found, figures, page, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["prove"]

_SAID = (
    "A complete search of all interleavings, breadth first: operators die between any two calls, "
    "decide from old views, and their calls arrive late; Jobs are deleted, specs edited, suspended "
    "and made again, statuses wiped.",
    "From every state of the server a lone operator must bring every due period to its outcome.",
    "Each protocol that lacks a part must break its own clause, by the shortest way there is.",
)


def prove(how: Run, *, workers: int) -> bool:
    """Search, and say whether the protocol holds and the others do not."""
    chunks = [
        Chunk(kind="protocol", index=index)
        for index in range(0, len(SEARCHES) + len(BROKEN), how.sample)
    ]
    print(f"protocol: {len(chunks)} searches, {workers} workers")
    state = run_all(chunks, "protocol", how, workers=workers, unit="states")
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := how.report("protocol.md", whole=True):
        write_report(path, found, _page(found))
    print(f"{found['states']:,} states, {found['wrong']} searches came out wrong")
    return not found["wrong"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> Found:
    return figures(results, wall_s=wall_s) | {
        "workers": workers,
        "states": sum(result.cases for result in results),
        "servers": sum(result.answers for result in results),
        "searches": [
            {"says": described(SEARCHES[one.index]), "states": one.cases, "servers": one.answers}
            for one in results if one.index < len(SEARCHES)
        ],
        "broken": [
            {
                "says": BROKEN[one.index - len(SEARCHES)].name,
                "clause": BROKEN[one.index - len(SEARCHES)].clause,
                "steps": one.notes.get("steps", 0), "states": one.cases,
            }
            for one in results if one.index >= len(SEARCHES)
        ],
        "wrong": sum(result.differences_found for result in results),
    }  # fmt: skip


def _page(found: Found) -> str:
    searches, broken = found["searches"], found["broken"]
    assert isinstance(searches, list)
    assert isinstance(broken, list)
    body = [
        *table(
            ("the protocol under", "states", "of them of the server"),
            ([one["says"], one["states"], one["servers"]] for one in searches),
        ),
        "## Without a part",
        "",
        *table(
            ("left out, or done otherwise", "breaks", "steps", "states until then"),
            ([one["says"], one["clause"], one["steps"], one["states"]] for one in broken),
        ),
    ]
    return page("the protocol of the operator", _SAID, body, found)
