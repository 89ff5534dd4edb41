"""The ledgers that keep the contract: a fixture for each kind, and one for those that last."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.shell.store.sqlite import SqliteLedger
from tests.contract.ledger_desk import Desk


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(params=["sqlite-memory", "sqlite-file"])
def desk(request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path) -> Iterator[Desk]:
    path = ":memory:" if request.param == "sqlite-memory" else str(tmp_path / "ledger.sqlite3")
    desk = Desk(runner, lambda: SqliteLedger.open(path))
    yield desk
    desk.close()


@pytest.fixture(params=["sqlite-file"])
def lasting(runner: asyncio.Runner, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(runner, lambda: SqliteLedger.open(tmp_path / "ledger.sqlite3"))
    yield desk
    desk.close()
