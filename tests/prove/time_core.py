"""
Prove the time core: every transition of every zone, random questions and fuzzed texts.

Writes docs/evidence/time-core.md when all of it was run.
"""

import platform
from collections.abc import Iterable

from tests.oracle.random_cases import SEED
from tests.oracle.transitions import tzdata_version, zone_names
from tests.prove.chunk import FUZZ_CHUNK, KINDS, RANDOM_CHUNK, Chunk, ChunkResult
from tests.prove.runner import Run, revision, run_all, write_report

__all__ = ["KINDS", "prove"]

Figures = dict[str, object]

_SAYS = {
    "sweep": "transitions, 2000-2037, every zone",
    "random": "random questions, 1970-2200",
    "fuzz": "fuzzed cron texts",
}


def prove(
    kinds: tuple[str, ...], how: Run, *, random_cases: int, fuzz_texts: int, workers: int
) -> bool:
    """Compare, and say whether there was no difference."""
    counts = {
        "sweep": len(zone_names()),
        "random": -(-random_cases // RANDOM_CHUNK),
        "fuzz": -(-fuzz_texts // FUZZ_CHUNK),
    }
    chunks = [
        Chunk(kind=kind, index=index)
        for kind in kinds
        for index in range(0, counts[kind], how.sample)
    ]
    print(f"{', '.join(kinds)}: seed {SEED}, tzdata {tzdata_version()}, {len(chunks)} chunks")
    state = run_all(chunks, "time-core", how, workers=workers, unit="cases")
    found = _figures([state.results[chunk] for chunk in chunks], state.wall_s, workers)
    if path := how.report("time-core.md", whole=kinds == KINDS):
        write_report(path, found, _page(found))
    return _verdict(found)


def _verdict(found: Figures) -> bool:
    parts, differences = found["parts"], found["differences"]
    assert isinstance(parts, list)
    for part in parts:
        if part["cases"]:
            print(
                f"{part['kind']}: {part['cases']:,} cases, {part['answers']:,} answers compared, "
                f"{part['differences']:,} differences, {part['busy_s']} s busy"
            )
    return not differences


def _figures(results: Iterable[ChunkResult], wall_s: float, workers: int) -> Figures:
    every = list(results)
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "tzdata": tzdata_version(),
        "seed": SEED,
        "workers": workers,
        "wall_s": round(wall_s, 1),
        "parts": [_part(kind, [r for r in every if r.kind == kind]) for kind in KINDS],
        "differences": [line for result in every for line in result.differences],
    }


def _part(kind: str, results: list[ChunkResult]) -> Figures:
    return {
        "kind": kind,
        "cases": sum(result.cases for result in results),
        "answers": sum(result.answers for result in results),
        "differences": sum(result.differences_found for result in results),
        "busy_s": round(sum(result.seconds for result in results), 1),
        "steps_counted": sum(result.steps_counted for result in results),
        "steps_worst": round(max((result.steps_worst for result in results), default=0.0), 3),
    }


def _page(found: Figures) -> str:
    parts = found["parts"]
    assert isinstance(parts, list)
    rows = [
        f"| {_SAYS[part['kind']]} | {part['cases']:,} | {part['answers']:,} "
        f"| {part['differences']:,} | {part['busy_s']:,.0f} s |"
        for part in parts
    ]
    fuzz = parts[KINDS.index("fuzz")]
    return "\n".join([
        "# Evidence: the time core",
        "",
        "Written by `make prove`; do not edit.",
        "",
        "Every answer of the cron engine is compared with an independent scan that looks at every "
        "minute through the standard library's zoneinfo.",
        "The scan shares no code with the engine; it lives in `tests/oracle`.",
        "",
        "| what | cases | answers compared | differences | busy |",
        "|---|---:|---:|---:|---:|",
        *rows,
        "",
        "Each transition is met by 13 expressions: every minute, hourly, every two hours, fixed "
        "times before, at, inside and after both edges, ranges across it, and its own date.",
        "Each of them runs under `strict`, `vixie` and `civil`.",
        "`next_epoch` and `latest_epoch` are asked from instants before, at, inside and after it; "
        "`iterate_epochs` and `between_epochs` are compared over the days around it.",
        "A fuzzed text must be accepted or rejected as the plain reading does, and raise nothing "
        "but a `DefinitionError` with field, position, reason and hint.",
        f"Steps were counted for {fuzz['steps_counted']:,} of the texts; the worst used "
        f"{fuzz['steps_worst']:.0%} of a bound that is linear in the text's length.",
        "",
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        f"- tzdata: {found['tzdata']}",
        f"- seed: {found['seed']}",
        f"- wall time: {found['wall_s']} s with {found['workers']} workers",
        *_difference_lines(found["differences"]),
        "",
    ])  # fmt: skip


def _difference_lines(differences: object) -> list[str]:
    assert isinstance(differences, list)
    if not differences:
        return []
    return ["", "## Differences", "", *(f"- `{line}`" for line in differences[:50])]
