"""A ledger file of the time when the DAGs of the service were in a table named workflows."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gnomon.errors import IncompatibleStateError
from gnomon.shell.store.dag import SqliteDagRuns, SqliteDagStore
from gnomon.shell.store.examination import examine
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.shell.store.older import LEDGER_10, check_dags

_TABLES = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND name {} GLOB '*{}*'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(LEDGER_10)
    connection.close()
    return path


@clause("WSTORE-1", "WSTORE-6", "EXECUTION-2", "EXECUTION-4")
def test_an_older_file_is_brought_forward_with_its_dags_and_their_runs(path: Path) -> None:
    async def scenario() -> None:
        ledger = SqliteLedger.open(path)
        dags, runs = SqliteDagStore(ledger.database), SqliteDagRuns(ledger.database)
        await check_dags(dags, runs)
        (schedule,) = await ledger.schedules()
        assert '"version":2' in schedule.schedule.target
        with pytest.raises(sqlite3.IntegrityError, match="a version of a DAG is permanent"):
            ledger.database.connection.execute("UPDATE dags SET digest = ''")
        await ledger.close()

    asyncio.run(scenario())

    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert not [name for name in names if "workflow" in name or "execution" in name]
        assert {"dags", "removed_dags", "dag_runs", "dag_run_nodes", "dag_runs_by_end"} <= names
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@clause("CLI-25")
def test_readers_of_an_older_file_say_what_brings_it_forward(path: Path) -> None:
    with pytest.raises(IncompatibleStateError, match="has schema 10, and this version") as raised:
        SqliteLedger.look_into(path)
    assert raised.value.hint.endswith("up, api and worker bring it forward when they start")

    (found,) = examine(path).findings
    assert (found.code, found.problem) == ("older", "the schema is 10, and 11 is the newest here")
    assert found.remedy.startswith("nothing: gnomon run, krond start, up, api and worker bring it")
