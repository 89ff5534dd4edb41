"""
Which of the due schedules does this worker take, when others want the same?

All workers look at the oldest first, and where more is due than one of them takes at a time they
would all want the same. A worker that has lost a commit looks into a lane from then on: a part of
the schedules, by a hash of their ids. After each further loss there are twice as many lanes, and
another one is chosen, by a hash of the worker's name; so workers soon come to take different
schedules. A worker that finds its lane nearly empty looks at everything again: no worker owns a
lane, and nothing waits for a worker.

Spec: PG-2.
"""

from zlib import crc32

__all__ = ["Lane"]

_LANES_MAX = 16


class Lane:
    """The part of the schedules that a worker looks at; at first all of them."""

    def __init__(self) -> None:
        self.mask = 0
        self.value = 0
        self._losses = 0

    def change(self, owner: str) -> None:
        """A commit of this worker was lost to another."""
        self._losses += 1
        lanes = min((self.mask + 1) * 2, _LANES_MAX)
        self.mask = lanes - 1
        self.value = crc32(f"{owner} {self._losses}".encode()) & self.mask

    def leave(self) -> None:
        """There is little left in it."""
        self.mask = self.value = 0
