"""A service driven by hand, once on each store."""

import asyncio

import pytest

from gnomon.apps.service.settings import Settings
from tests.apps.service.hand import Hand, Play, Scenario


@pytest.fixture(params=["sqlite", "postgres"])
def play(request: pytest.FixtureRequest) -> Play:
    """Plays a scenario with a service of its own."""
    postgres = None
    if request.param == "postgres":
        postgres = request.getfixturevalue("common_database"), request.getfixturevalue("schema")

    def whole(scenario: Scenario, *, settings: Settings | None = None) -> None:
        async def run() -> None:
            hand = await Hand.open(settings=settings, postgres=postgres)
            try:
                await scenario(hand)
            finally:
                await hand.ledger.close()

        asyncio.run(run())

    return whole
