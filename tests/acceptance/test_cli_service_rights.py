"""The service on a database that lets its user look, and not write."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from gnomon.shell.store.belonging import BELONGS_TO, Door
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.acceptance.test_cli_database import execute
from tests.acceptance.test_cli_split import DAG, TOKEN, access_file, started
from tests.clauses import clause

PATIENCE_S = 60
MISSING_OF_A_READER = (
    "INSERT, UPDATE, DELETE on the table ledger_meta; UPDATE, DELETE on the table schedules; "
    "DELETE on the table schedule_revisions; "
    "INSERT, UPDATE, DELETE on the table schedule_runs; "
    "INSERT, UPDATE, DELETE on the table workers; UPDATE, DELETE on the table expectations; "
    "INSERT on the table breaches; INSERT, UPDATE, DELETE on the table dag_runs; "
    "INSERT, UPDATE on the table dag_run_nodes"
)


async def made(database: str) -> None:
    ledger = await PostgresLedger.open(database)
    await ledger.set_note(BELONGS_TO, Door.SERVICE)
    await ledger.close()


def reader_of(database: str, role: str) -> str:
    """The address of a ledger of the service for a user that may read it."""
    asyncio.run(made(database))
    execute(database, f"CREATE ROLE {role} LOGIN")
    execute(database, f"GRANT USAGE ON SCHEMA gnomon TO {role}")
    execute(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA gnomon TO {role}")
    return database.replace("postgres@", f"{role}@")


@clause("UP-10", "PG-9")
@pytest.mark.parametrize("command", ["worker", "up"])
def test_who_may_not_write_does_not_begin_to_work(
    tmp_path: Path, database: str, command: str
) -> None:
    theirs = reader_of(database, f"reader_of_{command}")
    options = ["--port", "0", "--no-samples"] if command == "up" else []

    done = subprocess.run(
        [sys.executable, "-m", "gnomon", command, "--database", theirs, *options],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: {theirs}: does not allow this to this user (a worker needs {MISSING_OF_A_READER})",
        "hint: let this user create the schema, or create it and grant ALL on it and on its tables;"
        " see docs/howto/run-on-postgresql.md",
    ]


@clause("UP-10", "PG-9")
def test_a_worker_that_may_not_write_one_table_does_not_begin_to_work(
    tmp_path: Path, database: str
) -> None:
    """It could say that it is there, and then would fail and try again for ever."""
    theirs = reader_of(database, "writer_of_workers")
    execute(database, "GRANT ALL ON ALL TABLES IN SCHEMA gnomon TO writer_of_workers")
    execute(database, "REVOKE UPDATE ON gnomon.schedules FROM writer_of_workers")

    done = subprocess.run(
        [sys.executable, "-m", "gnomon", "worker", "--database", theirs],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == (
        f"error: {theirs}: does not allow this to this user"
        " (a worker needs UPDATE on the table schedules)"
    )


@clause("UP-10")
def test_an_api_that_may_not_write_shows_what_there_is(tmp_path: Path, database: str) -> None:
    theirs = reader_of(database, "reader_of_api")
    access = str(access_file(tmp_path))
    headers = {"authorization": f"Bearer {TOKEN}"}
    with started("api", theirs, "--port", "0", "--access", access) as api:
        address = f"http://127.0.0.1:{api.until('serving')['port']}"
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            listed = client.get("/schedules")
            refused = client.post("/dags", json=DAG)

    assert (listed.status_code, listed.json()["items"]) == (200, [])
    assert refused.status_code == 503
