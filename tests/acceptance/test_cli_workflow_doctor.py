"""`gnomon workflow doctor`: what is wrong with a file of workflows, and what to do."""

import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.command_line import Done, gnomon
from tests.clauses import clause

SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders")
orders.consumer("sheet", subscribes=["orders"]).prepare(lambda ctx, state: {})
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    script = tmp_path / "orders.py"
    script.write_text(SCRIPT)
    store = tmp_path / "workflows.sqlite3"
    for command in (["deploy", str(script)], ["publish", "orders", "orders", "o1"]):
        assert gnomon("workflow", *command, "--store", str(store)).code == 0
    return store


def doctor(store: Path, *options: str) -> Done:
    return gnomon("workflow", "doctor", "--store", str(store), *options)


def ruin(store: Path, statement: str) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute(statement)
    connection.close()


def codes(store: Path) -> list[object]:
    done = doctor(store, "--json")
    assert done.code == 1
    findings = done.json["findings"]
    assert isinstance(findings, list)
    return [one["code"] for one in findings]


@clause("WDOC-1", "WDOC-2")
def test_a_store_in_good_order_is_said_to_be_so_and_left_as_it_is(store: Path) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in store.parent.iterdir())

    done = doctor(store)

    assert (done.code, done.lines) == (0, [
        "The workflows are in good order.",
        f"  store      {store}",
        "  schema     4 (newest known: 4)",
        f"  owner      no host: gnomon workflow run --store {store} starts one",
        "  workflows  1",
    ])  # fmt: skip
    assert before == sorted((path.name, path.stat().st_mtime_ns) for path in store.parent.iterdir())


@clause("WDOC-1")
def test_a_finding_says_what_it_is_about_and_what_to_do(store: Path) -> None:
    ruin(store, "UPDATE topics SET pending = 4")

    done = doctor(store)

    assert (done.code, done.lines[0]) == (1, "1 finding")
    assert done.lines[-2:] == [
        "count: orders: topic orders counts 4 pending events, and has 1",
        "  mend  stop the host and write the real number into the topic's row",
    ]


@clause("WDOC-3")
@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("newer", "PRAGMA user_version = 999"),
        ("older", "PRAGMA user_version = 1"),
        ("foreign", "PRAGMA application_id = 7"),
        ("foreign", "DROP TABLE workflow_meta"),
    ],
)
def test_a_file_of_another_version_or_program_is_a_finding(
    code: str, statement: str, store: Path
) -> None:
    ruin(store, statement)

    assert codes(store) == [code]


@clause("WDOC-3")
def test_a_file_that_is_no_database_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear doctor, " * 1_000)

    assert codes(file) == ["damaged"]
    assert list(tmp_path.iterdir()) == [file]


@clause("WDOC-1", "WDOC-2")
def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = doctor(tmp_path / "none.sqlite3")

    assert (done.code, done.out) == (2, "")
    assert "is not there" in done.err
    assert list(tmp_path.iterdir()) == []


@clause("WDOC-1")
def test_workflows_on_postgresql_are_examined_too(store: Path, database: str) -> None:
    script = store.parent / "orders.py"
    missing = gnomon("workflow", "doctor", "--store", database)
    assert (missing.code, "has no workflows" in missing.err) == (2, True)
    assert gnomon("workflow", "deploy", str(script), "--store", database).code == 0

    done = gnomon("workflow", "doctor", "--store", database)

    assert (done.code, done.lines[0]) == (0, "The workflows are in good order.")
