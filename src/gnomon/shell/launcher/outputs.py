"""
Where do the outputs of a process go, and how much of what the launcher keeps does it keep?

An output goes into the file that the launcher keeps for its run (`capture`), to where the worker
prints itself (`inherit`), nowhere (`discard`), to the end of a file (`file:PATH`), or to the
system's log (`syslog`), where each write of the process is one message. A file is opened with the
rights of the process's own user, so that no user can have a file written that the user could not
write; one that cannot be opened is an `OSError`, and the process is not started.

What is captured goes straight into a file, so that a run never waits for its worker and does not
notice when the worker dies. While a process writes, `look` gives back what the middle of a long
output takes on the disk, without moving what is written: a hole in a file reads as zero and takes
no room. When no process writes any more, the file is cut to its first and last part. A file that
stayed empty is removed, and of the others the newest are kept.

A lock tells whether a process writes: it comes with the descriptor that a process is given, goes on
to all its children, and is gone when the last of them has closed it. So a child that was left
behind keeps its file, and what a former worker did not live to settle is settled by the next.

Spec: LAUNCH-9, LAUNCH-11, LAUNCH-13.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import socket
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gnomon.shell.launcher.command import CAPTURE, DISCARD, FILE, INHERIT, SYSLOG
from gnomon.shell.launcher.process_start import Account, files_of

__all__ = ["FILES_MAX", "OUTPUT_MAX", "USUAL_UMASK", "Output", "Sinks", "newest_output"]

OUTPUT_MAX = 64 * 1024
"""Bytes kept of one run."""
FILES_MAX = 10_000
"""Files kept in all."""
_NOTE_MAX = 64
"""What is left out is more than what says so, and a file that was cut is not cut again."""
_ODD = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
SYSTEM_LOG = "/dev/log"
USUAL_UMASK = 0o022
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02  # from linux/falloc.h


class Output:
    """A directory with a file for each run; without a directory, nothing is kept."""

    def __init__(self, directory: Path | None, *, bytes_max: int, files_max: int) -> None:
        self.directory = directory
        self._half = bytes_max // 2
        self._files_max = files_max
        self._count = 0
        self._growing: dict[Path, int] = {}
        """The files that are written to, and up to where the middle of each is empty."""
        self._left: set[Path] = set()
        """Those of them whose run is over, or was a former worker's."""
        if directory is not None:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._take_over(directory)

    @property
    def is_growing(self) -> bool:
        """Whether a process may be writing."""
        return bool(self._growing)

    def path(self, key: str, attempt: int) -> Path | None:
        """The file of a run."""
        if self.directory is None:
            return None
        return self.directory / f"{_ODD.sub('_', key)}.{attempt}.out"

    def newest(self, key: str) -> Path | None:
        """The file of the latest attempt there was."""
        return None if self.directory is None else newest_output(self.directory, key)

    def open(self, path: Path | None) -> int:
        """A descriptor for the process to write to."""
        if path is None:
            return os.open(os.devnull, os.O_WRONLY)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self.follow(path)
        return descriptor

    def follow(self, path: Path | None) -> None:
        """A run writes to this file, until it is settled."""
        if path is not None:
            self._growing[path] = self._half

    def look(self) -> None:
        """Keep what is being written from filling the disk, and settle what no longer is."""
        for path, empty_to in list(self._growing.items()):
            with contextlib.suppress(OSError):
                tail = path.stat().st_size - self._half
                if tail - empty_to >= 2 * self._half:
                    _punch_hole(path, empty_to, tail)
                    self._growing[path] = tail
        for path in list(self._left):
            self.settle(path)

    def settle(self, path: Path | None) -> None:
        """A run has ended: keep what is to be kept. Output is never a reason to fail."""
        if path is None:
            return
        with _writer_of(path) as writer:
            if writer is True:
                self._left.add(path)
                return
            self._left.discard(path)
            self._growing.pop(path, None)
            self._count += self._shorten(path)
        if self._count > self._files_max:
            self._remove_oldest()

    def _take_over(self, directory: Path) -> None:
        """Settle what a former worker left behind, and follow what is still written to."""
        for path in directory.glob("*.out"):
            with _writer_of(path) as writer:
                if writer is False:
                    self._count += self._shorten(path)
                else:
                    self._count += 1
                    if writer:
                        self.follow(path)
                        self._left.add(path)

    def _shorten(self, path: Path) -> bool:
        """Cut a file to what is to be kept; whether there is anything."""
        with contextlib.suppress(OSError):
            size = path.stat().st_size
            if size == 0:
                path.unlink()
            elif size > 2 * self._half + _NOTE_MAX:
                _trim(path, size, self._half)
            return size > 0
        return False

    def _remove_oldest(self) -> None:
        """Make room, for a tenth more than needed, so that this is seldom done."""
        assert self.directory is not None
        with contextlib.suppress(OSError):
            settled = [one for one in self.directory.glob("*.out") if one not in self._growing]
            settled.sort(key=lambda path: path.stat().st_mtime_ns)
            kept = self._files_max * 9 // 10
            for path in settled[: max(len(settled) - kept, 0)]:
                with _writer_of(path) as writer:
                    if not writer:  # of another worker, it may have one
                        path.unlink(missing_ok=True)
            self._count = min(len(settled), kept)


