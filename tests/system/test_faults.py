"""
Every door under a shim that makes the machine fail, judged by what it has done.

While files cannot be written, disks are full and descriptors are missing, no door may end, double a
period or speak of a bug; when that is over it goes on. Frozen and killed, it goes on as well. When
its store lost commits, all or some, or is not the one any more that it has opened, it refuses or
ends.

On PostgreSQL a door has no descriptors for its connections, and the server is frozen and cut off,
or cannot write its log and its tables.
"""

import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clauses import clause
from tests.postgres.server import Server
from tests.postgres.sharing import create_database
from tests.system.shim import DOORS, SHARED, Life, build, set_fault, until

SEED, ROUNDS = "faults-1", 3
CUTS, WAL_HEAD, WAL_FRAME = 4, 32, 24 + 4_096


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One of its own, because it is to fail."""
    made = Server()
    try:
        made.create()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def failing(library: Path) -> Iterator[Server]:
    """
    One whose files cannot be written now and then.

    Once it has crashed it stays down until the test revives it on a disk that works: PostgreSQL's
    own recovery on a disk that fails can hang for ever, with no startup process left.
    """
    made = Server()
    try:
        made.create(fsync=True, more="restart_after_crash = off\n")
        made.stop()
        shutil.copy(library, made.directory)
        (made.directory / library.name).chmod(0o755)
        (made.directory / "faults").write_bytes(b"\0\0")
        made.environment = {
            "LD_PRELOAD": str(made.directory / library.name),
            "GNOMON_FAULTS": str(made.directory / "faults"),
        }
        made.start()
        yield made
    finally:
        made.remove()


def judge(life: Life) -> None:
    """No period ran twice, and nothing was taken for a bug of ours."""
    if life.door.once:
        twice = [line for line, times in Counter(life.lines()).items() if times > 1]
        assert twice == [], life.log[-3_000:]
    for word in ("this is a bug", "Traceback", "is damaged"):
        assert word not in life.log, life.log[-5_000:]


def pause(life: Life, looks: int) -> None:
    """As long as it takes another process to look at its log so often; no fault is to be short."""
    for _ in range(looks):
        shutil.copy(life.folder / "log", life.folder / "log.copy")
        signal.sigtimedwait([], 0.1)


@clause("RUN-4", "RUN-17", "LAUNCH-17", "LEDGER-10")
@pytest.mark.parametrize("name", DOORS)
def test_a_door_outlasts_what_its_machine_does(name: str, library: Path, tmp_path: Path) -> None:
    dice, told = random.Random(f"{SEED} {name}"), []
    with Life(DOORS[name], tmp_path, library) as life:
        life.works()
        for what in ("i", "s", "d", "freeze", "kill", *dice.choices("isd", k=ROUNDS)):
            told.append(what)
            if what == "kill":
                life.kill()
                life.again()
                life.works()  # to begin on a disk that fails is refused
            elif what == "freeze":
                life.process.send_signal(signal.SIGSTOP)
                pause(life, 15)
                life.process.send_signal(signal.SIGCONT)
            else:
                life.fault(what, dice.choice([10, 50, 100]))
                pause(life, 7)
                life.fault()
        life.works()
        judge(life)
    print(f"\n{name}: {told}, {len(life.lines())} lines")


@clause("RUN-4", "RUN-17", "LAUNCH-17", "PG-9", "PG-13")
@pytest.mark.parametrize("name", SHARED)
def test_a_door_on_postgresql_outlasts_what_its_machines_do(
    name: str, library: Path, server: Server, tmp_path: Path
) -> None:
    dice, told = random.Random(f"{SEED} {name}"), []
    url = create_database(server, name)
    with Life(SHARED[name], tmp_path, library, url) as life:
        life.works()
        faults = ("d", "freeze", "kill", "server freezes", "server crashes")
        for what in (*faults, *dice.choices(faults, k=ROUNDS)):
            told.append(what)
            if what == "kill":
                life.kill()
                life.again()
            elif what == "freeze":
                life.process.send_signal(signal.SIGSTOP)
                pause(life, 15)
                life.process.send_signal(signal.SIGCONT)
            elif what == "server freezes":
                server.signal(signal.SIGSTOP)
                pause(life, 15)
                server.signal(signal.SIGCONT)
            elif what == "server crashes":
                server.stop("immediate")
                pause(life, 7)
                server.start()
            else:
                life.fault(what, dice.choice([10, 50, 100]))
                pause(life, 15)
                life.fault()
            life.works()
        judge(life)
    print(f"\n{name}: {told}, {len(life.lines())} lines")


@clause("RUN-4", "PG-9", "PG-13")
@pytest.mark.parametrize("name", ["shared run", "shared scheduler"])  # which write
def test_a_door_outlasts_a_server_whose_disk_fails(
    name: str, library: Path, failing: Server, tmp_path: Path
) -> None:
    dice, told = random.Random(f"{SEED} {name} disk"), list[str]()
    url, faults = create_database(failing, name), failing.directory / "faults"
    with Life(SHARED[name], tmp_path, library, url) as life:
        for what in ("i", "s", "l", "L", *dice.choices("islL", k=ROUNDS)):
            life.works()
            percent, begun = dice.choice([1, 10, 100]), len(failing.log)
            told.append(f"{what} {percent}")
            set_fault(faults, what, percent)
            pause(life, 15)
            set_fault(faults)
            told.append("PANIC" if "PANIC" in failing.log[begun:] else "went on")
            until(failing.serves, "the server to be back")
        life.works()
        judge(life)
    print(f"\n{name}: {told}, {len(life.lines())} lines")
    assert "PANIC" in told


@clause("LEDGER-27")
@pytest.mark.parametrize("name", DOORS)
def test_a_door_refuses_a_store_that_lost_commits(name: str, library: Path, tmp_path: Path) -> None:
    with Life(DOORS[name], tmp_path, library) as life:
        life.works()
        life.kill()
        kept = life.wal().rename(tmp_path / "kept")
        life.again()
        assert life.ends() == life.door.code
        assert "was cut off, and the -wal" in life.log
        kept.rename(life.wal())
        life.again()
        life.works()
        if life.door.once:
            assert max(Counter(life.lines()).values()) == 1


@clause("LEDGER-30")
@pytest.mark.parametrize("name", DOORS)
def test_a_door_runs_nothing_twice_on_half_a_wal(name: str, library: Path, tmp_path: Path) -> None:
    """Cut at the edge of a frame, or in one: it is refused, or everything is there all the same."""
    dice, refused = random.Random(f"{SEED} {name} wal"), 0
    with Life(DOORS[name], tmp_path, library) as life:
        for _ in range(CUTS):
            life.works()
            life.kill()
            whole = life.wal().read_bytes()
            frame = dice.randrange((len(whole) - WAL_HEAD) // WAL_FRAME) * WAL_FRAME + WAL_HEAD
            life.wal().write_bytes(whole[: frame + dice.choice([0, dice.randrange(WAL_FRAME)])])
            life.again()
            if life.goes_on():
                life.kill()
            else:
                refused += 1
                assert life.process.returncode == life.door.code
                assert "the end of the -wal, which has its newest commits, is lost" in life.log
                life.wal().write_bytes(whole)
            life.again()
        life.works()
        if life.door.once:
            assert max(Counter(life.lines()).values()) == 1, life.log[-3_000:]
    assert refused


@clause("LEDGER-28", "RUN-16")
@pytest.mark.parametrize("name", DOORS)
def test_a_door_ends_when_its_store_is_not_the_one_any_more(
    name: str, library: Path, tmp_path: Path
) -> None:
    with Life(DOORS[name], tmp_path, library) as life:
        life.works()
        copy = tmp_path / "copy"
        shutil.copy(life.store, copy)
        copy.rename(life.store)
        assert life.ends() == life.door.code
        assert "was replaced by another file while this process used it" in life.log
