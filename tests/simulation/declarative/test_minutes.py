"""The minute scan of the simulation says what the oracle says, and uses nothing that is judged."""

import ast
from pathlib import Path

import pytest

import gnomon.simulation.declarative
from gnomon.simulation.declarative.minutes import Minutes
from tests.clauses import clause
from tests.oracle.minute_scan import occurrences

HERE = Path(gnomon.simulation.declarative.__file__).parent
JUDGES = ("court", "minutes", "witness")
ALLOWED = (
    "gnomon.simulation.declarative", "gnomon.simulation.kit.matcher", "gnomon.simulation.kit.notes",
    "gnomon.theory", "gnomon.trace",
)  # fmt: skip
TEXTS = ("* * * * *", "30 2 * * *", "0,30 1-3 * * *", "15 2 29 3 0", "0 12 * 4,10 1-5")


@clause("SIM-12")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("month", [1_772_323_200, 1_774_656_000, 1_775_260_800, 1_792_800_000])
def test_every_minute_of_a_day_is_due_as_the_oracle_says(zone: str, month: int) -> None:
    minutes = Minutes(zone, TEXTS)
    expected = {
        text: occurrences(
            text, dialect="posix", zone=zone, dst="strict", start=month, end=month + 86_400
        )
        for text in TEXTS
    }

    found: dict[str, list[int]] = {text: [] for text in TEXTS}
    for minute in range(month, month + 86_400, 60):
        for text in minutes.due(minute):
            found[text].append(minute)

    assert found == expected


@clause("SIM-12", "SIM-14")
@pytest.mark.parametrize("module", JUDGES)
def test_a_judge_of_the_scheduler_imports_nothing_of_it(module: str) -> None:
    tree = ast.parse((HERE / f"{module}.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in imported if name.startswith("gnomon")}

    assert {name for name in ours if not name.startswith(ALLOWED)} == set()
    assert (
        ours & {"gnomon.simulation.declarative.program", "gnomon.simulation.declarative.plan"}
        == set()
    )
