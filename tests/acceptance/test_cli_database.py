"""`gnomon run`, `history` and `doctor` with a ledger on PostgreSQL."""

import asyncio
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import asyncpg
import pytest

from gnomon.shell.store.postgres.statement import SCHEMA, migrations
from tests.acceptance.command_line import gnomon
from tests.acceptance.running import running, write
from tests.clauses import clause

NEWEST = len(migrations(SCHEMA))

SCHEDULES = """
[[schedule]]
name = "tick"
every = "1s"
shell = 'echo "$GNOMON_SCHEDULE $GNOMON_PERIOD" >> ran.txt'
overlap = "allow"
catchup = "fire_immediately"
lease = "30s"
"""


def execute(url: str, statement: str) -> None:
    async def do() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(do())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path, SCHEDULES)


@clause("CLI-31", "CLI-32")
def test_what_ran_is_in_the_database_and_the_worker_says_good_bye(
    file: Path, database: str
) -> None:
    with running(file, "--database", database) as worker:
        worker.until("run ended", success=True)
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0

    history = gnomon("history", "--database", database, "tick", "--json")
    assert history.code == 0
    runs = history.json["runs"]
    assert isinstance(runs, list)
    assert {run["outcome"] for run in runs if run["state"] == "done"} == {"executed"}
    doctor = gnomon("doctor", "--database", database, "--json")
    assert (doctor.code, doctor.json["findings"]) == (0, [])
    workers = doctor.json["workers"]
    assert isinstance(workers, list)
    assert [(one["state"], one["holding"]) for one in workers] == [("stopped", 0)]
    assert workers[0]["counters"]["ends"] >= 1
    assert {run["owner"] for run in runs if run["state"] == "done"} == {workers[0]["owner"]}


@clause("CLI-31")
def test_several_workers_run_each_period_once(file: Path, database: str) -> None:
    with ExitStack() as stack:
        workers = [
            stack.enter_context(running(file, "--database", database, "--for", "3s"))
            for _ in range(2)
        ]
        assert [worker.end() for worker in workers] == [0, 0]

    lines = (file.parent / "ran.txt").read_text().splitlines()
    assert lines
    assert sorted(set(lines)) == sorted(lines)
    ended = [line for worker in workers for line in worker.lines if line["event"] == "run ended"]
    assert len(ended) == len(lines)


