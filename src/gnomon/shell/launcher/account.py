"""
As whom does a process run?

As the user of the worker, unless its command names another user or group. Then the process gets
that user's id, the group's id and the further groups that the machine knows for that user, as cron
and a login have it. Only root can do that.

A worker that cannot become the user gets an `OSError` that says so: it may be otherwise later.

Spec: LAUNCH-15.
"""

import errno
import grp
import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Account", "Identities", "account_of"]


class Identities(NamedTuple):
    """What the system is told to make of a new process; None for as it is."""

    user: int | None = None
    group: int | None = None
    extra_groups: Sequence[int] | None = None


_AS_IT_IS = Identities()


class Account(NamedTuple):
    """A user, with the group that counts."""

    name: str
    uid: int
    gid: int
    home: str
    identities: Identities

    @property
    def place(self) -> str:
        """Where its processes start: at home, if there is one."""
        return self.home if Path(self.home).is_dir() else "/"


def account_of(user: str = "", group: str = "") -> Account:
    """The account with these names or numbers; empty ones are the worker's own."""
    own = os.geteuid()
    name, uid, gid, home = _user(user) if user else _of_number(own)
    if group:
        gid = _group(group)
    if not user and not group:
        return Account(name, uid, gid, home, _AS_IT_IS)
    if own == 0:
        return Account(name, uid, gid, home, Identities(uid, gid, _further_groups(name, gid)))
    if uid != own or (group and gid != os.getegid()):
        wanted = f"user {user}" if uid != own else f"group {group}"
        raise OSError(errno.EPERM, f"only root can run a command as {wanted}")
    return Account(name, uid, gid, home, _AS_IT_IS)


def _user(user: str) -> tuple[str, int, int, str]:
    try:
        found = pwd.getpwnam(user)
    except KeyError:
        _check_known()
        if user.isascii() and user.isdecimal():
            return _of_number(int(user))
        raise OSError(errno.ENOENT, f"there is no user {user}") from None
    return found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir


def _of_number(uid: int) -> tuple[str, int, int, str]:
    try:
        found = pwd.getpwuid(uid)
    except KeyError:
        _check_known()  # then a number may stand for a user whom this machine does not know
        return str(uid), uid, uid if uid != os.geteuid() else os.getegid(), "/"
    return found.pw_name, uid, found.pw_gid, found.pw_dir


def _group(group: str) -> int:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        _check_known()
        if group.isascii() and group.isdecimal():
            return int(group)
        raise OSError(errno.ENOENT, f"there is no group {group}") from None


def _check_known() -> None:
    """A machine that could not look says that there is no such name; then this fails, too."""
    os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))


def _further_groups(name: str, group: int) -> tuple[int, ...]:
    """The groups that the machine knows for a user, and this one."""
    return tuple(sorted({group, *os.getgrouplist(name, group)}))
