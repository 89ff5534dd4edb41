"""
How far does a `-wal` go? Up to the newest commit whose frames are all there and as they were.

SQLite takes the frames of a `-wal` up to the first that is missing or altered, and passes over the
rest without a word. So an owner notes after each commit how far the file goes, and a later one
compares. The file begins anew when everything in it has been moved into the database; then its
first salt is one higher, and what was noted before is done with.

The format is SQLite's: a head of 32 bytes, then frames of 24 bytes and a page. Numbers are
big-endian; the words of the checksums are as the head says.

Spec: LEDGER-30.
"""

import os
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

__all__ = ["WalFollower", "WalMark", "reaches"]

_HEAD, _FRAME = struct.Struct(">IIIIIIII"), struct.Struct(">IIIIII")
_MAGIC = 0x377F0682
_WORD, _LINE = 1 << 32, "wal {:08x} {:08x} {:010d}\n"
_BEGUN_ANEW_MAX = 1_000_000
"""How often a file may have begun anew since a note: other processes write to it too."""


class WalMark(NamedTuple):
    """A place in a `-wal`: the salts that it has since it began, and its frames up to a commit."""

    first: int
    second: int
    frames: int

    @classmethod
    def read(cls, text: str) -> "WalMark | None":
        """What `line` wrote; None for anything else."""
        words = text.split()
        if len(words) != 4 or words[0] != "wal":
            return None
        try:
            return cls(int(words[1], 16), int(words[2], 16), int(words[3]))
        except ValueError:
            return None

    def line(self) -> bytes:
        """Always of one length, so that it can be written over."""
        return _LINE.format(*self).encode()


class WalFollower:
    """Goes along with the commits in a `-wal`; `close` lets the file go."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._mark = WalMark(0, 0, 0)

    def newest(self) -> WalMark:
        """Where the newest commit ends: read from the last one on, for the frames are in order."""
        head = os.pread(self._file, _HEAD.size, 0)
        if len(head) < _HEAD.size:
            return self._mark
        _, _, page, _, *salts, _, _ = _HEAD.unpack(head)
        first, second = salts
        frames = self._mark.frames if self._mark[:2] == (first, second) else 0
        at, size = frames, _FRAME.size + page
        while True:
            found = os.pread(self._file, _FRAME.size, _HEAD.size + at * size)
            if len(found) < _FRAME.size:
                break
            _, pages, *its_salts, _, _ = _FRAME.unpack(found)
            if its_salts != salts:
                break
            at += 1
            frames = at if pages else frames
        self._mark = WalMark(first, second, frames)
        return self._mark

    def close(self) -> None:
        os.close(self._file)


def reaches(path: str, mark: WalMark) -> bool:
    """Whether everything up to the mark is there, or was moved into the database since."""
    with Path(path).open("rb") as file:
        former, head, found = b"", file.read(_HEAD.size), None
        while former != head:  # it may have begun anew while it was read
            former, found = head, _whole(head, file, mark)
            file.seek(0)
            head = file.read(_HEAD.size)
    if found is None or found[:2] == mark[:2]:
        return found is not None and found.frames >= mark.frames
    return 0 < (found.first - mark.first) % _WORD <= _BEGUN_ANEW_MAX


def _whole(head: bytes, file: BinaryIO, mark: WalMark) -> WalMark | None:
    """How far the commits go, but no further than the mark; None for a file that has no head."""
    if len(head) < _HEAD.size:
        return None
    magic, _, page, _, first, second, *expected = _HEAD.unpack(head)
    order = ">" if magic & 1 else "<"
    sums = _summed(head[:24], [0, 0], order)
    if magic & ~1 != _MAGIC or sums != expected:
        return None
    number = frames = 0
    while [first, second] == [*mark[:2]] and frames < mark.frames:
        frame = file.read(_FRAME.size + page)
        if len(frame) < _FRAME.size + page:
            break
        _, pages, *salts, one, other = _FRAME.unpack_from(frame)
        sums = _summed(frame[:8], sums, order)
        sums = _summed(frame[_FRAME.size :], sums, order)
        if salts != [first, second] or sums != [one, other]:
            break
        number += 1
        frames = number if pages else frames
    return WalMark(first, second, frames)


def _summed(data: bytes, sums: list[int], order: str) -> list[int]:
    """SQLite's checksum over what came before and these words."""
    one, other = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for word, following in zip(words, words, strict=True):
        one = (one + word + other) % _WORD
        other = (other + following + one) % _WORD
    return [one, other]
