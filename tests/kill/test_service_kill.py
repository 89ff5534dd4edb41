"""A worker of the service is stopped and killed; its executor's file shows what was promised."""

import pytest

from tests.clauses import clause
from tests.kill.service_world import run_world, run_world_on_postgres

pytestmark = pytest.mark.bulk

KILLS = 10
FEW = 2


@clause("EXEC-30")
@pytest.mark.parametrize("seed", ["north", "up"])
def test_every_due_period_has_one_effect_however_often_the_worker_dies(seed: str) -> None:
    outcome = run_world(seed, KILLS)

    assert outcome.problems == [], f"python -m tests.kill.service_world {seed} {KILLS}"
    assert outcome.kills == KILLS
    assert outcome.stopped
    assert outcome.verdict.lines > 0


@clause("EXEC-30")
def test_the_same_holds_on_postgresql() -> None:
    outcome = run_world_on_postgres("up", FEW)

    assert outcome.problems == [], f"python -m tests.kill.service_world up {FEW} postgres"
    assert outcome.kills == FEW
    assert outcome.verdict.lines > 0
