"""Commands that run as another user, shown by the commands themselves."""

import asyncio
import grp
import os
import shutil
from pathlib import Path

import pytest

from gnomon.ports import Failed
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher, ProcessRules
from gnomon.shell.launcher.process_start import account_of, files_of
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.launcher.processes import run_one
from tests.unprivileged import nobodys_directory, unprivileged

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
WHO = 'grep -E "^(Uid|Gid|Groups):" /proc/self/status | tr -s "\\t " " "'


@root_only
@clause("LAUNCH-15")
def test_a_command_of_another_user_has_its_ids_and_its_groups(tmp_path: Path) -> None:
    end, printed = run_one({"shell": WHO, "user": "nobody"}, tmp_path)

    assert end.detail == "exit 0"
    assert [line.strip() for line in printed.splitlines()] == [
        "Uid: 65534 65534 65534 65534",
        "Gid: 65534 65534 65534 65534",
        "Groups: 65534",
    ]


@root_only
@clause("LAUNCH-15")
def test_a_group_takes_the_place_of_the_users_own(tmp_path: Path) -> None:
    _, printed = run_one({"shell": "id -u; id -g; id -G", "user": "nobody", "group": "daemon"},
                         tmp_path)  # fmt: skip

    assert printed.split() == ["65534", "1", "1"]


@root_only
@clause("LAUNCH-15")
def test_a_command_has_every_group_that_its_user_is_a_member_of(tmp_path: Path) -> None:
    members = {one.gr_mem[0]: one for one in grp.getgrall() if one.gr_mem}
    named = [one for one in members if one != "root"]
    if not named:
        pytest.skip("no user of this machine is a member of a further group")

    _, printed = run_one({"shell": "id -G", "user": named[0], "cwd": "/"}, tmp_path)

    assert str(members[named[0]].gr_gid) in printed.split()


@root_only
@clause("LAUNCH-15")
def test_a_group_alone_leaves_the_user(tmp_path: Path) -> None:
    _, printed = run_one({"shell": "id -u; id -g", "group": "daemon"}, tmp_path)

    assert printed.split() == ["0", "1"]


@root_only
@clause("LAUNCH-16")
def test_a_process_goes_to_its_directory_as_its_user(tmp_path: Path) -> None:
    _, printed = run_one({"shell": "pwd -P; echo ${OLDPWD-none}", "user": "daemon", "cwd": "/usr"},
                         tmp_path)  # fmt: skip

    assert printed.split() == ["/usr", "none"]


@root_only
@clause("LAUNCH-15")
def test_another_user_finds_his_own_environment(tmp_path: Path) -> None:
    text = "echo $USER $LOGNAME $HOME; pwd"
    _, printed = run_one({"shell": text, "user": "daemon"}, tmp_path)

    assert printed.splitlines() == ["daemon daemon /usr/sbin", "/usr/sbin"]


@root_only
@clause("LAUNCH-15")
def test_a_number_stands_for_a_user_without_a_name(tmp_path: Path) -> None:
    _, printed = run_one({"shell": "id -u; id -G; pwd", "user": "54321"}, tmp_path)

    assert printed.split() == ["54321", "54321", "/"]


@clause("LAUNCH-15")
@pytest.mark.parametrize(("given", "found"), [("0027", "0027"), ("77", "0077"), (None, "0022")])
def test_a_command_finds_its_umask(tmp_path: Path, given: str | None, found: str) -> None:
    target = {"shell": "umask"} | ({} if given is None else {"umask": given})

    async def scenario() -> str:
        launcher = ProcessLauncher(
            SystemClock(), directory=tmp_path, rules=ProcessRules(umask=0o022)
        )
        claim = a_claim(target)
        await launcher.launch(claim)
        await launcher.release(claim.key)
        await launcher.ended()
        path = launcher.output.newest(claim.key)
        return path.read_text() if path else ""

    assert asyncio.run(scenario()).strip() == found


@clause("LAUNCH-15")
@pytest.mark.parametrize(
    ("who", "why"),
    [
        ({"user": "no-such-user"}, "there is no user no-such-user"),
        ({"group": "no-such-group"}, "there is no group no-such-group"),
    ],
)
def test_who_is_not_there_cannot_run_anything(who: dict[str, str], why: str) -> None:
    async def scenario() -> object:
        return await ProcessLauncher(SystemClock()).launch(a_claim({"command": ["true"]} | who))

    failed = asyncio.run(scenario())

    assert isinstance(failed, Failed)
    assert why in failed.message
    assert not failed.permanent


@clause("LAUNCH-15")
def test_only_root_becomes_another_user_or_group() -> None:
    with unprivileged():
        own = account_of(str(os.geteuid()))
        with pytest.raises(OSError, match="only root can run a command as user daemon"):
            account_of("daemon")
        with pytest.raises(OSError, match="only root can run a command as group tty"):
            account_of("", "tty")

    assert own.identities == (None, None, None)


@root_only
@clause("LAUNCH-13")
def test_a_file_is_opened_with_the_rights_of_the_account(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)

    before = os.getgroups()
    with files_of(account_of("nobody")), pytest.raises(PermissionError):
        secret.open("a")

    secret.open("a").close()  # and afterwards everything is as it was
    assert os.getgroups() == before


@root_only
@clause("LAUNCH-16")
def test_the_groups_of_the_worker_do_not_count_for_the_files_of_a_user() -> None:
    former = os.getgroups()
    with nobodys_directory() as folder:
        file = folder / "of-a-group"
        file.write_text("of root and adm")
        shutil.chown(file, "root", "adm")
        file.chmod(0o660)
        target = {"shell": "echo more", "user": "nobody", "cwd": "/", "stdout": f"file:{file}"}
        os.setgroups([grp.getgrnam("adm").gr_gid])
        try:
            failed = asyncio.run(ProcessLauncher(SystemClock()).launch(a_claim(target)))
        finally:
            os.setgroups(former)

        assert isinstance(failed, Failed)
        assert file.read_text() == "of root and adm"


@root_only
@clause("LAUNCH-16")
def test_a_program_that_the_user_could_not_run_is_a_launch_that_failed(tmp_path: Path) -> None:
    folder = tmp_path / "of-root"
    folder.mkdir(mode=0o700)
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)
    command = [str(folder / "program")]
    target = {"command": command, "user": "nobody", "cwd": "/"}

    failed = asyncio.run(ProcessLauncher(SystemClock()).launch(a_claim(target)))

    assert isinstance(failed, Failed)
    assert failed.message == f"Permission denied: {command[0]}"


@root_only
@clause("LAUNCH-16")
def test_a_program_is_looked_for_where_the_user_can_find_it(tmp_path: Path) -> None:
    with nobodys_directory() as folder:
        closed, open_ = folder / "of-root", folder / "of-all"
        for place in (closed, open_):
            place.mkdir()
            (place / "program").write_text(f"#!/bin/sh\necho {place.name}\n")
            (place / "program").chmod(0o755)
        closed.chmod(0o700)
        path = {"PATH": f"{closed}:{open_}"}
        target = {"command": ["program"], "user": "nobody", "cwd": "/", "env": path}

        _, printed = run_one(target, tmp_path)

    assert printed == "of-all\n"
