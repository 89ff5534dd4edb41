"""A page of evidence and the figures beside it come from one run, and the index knows them."""

import json
import re
from pathlib import Path

import pytest

from tests.tidy.tree import ROOT

_EVIDENCE = ROOT / "docs" / "evidence"
_PAGES = sorted(_EVIDENCE.glob("*.md"))
_REVISION = re.compile(r"^- revision: (\w+)$", re.MULTILINE)
_PROVED = [page for page in _PAGES if _REVISION.search(page.read_text(encoding="utf-8"))]


def test_there_are_pages_that_say_what_they_were_made_from() -> None:
    assert {"kill.md", "ledger.md", "workers-kill.md"} <= {page.name for page in _PROVED}


@pytest.mark.parametrize("page", _PROVED, ids=lambda page: page.stem)
def test_a_page_and_its_figures_are_of_one_revision(page: Path) -> None:
    found = _REVISION.search(page.read_text(encoding="utf-8"))
    figures = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert found is not None
    assert figures["revision"] == found[1]


def test_no_figures_stand_without_their_page() -> None:
    assert [
        one.name for one in _EVIDENCE.glob("*.json") if not one.with_suffix(".md").exists()
    ] == []
