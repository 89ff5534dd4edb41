"""
A state directory that another user could have laid is refused, and nothing that it names changes.

Every name that krond uses, and one that it does not, is planted in every way: as a link to a file,
to a directory and to nothing, as a second name of a file. What a planted name leads to must be as
it was.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.apps.krond.state import StateDirectory
from gnomon.errors import StoreError
from gnomon.shell.store.ownership import Ownership
from tests.clauses import clause
from tests.unprivileged import nobodys_directory, unprivileged

NAMES = (
    "krond.sqlite3", "krond.sqlite3-wal", "krond.sqlite3-shm", "krond.sqlite3-journal",
    "krond.sqlite3.lock", "krond.log", "krond.log.1", "krond.sock", "output", "other",
)  # fmt: skip
WAYS: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda path, victim: path.symlink_to(victim / "file"),
    "link to a directory": lambda path, victim: path.symlink_to(victim),
    "link to nothing": lambda path, victim: path.symlink_to(victim / "none"),
    "second name": lambda path, victim: path.hardlink_to(victim / "file"),
}
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def seen(folder: Path) -> dict[str, tuple[int, str]]:
    """The modes and texts of what is in a directory."""
    return {
        path.name: (path.stat().st_mode, path.read_text() if path.is_file() else "")
        for path in (folder, *folder.iterdir())
    }


@clause("KROND-33")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", WAYS)
def test_what_was_planted_is_refused_and_left_alone(tmp_path: Path, name: str, way: str) -> None:
    victim, state = tmp_path / "victim", StateDirectory(tmp_path / "state")
    victim.mkdir(mode=0o755)
    (victim / "file").write_text("of root")
    state.path.mkdir(mode=0o700)
    WAYS[way](state.path / name, victim)
    before = seen(victim)

    with pytest.raises(StoreError, match=re.escape(f"{state.path / name}: ")) as refused:
        state.prepare()

    assert "take it away" in str(refused.value)
    assert seen(victim) == before


@clause("KROND-33")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777, 0o775])
def test_a_directory_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    state = StateDirectory(tmp_path / "state")
    state.path.mkdir()
    state.path.chmod(mode)

    with pytest.raises(StoreError, match="can be written by other users") as refused:
        state.prepare()

    assert f"run: chmod go-w {state.path}" in str(refused.value)
    assert state.path.stat().st_mode & 0o7777 == mode


@clause("KROND-33")
def test_the_hint_leads_to_a_directory_that_is_taken(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.path.mkdir()
    state.path.chmod(0o777 & ~0o022)  # chmod go-w

    state.prepare()

    assert state.path.stat().st_mode & 0o777 == 0o700


@clause("KROND-17")
@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o744, 0o500, 0o700])
def test_a_directory_that_others_can_only_read_is_closed_to_them(tmp_path: Path, mode: int) -> None:
    state = StateDirectory(tmp_path / "state")
    state.path.mkdir()
    state.path.chmod(mode)
    (state.path / "krond.log").write_text("")

    state.prepare()

    assert state.path.stat().st_mode & 0o077 == 0


@clause("KROND-33")
def test_a_directory_where_others_can_replace_it_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "everyones"
    folder.mkdir()
    folder.chmod(0o777)

    with pytest.raises(StoreError, match="is in a directory where other users can replace it"):
        StateDirectory(folder / "state").prepare()


@root_only
@clause("KROND-33")
def test_a_link_of_another_user_leads_nowhere() -> None:
    with nobodys_directory() as folder:
        victim = folder / "of-root"
        victim.mkdir(mode=0o755)
        state = StateDirectory(folder / "state")
        state.path.symlink_to(victim)
        os.lchown(state.path, 65_534, 65_534)

        with pytest.raises(StoreError, match="is a link of another user"):
            state.prepare()

        assert victim.stat().st_mode & 0o777 == 0o755


@clause("KROND-33")
def test_a_link_of_the_user_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    state = StateDirectory(tmp_path / "state")
    state.path.symlink_to(tmp_path / "elsewhere")

    state.prepare()

    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o700


@root_only
@clause("KROND-33")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    state.log.write_text("")
    os.chown(state.log, 65_534, 65_534)

    with pytest.raises(StoreError, match=r"krond\.log: belongs to another user"):
        state.prepare()


@clause("KROND-17")
def test_a_directory_of_another_user_is_refused() -> None:
    with unprivileged(), pytest.raises(StoreError, match="belongs to another user"):
        StateDirectory(Path("/usr")).prepare()


@clause("KROND-33")
def test_neither_lock_nor_log_follows_a_link(tmp_path: Path) -> None:
    state, victim = StateDirectory(tmp_path / "state"), tmp_path / "victim"
    state.prepare()
    victim.write_text("of root")
    state.log.symlink_to(victim)
    lock = Path(f"{state.ledger}.lock")
    lock.symlink_to(victim)

    with pytest.raises(StoreError, match=r"krond\.log: cannot be written to \(is a link\)"):
        state.open_log(state.log)
    with pytest.raises(StoreError, match="is a link, and Gnomon makes none"):
        Ownership(str(lock))

    assert victim.read_text() == "of root"


@clause("KROND-33")
def test_a_log_elsewhere_may_be_a_link_that_its_user_made(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    (tmp_path / "log").symlink_to(tmp_path / "real")

    os.close(state.open_log(tmp_path / "log"))

    assert (tmp_path / "real").exists()
