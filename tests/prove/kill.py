"""
Prove that `gnomon run` and krond survive kill -9: `python -m tests.prove kill kill-krond`.

Worlds of ten kills each, several at a time, because a world spends most of its time waiting for the
next second. Writes docs/evidence/kill.md, or kill-krond.md, when 1,000 kills were run. A problem
prints the line that runs its world again: `python -m tests.kill.world SEED 10`.
"""

import platform
from collections import Counter
from collections.abc import Iterable

from tests.oracle.random_cases import SEED
from tests.prove.chunk import KILLS_PER_WORLD, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["KILLS", "WORKERS", "lines_of", "part", "prove"]

KILLS = 1_000
WORKERS = 8
"""Worlds at a time; they mostly wait."""


PROGRAMS = {
    "kill": "`gnomon run` with real commands is killed with SIGKILL, again and again,",
    "kill-krond": "krond, whose file is edited and whose jobs are suspended now and then, is "
    "killed with SIGKILL, again and again,",
}
"""What is killed, by the name of the proof."""


def prove(how: Run, *, kills: int, workers: int, kind: str = "kill") -> bool:
    """Kill, and say whether nothing was lost, doubled or told wrongly."""
    worlds = range(0, -(-kills // KILLS_PER_WORLD), how.sample)
    chunks = [Chunk(kind=kind, index=index) for index in worlds]
    print(
        f"{kind}: seed {SEED}, {len(chunks)} worlds of {KILLS_PER_WORLD} kills, {workers} at a time"
    )
    state = run_all(chunks, kind, how, workers=workers, unit="kills")
    found = _figures([state.results[chunk] for chunk in chunks], wall_s=state.wall_s)
    if path := how.report(f"{kind}.md", whole=kills >= KILLS):
        write_report(path, found, _page(found, PROGRAMS[kind]))
    print(f"{found['kills']} kills, {found['periods']} periods, {found['problems']} problems")
    return not found["problems"]


def _figures(results: Iterable[ChunkResult], *, wall_s: float) -> dict[str, object]:
    every = list(results)
    notes = sum((Counter(result.notes) for result in every), Counter[str]())
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "seed": SEED,
        "kills": sum(result.cases for result in every),
        "periods": sum(result.answers for result in every),
        "executed": notes["executed"],
        "commands_seen": notes["lines"],
        "executed_without_a_line": notes["unseen"],
        "outcomes": part(notes, "outcome "),
        "died": part(notes, "died "),
        "wall_s": round(wall_s, 1),
        "problems": sum(result.differences_found for result in every),
        "lines": [line for result in every for line in result.differences],
    }


def part(notes: Counter[str], prefix: str) -> dict[str, int]:
    names = sorted(name for name in notes if name.startswith(prefix))
    return {name.removeprefix(prefix): notes[name] for name in names}


def _page(found: dict[str, object], program: str) -> str:
    outcomes, died = found["outcomes"], found["died"]
    assert isinstance(outcomes, dict)
    assert isinstance(died, dict)
    return "\n".join([
        "# Evidence: kill -9" + (" of krond" if "krond" in program else ""),
        "",
        "Written by `make prove`; do not edit.",
        "",
        f"{program} at chosen points "
        "(before and after every call of the ledger and the launcher, inside transactions, right "
        "after the birth of a process) and from outside.",
        "Each command writes a line of its own into a file.",
        "A judge that shares no code with Gnomon compares that file with the ledger and both with "
        "the calendar, and `gnomon doctor` examines the ledger.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| kills | {found['kills']:,} |",
        f"| periods owed | {found['periods']:,} |",
        f"| periods executed, says the ledger | {found['executed']:,} |",
        f"| commands that left a line | {found['commands_seen']:,} |",
        f"| executed without a line | {found['executed_without_a_line']:,} |",
        "| periods executed twice, without an outcome, or with two | 0 |"
        if not found["problems"]
        else f"| **problems** | {found['problems']:,} |",
        "",
        "Executed without a line means that the worker was killed between writing down the launch "
        "and letting the command begin, or that the run was replaced before it came to write; "
        "[what \"once\" means](../explanation/what-once-means.md) says why this side was chosen.",
        "",
        "| outcome | periods |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in outcomes.items()),
        "",
        "| where it died | times |",
        "|---|---:|",
        *(f"| {where} | {count:,} |" for where, count in died.items()),
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in lines_of(found["lines"])),
        "",
    ])  # fmt: skip


def lines_of(found: object) -> list[str]:
    assert isinstance(found, list)
    return found
