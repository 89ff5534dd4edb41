"""
The state directory: where krond keeps what it must not forget, and where it can be spoken to.

It holds the ledger, whose lock says that there is one krond and which, the control socket, what
jobs have printed, and the log of a krond without a terminal. Only its user may enter it.

What another user could have put there is never taken over: a link would have krond write to a file
of its user that the other user could not reach. So a directory that others can write to is refused,
and so is one in which something is no file of krond's own.

When the state cannot be read any more, nothing is done by itself: a krond that forgot what it has
handled would run it again. The person who repairs it says that what was is lost. Then the damaged
files are put aside, to be looked at, and a new ledger is begun that owes nothing from before that
moment: not what was nominal before it, and not what could have run already because its window had
opened. So nothing runs twice; what was due in between and had not run yet does not run any more.

Spec: KROND-17, KROND-22, KROND-33.
"""

import contextlib
import errno
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gnomon.core.ledger.audit import Finding
from gnomon.errors import DamagedStoreError, StoreError
from gnomon.ports import Clock
from gnomon.shell.store.examination import examine
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.stored_audit import finding

__all__ = ["REPAIRED", "StateDirectory", "advised", "repair", "usual_sources", "usual_state"]

REPAIRED = "repaired_ms"
"""The note that says when a ledger was begun after a damage."""

_OTHERS, _WRITE_OF_OTHERS = 0o077, 0o022
_ANOTHER = "name another directory with --state-dir"
_ENDINGS = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The places in it."""

    path: Path

    @property
    def ledger(self) -> Path:
        return self.path / "krond.sqlite3"

    @property
    def socket(self) -> Path:
        return self.path / "krond.sock"

    @property
    def output(self) -> Path:
        return self.path / "output"

    @property
    def log(self) -> Path:
        return self.path / "krond.log"

    def prepare(self) -> None:
        """Make the directory, for this user alone; refuse one that another user may have laid."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.check()
        except OSError as error:
            raise StoreError(
                f"cannot be used ({error.strerror})", where=str(self.path), hint=_ANOTHER
            ) from error

    def check(self) -> None:
        """Refuse what another user could have laid, and keep others out of what is fine."""
        if self.path.is_symlink() and self.path.lstat().st_uid not in _own():
            raise StoreError("is a link of another user", where=str(self.path), hint=_ANOTHER)
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            found = os.fstat(folder)
            if found.st_uid != os.geteuid():
                raise StoreError(
                    "belongs to another user", where=str(self.path),
                    hint=f"{_ANOTHER}, or run krond as that user",
                )  # fmt: skip
            if found.st_mode & _WRITE_OF_OTHERS:
                raise StoreError(
                    "can be written by other users, who may have put links there",
                    where=str(self.path),
                    hint=f"{_ANOTHER}, or look at what is in it and run: chmod go-w {self.path}",
                )  # fmt: skip
            self._check_parent()
            for name in sorted(os.listdir(folder)):
                self._check_entry(name, os.stat(name, dir_fd=folder, follow_symlinks=False))
            if found.st_mode & _OTHERS:
                os.fchmod(folder, 0o700)
        finally:
            os.close(folder)

    def open_log(self, path: Path) -> int:
        """A descriptor that writes to the end of a log; in this directory it follows no link."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        if path.parent == self.path:
            flags |= os.O_NOFOLLOW
        try:
            return os.open(path, flags, 0o600)
        except OSError as error:
            reason = "is a link" if error.errno == errno.ELOOP else error.strerror
            raise StoreError(
                f"cannot be written to ({reason})", where=str(path),
                hint="name another file with --log-file",
            ) from error  # fmt: skip

    def _check_parent(self) -> None:
        parent = self.path.resolve().parent
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise StoreError(
                "is in a directory where other users can replace it", where=str(self.path),
                hint=f"{_ANOTHER}, or run: chmod o-w {parent}",
            )  # fmt: skip

    def _check_entry(self, name: str, found: os.stat_result) -> None:
        reason = None
        if stat.S_ISLNK(found.st_mode):
            reason = "is a link, and krond makes none"
        elif found.st_uid not in _own():
            reason = "belongs to another user"
        elif stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            reason = "has a second name elsewhere, and krond makes none"
        elif stat.S_ISDIR(found.st_mode) and found.st_mode & _WRITE_OF_OTHERS:
            reason = "can be written by other users, who may have put links there"
        if reason is not None:
            raise StoreError(
                reason, where=str(self.path / name),
                hint="look at what it is and take it away, or name another directory with"
                     " --state-dir",
            )  # fmt: skip


@contextlib.contextmanager
def advised(state: StateDirectory) -> Iterator[None]:
    """Say what to do about state that cannot be read."""
    try:
        yield
    except DamagedStoreError as error:
        raise DamagedStoreError(
            error.reason, where=error.where,
            hint=f"nothing was changed; run: gnomon krond repair --state-dir {state.path}",
        ) from error  # fmt: skip


def usual_state() -> Path:
    """Where state is kept when the command line names no directory."""
    if os.geteuid() == 0:
        return Path("/var/lib/krond")
    return _home() / ".local" / "state" / "krond"


def usual_sources() -> Path:
    """Where krontab files are when the command line names none."""
    return Path("/etc/krond.d") if os.geteuid() == 0 else _home() / ".config" / "krond"


async def repair(state: StateDirectory, clock: Clock) -> tuple[list[Finding], list[Path]]:
    """What was wrong, and what was put aside; nothing of both when all is well."""
    if state.path.exists():
        state.check()
    ownership = Ownership(lock_beside(str(state.ledger)))
    try:
        findings = _lost(ownership, state.ledger) or examine(state.ledger).findings
        if not findings:
            return [], []
        aside = _put_aside(state.ledger)
        ownership.accept_loss()
        ledger = SqliteLedger.open(state.ledger)
        try:
            await ledger.set_note(REPAIRED, str(clock.now_ms()))
        finally:
            await ledger.close()
        return findings, aside
    finally:
        ownership.release()


def _own() -> tuple[int, int]:
    return 0, os.geteuid()


def _home() -> Path:
    return Path(pwd.getpwuid(os.geteuid()).pw_dir)


def _lost(ownership: Ownership, ledger: Path) -> list[Finding]:
    try:
        ownership.check_wal(str(ledger))
    except DamagedStoreError as error:
        return [finding("damaged", error.reason)]
    return []


def _put_aside(ledger: Path) -> list[Path]:
    """Rename the files, under a number that is free."""
    number = 1
    while any(
        ledger.with_name(f"{ledger.name}{end}.damaged-{number}").exists() for end in _ENDINGS
    ):
        number += 1
    aside = []
    for end in _ENDINGS:
        file = ledger.with_name(f"{ledger.name}{end}")
        if file.exists():
            aside.append(file.rename(ledger.with_name(f"{file.name}.damaged-{number}")))
    return aside
