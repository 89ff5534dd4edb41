"""Three workers on one PostgreSQL are killed and frozen, and the server crashes under them."""

import pytest

from tests.clauses import clause
from tests.kill.fleet import run_fleet

FAULTS = 4


@clause("CLI-31", "PG-1", "PG-8")
@pytest.mark.parametrize("seed", ["down"])
def test_a_fleet_executes_nothing_twice_and_loses_nothing(seed: str) -> None:
    outcome = run_fleet(seed, FAULTS)

    assert outcome.problems == [], f"python -m tests.kill.fleet {seed} {FAULTS}"
    assert set(outcome.faults) == {"kill", "freeze", "server"}
    assert outcome.verdict.lines > 0
