"""
With whose rights are the files of a process opened?

With those of the user that it runs as, not with those of its worker: user, group and every further
group. The kernel keeps them for each thread, so that one thread can have them for a moment while
the others go on as before. The C library would change the groups of the whole process, so the
kernel is asked itself. What was asked for is read back: these calls are the only guard between a
link that a user planted and a file of root.

A directory that was opened so stays the one that was checked, however its path is changed later.

Spec: LAUNCH-13, LAUNCH-15, LAUNCH-16.
"""

import contextlib
import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from gnomon.shell.launcher.account import Account

__all__ = ["files_of", "place_of"]

_SETGROUPS = {
    "x86_64": 116, "aarch64": 159, "riscv64": 159, "loongarch64": 159, "ppc64le": 81, "ppc64": 81,
    "s390x": 206,
}  # fmt: skip
"""The number of setgroups(2) for programs of 64 bits."""
_SETGROUPS_32 = 206
"""The same for programs of 32 bits, on Intel and on Arm."""


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
