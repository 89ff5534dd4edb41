"""
As whom does a process run?

As the user of the worker, unless its command names another user or group. Then the process gets
that user's id, the group's id and no other group at all, before it does anything; and a file that
is opened for it is opened with the rights of that user. Only root can do that.

Who cannot become somebody gets an `OSError` that says so: it may be otherwise later.

Spec: LAUNCH-12.
"""

import contextlib
import ctypes
import errno
import grp
import os
import pwd
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["Account", "Identities", "account_of", "check_entrance", "files_of"]

_NO_GROUPS: Sequence[int] = ()


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
        return Account(name, uid, gid, home, Identities(uid, gid, _NO_GROUPS))
    if uid != own or (group and gid != os.getegid()):
        wanted = f"user {user}" if uid != own else f"group {group}"
        raise OSError(errno.EPERM, f"only root can run a command as {wanted}")
    return Account(name, uid, gid, home, _AS_IT_IS)


@contextlib.contextmanager
def files_of(account: Account) -> Iterator[None]:
    """Within this block, and this thread, files are opened with the rights of the account."""
    user, group, _ = account.identities
    if user is None or group is None:
        yield
        return
    library = _library()
    former_group, former_user = library.setfsgid(group), library.setfsuid(user)
    try:
        # These calls say nothing when they fail; to ask again is the way to know.
        if library.setfsuid(-1) != user or library.setfsgid(-1) != group:
            raise OSError(errno.EPERM, f"files cannot be opened as user {account.name}")
        yield
    finally:
        library.setfsuid(former_user)
        library.setfsgid(former_group)


def check_entrance(account: Account, directory: str) -> None:
    """Refuse a directory that the account could not enter by itself: the worker perhaps could."""
    with files_of(account):
        try:
            os.stat(f"{directory}/.")
        except OSError as error:
            said = f"the working directory cannot be entered: {error.strerror}"
            raise OSError(error.errno, said, directory) from error


def _user(user: str) -> tuple[str, int, int, str]:
    try:
        found = pwd.getpwnam(user)
    except KeyError:
        if user.isascii() and user.isdecimal():
            return _of_number(int(user))
        raise OSError(errno.ENOENT, f"there is no user {user}") from None
    return found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir


def _of_number(uid: int) -> tuple[str, int, int, str]:
    try:
        found = pwd.getpwuid(uid)
    except KeyError:  # a number may stand for somebody whom this machine does not know
        return str(uid), uid, uid if uid != os.geteuid() else os.getegid(), "/"
    return found.pw_name, uid, found.pw_gid, found.pw_dir


def _group(group: str) -> int:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        if group.isascii() and group.isdecimal():
            return int(group)
        raise OSError(errno.ENOENT, f"there is no group {group}") from None


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
