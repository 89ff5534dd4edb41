"""Where the output of a command goes."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError
from gnomon.ports import Ended, Failed
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher import outputs
from gnomon.shell.launcher.command import parse_command
from gnomon.shell.launcher.process import ProcessLauncher
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.launcher.processes import run_one
from tests.unprivileged import nobodys_directory

BOTH = "echo out; echo err >&2"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@clause("LAUNCH-13")
def test_each_output_has_its_own_place(tmp_path: Path) -> None:
    file = tmp_path / "err.txt"
    file.write_text("before\n")

    _, kept = run_one({"shell": BOTH, "stderr": f"file:{file}"}, tmp_path / "kept")

    assert kept == "out\n"
    assert file.read_text() == "before\nerr\n"


@clause("LAUNCH-13")
def test_two_outputs_in_one_file_keep_their_order(tmp_path: Path) -> None:
    place = f"file:{tmp_path / 'both.txt'}"

    run_one({"shell": f"{BOTH}; echo more", "stdout": place, "stderr": place}, tmp_path / "kept")

    assert (tmp_path / "both.txt").read_text() == "out\nerr\nmore\n"
    assert list((tmp_path / "kept").iterdir()) == []


@clause("LAUNCH-13")
def test_a_new_file_has_the_rights_that_the_umask_leaves(tmp_path: Path) -> None:
    target = {"shell": BOTH, "stdout": "file:out.txt", "umask": "0027", "cwd": str(tmp_path)}

    run_one(target, tmp_path / "kept")

    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640


@clause("LAUNCH-13")
def test_what_is_discarded_is_nowhere(tmp_path: Path) -> None:
    end, kept = run_one({"shell": BOTH, "stdout": "discard", "stderr": "discard"}, tmp_path)

    assert (end.detail, kept) == ("exit 0", "")


@clause("LAUNCH-13")
def test_what_is_inherited_goes_where_the_worker_prints(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_one({"shell": BOTH, "stdout": "inherit", "stderr": "inherit"}, tmp_path)

    assert capfd.readouterr() == ("out\n", "err\n")


@clause("LAUNCH-13")
def test_each_write_is_a_message_of_the_systems_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(tmp_path / "log"))
        monkeypatch.setattr(outputs, "SYSTEM_LOG", str(tmp_path / "log"))

        run_one({"shell": "echo one; echo two", "stdout": "syslog"}, tmp_path / "kept")

        assert [log.recv(100), log.recv(100)] == [b"one\n", b"two\n"]


def refusal(target: dict[str, object]) -> str:
    async def scenario() -> Ended | Failed | object:
        return await ProcessLauncher(SystemClock()).launch(a_claim(target))

    failed = asyncio.run(scenario())
    assert isinstance(failed, Failed)
    assert not failed.permanent
    return failed.message


@clause("LAUNCH-13")
@pytest.mark.parametrize("place", ["file:/no/such/directory/out.txt", "file:/", "syslog"])
def test_a_command_without_its_output_is_not_started(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "SYSTEM_LOG", str(tmp_path / "none"))

    said = refusal({"shell": f"touch {tmp_path}/ran", "stdout": place})

    assert said.startswith(("the file for the output cannot be opened: ", "[Errno"))
    assert not (tmp_path / "ran").exists()


@clause("LAUNCH-13")
def test_a_pipe_without_a_reader_is_not_waited_for(fifo: Path) -> None:
    assert "No such device or address" in refusal({"shell": "exit", "stderr": f"file:{fifo}"})


@root_only
@clause("LAUNCH-13")
def test_a_file_that_its_user_could_not_write_is_not_written() -> None:
    with nobodys_directory() as folder:
        file = folder / "of-root.txt"
        file.write_text("mine\n")
        file.chmod(0o644)

        said = refusal(
            {"shell": "echo yours", "user": "nobody", "cwd": "/", "stdout": f"file:{file}"}
        )

        assert "denied" in said
        assert file.read_text() == "mine\n"


@clause("LAUNCH-13")
@pytest.mark.parametrize("place", ["", "file:", "screen", "FILE:/tmp/x"])
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(DefinitionError, match=r"target.stdout: is no place for output"):
        parse_command(f'{{"command": ["true"], "stdout": "{place}"}}')
