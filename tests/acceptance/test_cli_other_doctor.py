"""A file of Gnomon's that is brought to the wrong doctor: it is told to which one it belongs."""

import asyncio
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.acceptance.command_line import gnomon
from tests.clauses import clause

DOCTORS = {"ledger": ("doctor",), "workflow": ("workflow", "doctor")}


def make_ledger(path: Path) -> None:
    asyncio.run(SqliteLedger.open(path).close())


def make_workflow(path: Path) -> None:
    async def make() -> None:
        await (await SqliteWorkflowLog.open(str(path))).close()

    asyncio.run(make())


def make_journal(path: Path) -> None:
    async def make() -> None:
        await (await SqliteJournalOpener(str(path)).open()).close()

    asyncio.run(make())


def remedy(doctor: str, store: Path) -> str:
    """What a doctor says is to be done with a file that it does not examine."""
    before = store.read_bytes()
    done = gnomon(*DOCTORS[doctor], "--store", str(store))
    assert (done.code, done.err, done.lines[0]) == (1, "", "1 finding")
    assert done.lines[-2].startswith("foreign: the file is Gnomon's, but holds no ")
    assert store.read_bytes() == before
    return done.lines[-1].removeprefix("  mend  ")


@clause("CLI-36")
@pytest.mark.parametrize(
    ("asked", "make", "said"),
    [
        ("ledger", make_workflow, "it holds workflows: gnomon workflow doctor --store "),
        ("workflow", make_ledger, "it is a ledger: gnomon doctor --store "),
    ],
)
def test_a_file_for_the_other_doctor_is_sent_there_with_a_line_that_works(
    tmp_path: Path, asked: str, make: Callable[[Path], None], said: str
) -> None:
    store = tmp_path / "my store.sqlite3"
    make(store)

    found = remedy(asked, store)

    assert found == f"{said}'{store}'"
    _, *line = shlex.split(found.partition(": ")[2])
    assert gnomon(*line).code == 0


@clause("CLI-36")
@pytest.mark.parametrize("asked", DOCTORS)
def test_a_journal_is_said_to_be_one(tmp_path: Path, asked: str) -> None:
    store = tmp_path / "gnomon.sqlite3"
    make_journal(store)

    assert remedy(asked, store) == (
        f"it is the journal of a gnomon.Scheduler: gnomon check {store}"
    )


@clause("CLI-36")
def test_the_remedy_is_the_same_in_json(tmp_path: Path) -> None:
    store = tmp_path / "workflows.sqlite3"
    make_workflow(store)

    found = gnomon("doctor", "--store", str(store), "--json").json["findings"]

    assert isinstance(found, list)
    assert [one["remedy"] for one in found] == [
        f"it holds workflows: gnomon workflow doctor --store {store}"
    ]
