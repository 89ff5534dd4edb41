"""krond is stopped and killed; the jobs' own file shows what was promised."""

import pytest

from tests.clauses import clause
from tests.kill.krond_world import KrondWorld
from tests.kill.world import run_world

pytestmark = pytest.mark.bulk

KILLS = 10


@clause("KROND-2", "KROND-20", "KROND-41")
@pytest.mark.parametrize("seed", ["east", "west"])
def test_a_killed_krond_executes_nothing_twice_and_loses_nothing(seed: str) -> None:
    outcome = run_world(seed, KILLS, KrondWorld)

    assert outcome.problems == [], f"python -m tests.kill.krond_world {seed} {KILLS}"
    assert outcome.kills == KILLS
    assert outcome.stopped
    assert outcome.verdict.lines > 0
