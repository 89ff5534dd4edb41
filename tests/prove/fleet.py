"""
Prove that workers on PostgreSQL survive: `python -m tests.prove workers-kill`.

Fleets of three workers with twenty faults each, a few at a time, because a fleet spends most of its
time waiting for the next second. Writes docs/evidence/workers-kill.md when 1,000 faults were run. A
problem prints the line that runs its fleet again: `python -m tests.kill.fleet SEED 16 2`.
"""

from collections.abc import Sequence

from tests.oracle.random_cases import SEED
from tests.prove.chunk import FAULTS_PER_FLEET, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["FAULTS", "FLEETS", "prove"]

FAULTS = 1_000
FLEETS = 6
"""How many at a time; they mostly wait."""


def prove(how: Run, *, faults: int, workers: int) -> bool:
    """Let faults happen, and say whether nothing was lost, doubled or told wrongly."""
    numbers = range(0, -(-faults // FAULTS_PER_FLEET), how.sample)
    chunks = [Chunk(kind="workers-kill", index=index) for index in numbers]
    print(
        f"workers-kill: seed {SEED}, {len(chunks)} fleets with {FAULTS_PER_FLEET} faults, "
        f"{workers} at a time"
    )
    state = run_all(chunks, "workers-kill", how, workers=workers, unit="faults")
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := how.report("workers-kill.md", whole=faults >= FAULTS):
        write_report(path, found, _page(found))
    print(
        f"{found['faults']} faults, {found['periods']} periods, {found['stale_refused']} stale "
        f"writes refused, the next run {found['recovered_ms']} ms after a fault on average, "
        f"{found['slowest_ms']} ms at worst, {found['problems']} problems"
    )
    return not found["problems"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float) -> Found:
    notes = notes_of(results)
    faults = sum(result.cases for result in results)
    return figures(results, wall_s=wall_s) | {
        "seed": SEED,
        "faults": faults,
        "periods": sum(result.answers for result in results),
        "executed": notes["executed"],
        "commands_seen": notes["lines"],
        "executed_without_a_line": notes["unseen"],
        "stale_refused": notes["refused"],
        "runs_lost": notes["lost"],
        "recovered_ms": round(notes["recovered_ms"] / max(faults, 1)),
        "slowest_ms": max((result.notes.get("slowest_ms", 0) for result in results), default=0),
        "outcomes": part(notes, "outcome "),
        "kinds": part(notes, "fault "),
        "problems": sum(result.differences_found for result in results),
    }


_SAID = (
    "Three `gnomon run --database` with real commands share one PostgreSQL server.",
    "A worker is killed with SIGKILL and replaced, or frozen with SIGSTOP until its leases are "
    "over and then let go on, or told to stop and replaced, or the server is stopped at once and "
    "started again.",
    "A fifth of the faults strike two workers within a second and a half of the start of a minute, "
    "when a minutely schedule is due; each of its periods had to be executed.",
    "Each command writes a line of its own into a file.",
    "A judge that shares no code with Gnomon compares that file with the ledger and both with the "
    "calendar, and `gnomon doctor` examines the ledger.",
)


def _page(found: Found) -> str:
    kinds = found["kinds"]
    assert isinstance(kinds, dict)
    rows = [
        ("faults", found["faults"]),
        *((f"faults: {kind}", count) for kind, count in kinds.items()),
        ("periods owed", found["periods"]),
        ("periods executed, says the ledger", found["executed"]),
        ("commands that left a line", found["commands_seen"]),
        ("executed without a line", found["executed_without_a_line"]),
        ("stale writes, all refused", found["stale_refused"]),
        ("next run after a fault, on average, in ms", found["recovered_ms"]),
        ("next run after a fault, at worst, in ms", found["slowest_ms"]),
        ("periods executed twice, without an outcome, or with two", found["problems"]),
    ]
    body = [
        *table(("what", "number"), rows),
        *counts(("outcome", "periods"), found["outcomes"]),
    ]
    return page("workers on PostgreSQL", _SAID, body, found)
