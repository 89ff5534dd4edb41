"""
A SQLite database: one connection, transactions, and errors that say what to do.

The file is in WAL mode with `synchronous=FULL`: what was committed survives a crash of the machine.
A transaction that raises is rolled back as a whole. Every error of SQLite becomes a `StoreError`
with the file, what is wrong and what to do; `transient` says whether trying again may help.

Spec: LEDGER-10, LEDGER-11, LEDGER-27, LEDGER-28, LEDGER-30.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from os.path import realpath
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from gnomon.errors import DamagedStoreError, GnomonError, IncompatibleStateError, StoreError
from gnomon.shell.store.looking import FORWARD, open_to_look
from gnomon.shell.store.ownership import Ownership, check_beside, forget_the_dead
from gnomon.shell.store.queries import migrations, statements
from gnomon.shell.store.same_file import SameFile

__all__ = ["BUSY_MS", "MEMORY", "Database", "begin_again"]

MEMORY = ":memory:"
BUSY_MS = 5_000
"""How long a transaction waits for another process before it gives up."""

CHECKPOINT_PAGES = 4_000
CACHE_KIB = 16_384
APPLICATION_ID = 0x676E6F6D  # "gnom", which tells our files from other databases

_BEGIN_WRITE = "BEGIN IMMEDIATE"
_Result = TypeVar("_Result")


class _Advice(NamedTuple):
    reason: str
    hint: str
    transient: bool


_ADVICE = {
    sqlite3.SQLITE_BUSY: _Advice("is locked by another process", "wait, or stop it", True),
    sqlite3.SQLITE_LOCKED: _Advice("is locked by another connection", "wait, or close it", True),
    sqlite3.SQLITE_FULL: _Advice(
        "cannot grow: the disk or its quota is full", "free some space; nothing was lost", True
    ),
    sqlite3.SQLITE_IOERR: _Advice(
        "cannot be read or written", "check the disk and its mount", True
    ),
    sqlite3.SQLITE_READONLY: _Advice(
        "cannot be written", "give this user write access to the file and its directory", False
    ),
    sqlite3.SQLITE_PERM: _Advice("cannot be accessed", "check the permissions of the file", False),
    sqlite3.SQLITE_CANTOPEN: _Advice(
        "cannot be opened",
        "check that the directory is there and that this user may write to it", False,
    ),
    sqlite3.SQLITE_NOTADB: _Advice(
        "is not a database", "name another file, or move this one away", False
    ),
    sqlite3.SQLITE_CORRUPT: _Advice(
        "is damaged", "stop, keep a copy, and restore a backup or run sqlite3 .recover", False
    ),
}  # fmt: skip


_ASK = "stop, keep a copy, ask the doctor what it is, and restore a backup or mend it"
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


class Database:
    """One connection, used by one thread at a time."""

    def __init__(
        self, path: str, *, family: str, busy_ms: int = BUSY_MS, to_look: bool = False,
        owner: Ownership | None = None,
    ) -> None:  # fmt: skip
        """
        Open a file, and make or bring it forward where needed; `to_look` changes nothing.

        Its `owner` makes sure that all of it is there.
        """
        self.path = path
        self._family = family
        self._lock = Lock()
        self._owner = owner
        self._same = SameFile(())
        self._leaves_traces = not to_look and path != MEMORY
        if owner is not None:
            owner.check_wal(path)
            _check_file(Path(path))
        elif self._leaves_traces:
            check_beside(path)
        with _explained(self.path):
            self.connection = (
                open_to_look(Path(path), busy_ms=busy_ms) if to_look else _connect(path, busy_ms)
            )
        try:
            if to_look:
                self.read(self._check_newest)
                return
            with _explained(self.path):
                self._check_program(self.connection)  # before anything about the file is changed
                _configure(self.connection)
            self._migrate(migrations(family))
            if self._leaves_traces:
                self._know_files()
        except BaseException:
            self._forget_owners()
            self.connection.close()
            raise

    def _know_files(self) -> None:
        files = [self.path, f"{realpath(self.path)}-wal"]
        if self._owner is not None:
            self._owner.open(self.path)
            files.append(self._owner.path)
        self._same = SameFile(files)

    def read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Do `work` on one consistent view."""
        return self._transact("BEGIN", work)

    def write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Do `work` and commit it; when it raises, nothing has happened."""
        return self._transact(_BEGIN_WRITE, work)

    def close(self) -> None:
        with self._lock, _explained(self.path):
            self._forget_owners()
            self.connection.close()

    def _forget_owners(self) -> None:
        """The last one to close a file removes its `-wal`, which is no loss then."""
        if self._owner is not None:
            self._owner.closing()
        if self._leaves_traces:
            forget_the_dead(self.path)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with self._lock, _explained(self.path):
            connection = self.connection
            self._same.check()
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself after some errors, a full disk for one.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if begin is _BEGIN_WRITE:
                self._same.check()  # else it is written to a file that no other process opens
                if self._owner is not None:
                    self._owner.committed()
            return result

    def _migrate(self, scripts: Sequence[str]) -> None:
        before = self.read(self._check_program)
        while (found := self.write(lambda connection: self._step(connection, scripts))) < len(
            scripts
        ):
            assert found  # each step goes forward
        if before < len(scripts):  # or the file would be an empty one without its `-wal`
            self.connection.execute("PRAGMA wal_checkpoint(FULL)")

    def _check_newest(self, connection: sqlite3.Connection) -> None:
        """Refuse a schema that a reader, who must not bring it forward, cannot read."""
        newest = len(migrations(self._family))
        number = self._check_schema(connection, newest)
        if number < newest:
            hint = FORWARD
            if self._family == "journal":
                hint = "the next start of its gnomon.Scheduler brings it forward"
            raise IncompatibleStateError(
                f"has schema {number}, and this version of Gnomon reads {newest}",
                where=self.path, hint=hint,
            )  # fmt: skip

    def _step(self, connection: sqlite3.Connection, scripts: Sequence[str]) -> int:
        """Check the schema and take it one number forward; return the number it has now."""
        number = self._check_schema(connection, len(scripts))
        if number < len(scripts):
            for statement in statements(scripts[number]):
                connection.execute(statement)
            number += 1
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        # Also when it was there already: a file that may not be written says so now, not later.
        connection.execute(f"PRAGMA user_version = {number}")
        return number

    def _check_schema(self, connection: sqlite3.Connection, newest: int) -> int:
        """Refuse what is not of this family, or newer than `newest`; return the schema."""
        number = self._check_program(connection)
        if number and not self._is_of_family(connection):
            raise StoreError(
                f"is a file of Gnomon, but holds no {self._family}", where=self.path,
                hint="name another file: a ledger and a journal each need their own",
            )  # fmt: skip
        if number > newest:
            raise IncompatibleStateError(
                f"has schema {number}, and this version of Gnomon knows {newest} at most",
                where=self.path, hint="install the version that wrote it, or a newer one",
            )  # fmt: skip
        return number

    def _check_program(self, connection: sqlite3.Connection) -> int:
        """Refuse the database of another program; return the schema of ours."""
        number: int = connection.execute("PRAGMA user_version").fetchone()[0]
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != APPLICATION_ID and (application or number or tables):
            raise StoreError(
                "is a database of another program", where=self.path, hint="name another file"
            )
        return number

    def _is_of_family(self, connection: sqlite3.Connection) -> bool:
        question = "SELECT count(*) FROM sqlite_master WHERE name = ?"
        (found,) = connection.execute(question, (f"{self._family}_meta",)).fetchone()
        return bool(found)


def _check_file(path: Path) -> None:
    """The owner of a file reads everything and changes nothing; `DamagedStoreError`."""
    if not path.is_file():
        return
    with (
        _explained(str(path)),
        closing(open_to_look(path, busy_ms=BUSY_MS, is_held=False)) as connection,
    ):
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        reason, hint, _ = _ADVICE[sqlite3.SQLITE_CORRUPT]
        raise DamagedStoreError(reason, where=str(path), hint=hint)


def begin_again(connection: sqlite3.Connection) -> None:
    """Undo what a write has done so far, and go on as if it had just begun."""
    connection.execute("ROLLBACK")
    connection.execute(_BEGIN_WRITE)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(error, path) from error
    except GnomonError:
        raise
    except (ValueError, LookupError) as error:  # no UTF-8, no instant, none of our words
        raise DamagedStoreError(
            f"is damaged: a value cannot be read ({error})", where=path, hint=_ASK
        ) from error


def _explain(error: sqlite3.Error, path: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_ERROR or "decode to UTF-8" in str(error):
        return DamagedStoreError(f"is damaged: {error}", where=path, hint=_ASK)
    advice = _ADVICE.get(code) or _Advice(f"refused ({error})", "", False)
    kind = DamagedStoreError if code in _DAMAGED else StoreError
    return kind(advice.reason, where=path, hint=advice.hint, transient=advice.transient)


def _connect(path: str, busy_ms: int) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=busy_ms / 1000, isolation_level=None, check_same_thread=False,
        cached_statements=256,
    )  # fmt: skip


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
