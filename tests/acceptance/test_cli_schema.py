"""`--schema` and `--pooler`: which ledger of a database is meant, and what lies in between."""

import asyncio
import signal
from pathlib import Path

import asyncpg
import httpx2
import pytest

from tests.acceptance.command_line import gnomon
from tests.acceptance.running import EVERY_SECOND, HOURLY, owe, running, write
from tests.acceptance.test_cli_split import DAG, TOKEN, access_file, started
from tests.clauses import clause

LONGEST = "s" * 63


def schemas(url: str) -> set[str]:
    """The schemas of a database that belong to Gnomon alone."""

    async def ask() -> set[str]:
        connection = await asyncpg.connect(url)
        rows = await connection.fetch(
            "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema|^public'"
        )
        await connection.close()
        return {row[0] for row in rows}

    return asyncio.run(ask())


@clause("CLI-38")
def test_each_schema_of_a_database_is_a_ledger_of_its_own(tmp_path: Path, database: str) -> None:
    file = write(tmp_path, EVERY_SECOND)
    other = write(tmp_path, HOURLY, "other.toml")
    for path, schema in ((file, "red"), (other, "blue")):
        done = gnomon("run", str(path), "--database", database, "--schema", schema, "--once")
        assert done.code == 0, done.err

    assert schemas(database) == {"red", "blue"}
    red = gnomon("doctor", "--database", database, "--schema", "red", "--json")
    assert (red.code, red.json["schemaName"], red.json["schedules"]) == (0, "red", 1)
    shown = gnomon("doctor", "--database", database, "--schema", "red").out
    assert f"database   {red.json['database']}, schema red\n" in shown
    blue = gnomon("history", "--database", database, "--schema", "blue", "hourly", "--json")
    assert (blue.code, str(blue.json["store"]).endswith(", schema blue")) == (0, True)
    stranger = gnomon("history", "--database", database, "--schema", "blue", "tick")
    assert (stranger.code, "hint: the schedules are hourly" in stranger.err) == (1, True)
    usual = gnomon("doctor", "--database", database)
    assert (usual.code, "has no ledger in the schema gnomon" in usual.err) == (2, True)


@clause("CLI-38")
def test_a_worker_in_a_schema_works_and_is_woken_whatever_its_name(
    tmp_path: Path, database: str
) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with running(file, "--database", database, "--schema", LONGEST) as worker:
        assert str(worker.until("running")["store"]).endswith(f", schema {LONGEST}")
        worker.until("run ended", success=True)
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0

    assert not [line for line in worker.lines if line["level"] == "warning"]
    doctor = gnomon("doctor", "--database", database, "--schema", LONGEST)
    assert (doctor.code, ": stopped, 0 runs in hand" in doctor.out) == (0, True)


@clause("CLI-38", "CLI-33")
def test_a_ledger_moves_into_a_schema_and_is_found_there(tmp_path: Path, database: str) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))
    assert gnomon("run", str(file), "--once").code == 0
    store = str(file.with_suffix(".sqlite3"))

    moved = gnomon("migrate-store", store, database, "--schema", "books")
    assert (moved.code, moved.out[:19]) == (0, "Moved: 1 schedules,")
    refused = gnomon("run", str(file), "--once")
    assert refused.code == 2
    assert ", schema books\n" in refused.err
    assert "hint: use --database and --schema with that address\n" in refused.err
    there = ("--database", database, "--schema", "books")
    assert gnomon("run", str(file), *there, "--once").code == 0
    elsewhere = gnomon("migrate-store", store, database, "--schema", "others")
    assert (elsewhere.code, "has moved to postgresql://" in elsewhere.err) == (2, True)


@clause("CLI-38", "PG-12")
def test_who_says_that_there_is_a_pooler_does_not_listen_and_works(
    tmp_path: Path, database: str
) -> None:
    file = write(tmp_path, EVERY_SECOND)
    there = ("--database", database, "--pooler")
    with running(file, *there) as worker:
        worker.until("not listening behind a pooler; looking by itself")
        worker.until("run ended", success=True)
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0

    assert gnomon("history", *there, "tick").code == 0
    assert gnomon("doctor", *there).code == 0


