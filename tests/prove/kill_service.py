"""
Prove that a worker of the service survives kill -9: `python -m tests.prove kill-service`.

Worlds of ten kills each, several at a time; every twentieth is on PostgreSQL. Writes
docs/evidence/kill-service.md when 1,000 kills were run. A problem prints the line that runs its
world again: `python -m tests.kill.service_world SEED 10`.
"""

import platform
from collections import Counter

from tests.oracle.random_cases import SEED
from tests.prove.chunk import KILLS_PER_WORLD, Chunk
from tests.prove.kill import lines_of, part
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["KILLS", "WORKERS", "prove"]

KILLS = 1_000
WORKERS = 4
"""Worlds at a time; each has two processes, which mostly wait."""


def prove(how: Run, *, kills: int, workers: int) -> bool:
    """Kill, and say whether every due period had one effect."""
    worlds = range(0, -(-kills // KILLS_PER_WORLD), how.sample)
    chunks = [Chunk(kind="kill-service", index=index) for index in worlds]
    print(f"kill-service: seed {SEED}, {len(chunks)} worlds of {KILLS_PER_WORLD} kills")
    state = run_all(chunks, "kill-service", how, workers=workers, unit="kills")
    results = [state.results[chunk] for chunk in chunks]
    notes = sum((Counter(result.notes) for result in results), Counter[str]())
    found: dict[str, object] = {
        "revision": revision(),
        "python": platform.python_version(),
        "seed": SEED,
        "kills": sum(result.cases for result in results),
        "periods": sum(result.answers for result in results),
        "executed": notes["executed"],
        "effects": notes["lines"],
        "asked_again": notes["asked again"],
        "uncertain_without_an_effect": notes["unseen"],
        "outcomes": part(notes, "outcome "),
        "died": part(notes, "died "),
        "wall_s": round(state.wall_s, 1),
        "problems": sum(result.differences_found for result in results),
        "lines": [line for result in results for line in result.differences],
    }
    if path := how.report("kill-service.md", whole=kills >= KILLS):
        write_report(path, found, _page(found))
    print(f"{found['kills']} kills, {found['effects']} effects, {found['problems']} problems")
    return not found["problems"]


def _page(found: dict[str, object]) -> str:
    outcomes, died = found["outcomes"], found["died"]
    assert isinstance(outcomes, dict)
    assert isinstance(died, dict)
    return "\n".join([
        "# Evidence: kill -9 of a worker of the service",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "A worker of the service is killed with SIGKILL, again and again, at chosen points (before "
        "and after every call of the ledger, the workflow store and the executor, around every "
        "callback, inside transactions) and from outside; every twentieth world is on PostgreSQL.",
        "Its executor is a process of its own, asked over HTTP, which makes one effect for each "
        "idempotency key and writes it to its own file; now and then it is too busy, does not "
        "answer, fails after the effect, or calls back twice and in the wrong order.",
        "A judge that shares no code with Gnomon compares that file with the ledger and both with "
        "the calendar, and `gnomon doctor` examines the ledger.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| kills | {found['kills']:,} |",
        f"| periods owed | {found['periods']:,} |",
        f"| periods executed, says the ledger | {found['executed']:,} |",
        f"| effects, says the executor | {found['effects']:,} |",
        f"| asked again under a key that was known | {found['asked_again']:,} |",
        f"| uncertain, says the ledger, and without an effect | "
        f"{found['uncertain_without_an_effect']:,} |",
        "| lost, with two effects, or told wrongly | 0 |"
        if not found["problems"]
        else f"| **problems** | {found['problems']:,} |",
        "",
        "Every executed period has one effect and ended in SUCCESS; none is left uncertain.",
        "Without an effect are only periods of the one schedule that skips runs and makes up for "
        "the latest of those it has missed: each is skipped(overlap) or missed(outage).",
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