def newest_output(directory: Path, key: str) -> Path | None:
    """What the latest attempt of a run has printed, if it is kept."""
    found = directory.glob(f"{_ODD.sub('_', key)}.*.out")
    return max(found, key=lambda path: int(path.name.split(".")[1]), default=None)


@contextlib.contextmanager
def _writer_of(path: Path) -> Iterator[bool | None]:
    """Whether a process writes to a file, None if unknown; if not, no other worker settles it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # it is gone
        yield None
        return
    try:
        yield _is_locked(descriptor)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return True if error.errno == errno.EWOULDBLOCK else None
    return False


def _trim(path: Path, size: int, half: int) -> None:
    with path.open("rb") as whole:
        head = whole.read(half)
        whole.seek(size - half)
        tail = whole.read(half)
    note = f"\n... {size - 2 * half} bytes left out ...\n".encode()
    short = path.with_suffix(".cut")
    descriptor = os.open(short, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(head + note + tail)
    short.replace(path)


class Sinks(NamedTuple):
    """How the outputs of one process are opened."""

    account: Account
    place: int
    """Where paths that are not absolute begin, as an open directory."""
    umask: int
    capture: Callable[[], int]
    """Opens the file that the launcher keeps."""

    @contextlib.contextmanager
    def opened(self, stdout: str, stderr: str) -> Iterator[tuple[int | None, int | None]]:
        """Descriptors for the process; None for the worker's own. They are closed afterwards."""
        with contextlib.ExitStack() as closing:
            found: dict[str, int] = {}
            for sink in {stdout, stderr} - {INHERIT}:  # what goes to one place goes there in order
                found[sink] = self._open(sink)
                closing.callback(os.close, found[sink])
            yield found.get(stdout), found.get(stderr)

    def _open(self, sink: str) -> int:
        if sink == CAPTURE:
            return self.capture()
        if sink == DISCARD:
            return os.open(os.devnull, os.O_WRONLY)
        if sink == SYSLOG:
            return _system_log()
        path = sink.removeprefix(FILE)
        try:
            with files_of(self.account):
                return _append_to(path, self.place, self.umask)
        except OSError as error:
            said = f"the file for the output cannot be opened: {error.strerror}"
            raise OSError(error.errno, said, path) from error


def _append_to(path: str, place: int, umask: int) -> int:
    # A pipe that was named may have no reader; then the launcher must not wait for one.
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
    except FileExistsError:
        descriptor = os.open(path, flags, dir_fd=place)
    else:
        os.fchmod(descriptor, 0o666 & ~umask)
    os.set_blocking(descriptor, True)
    return descriptor


def _system_log() -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        try:
            log.connect(SYSTEM_LOG)
        except OSError as error:
            raise OSError(error.errno, f"the system's log cannot be reached ({error})") from error
        return log.detach()


def _punch_hole(path: Path, start: int, end: int) -> None:
    """Free the bytes from `start` up to `end`, which then read as zero.

    Linux can do that on every file system in common use, and says so where it cannot. Python has no
    name for it, hence the C library.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        if _fallocate()(descriptor, _KEEP_SIZE | _PUNCH_HOLE, start, end - start):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(path))
    finally:
        os.close(descriptor)


@cache
def _fallocate() -> Callable[[int, int, int, int], int]:
    library = ctypes.CDLL(None, use_errno=True)
    # With 64-bit offsets wherever there are two of them.
    found = getattr(library, "fallocate64", None) or library.fallocate
    found.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    found.restype = ctypes.c_int
    return found
