"""The judges share no code with what they judge."""

import ast
from pathlib import Path

import pytest

import gnomon.simulation
from tests.clauses import clause

HERE = Path(gnomon.simulation.__file__).parent
JUDGES = {
    "kit.matcher", "kit.notes", "ledger.case", "ledger.catching_up", "ledger.judge",
    "ledger.reasons", "ledger.record", "ledger.telling",
}  # fmt: skip
OF_THE_OPERATOR = {
    "operator.duty", "operator.judge", "operator.scrutiny", "operator.seen", "kit.matcher",
}  # fmt: skip


def imports_of(module: str) -> set[str]:
    tree = ast.parse((HERE / f"{module.replace('.', '/')}.py").read_text())
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.startswith("gnomon")}


@clause("SIM-4")
@pytest.mark.parametrize("module", sorted(JUDGES))
def test_a_judge_imports_nothing_but_judges(module: str) -> None:
    assert imports_of(module) <= {f"gnomon.simulation.{name}" for name in JUDGES}


@clause("OSIM-2")
@pytest.mark.parametrize("module", sorted(OF_THE_OPERATOR))
def test_the_judge_of_the_operator_imports_nothing_but_judges(module: str) -> None:
    assert imports_of(module) <= {f"gnomon.simulation.{name}" for name in OF_THE_OPERATOR}
