"""
A disk of its own, and a small one: a file system in memory that can be filled to its last byte.

`fill` writes until there is no room at all, as when a log has grown over night; `make_room` takes
that away again. What others have written is left alone.
"""

import errno
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["SmallDisk"]

_PIECE = 1 << 16


class SmallDisk:
    """Use it as a context manager; leaving it takes the file system away."""

    def __init__(self, megabytes: int) -> None:
        self._size = f"size={megabytes}m"

    def __enter__(self) -> Self:
        self.path = Path(tempfile.mkdtemp(prefix="gnomon-disk-"))
        self._ballast = self.path / "ballast"
        _do("mount", "-t", "tmpfs", "-o", self._size, "gnomon-disk", str(self.path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _do("umount", str(self.path))
        self.path.rmdir()

    def fill(self) -> None:
        with self._ballast.open("ab", buffering=0) as file:
            size = _PIECE
            while size:
                try:
                    file.write(b"\0" * size)
                except OSError as full:
                    if full.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def make_room(self) -> None:
        os.truncate(self._ballast, 0)


def _do(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"`{' '.join(command)}` failed: {done.stderr.strip()}; these tests need root, and to "
            "be allowed to mount"
        )
