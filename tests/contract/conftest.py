"""The stores that keep the contracts: a fixture for each kind, and one for those that last."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon.ports import JournalOpener, Ledger
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.contract.journal_desk import JournalDesk
from tests.contract.ledger_desk import Desk

Open = Callable[[], Ledger]


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def open_ledger(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path, store: str
) -> Open:
    """Opens a ledger of a kind; what was written is there when it is opened again."""
    if store == "sqlite-memory":
        return lambda: SqliteLedger.open(":memory:")
    if store == "sqlite-file":
        return lambda: SqliteLedger.open(tmp_path / "ledger.sqlite3")
    database = request.getfixturevalue("common_database")
    schema = request.getfixturevalue("schema")
    return lambda: runner.run(
        PostgresLedger.open(database, schema=schema, lease_time=LeaseTime.GIVEN)
    )


@pytest.fixture(params=["sqlite-memory", "sqlite-file", "postgres"])
def store(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture
def desk(runner: asyncio.Runner, open_ledger: Open) -> Iterator[Desk]:
    desk = Desk(runner, open_ledger)
    yield desk
    desk.close()


def _opener(path: str, *, threaded: bool) -> Callable[[int, str], JournalOpener]:
    def make(kept: int, namespace: str) -> JournalOpener:
        return SqliteJournalOpener(path, namespace=namespace, kept=kept, threaded=threaded)

    return make


@pytest.fixture(params=["sqlite-memory", "sqlite-file", "sqlite-thread"])
def journals(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[JournalDesk]:
    path = ":memory:" if request.param == "sqlite-memory" else str(tmp_path / "journal.sqlite3")
    desk = JournalDesk(runner, _opener(path, threaded=request.param == "sqlite-thread"))
    yield desk
    desk.close()


@pytest.fixture(params=["sqlite-file"])
def lasting_journals(runner: asyncio.Runner, tmp_path: Path) -> Iterator[JournalDesk]:
    desk = JournalDesk(runner, _opener(str(tmp_path / "journal.sqlite3"), threaded=False))
    yield desk
    desk.close()
