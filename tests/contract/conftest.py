"""The stores that keep the contracts: a fixture for each kind, and one for those that last."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon.ports import JournalOpener
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.sqlite import SqliteLedger
from tests.contract.journal_desk import JournalDesk
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
