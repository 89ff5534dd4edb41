"""
A `-wal` that has lost its end, or has other bytes, after its owner was killed.

A process that is killed is played by a copy of all files, on which no lock is held.
"""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from gnomon.errors import DamagedStoreError
from gnomon.shell.store.database import Database
from gnomon.shell.store.examination import examine
from gnomon.shell.store.wal import WalMark
from tests.clauses import clause
from tests.shell.store.test_lost_files import (
    FRAME,
    HEAD,
    OWNERS,
    Opening,
    beside,
    close,
    killed,
    open_ledger,
    opened,
    values,
    write,
)


def cut(wal: Path, chance: Random) -> str:
    """Take the end away, at the edge of a frame or in one, or spoil some bytes; what was done."""
    size = wal.stat().st_size
    if chance.random() < 0.3:
        at, length = chance.randrange(size), chance.choice([1, 512, 4_096])
        with wal.open("r+b") as file:
            file.seek(at)
            file.write(chance.randbytes(min(length, size - at)))
        return f"{length} bytes spoilt at {at} of {size}"
    frame = HEAD + chance.randrange((size - HEAD) // FRAME) * FRAME
    at = chance.choice([frame, frame + chance.randrange(FRAME), chance.randrange(HEAD + 1)])
    os.truncate(wal, at)
    return f"cut at {at} of {size}"


@clause("LEDGER-30")
@pytest.mark.parametrize("owner", OWNERS, ids=["ledger", "journal", "workflows"])
@pytest.mark.parametrize("seed", range(3))
def test_a_wal_without_its_end_is_refused_or_has_lost_nothing(
    owner: Opening, seed: int, tmp_path: Path
) -> None:
    """Whatever is missing: a store that is opened has everything that was committed."""
    chance, refused = Random(seed), 0
    store, known = opened(owner, tmp_path / "store"), 0
    for number in range(25):
        for _ in range(chance.randrange(1, 12)):
            known += 1
            write(store, known)
        if chance.random() < 0.3:  # what follows is written from the beginning on
            store.database.connection.execute("PRAGMA wal_checkpoint(FULL)")
        folder = tmp_path / str(number)
        folder.mkdir()
        for one in tmp_path.iterdir():
            if one.is_file():
                shutil.copy(one, folder)
        done = cut(beside(folder / "store", "-wal"), chance)
        before = beside(folder / "store", "-wal").read_bytes()
        try:
            found = opened(owner, folder / "store")
        except DamagedStoreError:
            refused += 1
            with pytest.raises(DamagedStoreError, match="was cut off, and the"):
                Database(str(folder / "store"), family=store.database._family)
            assert beside(folder / "store", "-wal").read_bytes() == before
            continue
        assert values(found) == list(range(1, known + 1)), done
        close(found)
    assert 5 < refused < 25
    close(store)


@clause("LEDGER-30")
def test_the_doctor_finds_that_the_end_of_a_wal_is_lost(tmp_path: Path) -> None:
    store = opened(open_ledger, tmp_path / "ledger")
    write(store, 1)
    path = killed(store, tmp_path / "killed")
    os.truncate(beside(path, "-wal"), HEAD + FRAME)

    (found,) = examine(path).findings
    assert found.code == "damaged"
    assert found.problem.endswith("the end of the -wal, which has its newest commits, is lost")


@clause("LEDGER-30")
def test_what_no_process_of_ours_has_written_in_a_lock_is_no_mark() -> None:
    mark = WalMark(1, 2**32 - 1, 17)

    assert WalMark.read(mark.line().decode()) == mark
    for text in ("", "open", "pid 7 on atlas", "wal 1 2", "wal x 2 3", "was 1 2 3"):
        assert WalMark.read(text) is None
