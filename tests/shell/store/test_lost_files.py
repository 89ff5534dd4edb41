"""
Files of a store that are lost, removed or replaced: while it is at rest, and under its owner.

A process that is killed is played by a copy of all files, on which no lock is held.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import Protocol

import pytest

from gnomon.errors import DamagedStoreError, StoreError, StoreGoneError, StoreHeldError
from gnomon.shell.store.database import Database
from gnomon.shell.store.examination import examine
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.ownership import Ownership
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow_examination import examine_workflows
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.clauses import clause


class Store(Protocol):
    database: Database

    async def close(self) -> None: ...


async def open_ledger(path: Path) -> Store:
    return SqliteLedger.open(path, exclusive=True)


async def open_journal(path: Path) -> Store:
    return (await SqliteJournalOpener(str(path), threaded=False).open()).source


async def open_workflows(path: Path) -> Store:
    return await SqliteWorkflowLog.open(str(path), to_hold=True, threaded=False)


async def share_workflows(path: Path) -> Store:
    """As a command does, beside an owner or without one."""
    return await SqliteWorkflowLog.open(str(path), threaded=False)


HEAD, FRAME = 32, 24 + 4_096
"""Bytes of a -wal."""

ACTS = ("open", "open", "write", "write", "close", "kill", "lose", "cut", "share")

Opening = Callable[[Path], Awaitable[Store]]
OWNERS = [open_ledger, open_journal, open_workflows]


@pytest.fixture(params=OWNERS, ids=["ledger", "journal", "workflows"])
def owner(request: pytest.FixtureRequest) -> Opening:
    found: Opening = request.param
    return found


def opened(open_store: Opening, path: Path) -> Store:
    async def work() -> Store:
        return await open_store(path)

    return asyncio.run(work())


def close(store: Store) -> None:
    asyncio.run(store.close())


def write(store: Store, value: int) -> None:
    def work(connection: object) -> None:
        database = store.database.connection
        database.execute("CREATE TABLE IF NOT EXISTS probe (value INTEGER)")
        database.execute("INSERT INTO probe VALUES (?)", (value,))

    store.database.write(work)


def values(store: Store) -> list[int]:
    return store.database.read(
        lambda connection: [row[0] for row in connection.execute("SELECT value FROM probe")]
    )


def killed(store: Store, folder: Path) -> Path:
    """What a killed owner leaves, in another folder."""
    folder.mkdir()
    path = Path(store.database.path)
    for one in path.parent.iterdir():
        if one.is_file():
            shutil.copy(one, folder)
    close(store)
    return folder / path.name


def beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}{ending}")


@clause("LEDGER-27")
def test_a_killed_owner_is_followed_and_its_commits_are_there(
    owner: Opening, tmp_path: Path
) -> None:
    store = opened(owner, tmp_path / "store")
    write(store, 1)
    path = killed(store, tmp_path / "killed")

    second = opened(owner, path)
    assert values(second) == [1]
    close(second)
    assert beside(path, ".lock").read_bytes() == b""


@clause("LEDGER-27")
@pytest.mark.parametrize("ending", ["-wal", ""])
def test_the_loss_of_the_newest_commits_is_refused_until_it_is_accepted(
    owner: Opening, ending: str, tmp_path: Path
) -> None:
    store = opened(owner, tmp_path / "store")
    write(store, 1)
    path = killed(store, tmp_path / "killed")
    lost = beside(path, ending)
    kept = lost.rename(tmp_path / "kept")

    for _ in range(2):
        with pytest.raises(DamagedStoreError, match=r"was cut off, and the .* missing; put it"):
            opened(owner, path)
    assert not lost.exists()
    kept.rename(lost)
    close(opened(owner, path))
    close(opened(owner, path))


@clause("LEDGER-27")
def test_an_empty_lock_accepts_the_loss(owner: Opening, tmp_path: Path) -> None:
    store = opened(owner, tmp_path / "store")
    path = killed(store, tmp_path / "killed")
    beside(path, "-wal").unlink()
    os.truncate(beside(path, ".lock"), 0)

    close(opened(owner, path))


@clause("LEDGER-27")
def test_the_doctor_finds_the_loss(tmp_path: Path) -> None:
    ledger = killed(opened(open_ledger, tmp_path / "ledger"), tmp_path / "a")
    workflows = killed(opened(open_workflows, tmp_path / "workflows"), tmp_path / "b")
    for path in (ledger, workflows):
        beside(path, "-wal").unlink()

    for code, problem in [
        *((one.code, one.problem) for one in examine(ledger).findings),
        *((one.code, one.problem) for one in examine_workflows(workflows).findings),
    ]:
        assert code == "damaged"
        assert "was cut off" in problem


@clause("LEDGER-27")
def test_a_new_file_has_its_tables_in_itself(owner: Opening, tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = opened(owner, path)
    alone = tmp_path / "alone"
    shutil.copy(path, alone)
    close(store)

    with closing(Database(str(alone), family=store.database._family, to_look=True)):
        pass


@clause("LEDGER-27")
@pytest.mark.parametrize("seed", range(3))
def test_whatever_processes_do_only_a_loss_is_refused(seed: int, tmp_path: Path) -> None:
    """Owners under two names, commands beside them, kills and losses, in any order."""
    chance = Random(seed)
    path, number, folders = tmp_path / "store", 0, 0
    known: list[int] = []
    mine: dict[str, Store] = {}

    def open_as(name: str) -> Store:
        opener = SqliteJournalOpener(str(path), namespace=name, threaded=False)
        return asyncio.run(opener.open()).source

    for _ in range(150):
        act = chance.choice(ACTS)
        name = chance.choice(["default", "other"])
        if act == "open" and name not in mine:
            mine[name] = open_as(name)
        elif act == "write" and name in mine:
            write(mine[name], number)
            known.append(number)
            number += 1
            assert values(mine[name]) == known
        elif act == "close" and name in mine:
            close(mine.pop(name))
        elif act == "share":
            with closing(Database(str(path), family="journal")) as shared:
                shared.read(lambda connection: connection.execute("SELECT 1"))
        elif act in ("kill", "lose", "cut") and mine:
            # All of them: a process that lives keeps the newest commits in its own hands.
            folders += 1
            folder = tmp_path / str(folders)
            folder.mkdir()
            for one in path.parent.iterdir():
                if one.is_file():
                    shutil.copy(one, folder)
            cut_off, path = list(mine), folder / path.name
            for store in mine.values():
                close(store)
            mine.clear()
            if act == "lose":
                wal = beside(path, "-wal")
                kept = wal.rename(tmp_path / "kept")
                for former in cut_off:
                    with pytest.raises(DamagedStoreError, match="was cut off"):
                        open_as(former)
                kept.rename(wal)
            elif act == "cut" and known:
                wal = beside(path, "-wal")
                whole = wal.read_bytes()
                wal.write_bytes(whole[:HEAD])
                for former in cut_off:
                    with pytest.raises(DamagedStoreError, match="was cut off"):
                        open_as(former)
                wal.write_bytes(whole)
    with closing(Database(str(path), family="journal", to_look=True)) as last:
        if known:
            found = last.connection.execute("SELECT value FROM probe").fetchall()
            assert [row[0] for row in found] == known
    for store in mine.values():
        close(store)


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.rename(path)


def move(path: Path) -> None:
    path.rename(path.with_name("moved"))


@clause("LEDGER-28")
@pytest.mark.parametrize("ending", ["", "-wal", ".lock"])
@pytest.mark.parametrize("fault", [remove, replace, move])
def test_a_file_that_is_removed_or_replaced_fails_every_call_of_its_owner(
    owner: Opening, ending: str, fault: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "store"
    store = opened(owner, path)
    write(store, 1)
    fault(beside(path, ending))

    what = "was replaced by another file" if fault is replace else "was removed"
    for call in (lambda: write(store, 2), lambda: values(store)):
        with pytest.raises(StoreGoneError, match=what) as raised:
            call()
        assert raised.value.where == str(beside(path, ending))
    close(store)


@clause("LEDGER-28")
def test_what_is_written_while_the_file_goes_is_not_taken_for_written(
    owner: Opening, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    store = opened(owner, path)

    with pytest.raises(StoreGoneError):
        store.database.write(lambda connection: path.unlink())
    close(store)


@clause("LEDGER-28")
def test_an_owner_whose_file_was_replaced_leaves_the_new_one_alone(
    owner: Opening, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    first = opened(owner, path)
    for one in tmp_path.iterdir():
        one.unlink()
    with ExitStack() as ending:
        second = opened(owner, path)
        ending.callback(close, second)
        write(second, 1)
        close(first)
        assert beside(path, "-wal").exists()
        assert beside(path, ".lock").read_bytes().endswith(b"open\n")
        assert values(second) == [1]


@clause("LEDGER-12")
def test_a_file_has_one_owner_by_whatever_name(owner: Opening, tmp_path: Path) -> None:
    path, link = tmp_path / "store", tmp_path / "link"
    store = opened(owner, path)
    link.symlink_to(path)

    with pytest.raises(StoreHeldError, match=rf"is held by pid {os.getpid()} on "):
        opened(owner, link)
    close(store)


@clause("LEDGER-28")
def test_a_directory_that_the_process_leaves_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = opened(open_journal, Path("store"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    write(store, 1)
    assert values(store) == [1]
    close(store)


@clause("LEDGER-12")
def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match=r"cannot be locked \(Operation not supported\); keep it"):
        Ownership(str(tmp_path / "store.lock"))
