"""`gnomon doctor`: what is wrong with a ledger, and how to mend it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gnomon.shell.store.queries import migrations
from tests.acceptance.command_line import Done, gnomon, gnomon_process
from tests.acceptance.running import copied, owe, write
from tests.clauses import clause

NEWEST = len(migrations("ledger"))

OWED = """
[[schedule]]
name = "owed"
every = "1h"
command = ["true"]
catchup = "fire_immediately"
overlap = "allow"
"""

RUINED = {
    "gap": "DELETE FROM schedule_runs WHERE run_at = (SELECT min(run_at) FROM schedule_runs)",
    "wake": "UPDATE schedules SET wake_at = NULL",
    "beyond": "UPDATE schedules SET cursor_at = '2020-01-01T00:00:00.000Z'",
    "status": "UPDATE schedule_runs SET status = 'SKIPPED'",
    "reason": "UPDATE schedule_runs SET reason = 'overlap'",
    "row": "UPDATE schedule_runs SET reason = 'weather'",
    "count": "UPDATE schedule_runs SET fence = 0",
    "definition": "UPDATE schedule_revisions SET definition = '{\"schedule_id\": 3}'",
    "stranger": "UPDATE schedule_runs SET schedule_id = 'nobody'",
}
"""What a person might do with an editor, and what is then found."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose schedule has run for hours past."""
    file = write(tmp_path_factory.mktemp("original"), OWED)
    asyncio.run(owe(file, hours=3))
    assert gnomon_process("run", str(file), "--once").code == 0
    return file


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    """The same, for one test to ruin."""
    return copied(original, tmp_path).with_suffix(".sqlite3")


def doctor(store: Path, *options: str) -> Done:
    return gnomon("doctor", "--store", str(store), *options)


def findings(store: Path) -> list[dict[str, str]]:
    done = doctor(store, "--json")
    assert (done.code, done.err) == (1, "")
    found = done.json["findings"]
    assert isinstance(found, list)
    return found


def ruin(store: Path, statement: str) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(statement)
    connection.close()


@clause("CLI-26")
def test_a_ledger_in_good_order_is_said_to_be(store: Path) -> None:
    done = doctor(store)

    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "The ledger is in good order.",
        f"  store      {store}",
        f"  schema     {NEWEST} (newest known: {NEWEST})",
        "  owner      none",
        "  schedules  1",
        "  rows       3",
    ]


@clause("CLI-26")
def test_the_ledger_of_a_file_can_be_examined_by_its_name(store: Path) -> None:
    assert gnomon("doctor", str(store.with_suffix(".toml"))).code == 0


@clause("CLI-26", "CLI-28")
@pytest.mark.parametrize("code", RUINED)
def test_what_is_wrong_is_found_with_its_schedule_and_how_to_mend_it(
    code: str, store: Path
) -> None:
    ruin(store, RUINED[code])

    found = findings(store)

    assert code in {finding["code"] for finding in found}
    assert {finding["schedule_id"] for finding in found} <= {"owed", "nobody"}
    assert all(finding["problem"] and finding["remedy"] for finding in found)


@clause("CLI-26", "CLI-28")
def test_a_finding_is_said_with_its_row_and_its_remedy(store: Path) -> None:
    ruin(store, "UPDATE schedule_runs SET status = 'SKIPPED' WHERE rowid = 1")
    (finding,) = findings(store)

    done = doctor(store)

    assert done.code == 1
    assert done.lines[0] == "1 finding"
    assert done.lines[-3:] == [
        f"status: owed: {finding['problem']}",
        f"  row   {finding['key']}",
        "  mend  derive the status again from state, outcome and reason",
    ]


@clause("CLI-27")
def test_a_damaged_file_is_a_finding(store: Path) -> None:
    ruin(store, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(store.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    store.write_bytes(data)

    assert {finding["code"] for finding in findings(store)} == {"damaged"}


@clause("CLI-27")
@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("newer", "PRAGMA user_version = 999"),
        ("older", "PRAGMA user_version = 0"),
        ("foreign", "PRAGMA application_id = 7"),
        ("foreign", "DROP TABLE ledger_meta"),
    ],
)
def test_a_file_of_another_version_or_program_is_a_finding(
    code: str, statement: str, store: Path
) -> None:
    ruin(store, statement)

    assert [finding["code"] for finding in findings(store)] == [code]
    text = doctor(store).lines
    assert [line.split(maxsplit=1) for line in text[4:6]] == [
        ["schedules", "not examined"], ["rows", "not examined"],
    ]  # fmt: skip


@clause("CLI-27")
def test_a_file_that_is_no_database_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear doctor, " * 1_000)

    assert [finding["code"] for finding in findings(file)] == ["damaged"]
    assert list(tmp_path.iterdir()) == [file]


@clause("CLI-27")
def test_a_ledger_at_rest_is_left_as_it_is(store: Path) -> None:
    before = sorted(path.name for path in store.parent.iterdir())

    assert doctor(store).code == 0

    assert sorted(path.name for path in store.parent.iterdir()) == before


@clause("CLI-26", "CLI-27")
def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = doctor(tmp_path / "none.sqlite3")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {tmp_path / 'none.sqlite3'}: is not there\n")
    assert list(tmp_path.iterdir()) == []


@clause("CLI-3", "CLI-20")
def test_a_newer_ledger_is_not_run(store: Path) -> None:
    ruin(store, "PRAGMA user_version = 999")

    done = gnomon_process("run", str(store.with_suffix(".toml")))

    assert done.code == 2
    assert f"has schema 999, and this version of Gnomon knows {NEWEST} at most" in done.err
