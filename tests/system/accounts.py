"""Users and groups that are made for tests, and taken away again."""

import grp
import pwd
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

__all__ = ["made", "setpriv"]


@contextmanager
def made(users: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """These users, each with the further groups that it is a member of."""
    groups = sorted({group for further in users.values() for group in further})
    _forget(users, groups)  # an earlier test may have been killed
    for group in groups:
        _run("groupadd", group)
    try:
        for user, further in users.items():
            wanted = ["--groups", ",".join(further)] if further else []
            _run("useradd", "--no-create-home", "--user-group", *wanted, user)
        yield
    finally:
        _forget(users, groups)


def setpriv(user: str, group: str = "") -> list[str]:
    """The command that has the rest of its line run as a user, by what /etc/group says."""
    found = pwd.getpwnam(user)
    gid = grp.getgrnam(group).gr_gid if group else found.pw_gid
    further = {gid} | {one.gr_gid for one in grp.getgrall() if user in one.gr_mem}
    numbers = ",".join(map(str, sorted(further)))
    return ["setpriv", f"--reuid={found.pw_uid}", f"--regid={gid}", f"--groups={numbers}", "--"]


def _forget(users: Mapping[str, Sequence[str]], groups: Sequence[str]) -> None:
    for user in users:
        if any(one.pw_name == user for one in pwd.getpwall()):
            _run("userdel", user)
    for group in groups:
        if any(one.gr_name == group for one in grp.getgrall()):
            _run("groupdel", group)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
