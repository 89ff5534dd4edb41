"""`gnomon history`: what became of each period."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gnomon.shell.store.sqlite import SqliteLedger
from tests.acceptance.command_line import Done, gnomon, gnomon_process
from tests.acceptance.running import copied, owe, running, write
from tests.clauses import clause

OWED = """
[[schedule]]
name = "owed"
every = "1h"
shell = "exit 3"
catchup = "latest"

[[schedule]]
name = "past"
every = "1m"
command = ["true"]

[[schedule]]
name = "waiting"
cron = "0 0 29 2 *"
command = ["true"]
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose schedules have run once, after hours of neglect."""
    found = write(tmp_path_factory.mktemp("original"), OWED)
    asyncio.run(owe(found, hours=3))
    assert gnomon_process("run", str(found), "--once").code == 0
    return found


@pytest.fixture
def file(original: Path, tmp_path: Path) -> Path:
    """The same, for one test to do with as it likes."""
    return copied(original, tmp_path)


def rows(done: Done) -> list[dict[str, object]]:
    assert done.code == 0, done.err
    found = done.json["runs"]
    assert isinstance(found, list)
    return found


@clause("CLI-24")
def test_each_period_has_a_row_with_its_outcome_and_reason(file: Path) -> None:
    found = rows(gnomon("history", str(file), "owed", "--json"))

    assert [(row["outcome"], row["reason"], row["status"], row["detail"]) for row in found] == [
        ("executed", None, "FAILED", "exit 3"),
        ("missed", "outage", "SKIPPED", None),
        ("missed", "outage", "SKIPPED", None),
    ]
    assert [row["period"] for row in found] == sorted(
        (str(r["period"]) for r in found), reverse=True
    )
    assert found[0]["started"]
    assert found[0]["ended"]


@clause("CLI-24")
def test_a_range_is_one_row_that_says_how_many_periods_it_holds(file: Path) -> None:
    found = rows(gnomon("history", str(file), "past", "--json", "--count", "1000"))
    text = gnomon("history", str(file), "past", "--count", "1000")

    (whole,) = [row for row in found if row["lastPeriod"] is not None]
    assert (whole["outcome"], whole["reason"]) == ("missed", "outage")
    assert sum(int(str(row["periods"])) for row in found) in (180, 181)
    assert f"{whole['periods']} periods up to {whole['lastPeriod']}" in text.out


@clause("CLI-24")
def test_a_run_that_took_more_than_one_try_says_which_it_was(file: Path) -> None:
    with closing(sqlite3.connect(file.with_suffix(".sqlite3"))) as other:
        other.execute("UPDATE schedule_runs SET launches = 2, fence = 2 WHERE status = 'FAILED'")
        other.commit()

    done = gnomon("history", str(file), "owed")

    assert [line.endswith("try 2") for line in done.lines[2:]] == [True, False, False]


@clause("CLI-24")
def test_every_schedule_is_shown_when_none_is_named(file: Path) -> None:
    done = gnomon("history", str(file))

    assert [line for line in done.lines if line and " " not in line] == ["owed", "past", "waiting"]
    assert done.lines[-1] == "  nothing has happened yet"
    assert done.lines[1].split() == [
        "period", "state", "outcome", "reason", "status", "started", "ended", "detail",
    ]  # fmt: skip


@clause("CLI-24")
def test_the_number_of_rows_can_be_chosen(file: Path) -> None:
    assert len(rows(gnomon("history", str(file), "owed", "--json", "--count", "1"))) == 1


@clause("CLI-4", "CLI-24")
@pytest.mark.parametrize("count", ["0", "10001", "-1", "many"])
def test_a_number_of_rows_that_is_none_is_wrong_input(count: str, file: Path) -> None:
    done = gnomon("history", str(file), "--count", count)

    assert (done.code, done.out) == (1, "")
    wrong = f"error: count: must be a whole number from 1 to 10000, got '{count}'\n"
    assert done.err == f"{wrong}hint: write e.g. 10\n"


@clause("CLI-24")
def test_a_ledger_can_be_named_instead_of_the_file(file: Path) -> None:
    store = str(file.with_suffix(".sqlite3"))

    by_store = rows(gnomon("history", "owed", "--store", store, "--json"))

    assert by_store == rows(gnomon("history", str(file), "owed", "--json"))
    assert len(rows(gnomon("history", "--store", store, "--json"))) > 3


@clause("CLI-24")
def test_a_ledger_without_schedules_says_so(tmp_path: Path) -> None:
    store = tmp_path / "empty.sqlite3"
    asyncio.run(SqliteLedger.open(store).close())

    assert gnomon("history", "--store", str(store)).out == "There are no schedules.\n"


@clause("CLI-3", "CLI-24")
@pytest.mark.parametrize("name", ["nobody", "\udc80", "a\nb"])
def test_a_schedule_that_is_not_there_is_wrong_input(name: str, file: Path) -> None:
    done = gnomon("history", str(file), name)

    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("hint: the schedules are owed, past, waiting\n")


@clause("CLI-3", "CLI-24")
def test_a_ledger_that_is_not_there_is_a_failure_of_the_system(tmp_path: Path) -> None:
    done = gnomon("history", str(tmp_path / "none.toml"))

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {tmp_path / 'none.sqlite3'}: is not there\n")
    assert list(tmp_path.iterdir()) == []


@clause("CLI-4")
@pytest.mark.parametrize(
    "arguments",
    [
        ["history"],
        ["doctor"],
        ["history", "run.toml", "owed", "--store", "run.sqlite3"],
        ["doctor", "run.toml", "--store", "run.sqlite3"],
    ],
    ids=" ".join,
)
def test_exactly_one_ledger_has_to_be_named(arguments: list[str]) -> None:
    done = gnomon(*arguments)

    assert (done.code, done.out) == (1, "")
    assert "name either a file of schedules, or a ledger with --store" in done.err


@clause("CLI-25")
def test_history_and_doctor_can_be_asked_while_it_runs(file: Path) -> None:
    write(file.parent, '[[schedule]]\nname = "tick"\nevery = "1s"\ncommand = ["true"]\n')
    with running(file) as process:
        process.until("run ended", schedule="tick")

        found = rows(gnomon_process("history", str(file), "tick", "--json"))
        doctor = gnomon_process("doctor", str(file), "--json")

    assert "SUCCESS" in [row["status"] for row in found]
    assert doctor.json["findings"] == []
    assert str(doctor.json["owner"]).startswith(f"pid {process.process.pid} on ")


@clause("CLI-25")
def test_the_history_waits_for_no_lock(file: Path) -> None:
    with closing(sqlite3.connect(file.with_suffix(".sqlite3"), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM schedule_runs")

        found = rows(gnomon("history", str(file), "owed", "--json"))

        other.execute("ROLLBACK")
    assert [row["outcome"] for row in found] == ["executed", "missed", "missed"]


@clause("CLI-25")
def test_the_history_changes_no_byte_and_makes_no_file(file: Path) -> None:
    with closing(sqlite3.connect(file.with_suffix(".sqlite3"))) as other:
        # A writer with other zone data would look at every schedule again.
        other.execute("UPDATE ledger_meta SET value = '1999z' WHERE name = 'tzdata'")
        other.commit()
    before = {path.name: path.read_bytes() for path in file.parent.iterdir() if path.is_file()}

    assert len(rows(gnomon("history", str(file), "owed", "--json"))) == 3

    after = {path.name: path.read_bytes() for path in file.parent.iterdir() if path.is_file()}
    assert after == before


@clause("CLI-25")
def test_the_history_of_an_older_schema_says_who_brings_it_forward(file: Path) -> None:
    store = file.with_suffix(".sqlite3")
    with closing(sqlite3.connect(store)) as other:
        other.execute("PRAGMA user_version = 0")
        other.commit()
    before = store.read_bytes()

    done = gnomon("history", str(file))

    assert done.code == 2
    assert "has schema 0" in done.err
    assert "gnomon run, krond start, up, api and worker bring it forward" in done.err
    assert store.read_bytes() == before
