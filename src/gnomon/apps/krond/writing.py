"""
A krontab file is replaced as a whole: a reader sees the old text or the new one.

The new text goes to a file beside it, which then takes its place with the mode and the owner of the
old one. What another process changed meanwhile is left alone; commands that change one file at the
same time take turns, by a lock on its directory, from the last look to the replacement.

Spec: KRONTAB-27, KRONTAB-47.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from errno import EACCES, ENOENT
from pathlib import Path
from tempfile import mkstemp

from gnomon.errors import DefinitionError

__all__ = ["replace_text"]

_MODE = 0o644
"""Of a new file; the umask takes its part."""


def replace_text(file: Path, text: str, *, old: str | None) -> None:
    """Write a file that holds `old` until now, or that is not there when that is None."""
    real = Path(os.path.realpath(file))
    if not real.parent.is_dir():
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(real.parent))
    if real.exists() and not os.access(real, os.W_OK, effective_ids=True):
        raise PermissionError(EACCES, os.strerror(EACCES), str(file))
    descriptor, name = mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as opened:
            _take_after(opened.fileno(), real)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        with _turn(real.parent) as folder:
            if (real.read_bytes().decode() if real.exists() else None) != old:
                raise DefinitionError(
                    "was changed meanwhile", where="file", got=str(file), hint="try again"
                )
            os.replace(name, real)
            os.fsync(folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it has taken its place
            os.unlink(name)
        raise


def _take_after(descriptor: int, model: Path) -> None:
    """Mode and owner of the file that is to be replaced, or those of a new one."""
    if not model.exists():
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(descriptor, _MODE & ~mask)
        return
    found = model.stat()
    os.fchmod(descriptor, found.st_mode & 0o7777)
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, found.st_uid, found.st_gid)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[int]:
    """The directory, open, while no other of these commands replaces a file in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
