"""A krontab file is replaced as a whole, or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gnomon.apps.krond.files import replace_text
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.unprivileged import nobodys_directory, unprivileged

WRITERS, TRIES = 4, 60


@clause("KRONTAB-27")
def test_what_another_writer_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "site"
    file.write_text("theirs\n")

    with pytest.raises(DefinitionError, match="was changed meanwhile"):
        replace_text(file, "mine\n", old="before\n")
    with pytest.raises(DefinitionError, match="was changed meanwhile"):
        replace_text(file, "mine\n", old=None)

    assert file.read_text() == "theirs\n"
    assert [one.name for one in tmp_path.iterdir()] == ["site"]


@clause("KRONTAB-27")
def test_a_file_that_may_not_be_written_is_left_alone() -> None:
    with nobodys_directory() as folder, unprivileged():
        file = folder / "site"
        file.write_text("old\n")
        file.chmod(0o400)

        with pytest.raises(PermissionError):
            replace_text(file, "new\n", old="old\n")

        assert file.read_text() == "old\n"


@clause("KRONTAB-27")
def test_mode_and_owner_stay(tmp_path: Path) -> None:
    file = tmp_path / "site"
    file.write_text("old\n")
    file.chmod(0o640)
    owner = (65_534, 65_534) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(file, *owner)

    replace_text(file, "new\n", old="old\n")

    found = file.stat()
    assert file.read_text() == "new\n"
    assert (found.st_mode & 0o777, found.st_uid, found.st_gid) == (0o640, *owner)


@clause("KRONTAB-47")
def test_of_many_who_change_a_file_at_once_none_loses_what_it_has_written(tmp_path: Path) -> None:
    file = tmp_path / "site"
    file.write_text("")

    def write(writer: int) -> set[str]:
        written = set()
        for number in range(TRIES):
            old, line = file.read_text(), f"{writer}-{number}"
            try:
                replace_text(file, f"{old}{line}\n", old=old)
            except DefinitionError:
                continue
            written.add(line)
        return written

    with ThreadPoolExecutor(WRITERS) as pool:
        written = set[str]().union(*pool.map(write, range(WRITERS)))

    assert set(file.read_text().split()) == written
    assert [one.name for one in tmp_path.iterdir()] == ["site"]
