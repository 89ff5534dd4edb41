"""
How does a part of a file give its disk space back while another process appends to it?

By a hole: the bytes in it read as zero and take no room, every other byte stays where it is, and
who has the file open notices nothing. Linux can do that (fallocate(2)), on every file system in
common use; where it cannot, an `OSError` says so. Python has no name for it, hence the C library.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

__all__ = ["punch_hole"]

_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02  # from linux/falloc.h


def punch_hole(path: Path, start: int, end: int) -> None:
    """Free the bytes from `start` up to `end`."""
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
