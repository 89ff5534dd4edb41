"""
Prove the ledger and the engine in simulated worlds: `python -m tests.prove crash`.

In 50,000 of them one worker dies before and after every call, at one of them and at two; in 50,000
three workers meet crashes, lost answers, freezes, expired leases and steps of the clock. Writes
docs/evidence/ledger.md when all of them were run. A broken promise is shown again by the line that
it prints: `python -m gnomon.simulation ledger ...`.
"""

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from gnomon.simulation.ledger.plan import World
from tests.prove.chunk import CRASH_CHUNK, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["WORLDS", "prove"]

WORLDS = 50_000
_RULES = ("restart", "relaunch_same_key", "abandon")
_SAYS = {
    World.CRASH: "one worker, dying before and after every call, once and twice",
    World.WORKERS: "three workers: crashes, lost answers, freezes, expired leases, clock steps",
}
_OVERLAPS = ("allow", "skip", "queue", "replace")
_CATCHUPS = ("none", "latest", "fire_immediately", "spread", "recent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one campaign came to."""

    kind: str
    worlds: int
    calls: int
    simulated_h: float
    by_rule: dict[str, "RuleFigures"]
    by_policy: dict[str, int]
    """Schedules for each pair of an overlap and a catch-up policy."""
    broken: int
    busy_s: float
    met: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFigures:
    """What schedules with one `uncertain` rule came to."""

    worlds: int
    starts: int
    again: int
    lost: int
    duplicated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The whole report."""

    revision: str
    python: str
    workers: int
    wall_s: float
    parts: list[Part]
    broken: list[str]


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds of both campaigns happen, and say whether every promise was kept."""
    indices = range(0, -(-worlds // CRASH_CHUNK), how.sample)
    chunks = [Chunk(kind=one.value, index=index) for one in World for index in indices]
    print(f"crash: {len(chunks)} chunks of {CRASH_CHUNK} worlds or more, {workers} workers")
    state = run_all(chunks, "ledger", how, workers=workers, unit="worlds")
    found = _figures([state.results[chunk] for chunk in chunks], state.wall_s, workers)
    if path := how.report("ledger.md", whole=worlds >= WORLDS):
        write_report(path, asdict(found), _page(found))
    for part in found.parts:
        print(f"{part.kind}: {part.worlds:,} worlds, {part.broken:,} in which a promise was broken")
    return not found.broken


def _figures(results: Sequence[ChunkResult], wall_s: float, workers: int) -> Figures:
    return Figures(
        revision=revision(),
        python=platform.python_version(),
        workers=workers,
        wall_s=round(wall_s, 1),
        parts=[_part(one, [r for r in results if r.kind == one.value]) for one in World],
        broken=[line for result in results for line in result.differences],
    )


def _part(world: World, results: Sequence[ChunkResult]) -> Part:
    notes = Counter[str]()
    for result in results:
        notes.update(result.notes)
    met = {name.removeprefix("met "): notes[name] for name in sorted(notes) if name[:4] == "met "}
    return Part(
        kind=world.value,
        worlds=sum(result.cases for result in results),
        calls=notes["calls"],
        simulated_h=round(notes["simulated_s"] / 3600, 1),
        by_rule={rule: _rule(rule, notes) for rule in _RULES},
        by_policy={
            f"{overlap} {catchup}": notes[f"policy {overlap} {catchup}"]
            for overlap in _OVERLAPS
            for catchup in _CATCHUPS
        },
        broken=sum(result.differences_found for result in results),
        busy_s=round(sum(result.seconds for result in results), 1),
        met=met,
    )


def _rule(rule: str, notes: Counter[str]) -> RuleFigures:
    return RuleFigures(
        worlds=notes[f"rule worlds {rule}"],
        starts=notes[f"rule starts {rule}"],
        again=notes[f"met started again, as {rule} allows"],
        lost=notes[f"rule lost {rule}"],
        duplicated=notes[f"rule duplicated {rule}"] + notes[f"rule twice {rule}"],
    )


def _page(found: Figures) -> str:
    parts = found.parts
    return "\n".join([
        "# Evidence: the ledger and the engine",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "The real runtime over the real SQLite ledger lives through simulated worlds on virtual "
        "time; [how Gnomon is tested](../explanation/how-gnomon-is-tested.md) says how.",
        "A broken promise is a period that is lost, there twice or wrongly told, a start too many, "
        "an overlap, a start without a claim or outside its time, a late write that was accepted, "
        "or anything that the audit of the ledger finds.",
        "",
        "| worlds | number | calls of ports | simulated hours | broken promises | busy |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {_SAYS[World(part.kind)]} | {part.worlds:,} | {part.calls:,} "
            f"| {part.simulated_h:,} | {part.broken:,} | {part.busy_s:,.0f} s |"
            for part in parts
        ),
        "",
        "## By what is done about an uncertain run",
        "",
        "A start again is one that the rule allows, because the run before it was lost.",
        "Under `abandon` there are none; a second start there would be duplicated.",
        "",
        "| worlds | rule | number | starts | starts again | lost | duplicated |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(
            f"| `{part.kind}` | `{rule}` | {one.worlds:,} | {one.starts:,} | {one.again:,} "
            f"| {one.lost:,} | {one.duplicated:,} |"
            for part in parts
            for rule, one in part.by_rule.items()
        ),
        "",
        "## The schedules, by overlap and catch-up policy",
        "",
        "| overlap | " + " | ".join(f"`{catchup}`" for catchup in _CATCHUPS) + " |",
        "|---|" + "---:|" * len(_CATCHUPS),
        *(_policy_row(overlap, parts) for overlap in _OVERLAPS),
        "",
        "## What was met",
        "",
        "| what | " + " | ".join(f"`{part.kind}`" for part in parts) + " |",
        "|---|" + "---:|" * len(parts),
        *(
            f"| {name} | " + " | ".join(f"{part.met.get(name, 0):,}" for part in parts) + " |"
            for name in sorted({name for part in parts for name in part.met})
        ),
        "",
        f"- revision: {found.revision}",
        f"- Python: {found.python}",
        f"- wall time: {found.wall_s} s with {found.workers} workers",
        *(f"- broken: {line}" for line in found.broken),
        "",
    ])  # fmt: skip


def _policy_row(overlap: str, parts: Sequence[Part]) -> str:
    counts = [
        sum(part.by_policy[f"{overlap} {catchup}"] for part in parts) for catchup in _CATCHUPS
    ]
    return f"| `{overlap}` | " + " | ".join(f"{count:,}" for count in counts) + " |"
