"""The page about mutants says what was drawn and names each that was not noticed."""

import json
from pathlib import Path

from tests.mutants.report import Fate, report
from tests.mutants.sites import Mutant

ABOUT: dict[str, object] = {"revision": "abc", "python": "3", "seed": "7", "wall_s": 1.5}


def mutant(path: str, line: int) -> Mutant:
    return Mutant(path=f"src/gnomon/{path}", line=line, begin=0, end=1, before="a > b", after="b")


def test_every_mutant_that_was_not_noticed_stands_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "mutants.md"
    fates = [
        Fate(mutant("core/one.py", 1), "noticed"),
        Fate(mutant("core/one.py", 2), "survived"),
        Fate(mutant("apps/krond/two.py", 3), "explained", "it is as right"),
    ]

    report(path, fates, ABOUT)

    figures = json.loads(path.with_suffix(".json").read_text())
    assert [figures[word] for word in ("drawn", "noticed", "explained", "survived")] == [3, 1, 1, 1]
    assert figures["rooms"]["core"] == {"drawn": 2, "noticed": 1}
    page = path.read_text()
    for words in (
        "Written by `make mutants`", "| core | 2 | 1 |", "- revision: abc", "- seed: 7",
        "- found: survived: src/gnomon/core/one.py:2: a > b  ->  b",
        "- found: explained: it is as right: src/gnomon/apps/krond/two.py:3: a > b  ->  b",
    ):  # fmt: skip
        assert words in page
