"""
What does a page of evidence look like, and what stands in all of them?

A title, what was done, tables, and at the end what it was made from: the revision, the Python, the
time it took, and every finding.
"""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.prove.chunk import ChunkResult
from tests.prove.runner import revision

__all__ = ["Found", "counts", "figures", "notes_of", "page", "part", "table"]

Found = dict[str, object]
"""The figures of a proof by name, as they stand in the JSON file beside the page."""


def figures(results: Iterable[ChunkResult], *, wall_s: float) -> Found:
    """What every proof says of itself."""
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "wall_s": round(wall_s, 1),
        "lines": [line for result in results for line in result.differences],
    }


def notes_of(results: Iterable[ChunkResult]) -> Counter[str]:
    """What was noted in all of these."""
    return sum((Counter(result.notes) for result in results), Counter[str]())


def part(notes: Mapping[str, int], prefix: str) -> dict[str, int]:
    """The notes that begin so, without that beginning."""
    names = sorted(name for name in notes if name.startswith(prefix))
    return {name.removeprefix(prefix): notes[name] for name in names}


def page(
    title: str, said: Sequence[str], body: Iterable[str], found: Found, *, by: str = "make prove"
) -> str:
    """The Markdown of a page; `said` is what was done, one sentence a line."""
    lines = found["lines"]
    assert isinstance(lines, list)
    seed = [f"- seed: {found['seed']}"] if "seed" in found else []
    workers = f" with {found['workers']} workers" if "workers" in found else ""
    return "\n".join([
        f"# Evidence: {title}",
        "",
        f"Written by `{by}`; do not edit.",
        "",
        *said,
        "",
        *body,
        f"- revision: {found['revision']}",
        f"- Python: {found['python']}",
        *seed,
        f"- wall time: {found['wall_s']} s{workers}",
        *(f"- found: {line}" for line in lines),
        "",
    ])  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table with an empty line after it; the first column is text, the others are numbers."""
    return [
        _row(head),
        "|---|" + "---:|" * (len(head) - 1),
        *(_row([_cell(value) for value in row]) for row in rows),
        "",
    ]


def counts(head: Sequence[str], found: object) -> list[str]:
    """A table of names and numbers."""
    assert isinstance(found, dict)
    return table(head, found.items())


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
