"""Worlds of workflows over PostgreSQL: the same promises, with the same judges."""

from collections.abc import Iterator
from itertools import islice

import pytest

from gnomon.simulation.workflow.plan import Spec, World, draw_spec
from gnomon.simulation.workflow.world import SCENARIO, run_world
from tests.clauses import clause
from tests.postgres.blocking_workflows import PostgresWorkflows

CRASHES = 12
STORMS = 6
ODD = 3


@pytest.fixture(scope="module")
def stores(common_database: str) -> Iterator[PostgresWorkflows]:
    stores = PostgresWorkflows(common_database, "workflow_worlds")
    yield stores
    stores.close()


SPECS = [
    *islice(SCENARIO.crashes(7), CRASHES),
    *(draw_spec(World.STORM, seed) for seed in range(1, STORMS + 1)),
    *islice((one for one in SCENARIO.worlds(World.ODD, 1) if one.restores), ODD),
]


@clause("WSIM-11", "WLOG-10")
@pytest.mark.parametrize(
    "spec", SPECS, ids=lambda spec: SCENARIO.replay_line(spec).partition("--")[2]
)
def test_a_world_over_postgresql_keeps_every_promise(stores: PostgresWorkflows, spec: Spec) -> None:
    trial = run_world(spec, stores)

    assert trial.complaints == [], SCENARIO.replay_line(spec)
    assert trial.figures["applications"]