@clause("CLI-32")
def test_the_file_that_is_run_may_stand_beside_the_database(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0

    alone = gnomon("history", "--database", database)
    assert (alone.code, "tick" in alone.out) == (0, True)
    assert gnomon("history", str(file), "--database", database).out == alone.out
    assert gnomon("history", str(file), "tick", "--database", database).out == alone.out
    assert gnomon("history", "absent.yml", "--database", database).out == alone.out
    assert gnomon("doctor", str(file), "--database", database).code == 0
    refused = gnomon("history", "absent", "--database", database)
    assert (refused.code, "is no schedule of this ledger" in refused.err) == (1, True)


@clause("CLI-32")
def test_rows_that_break_the_rules_are_findings(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    execute(database, "UPDATE gnomon.schedule_revisions SET definition = 'null'")
    execute(
        database,
        "INSERT INTO gnomon.schedule_runs (idempotency_key, schedule_id, run_at, created_at,"
        " updated_at, fire_at, state, revision) VALUES ('x', 'nobody', now(), now(), now(), now(),"
        " 'planned', 1)",
    )

    doctor = gnomon("doctor", "--database", database, "--json")
    findings = doctor.json["findings"]
    assert isinstance(findings, list)
    assert {one["code"] for one in findings} == {"definition", "stranger"}
    assert doctor.code == 1


@clause("CLI-32", "PG-11")
def test_a_newer_ledger_is_a_finding_and_an_absent_one_an_error(file: Path, database: str) -> None:
    absent = gnomon("doctor", "--database", database)
    assert absent.code == 2
    assert "has no ledger in the schema gnomon" in absent.err

    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    execute(database, "UPDATE gnomon.ledger_meta SET value = '99' WHERE name = 'schema'")
    text = gnomon("doctor", "--database", database)
    assert f"newer: the schema is 99, and {NEWEST} is the newest" in text.out
    assert [line.split(maxsplit=1) for line in text.lines[3:6]] == [
        ["schedules", "not examined"], ["rows", "not examined"], ["workers", "not examined"],
    ]  # fmt: skip
    facts = gnomon("doctor", "--database", database, "--json").json
    assert (facts["schedules"], facts["rows"], facts["workers"]) == (None, None, None)
    newer = gnomon("run", str(file), "--database", database, "--once")
    assert (newer.code, "has schema 99" in newer.err) == (2, True)


@clause("CLI-25")
def test_the_history_makes_no_ledger_and_brings_none_forward(file: Path, database: str) -> None:
    absent = gnomon("history", "--database", database)
    assert (absent.code, absent.err.splitlines()[1]) == (2, "hint: gnomon run --database makes one")
    assert gnomon("doctor", "--database", database).code == 2

    assert gnomon("run", str(file), "--once", "--database", database).code == 0
    execute(database, "UPDATE gnomon.ledger_meta SET value = '1' WHERE name = 'schema'")
    older = gnomon("history", "--database", database)
    assert older.code == 2
    assert f"has schema 1, and this version of Gnomon reads {NEWEST}" in older.err
    assert "hint: gnomon run, krond start, up, api and worker bring it forward" in older.err
    assert gnomon("doctor", "--database", database, "--json").json["schema"] == 1


@clause("CLI-33", "PG-16")
def test_a_ledger_moves_to_a_database_and_is_run_from_there(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--once").code == 0
    store = str(file.with_suffix(".sqlite3"))

    moved = gnomon("migrate-store", store, database)
    assert (moved.code, moved.out[:19]) == (0, "Moved: 1 schedules,")
    assert "schedules: 1 of 1\n" in moved.err
    assert gnomon("migrate-store", store, database).out.startswith("It was there already: 1 ")
    refused = gnomon("run", str(file), "--once")
    assert (refused.code, "has moved to postgresql://" in refused.err) == (2, True)
    doctor = gnomon("doctor", "--store", store)
    assert (doctor.code, "moved: the ledger has moved to postgresql://" in doctor.out) == (1, True)
    assert "mend  ask there, with --database: this file is not run any more" in doctor.out
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    assert gnomon("doctor", "--database", database).code == 0


@clause("CLI-33", "CLI-24")
def test_the_history_of_a_file_that_has_moved_says_where_to(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--once").code == 0
    assert gnomon("history", str(file)).err == ""
    assert gnomon("migrate-store", str(file.with_suffix(".sqlite3")), database).code == 0

    done = gnomon("history", str(file))

    assert done.code == 0
    assert done.err == f"note: the ledger has moved to {database}; what came after is there\n"


@clause("CLI-33")
def test_a_file_that_is_not_there_is_not_moved(tmp_path: Path, database: str) -> None:
    done = gnomon("migrate-store", str(tmp_path / "absent.sqlite3"), database)

    assert (done.code, "is not there" in done.err) == (2, True)


@clause("CLI-31", "PG-9")
def test_a_server_that_is_away_is_named_without_its_password(file: Path) -> None:
    done = gnomon("run", str(file), "--database", "postgresql://anna:secret@127.0.0.1:9/x")

    assert done.code == 2
    assert done.err.startswith("error: postgresql://anna@127.0.0.1:9/x: cannot be reached")
    assert "secret" not in done.err


@clause("CLI-31")
@pytest.mark.parametrize("command", ["run", "history", "doctor"])
def test_a_ledger_is_in_a_file_or_in_a_database(file: Path, command: str) -> None:
    done = gnomon(command, str(file), "--store", "x.sqlite3", "--database", "postgresql://x/x")

    assert done.code == 1
    assert "with --store or with --database, not with both" in done.err


@clause("CLI-31")
def test_an_address_that_cannot_be_meant_is_refused(file: Path) -> None:
    done = gnomon("run", str(file), "--database", "mysql://x/x")

    assert done.code == 1
    assert "must be the URL of a PostgreSQL database" in done.err


@clause("CLI-31")
def test_without_the_extra_it_is_said_how_to_get_it(file: Path) -> None:
    program = (
        "import sys; sys.modules['asyncpg'] = None; from gnomon.cli import main;"
        f"sys.exit(main(['run', {str(file)!r}, '--database', 'postgresql://x/x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert 'pip install "gnomon[postgres]"' in done.stderr


@clause("CLI-31")
def test_nothing_loads_the_extra_unless_a_database_is_named() -> None:
    program = "import sys, gnomon, gnomon.cli; sys.exit('asyncpg' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@clause("CLI-32", "PG-9")
@pytest.mark.parametrize("command", ["doctor", "history"])
def test_who_only_looks_is_told_the_rights_to_look(file: Path, database: str, command: str) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    role = f"looker_of_{command}"
    execute(database, f"CREATE ROLE {role} LOGIN")
    theirs = database.replace("postgres@", f"{role}@")

    refused = gnomon(command, "--database", theirs)
    assert (refused.code, "permission denied for schema gnomon" in refused.err) == (2, True)
    assert refused.err.endswith(
        "hint: GRANT USAGE ON SCHEMA gnomon and SELECT ON ALL TABLES IN SCHEMA gnomon to it\n"
    )
    execute(database, f"GRANT USAGE ON SCHEMA gnomon TO {role}")
    execute(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA gnomon TO {role}")
    assert gnomon(command, "--database", theirs).code == 0
