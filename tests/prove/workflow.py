"""
Prove the workflow host: `python -m tests.prove workflow` and `python -m tests.prove kill-workflow`.

In 50,000 simulated worlds the process dies before and after calls of the store, of handlers, of
tools and of `reconcile`, at one of them and at two; 10,000 are storms. Then the web hook example is
killed 1,000 times with SIGKILL while a real HTTP server counts. Writes docs/evidence/workflow.md
and kill-workflow.md when all of it was run. A finding prints the line that shows it again.
"""

import platform
from collections import Counter
from collections.abc import Sequence

from tests.oracle.random_cases import SEED
from tests.prove.chunk import CRASH_CHUNK, KILLS_PER_WORLD, WORKFLOW, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["KILLS", "WORLDS", "prove", "prove_kills"]

WORLDS = 50_000
KILLS = 1_000
_SAYS = {
    "workflow-crash": "the process dies at every kind of call, once and twice",
    "workflow-storm": "everything at once",
}
_STORMS = 5  # worlds of crashes for each storm


def prove(how: Run, *, worlds: int, workers: int) -> bool:
    """Let the worlds happen, and say whether nothing was made twice and nothing lost."""
    counts = {"workflow-crash": worlds, "workflow-storm": worlds // _STORMS}
    chunks = [
        Chunk(kind=kind, index=index)
        for kind in WORKFLOW
        for index in range(0, -(-counts[kind] // CRASH_CHUNK), how.sample)
    ]
    print(f"workflow: {len(chunks)} chunks, {workers} workers")
    state = run_all(chunks, "workflow", how, workers=workers, unit="worlds")
    results = [state.results[chunk] for chunk in chunks]
    found = _figures(results, wall_s=state.wall_s, workers=workers)
    if path := how.report("workflow.md", whole=worlds >= WORLDS):
        write_report(path, found, _page(found))
    for kind in WORKFLOW:
        ours = [result for result in results if result.kind == kind]
        broken = sum(result.differences_found for result in ours)
        print(f"{_SAYS[kind]}: {sum(one.cases for one in ours):,} worlds, {broken} broken promises")
    return not found["broken"]


def prove_kills(how: Run, *, kills: int, workers: int) -> bool:
    """Kill the web hook example, and say whether each order was taken once."""
    worlds = range(0, -(-kills // KILLS_PER_WORLD), how.sample)
    chunks = [Chunk(kind="kill-workflow", index=index) for index in worlds]
    print(f"kill-workflow: seed {SEED}, {len(chunks)} worlds of {KILLS_PER_WORLD} kills")
    state = run_all(chunks, "kill-workflow", how, workers=workers, unit="kills")
    results = [state.results[chunk] for chunk in chunks]
    notes = sum((Counter(result.notes) for result in results), Counter[str]())
    found: dict[str, object] = {
        "revision": revision(),
        "python": platform.python_version(),
        "seed": SEED,
        "kills": sum(result.cases for result in results),
        "taken": notes["taken"],
        "asked": notes["asked"],
        "problems": sum(result.differences_found for result in results),
        "wall_s": round(state.wall_s, 1),
        "notes": dict(sorted(notes.items())),
        "lines": [line for result in results for line in result.differences],
    }
    if path := how.report("kill-workflow.md", whole=kills >= KILLS):
        write_report(path, found, _kill_page(found))
    print(f"{found['kills']} kills, {found['taken']} orders taken, {found['problems']} problems")
    return not found["problems"]


def _figures(results: Sequence[ChunkResult], *, wall_s: float, workers: int) -> dict[str, object]:
    met = Counter[str]()
    for result in results:
        met.update({name[4:]: n for name, n in result.notes.items() if name[:4] == "met "})
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "workers": workers,
        "wall_s": round(wall_s, 1),
        "parts": [_part(kind, [one for one in results if one.kind == kind]) for kind in WORKFLOW],
        "met": dict(sorted(met.items())),
        "broken": sum(result.differences_found for result in results),
        "lines": [line for result in results for line in result.differences],
    }


def _part(kind: str, results: Sequence[ChunkResult]) -> dict[str, object]:
    notes = Counter[str]()
    for result in results:
        notes.update(result.notes)
    return {
        "kind": kind,
        "says": _SAYS[kind],
        "worlds": sum(result.cases for result in results),
        "calls": notes["calls"],
        "runs": notes["runs"],
        "mutations": sum(result.answers for result in results),
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
        "# Evidence: workflows",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "The real host over a real SQLite database lives through simulated worlds on virtual time.",
        "A system outside counts what was done to it; an audit that reads the tables with plain "
        "SQL compares.",
        "",
        "| worlds | number | calls | runs | mutations | simulated hours | broken | busy |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {one['says']} | {one['worlds']:,} | {one['calls']:,} | {one['runs']:,} "
            f"| {one['mutations']:,} | {one['simulated_h']:,} | {one['broken']:,} "
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


def _kill_page(found: dict[str, object]) -> str:
    notes, lines = found["notes"], found["lines"]
    assert isinstance(notes, dict)
    assert isinstance(lines, list)
    return "\n".join([
        "# Evidence: kill -9 of a workflow",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "The web hook example runs as a process of its own and is killed with SIGKILL, again and "
        "again, by the HTTP server that it posts to: while a request is on its way, after it was "
        "taken, while it is asked about, and after the answer.",
        "The log of the server must show each order once.",
        "",
        "| what | number |",
        "|---|---:|",
        f"| kills | {found['kills']:,} |",
        f"| orders taken | {found['taken']:,} |",
        f"| questions what became of one | {found['asked']:,} |",
        f"| taken twice, or never, or not known | {found['problems']:,} |",
        *(f"| {name} | {count:,} |" for name, count in notes.items() if " " in name),
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s",
        *(f"- problem: {line}" for line in lines),
        "",
    ])  # fmt: skip
