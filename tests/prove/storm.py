"""
Prove that whoever uses a ledger on PostgreSQL at once is told the truth: `ledger-storm`.

Storms of workers and people on a server of their own, two at a time, because the server works as
much as they do. Writes docs/evidence/ledger-storm.md when 60 storms were run. A problem prints the
line that runs its storm again, `python -m tests.storm.world SEED OPERATIONS [apart]`; who is first
is the server's to say, so that it may take some tries.
"""

from collections.abc import Sequence

from tests.oracle.random_cases import SEED
from tests.prove.chunk import OPERATIONS_PER_STORM, Chunk, ChunkResult
from tests.prove.page import Found, counts, figures, notes_of, page, part, table
from tests.prove.runner import Run, run_all, write_report

__all__ = ["STORMS", "prove"]

STORMS = 60


def prove(how: Run, *, storms: int, workers: int) -> bool:
    """Let storms happen, and say whether the rows agree with what was answered."""
    chunks = [Chunk(kind="ledger-storm", index=index) for index in range(0, storms, how.sample)]
    print(
        f"ledger-storm: seed {SEED}, {len(chunks)} storms of {OPERATIONS_PER_STORM} operations, "
        f"{workers} at a time"
    )
    state = run_all(chunks, "ledger-storm", how, workers=workers, unit="operations")
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := how.report("ledger-storm.md", whole=storms >= STORMS):
        write_report(path, found, _page(found))
    print(
        f"{found['operations']} operations, {found['claims']} claims, {found['deadlocks']} "
        f"deadlocks, {found['problems']} problems"
    )
    return not found["problems"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float) -> Found:
    notes = notes_of(results)
    raised = part(notes, "raised ")
    return figures(results, wall_s=wall_s) | {
        "seed": SEED,
        "storms": len(results),
        "operations": sum(result.cases for result in results),
        "calls": part(notes, "call "),
        "claims": sum(result.answers for result in results),
        "raised": raised,
        "deadlocks": sum(times for what, times in raised.items() if "deadlock" in what),
        "problems": sum(result.differences_found for result in results),
    }


_SAID = (
    "Five workers and four people do whatever a ledger can be asked, at once, over three pools of "
    "connections to one PostgreSQL server.",
    "They load, commit, report, renew, take over, save, pause, resume, delete, run by hand, "
    "backfill, leave out, end, judge and remove what is old; also late, twice and under old "
    "numbers.",
    "In half of the storms each of them has a clock of their own, up to 95 seconds wrong, and "
    "leases are judged by the clock of the database.",
    "Triggers of the database write down every change of every row.",
    "When all are done, `gnomon doctor` and a judge that shares no code with the ledger look at "
    "the rows, and compare them with the calendar and with every answer that was given.",
)


def _page(found: Found) -> str:
    rows = [
        ("storms", found["storms"]),
        ("operations", found["operations"]),
        ("claims handed out", found["claims"]),
        ("deadlocks that the server broke", found["deadlocks"]),
        ("rows that differ from what was told, or cannot be", found["problems"]),
    ]
    body = [
        *table(("what", "number"), rows),
        *counts(("call", "times"), found["calls"]),
        *counts(("raised, and nothing was done", "times"), found["raised"]),
    ]
    return page("everything at once on PostgreSQL", _SAID, body, found)
