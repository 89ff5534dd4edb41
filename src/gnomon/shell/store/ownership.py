"""
Who owns a store? One process at a time, for as long as it lives.

Ownership is a lock of the operating system on a file beside the store, so that it ends with its
holder and not with a timer: an owner that was killed is gone, and can be replaced at once. The file
says who holds it, for people; it stays when the lock is let go, because removing it would let two
processes hold locks on two files of one name.

While an owner has a file open in WAL mode, the lock has a second line. An owner that is killed
leaves it there, and its `-wal` too, which has the newest commits. So a lock with that line, without
a `-wal`, says that commits were lost. A line between the two says how far the `-wal` goes, commit
by commit, so that one of which the end is missing is noticed as well. A process that closes the
file as the last one, and by that writes the `-wal` into it and removes it, takes the lines away
first.

Spec: LEDGER-12, LEDGER-27, LEDGER-30.
"""

import contextlib
import errno
import fcntl
import os
import socket
from glob import escape, glob
from pathlib import Path

from gnomon.errors import DamagedStoreError, StoreError, StoreHeldError
from gnomon.shell.store.wal import WalFollower, WalMark, reaches

__all__ = [
    "Ownership",
    "check_beside",
    "forget_the_dead",
    "holder_in",
    "lock_beside",
    "lost_of",
]

_TEXT_MAX = 200
_OPEN = b"open\n"
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


def lock_beside(path: str, name: str = "") -> str:
    """The lock of a store: one, by whatever name its file is called."""
    return f"{os.path.realpath(path)}{name}.lock"


def holder_in(text: bytes) -> str:
    """Who a lock says that it is held by; empty when it says nothing."""
    return text.decode(errors="replace").partition("\n")[0].strip()


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
            holder = holder_in(os.read(self._file, _TEXT_MAX))
            os.close(self._file)
            if error.errno not in _HELD:
                raise StoreError(
                    f"cannot be locked ({error.strerror})", where=path,
                    hint="keep it on a disk of this machine, or on a file system that has locks",
                ) from error  # fmt: skip
            raise StoreHeldError(holder or "another process", where=path) from error
        self._former = os.read(self._file, _TEXT_MAX)
        self._name = f"pid {os.getpid()} on {socket.gethostname()}\n".encode()
        self._wal: WalFollower | None = None
        self._mark = _mark_in(self._former)
        self._say(is_open=self._former.endswith(_OPEN))

    def check_wal(self, store: str) -> None:
        """Refuse a store whose owner was killed, and whose newest commits are not there."""
        _refuse(store, self._former, self.path)

    def accept_loss(self) -> None:
        """What is missing is known to be lost."""
        self.closing()

    def open(self, store: str) -> None:
        """From now on commits may be in the `-wal` alone."""
        wal = f"{os.path.realpath(store)}-wal"
        self._former = b""
        if _size(wal):
            with contextlib.suppress(OSError):  # without descriptors, only a whole loss is noticed
                self._wal = WalFollower(wal)
        self._mark = None if self._wal is None else self._wal.newest()
        self._say(is_open=_size(wal) > 0)

    def committed(self) -> None:
        """Note how far the `-wal` goes now."""
        if self._wal is None or self._mark is None:
            return
        with contextlib.suppress(OSError):
            former, self._mark = self._mark, self._wal.newest()
            if self._mark != former:
                os.pwrite(self._file, self._mark.line(), len(self._name))

    def closing(self) -> None:
        """The `-wal` is about to be written into the file, and removed."""
        self._former = b""
        if self._wal is not None:
            self._wal.close()
        self._wal = self._mark = None
        self._say(is_open=False)
        with contextlib.suppress(OSError):  # on the disk, before the removal can be
            os.fsync(self._file)

    def release(self) -> None:
        if not self._former.endswith(_OPEN):  # else it was refused, and the next one is to be
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, 0)
        os.close(self._file)

    def _say(self, *, is_open: bool) -> None:
        mark = b"" if self._mark is None else self._mark.line()
        text = self._name + mark + _OPEN if is_open else self._name
        with contextlib.suppress(OSError):  # a full disk is no reason not to own what is there
            os.ftruncate(self._file, len(text))
            os.pwrite(self._file, text, 0)


def check_beside(store: str) -> None:
    """Refuse, to who writes beside owners, what a former one has lost."""
    for path in _locks(store):
        with contextlib.suppress(OSError), Path(path).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            _refuse(store, file.read(_TEXT_MAX), path)


def lost_of(store: Path) -> str | None:
    """What of a store is lost, as far as its lock tells; None for nothing."""
    try:
        return _loss(str(store), Path(lock_beside(str(store))).read_bytes()[:_TEXT_MAX])
    except OSError:
        return None


def forget_the_dead(store: str) -> None:
    """Before the last one closes a store: no former owner of it has been cut off any more."""
    for path in _locks(store):
        with contextlib.suppress(OSError):
            _forget(path)


def _locks(store: str) -> tuple[str, ...]:
    """Those of all that have owned it, each under a name of its own."""
    beside = os.path.realpath(store)
    return (f"{beside}.lock", *glob(f"{escape(beside)}.*.lock"))


def _forget(path: str) -> None:
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if os.read(file, _TEXT_MAX).endswith(_OPEN):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            os.fsync(file)
    finally:
        os.close(file)


def _refuse(store: str, former: bytes, lock: str) -> None:
    loss = _loss(store, former)
    if loss is not None:
        raise DamagedStoreError(
            loss, where=store, hint=f"put it back, or restore a backup and empty {lock}"
        )


def _loss(store: str, former: bytes) -> str | None:
    """What the text of a lock, which no process held, says is lost."""
    if not former.endswith(_OPEN):
        return None
    wal, cut_off = f"{os.path.realpath(store)}-wal", f"its owner ({holder_in(former)}) was cut off"
    if not Path(store).exists():
        return f"is damaged: {cut_off}, and the file is missing"
    if not _size(wal):
        return f"is damaged: {cut_off}, and the -wal, which has its newest commits, is missing"
    mark = _mark_in(former)
    if mark is None or reaches(wal, mark):
        return None
    return f"is damaged: {cut_off}, and the end of the -wal, which has its newest commits, is lost"


def _mark_in(text: bytes) -> WalMark | None:
    """How far a lock says that the `-wal` went."""
    return WalMark.read("".join(text.decode(errors="replace").splitlines()[-2:-1]))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