@clause("CLI-38")
@pytest.mark.parametrize("command", ["run", "history", "doctor", "up"])
@pytest.mark.parametrize("option", [("--schema", "books"), ("--pooler",)])
def test_they_go_with_a_database_and_with_nothing_else(
    tmp_path: Path, command: str, option: tuple[str, ...]
) -> None:
    file = [] if command == "up" else [str(write(tmp_path, EVERY_SECOND))]
    before = list(tmp_path.iterdir())

    done = gnomon(command, *file, *option)

    assert (done.code, done.err) == (
        1,
        f"error: Invalid value: {option[0]} goes with --database, and there is none\n"
        f"hint: see gnomon {command} --help\n",
    )
    assert list(tmp_path.iterdir()) == before


@clause("CLI-38", "CLI-4")
@pytest.mark.parametrize("name", ["", "Books", "two words", "a;drop", "s" * 64, "1st", "é"])
@pytest.mark.parametrize("command", ["run", "history", "doctor", "migrate-store", "worker"])
def test_a_name_that_is_not_plain_is_refused_before_the_database_is_asked(
    tmp_path: Path, command: str, name: str
) -> None:
    nowhere = "postgresql://127.0.0.1:1/none"  # asked, it would be the error
    file = str(write(tmp_path, EVERY_SECOND))
    words = {
        "migrate-store": (file, nowhere), "worker": ("--database", nowhere),
        "history": ("--database", nowhere), "doctor": ("--database", nowhere),
    }.get(command, (file, "--database", nowhere))  # fmt: skip

    done = gnomon(command, *words, f"--schema={name}")

    assert (done.code, done.err.splitlines()) == (
        1,
        [
            "error: schema: must be a plain name of at most 63 small letters, digits and "
            f"underscores, got {name!r}",
            "hint: write e.g. gnomon",
        ],
    )


@clause("CLI-38")
def test_a_word_in_the_environment_that_cannot_be_meant_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GNOMON_DATABASE", "postgresql://127.0.0.1:1/none")
    monkeypatch.setenv("GNOMON_POOLER", "maybe")

    done = gnomon("worker")

    assert (done.code, done.err) == (
        1, "error: GNOMON_POOLER: must be true or false, got 'maybe'\nhint: write true\n",
    )  # fmt: skip


@clause("CLI-38")
def test_an_empty_name_in_the_environment_is_as_if_there_were_none(database: str) -> None:
    with started("worker", database, GNOMON_SCHEMA="", GNOMON_POOLER="") as worker:
        worker.until("working")

    assert schemas(database) == {"gnomon"}


@clause("CLI-38", "UP-6")
def test_an_api_and_a_worker_meet_in_a_schema(tmp_path: Path, database: str) -> None:
    access = str(access_file(tmp_path))
    with (
        started("api", database, "--port", "0", "--access", access, "--schema", "books") as api,
        started("worker", database, GNOMON_SCHEMA="books", GNOMON_ALLOW_COMMANDS="true") as worker,
    ):
        worker.until("working")
        address = f"http://127.0.0.1:{api.until('serving')['port']}"
        headers = {"authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            schedule_id = client.post("/dags", json=DAG).json()["schedules"][0]
            key = client.post(f"/schedules/{schedule_id}/trigger").json()["idempotency_key"]
            ended = worker.until("run.ended", key=key)

    assert ended["success"] is True
    assert schemas(database) == {"books"}


@clause("CLI-38", "UP-6")
def test_an_api_behind_a_pooler_serves_and_says_what_it_does_not_hear(
    tmp_path: Path, database: str
) -> None:
    access = str(access_file(tmp_path))
    options = ("--port", "0", "--access", access)
    with started("api", database, *options, GNOMON_POOLER="true") as api:
        api.until("behind a pooler this process hears no events of others")
        address = f"http://127.0.0.1:{api.until('serving')['port']}"
        headers = {"authorization": f"Bearer {TOKEN}"}
        answer = httpx2.get(f"{address}/schedules", headers=headers, trust_env=False)

    assert answer.json() == {"items": [], "next": None}
