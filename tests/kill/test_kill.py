"""`gnomon run` is stopped and killed; the commands' own file shows what was promised."""

import pytest

from tests.clauses import clause
from tests.kill.world import run_world

pytestmark = pytest.mark.bulk

KILLS = 10


@clause("CLI-23")
@pytest.mark.parametrize("seed", ["north", "south"])
def test_a_killed_run_executes_nothing_twice_and_loses_nothing(seed: str) -> None:
    outcome = run_world(seed, KILLS)

    assert outcome.problems == [], f"python -m tests.kill.world {seed} {KILLS}"
    assert outcome.kills == KILLS
    assert outcome.stopped
    assert outcome.verdict.lines > 0
