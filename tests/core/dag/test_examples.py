"""The DAGs that we show are DAGs."""

import json
from pathlib import Path

import pytest

from gnomon.core.dag import parse_dag
from tests.clauses import clause
from tests.tidy.markdown import blocks
from tests.tidy.tree import ROOT

EXAMPLES = sorted((ROOT / "examples" / "dags").glob("*.json"))


@clause("DAG-1")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_dag_under_its_own_name(path: Path) -> None:
    assert parse_dag(path.read_text()).workflow_id == path.stem


@clause("DAG-1")
def test_the_dag_of_the_reference_is_one() -> None:
    page = ROOT / "docs" / "reference" / "dags.md"
    (shown,) = [block.text for block in blocks(page) if block.language == "json"]

    assert parse_dag(shown).version == json.loads(shown)["version"]
