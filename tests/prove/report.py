"""What does the proof show? A page of Markdown for people and the same figures as JSON."""

import json
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.oracle.random_cases import SEED
from tests.oracle.transitions import tzdata_version
from tests.prove.chunk import KINDS, ChunkResult
from tests.prove.runner import ROOT

__all__ = ["figures", "revision", "write"]

Figures = dict[str, object]

_SAYS = {
    "sweep": "transitions, 2000-2037, every zone",
    "random": "random questions, 1970-2200",
    "fuzz": "fuzzed cron texts",
}


def figures(results: Iterable[ChunkResult], *, wall_s: float, workers: int) -> Figures:
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


def write(found: Figures, path: Path) -> None:
    """`path` is the Markdown page; the JSON file beside it has the same stem."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
    path.write_text(_page(found))


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


def revision() -> str:
    """The commit the proof was made on; `+` if the tree held more than that."""
    head = _git("rev-parse", "HEAD")
    if not head:
        return "not in a repository with commits"
    return f"{head}+" if _git("status", "--porcelain", "--", "src", "tests") else head


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""
