"""
Prove the ledger and the engine: `python -m tests.prove crash [--resume] [--runs N]`.

Runs 50,000 simulated worlds in which one worker dies before and after every call, at one of them
and at two, and 50,000 in which three workers meet crashes, lost answers, freezes, expired leases
and steps of the clock. Writes docs/evidence/ledger.md when all of them were run. Exits with 1 on
any broken promise and prints the line that shows it again: `python -m gnomon.simulation ...`.
"""

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gnomon.simulation.campaign import Campaign
from tests.prove.chunk import CRASH_CHUNK, Chunk, ChunkResult
from tests.prove.report import revision
from tests.prove.runner import ROOT, State, run_all

__all__ = ["RUNS", "main", "prove"]

RUNS = 50_000
_REPORT = ROOT / "docs" / "evidence" / "ledger.md"
_RULES = ("restart", "relaunch_same_key", "abandon")
_SAYS = {
    Campaign.CRASH: "one worker, dying before and after every call, once and twice",
    Campaign.WORKERS: "three workers: crashes, lost answers, freezes, expired leases, clock steps",
}
_SHOWN_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one campaign came to."""

    kind: str
    worlds: int
    calls: int
    simulated_h: float
    starts: dict[str, int]
    again: dict[str, int]
    broken: int
    busy_s: float
    met: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The whole report."""

    revision: str
    python: str
    workers: int
    wall_s: float
    parts: list[Part]
    broken: list[str]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove crash")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--runs", type=int, default=RUNS, help="how many worlds of each campaign")
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th chunk")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=Path, help="default: docs/evidence, if all is run")
    options = parser.parse_args(arguments)
    return prove(
        runs=options.runs, sample=options.sample, resume=options.resume,
        workers=options.workers, report=options.report,
    )  # fmt: skip


def prove(*, runs: int, sample: int, resume: bool, workers: int, report: Path | None = None) -> int:
    """Run the worlds of both campaigns, and write the report when all of them were run."""
    indices = range(0, -(-runs // CRASH_CHUNK), sample)
    chunks = [Chunk(kind=one.value, index=index) for one in Campaign for index in indices]
    print(f"{len(chunks)} chunks of {CRASH_CHUNK} worlds, {workers} workers")
    state = State(ROOT / ".prove" / "ledger.jsonl", resume=resume)
    try:
        run_all(chunks, state, workers=workers)
    except KeyboardInterrupt:
        print("interrupted; go on with: python -m tests.prove crash --resume")
        return 130
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := report or (_REPORT if runs >= RUNS and sample == 1 else None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(asdict(found), indent=2) + "\n")
        path.write_text(_page(found))
        print(f"report: {path}")
    for part in found.parts:
        print(f"{part.kind}: {part.worlds:,} worlds, {part.broken:,} broken promises")
    print("\n".join(found.broken[:_SHOWN_MAX]) or "no promise was broken")
    return 1 if found.broken else 0


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> Figures:
    return Figures(
        revision=revision(),
        python=platform.python_version(),
        workers=workers,
        wall_s=round(wall_s, 1),
        parts=[_part(one, [r for r in results if r.kind == one.value]) for one in Campaign],
        broken=[line for result in results for line in result.differences],
    )


def _part(campaign: Campaign, results: Sequence[ChunkResult]) -> Part:
    notes = Counter[str]()
    for result in results:
        notes.update(result.notes)
    met = {name.removeprefix("met "): notes[name] for name in sorted(notes) if name[:4] == "met "}
    return Part(
        kind=campaign.value,
        worlds=sum(result.cases for result in results),
        calls=notes["calls"],
        simulated_h=round(notes["simulated_s"] / 3600, 1),
        starts={rule: notes[f"rule starts {rule}"] for rule in _RULES},
        again={rule: met.get(f"started again, as {rule} allows", 0) for rule in _RULES},
        broken=sum(result.differences_found for result in results),
        busy_s=round(sum(result.seconds for result in results), 1),
        met=met,
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
            f"| {_SAYS[Campaign(part.kind)]} | {part.worlds:,} | {part.calls:,} "
            f"| {part.simulated_h:,} | {part.broken:,} | {part.busy_s:,.0f} s |"
            for part in parts
        ),
        "",
        "## Starts, by what is done about an uncertain run",
        "",
        "A start again is one that the rule allows, because the run before it was lost.",
        "Under `abandon` there are none; a second start there would be a broken promise.",
        "",
        "| worlds | rule | starts | starts again |",
        "|---|---|---:|---:|",
        *(
            f"| `{part.kind}` | `{rule}` | {part.starts[rule]:,} | {part.again[rule]:,} |"
            for part in parts
            for rule in _RULES
        ),
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
