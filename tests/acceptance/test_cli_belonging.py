"""Each ledger has one door: `gnomon run`, the service or krond; the others are refused."""

import asyncio
import contextlib
import signal
import sqlite3
from pathlib import Path

import httpx2
import pytest

from gnomon.shell.store.database import APPLICATION_ID
from gnomon.shell.store.queries import migrations
from tests.acceptance.command_line import Done, gnomon, gnomon_process
from tests.acceptance.krond_process import TICK, ask_krond, krond, write_krontab
from tests.acceptance.running import EVERY_SECOND, HOURLY, owe, runs, write
from tests.acceptance.serving import up
from tests.acceptance.test_cli_split import DAG, TOKEN, access_file, started
from tests.clauses import clause


def schedules_served(folder: Path, database: str, schema: str, *, deploy: bool) -> list[str]:
    """Start an API, deploy a DAG if that is wanted, and list the schedules."""
    options = ("--port", "0", "--access", str(access_file(folder)), "--schema", schema)
    with started("api", database, *options) as api:
        address = f"http://127.0.0.1:{api.until('serving')['port']}"
        headers = {"authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            if deploy:
                client.post("/dags", json=DAG).raise_for_status()
            return [one["workflow_id"] for one in client.get("/schedules").json()["items"]]


def service(folder: Path, command: str, *there: str) -> Done:
    """A command of the service that would go on for ever if it were let in."""
    options = {
        "api": ("--port", "0", "--access", str(access_file(folder))),
        "up": ("--port", "0", "--data", str(folder / "data")),
        "worker": (),
    }[command]
    return gnomon(command, *options, *there)


@clause("CLI-41")
def test_a_file_does_not_delete_the_schedules_of_a_service_in_a_database(
    tmp_path: Path, database: str
) -> None:
    assert schedules_served(tmp_path, database, "svc", deploy=True) == ["greeting"]
    file, there = write(tmp_path, HOURLY), ("--database", database, "--schema", "svc")

    done = gnomon("run", str(file), *there, "--once")

    assert done.code == 2
    assert done.err.endswith(
        ", schema svc: belongs to the service (gnomon up, api, worker); "
        "run.toml would delete its schedules\n"
        "hint: name another schema with --schema\n"
    )
    assert schedules_served(tmp_path, database, "svc", deploy=False) == ["greeting"]
    assert [gnomon(look, *there).code for look in ("history", "doctor")] == [0, 0]
    beside = gnomon("run", str(file), "--database", database, "--schema", "files", "--once")
    assert beside.code == 0, beside.err


@clause("CLI-41")
def test_a_file_does_not_delete_the_schedules_of_a_service_on_one_machine(tmp_path: Path) -> None:
    with up(tmp_path) as running:
        running.signal(signal.SIGTERM)
        assert running.end() == 0
    store = tmp_path / ".gnomon" / "service.sqlite3"
    file = write(tmp_path, HOURLY)

    done = gnomon("run", str(file), "--store", str(store), "--once")

    assert (done.code, done.err) == (
        2,
        f"error: {store}: belongs to the service (gnomon up, api, worker); "
        "run.toml would delete its schedules\n"
        "hint: name another file with --store\n",
    )
    assert [gnomon(look, "--store", str(store)).code for look in ("history", "doctor")] == [0, 0]
    with up(tmp_path) as running:
        listed = running.schedule("list", "--json").json["items"]
    assert isinstance(listed, list)
    assert sorted(one["workflow_id"] for one in listed) == ["hello", "report", "slow"]


@clause("CLI-41")
@pytest.mark.parametrize("command", ["worker", "api", "up"])
def test_the_service_claims_nothing_of_a_file_in_a_database(
    tmp_path: Path, database: str, command: str
) -> None:
    file, there = write(tmp_path, HOURLY), ("--database", database, "--schema", "files")
    assert gnomon("run", str(file), *there, "--for", "0s").code == 0

    done = service(tmp_path, command, *there)

    assert done.code == 2
    assert done.err.endswith(
        ", schema files: belongs to the file run.toml (gnomon run), and not to the service\n"
        "hint: name another schema with --schema\n"
    )
    again = gnomon("run", str(file), *there, "--for", "0s")
    assert again.code == 0, again.err


@clause("CLI-41")
def test_what_a_file_owes_is_still_owed_when_a_worker_of_the_service_was_there(
    tmp_path: Path, database: str
) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))
    store = str(file.with_suffix(".sqlite3"))
    assert gnomon("migrate-store", store, database).code == 0

    refused = gnomon_process("worker", "--database", database)

    assert refused.code == 2
    assert ": belongs to gnomon run, and not to the service\n" in refused.err
    assert gnomon_process("run", str(file), "--database", database, "--once").code == 0
    found = gnomon("history", "--database", database, "--json").json["runs"]
    assert isinstance(found, list)
    assert [one["outcome"] for one in found] == ["executed", "executed"]


