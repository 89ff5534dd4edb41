"""Worlds over PostgreSQL: the same promises, with the same judges."""

from collections.abc import Iterator

import pytest

from gnomon.simulation.ledger.campaign import Campaign, replay_line, sample
from gnomon.simulation.ledger.world import run_world
from tests.clauses import clause
from tests.postgres.blocking import PostgresStores


@pytest.fixture(scope="module")
def stores(common_database: str) -> Iterator[PostgresStores]:
    stores = PostgresStores(common_database, "worlds")
    yield stores
    stores.close()


@clause("PG-1", "LEDGER-1")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("campaign", list(Campaign))
def test_a_world_over_postgresql_keeps_every_promise(
    stores: PostgresStores, campaign: Campaign, seed: int
) -> None:
    spec = sample(campaign, seed)

    trial = run_world(spec, stores)

    assert trial.complaints == [], replay_line(campaign, spec)
    assert trial.record.effects
