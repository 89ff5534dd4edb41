"""Many workers and people at once on PostgreSQL: the rows agree with what all were told."""

import asyncio

import pytest

from tests.clauses import clause
from tests.storm.world import run_storm

OPERATIONS = 500


@clause("PORT-1", "PG-1", "PG-3", "LEDGER-4", "LEDGER-7")
@pytest.mark.parametrize(("seed", "apart"), [("1", False), ("2", True)])
def test_the_rows_agree_with_what_everybody_was_told(
    common_database: str, schema: str, seed: str, apart: bool
) -> None:
    storm = asyncio.run(run_storm(common_database, schema, seed, OPERATIONS, apart=apart))
    print(f"storm {seed}: {storm}")

    assert storm.problems == []
    assert storm.claims > OPERATIONS / 20
