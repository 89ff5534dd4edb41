"""
A krontab file is replaced as a whole: whoever reads it sees the old text or the new one.

The new text goes to a file beside it, which then takes its place with the mode and the owner of the
old one. What was changed by somebody else meanwhile is left alone.

Spec: KRONTAB-27.
"""

import os
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
        if (real.read_bytes().decode() if real.exists() else None) != old:
            raise DefinitionError(
                "was changed meanwhile", where="file", got=str(file), hint="try again"
            )
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise
    _sync(real.parent)


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


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
