"""
Prove that a `gnomon.Scheduler` survives kill -9: `python -m tests.prove kill-scheduler`.

Worlds of ten kills each, several at a time, because a world spends most of its time waiting for the
next second. Writes docs/evidence/kill-scheduler.md when 1,000 kills were run. A problem prints the
line that runs its world again: `python -m tests.kill.scheduler_world SEED 10`.
"""

import platform
from collections import Counter

from tests.oracle.random_cases import SEED
from tests.prove.chunk import KILLS_PER_WORLD, Chunk
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["KILLS", "WORKERS", "prove"]

KILLS = 1_000
WORKERS = 8
"""Worlds at a time; they mostly wait."""


def prove(how: Run, *, kills: int, workers: int) -> bool:
    """Kill, and say whether nothing owed was lost and nothing else was started."""
    worlds = range(0, -(-kills // KILLS_PER_WORLD), how.sample)
    chunks = [Chunk(kind="kill-scheduler", index=index) for index in worlds]
    print(f"kill-scheduler: seed {SEED}, {len(chunks)} worlds of {KILLS_PER_WORLD} kills")
    state = run_all(chunks, "kill-scheduler", how, workers=workers, unit="kills")
    results = [state.results[chunk] for chunk in chunks]
    notes = sum((Counter(result.notes) for result in results), Counter[str]())
    found: dict[str, object] = {
        "revision": revision(),
        "python": platform.python_version(),
        "seed": SEED,
        "kills": sum(result.cases for result in results),
        "starts": notes["starts"],
        "written_and_never_called": notes["unseen"],
        "problems": sum(result.differences_found for result in results),
        "wall_s": round(state.wall_s, 1),
        "lines": [line for result in results for line in result.differences],
    }
    if path := how.report("kill-scheduler.md", whole=kills >= KILLS):
        write_report(path, found | {"notes": dict(sorted(notes.items()))}, _page(found, notes))
    print(f"{found['kills']} kills, {found['starts']} starts, {found['problems']} problems")
    return not found["problems"]


def _page(found: dict[str, object], notes: Counter[str]) -> str:
    lines = found["lines"]
    assert isinstance(lines, list)
    return "\n".join([
        "# Evidence: kill -9 of a scheduler",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "A program with a `gnomon.Scheduler` and four callbacks is killed with SIGKILL, again and "
        "again, at chosen points (around every call of the journal, inside transactions, around "
        "and inside callbacks) and from outside.",
        "Each callback writes lines of its own into a file; a judge that shares no code with "
        "Gnomon compares that file with the journal and the calendar.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| kills | {found['kills']:,} |",
        f"| callbacks that began | {found['starts']:,} |",
        f"| starts written and never called, for death came first | "
        f"{found['written_and_never_called']:,} |",
        f"| owed and lost, or started and not owed | {found['problems']:,} |",
        *(f"| {name} | {notes[name]:,} |" for name in sorted(notes) if " " in name),
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in lines),
        "",
    ])  # fmt: skip