@clause("CLI-41")
def test_a_service_on_one_machine_claims_nothing_of_a_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    file, store = write(tmp_path, HOURLY), data / "service.sqlite3"
    assert gnomon("run", str(file), "--store", str(store), "--once").code == 0

    done = service(tmp_path, "up", "--no-samples")

    assert (done.code, done.err) == (
        2,
        f"error: {store}: belongs to the file run.toml (gnomon run), and not to the service\n"
        "hint: name another directory with --data\n",
    )
    assert gnomon("run", str(file), "--store", str(store), "--once").code == 0


@clause("CLI-41")
def test_an_empty_ledger_belongs_to_a_service_that_has_nothing_to_do_yet(
    tmp_path: Path, database: str
) -> None:
    with started("worker", database) as worker:
        worker.until("working")

    done = gnomon("run", str(write(tmp_path, HOURLY)), "--database", database, "--once")

    assert done.code == 2
    assert "belongs to the service" in done.err
    assert gnomon("doctor", "--database", database, "--json").json["schedules"] == 0


@clause("CLI-41", "CLI-33")
def test_the_ledger_of_a_file_is_not_moved_to_where_a_service_waits_for_work(
    tmp_path: Path, database: str
) -> None:
    with started("worker", database, GNOMON_SCHEMA="svc") as worker:
        worker.until("working")
    file = write(tmp_path, HOURLY)
    assert gnomon("run", str(file), "--once").code == 0
    store = str(file.with_suffix(".sqlite3"))

    done = gnomon("migrate-store", store, database, "--schema", "svc")

    assert done.code == 2
    assert done.err.endswith(
        ", schema svc: belongs to the service (gnomon up, api, worker), and run.sqlite3 to "
        "the file run.toml (gnomon run)\n"
        "hint: name another schema with --schema\n"
    )
    assert gnomon("run", str(file), "--once").code == 0
    assert gnomon("migrate-store", store, database, "--schema", "files").code == 0


@clause("CLI-41", "CLI-33")
def test_a_file_of_an_older_schema_is_moved_all_the_same(tmp_path: Path, database: str) -> None:
    store = tmp_path / "old.sqlite3"
    with contextlib.closing(sqlite3.connect(store)) as connection:
        connection.executescript(migrations("ledger")[0])
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    with started("worker", database) as worker:
        worker.until("working")

    done = gnomon("migrate-store", str(store), database)

    assert done.code == 0, done.err


@clause("CLI-41")
def test_a_ledger_of_commands_that_names_no_file_goes_on_with_a_file(tmp_path: Path) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))

    done = gnomon_process("run", str(file), "--once")

    assert done.code == 0, done.err
    assert [one["outcome"] for one in runs(file)] == ["executed", "executed"]


@clause("CLI-41", "KROND-17")
def test_a_file_does_not_delete_the_jobs_of_krond(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with krond(write_krontab(tmp_path, TICK), state) as running:
        assert ask_krond(state, "stop").code == 0
        assert running.end() == 0
    store = state / "krond.sqlite3"

    done = gnomon("run", str(write(tmp_path, HOURLY)), "--store", str(store), "--once")

    assert (done.code, done.err) == (
        2,
        f"error: {store}: belongs to krond; run.toml would delete its schedules\n"
        "hint: name another file with --store\n",
    )
    assert "tick" in ask_krond(state, "status").out


@clause("CLI-41", "KROND-17")
def test_krond_does_not_delete_the_schedules_of_a_file(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    file, store = write(tmp_path, EVERY_SECOND), state / "krond.sqlite3"
    assert gnomon("run", str(file), "--store", str(store), "--for", "0s").code == 0
    jobs = write_krontab(tmp_path, TICK)

    done = gnomon_process("krond", "start", str(jobs), "--state-dir", str(state))

    assert (done.code, done.err) == (
        2,
        f"error: {store}: belongs to the file run.toml (gnomon run), and not to krond\n"
        "hint: name another directory with --state-dir\n",
    )
    assert gnomon("run", str(file), "--store", str(store), "--for", "0s").code == 0
