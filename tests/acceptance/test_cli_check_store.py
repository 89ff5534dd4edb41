"""`gnomon check` of a store: the journal of a `gnomon.Scheduler` is judged where it stands."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from gnomon import Scheduler
from gnomon.apps.declarative.recorder import trace_lines
from gnomon.cli.journal_trace import trace_of
from gnomon.ports import Entry, Event, JournalView, Registered
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.trace import Kind
from tests.acceptance.command_line import gnomon
from tests.clauses import clause
from tests.shell.virtual_time import VirtualClock, run_virtually

DELAY = timedelta(minutes=1)
MINUTES = 10


def nothing() -> None:
    """A callback."""


def kept(
    store: str, *, kept: int = 1_000, namespace: str = "default", restarts: int = 1
) -> list[Entry]:
    """What a scheduler at work on this store has written for a while, on virtual time."""
    written: list[Entry] = []

    async def work() -> None:
        clock = VirtualClock()
        for _ in range(restarts):
            scheduler = Scheduler(
                store, zone="UTC", clock=clock, threads=0, kept=kept, namespace=namespace,
                observe=written.extend,
            )  # fmt: skip
            await scheduler.initialize([("a", "* * * * *", nothing, DELAY)])
            await asyncio.sleep(60 * MINUTES)
            await scheduler.stop()

    run_virtually(work())
    return written


def spoil(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@clause("CHECK-7")
def test_a_store_has_the_verdicts_of_its_trace(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    entries = kept(str(path))
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    done = gnomon("check", str(path), "--zone", "UTC", "--json")

    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
    assert (done.code, done.err) == (0, "")
    trace = tmp_path / "t.jsonl"
    lines = trace_lines(entries, zone="UTC", reinitialize="reconcile")
    trace.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert gnomon("check", str(trace), "--json").json == done.json
    assert gnomon("check", str(path), "--zone", "UTC").lines[0] == "No axiom is broken."


@clause("CHECK-7")
@pytest.mark.parametrize("option", [[], ["--as-printed"], ["--happy", "disk"]])
def test_a_journal_that_breaks_an_axiom_is_found_out(tmp_path: Path, option: list[str]) -> None:
    path = tmp_path / "s.sqlite3"
    kept(str(path))
    spoil(path, "DELETE FROM journal WHERE t_ms BETWEEN 240000 AND 360000")
    done = gnomon("check", str(path), *option)

    assert done.code == 1
    assert any(one.split()[:2] == ["L1", "false"] for one in done.lines), done.out


@clause("CHECK-7")
def test_the_zone_says_when_something_was_due(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    kept(str(path))
    spoil(path, "UPDATE journal SET registrations = replace(registrations, '* * * * *', "
                "'* 0 * * *')")  # fmt: skip

    assert gnomon("check", str(path), "--zone", "UTC").code == 0
    assert gnomon("check", str(path), "--zone", "Asia/Tokyo").code == 1
    assert gnomon("check", str(path), "--zone", "Asia/Atlantis").code == 1


@clause("CHECK-7")
@pytest.mark.parametrize("size", [6, 13])
def test_a_journal_that_has_forgotten_its_beginning_is_judged_from_a_list_on(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "s.sqlite3"
    kept(str(path), kept=size, restarts=2)
    done = gnomon("check", str(path), "--zone", "UTC")

    assert (done.code, done.lines[0]) == (0, "No axiom is broken.")
    assert done.err.startswith("note: the oldest ")


@clause("CHECK-7")
def test_a_run_that_began_before_what_is_left_begins_with_the_list() -> None:
    listed = (Registered("a", "0 0 1 1 *", 60_000),)
    entries = [
        Entry(event, t, t, task, call, registered, "", number)
        for number, (event, t, task, call, registered) in enumerate([
            (Event.INIT_START, 10, "", 5, listed), (Event.INIT_FAILURE, 10, "", 5, ()),
            (Event.RUN_SUCCESS, 20, "b", 0, ()), (Event.INIT_START, 30, "", 6, listed),
            (Event.INIT_SUCCESS, 30, "", 6, ()), (Event.RUN_FAILURE, 40, "a", 0, ()),
            (Event.RUN_START, 50, "a", 0, ()), (Event.RUN_SUCCESS, 60, "a", 0, ()),
        ], start=3)
    ]  # fmt: skip
    trace = trace_of(JournalView(entries, {}), place="x")

    assert trace.gone == 2
    assert [(one.kind, one.t) for one in trace.events] == [
        (Kind.INIT_START, 30), (Kind.INIT_SUCCESS, 30), (Kind.RUN_START, 30),
        (Kind.RUN_FAILURE, 40), (Kind.RUN_START, 50), (Kind.RUN_SUCCESS, 60),
    ]  # fmt: skip


@clause("CHECK-7")
def test_each_journal_of_a_store_is_asked_for_by_its_namespace(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    kept(str(path), namespace="mine")

    assert gnomon("check", str(path), "--namespace", "mine", "--zone", "UTC").code == 0
    done = gnomon("check", str(path))
    assert done.code == 2
    assert "has no journal in the namespace 'default'" in done.err
    assert "hint: write --namespace with one of mine" in done.err


@clause("CHECK-7")
def test_another_store_is_refused_with_who_examines_it(tmp_path: Path) -> None:
    workflows, ledger = tmp_path / "w.sqlite3", tmp_path / "l.sqlite3"
    asyncio.run(made(str(workflows)))
    (tmp_path / "l.toml").write_text(
        '[[schedule]]\nname = "a"\ncron = "0 0 1 1 *"\ncommand = ["true"]\n'
    )
    assert gnomon("run", str(tmp_path / "l.toml"), "--once").code == 0
    for path, words in ((workflows, "gnomon workflow doctor"), (ledger, "gnomon doctor")):
        before = path.read_bytes()
        done = gnomon("check", str(path))
        assert (done.code, path.read_bytes() == before) == (2, True)
        assert f"{words} examines it" in done.err


async def made(path: str) -> None:
    await (await SqliteWorkflowLog.open(path, to_hold=False, threaded=False)).close()


@clause("CHECK-7")
def test_a_database_of_another_program_and_an_older_schema_are_refused(tmp_path: Path) -> None:
    foreign, older = tmp_path / "f.sqlite3", tmp_path / "o.sqlite3"
    spoil(foreign, "CREATE TABLE x (y)")
    kept(str(older))
    spoil(older, "PRAGMA user_version = 1")

    assert "is a database of another program" in gnomon("check", str(foreign)).err
    done = gnomon("check", str(older))
    assert (done.code, "the next start of its gnomon.Scheduler" in done.err) == (2, True)


@clause("CHECK-7")
def test_a_store_whose_log_is_lost_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    kept(str(path))
    (tmp_path / "s.sqlite3.lock").write_bytes(b"pid 1 on nowhere\nopen\n")
    done = gnomon("check", str(path), "--zone", "UTC")

    assert done.code == 2
    assert "its owner (pid 1 on nowhere) was cut off" in done.err


@clause("CHECK-7")
@pytest.mark.parametrize("option", ["--zone", "--namespace"])
def test_a_trace_in_a_file_says_its_zone_itself(tmp_path: Path, option: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"gnomon_trace": 1}\n')
    done = gnomon("check", str(path), option, "UTC")

    assert done.code == 1
    assert done.err.startswith(f"error: {option[2:]}: goes with the store of a gnomon.Scheduler")


@clause("CHECK-7")
def test_a_journal_on_postgresql_is_judged_and_left_as_it_is(database: str) -> None:
    async def work() -> None:
        async with asyncio.timeout(60):
            scheduler = Scheduler(database, zone="UTC")
            await scheduler.initialize([("a", "0 0 1 1 *", nothing, DELAY)])
            done = await asyncio.to_thread(gnomon, "check", database, "--zone", "UTC")
            assert (done.code, done.lines[0]) == (0, "No axiom is broken.")
            await scheduler.stop()

    absent = gnomon("check", database)
    assert (absent.code, "has no journal of a gnomon.Scheduler" in absent.err) == (2, True)
    assert gnomon("check", database).err == absent.err  # nothing was made
    asyncio.run(work())
    done = gnomon("check", database, "--namespace", "other")
    assert (done.code, "--namespace with one of default" in done.err) == (2, True)
