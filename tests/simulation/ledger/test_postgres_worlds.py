"""Worlds over PostgreSQL: the same promises, with the same judges."""

from collections.abc import Iterator

import pytest

from gnomon.simulation.ledger.plan import World
from gnomon.simulation.ledger.world import SCENARIO, run_world
from tests.clauses import clause
from tests.postgres.blocking import PostgresStores


@pytest.fixture(scope="module")
def stores(common_database: str) -> Iterator[PostgresStores]:
    stores = PostgresStores(common_database, "worlds")
    yield stores
    stores.close()


@clause("PG-1", "LEDGER-1")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("world", list(World))
def test_a_world_over_postgresql_keeps_every_promise(
    stores: PostgresStores, world: World, seed: int
) -> None:
    spec = SCENARIO.sample(world, seed)

    trial = run_world(spec, stores)

    assert trial.complaints == [], SCENARIO.replay_line(spec)
    assert trial.record.effects
