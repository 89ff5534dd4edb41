"""
The state directory: where krond keeps what it must not forget, and where it can be spoken to.

It holds the ledger, whose lock says that there is one krond and which, the control socket, what
jobs have printed, and the log of a krond without a terminal. Nobody but its user may enter it.

Spec: KROND-17.
"""

import contextlib
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gnomon.errors import DamagedStoreError, StoreError

__all__ = ["StateDirectory", "advised", "usual_sources", "usual_state"]

_OTHERS = 0o077


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
        """Make the directory, for this user alone; refuse one that is somebody else's."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.path.stat()
        except OSError as error:
            raise StoreError(
                f"cannot be used ({error.strerror})", where=str(self.path),
                hint="name another directory with --state-dir",
            ) from error  # fmt: skip
        if found.st_uid != os.geteuid():
            raise StoreError(
                "belongs to another user", where=str(self.path),
                hint="name another directory with --state-dir, or run krond as that user",
            )  # fmt: skip
        if found.st_mode & _OTHERS:
            self.path.chmod(0o700)


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
    """Where state is kept unless somebody says otherwise."""
    if os.geteuid() == 0:
        return Path("/var/lib/krond")
    return _home() / ".local" / "state" / "krond"


def usual_sources() -> Path:
    """Where krontab files are unless somebody says otherwise."""
    return Path("/etc/krond.d") if os.geteuid() == 0 else _home() / ".config" / "krond"


def _home() -> Path:
    return Path(pwd.getpwuid(os.geteuid()).pw_dir)
