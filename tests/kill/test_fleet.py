"""Three workers on one PostgreSQL are killed and frozen, and the server crashes under them."""

import pytest

from tests.clauses import clause
from tests.kill.fleet import run_fleet

FAULTS, MINUTES = 4, 1


@clause("CLI-31", "PG-1", "PG-8", "PG-18")
@pytest.mark.parametrize("seed", ["down22"])
def test_a_fleet_executes_nothing_twice_and_loses_nothing(seed: str) -> None:
    outcome = run_fleet(seed, FAULTS, MINUTES)

    assert outcome.problems == [], f"python -m tests.kill.fleet {seed} {FAULTS} {MINUTES}"
    assert set(outcome.faults) == {
        "kill", "freeze", "server", "drain", "kill at a minute", "freeze at a minute",
    }  # fmt: skip
    assert outcome.verdict.lines > 0
