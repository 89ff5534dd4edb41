"""
How does a process begin: as whom, with whose rights, and from which step on?

It runs as the user of the worker, unless its command names another user or group. Then it gets that
user's id, the group's id and the further groups that the machine knows for that user, as cron and a
login have it. Only root can do that. A worker that cannot become the user gets an `OSError` that
says so: it may be otherwise later.

Its files are opened with the rights of that user, too, and not with those of the worker. The kernel
keeps them for each thread, so that one thread can have them for a moment while the others go on as
before. The C library would change the groups of the whole process, so the kernel is asked itself.
What was asked for is read back: these calls are the only guard between a link that a user planted
and a file of root. A directory that was opened so stays the one that was checked, however its path
is changed later.

A process begins as a shell that waits at a pipe and does nothing else until it is released. As
another user it has that user's rights before its first step, and goes to its directory with them.

Spec: LAUNCH-7, LAUNCH-13, LAUNCH-15, LAUNCH-16.
"""

import contextlib
import ctypes
import errno
import grp
import os
import platform
import pwd
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gnomon.shell.launcher.command import Command
from gnomon.shell.launcher.process_id import ProcessId, identify

__all__ = [
    "Account",
    "Identities",
    "account_of",
    "begin",
    "files_of",
    "identity_of",
    "place_of",
    "stub",
]

_SETGROUPS = {
    "x86_64": 116, "aarch64": 159, "riscv64": 159, "loongarch64": 159, "ppc64le": 81, "ppc64": 81,
    "s390x": 206,
}  # fmt: skip
"""The number of setgroups(2) for programs of 64 bits."""
_SETGROUPS_32 = 206
"""The same for programs of 32 bits, on Intel and on Arm."""
_STUB = 'read -r GNOMON_GO || exit 0; {prepare}exec "$@" </dev/null'
_ENTER = 'cd -P "$1" || exit 126; unset OLDPWD; shift; '


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


class ProcessStart(NamedTuple):
    """A process to make ready."""

    key: str
    fence: int
    attempt: int
    command: Command
    env: Mapping[str, str]
    account: Account | None = None
    """As whom; None for as the command says."""


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


@contextlib.contextmanager
def files_of(account: Account) -> Iterator[None]:
    """Within this block, and this thread, files are opened with the rights of the account."""
    user, group, extra_groups = account.identities
    if user is None or group is None:
        yield
        return
    library, former_groups = _library(), os.getgroups()
    try:
        _take_groups(extra_groups or ())
        former_group, former_user = library.setfsgid(group), library.setfsuid(user)
        try:
            # These calls say nothing when they fail; to ask again is the way to know.
            if library.setfsuid(-1) != user or library.setfsgid(-1) != group:
                raise OSError(errno.EPERM, f"files cannot be opened as user {account.name}")
            yield
        finally:
            library.setfsuid(former_user)
            library.setfsgid(former_group)
    finally:
        _take_groups(former_groups)


@contextlib.contextmanager
def place_of(account: Account, directory: str) -> Iterator[int]:
    """A descriptor of a directory that the account itself can enter; its worker perhaps could."""
    with contextlib.ExitStack() as closing:
        try:
            with files_of(account):
                found = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
                closing.callback(os.close, found)
                os.stat(".", dir_fd=found)
        except OSError as error:
            said = f"the working directory cannot be entered: {error.strerror}"
            raise OSError(error.errno, said, directory) from error
        yield found


def _take_groups(groups: Sequence[int]) -> None:
    """Have these further groups, in this thread."""
    wanted = sorted(set(groups))
    if sorted(set(os.getgroups())) == wanted:
        return
    number = _setgroups_number()
    if number is None:  # a machine of another kind: then all threads have them for this moment
        os.setgroups(wanted)
    else:
        numbers = (ctypes.c_uint32 * len(wanted))(*wanted)
        if _library().syscall(ctypes.c_long(number), ctypes.c_long(len(wanted)), numbers):
            code = ctypes.get_errno()
            raise OSError(code, f"the groups cannot be changed: {os.strerror(code)}")
    if sorted(set(os.getgroups())) != wanted:
        raise OSError(errno.EPERM, "the groups cannot be changed")


def _setgroups_number() -> int | None:
    return _SETGROUPS.get(platform.machine()) if sys.maxsize > 2**32 else _SETGROUPS_32


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def stub(descriptors: int | None) -> str:
    """What a process does before it becomes its command, which may have so many files open."""
    return _STUB.format(prepare="" if descriptors is None else f"ulimit -S -n {descriptors}; ")


def begin(
    text: str, arguments: Sequence[str], account: Account, *, cwd: str, env: Mapping[str, str],
    stdin: int, outputs: tuple[int | None, int | None], umask: int | None,
) -> "subprocess.Popen[bytes]":  # fmt: skip
    """Start the shell that waits, with the text that it reads."""
    user, group, groups = account.identities
    becomes = user is not None
    line = [_ENTER + text, "gnomon", cwd] if becomes else [text, "gnomon"]
    return subprocess.Popen(  # noqa: S603 (the command is the schedule's own)
        ["/bin/sh", "-c", *line, *arguments],
        stdin=stdin, stdout=outputs[0], stderr=outputs[1], cwd="/" if becomes else cwd, env=env,
        umask=-1 if umask is None else umask, user=user, group=group, extra_groups=groups,
        start_new_session=True, close_fds=True,
    )  # fmt: skip


def identity_of(process: "subprocess.Popen[bytes]", cwd: str) -> ProcessId:
    """Which process that is, while it waits."""
    found = identify(process.pid)
    if found is not None:
        return found
    if process.poll() is not None:  # the directory was changed since it was tried
        raise OSError(errno.EACCES, "the working directory could not be entered any more", cwd)
    raise OSError(errno.ENOSYS, "nothing is known about the new process; is /proc there?")
