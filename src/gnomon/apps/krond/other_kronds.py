"""
Does another krond run the jobs of the same krontab files?

A state directory has one krond, but two state directories may name one file, for example that of a
service and one that was tried by hand: then each of the two runs every job of it. That may be
meant, so it is said and not refused. Each krond holds a lock on the files that it has read; the
lock ends with its process. A file that was replaced is another file, and is locked anew at the next
reload.

A lock needs no more than the right to read the file. Where the file system has none, nothing is
said, and of more than `FILES_MAX` files the rest is not asked about.

Spec: KROND-39.
"""

import errno
import fcntl
import logging
import os
from collections.abc import Iterable

from gnomon.shell.observe.log import log

__all__ = ["FILES_MAX", "OtherKronds"]

FILES_MAX = 1_000
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class OtherKronds:
    """The locks of this krond on its krontab files."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._told: set[str] = set()

    def look(self, files: Iterable[str]) -> None:
        """Lock these files and no others; say once of each that another krond holds it."""
        wanted = sorted(set(files))[:FILES_MAX]
        for gone in self._held.keys() - set(wanted):
            os.close(self._held.pop(gone))
        held_by_others = {file for file in wanted if not self._lock(file)}
        for file in sorted(held_by_others - self._told):
            log(
                logging.WARNING, "another krond", file=file,
                message="another krond has this file too, so each job of it runs twice",
                hint="stop one of them, or give them files of their own",
            )  # fmt: skip
        self._told = held_by_others

    def close(self) -> None:
        """Let go of all of them."""
        while self._held:
            os.close(self._held.popitem()[1])

    def _lock(self, file: str) -> bool:
        """Whether no other process holds this file, as far as can be known."""
        known = self._held.get(file)
        try:
            if known is not None:
                if os.path.samestat(os.fstat(known), os.stat(file)):
                    return True
                os.close(self._held.pop(file))
            found = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return True
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(found)
            return error.errno not in _HELD
        self._held[file] = found
        return True
