"""
Who owns a store? One process at a time, for as long as it lives.

Ownership is a lock of the operating system on a file beside the store, so that it ends with its
holder and not with a timer: whoever was killed is gone, and can be replaced at once. The file says
who holds it, for people; it stays when the lock is let go, because removing it would let two
processes hold locks on two files of one name.

Spec: LEDGER-12.
"""

import contextlib
import errno
import fcntl
import os
import socket

from gnomon.errors import StoreError, StoreHeldError

__all__ = ["Ownership"]

_TEXT_MAX = 200


class Ownership:
    """A held lock; `release` lets it go."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            if error.errno == errno.ELOOP:  # what it names would be emptied
                raise StoreError(
                    "is a link, and Gnomon makes none", where=path,
                    hint="look at what it names, and take the link away",
                ) from error  # fmt: skip
            raise StoreError(
                f"cannot be opened ({error.strerror})", where=path,
                hint="check that the directory is there and that this user may write to it",
            ) from error  # fmt: skip
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, _TEXT_MAX).decode(errors="replace").strip()
            os.close(self._file)
            raise StoreHeldError(holder or "another process", where=path) from error
        with contextlib.suppress(OSError):  # a full disk is no reason not to own what is there
            os.ftruncate(self._file, 0)
            os.write(self._file, f"pid {os.getpid()} on {socket.gethostname()}\n".encode())

    def release(self) -> None:
        os.ftruncate(self._file, 0)
        os.close(self._file)
