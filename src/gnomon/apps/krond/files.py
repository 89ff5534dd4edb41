"""
Krontab files on the disk: which count and can be trusted, how one is replaced, and who has it too.

A path is a file or a directory. Of a directory those files are taken whose names could be meant:
no hidden files, no copies that an editor or a packager has left. What others could write to is
refused, because a user who can write a krontab file can run any program.

A file is replaced as a whole: a reader sees the old text or the new one. The new text goes to a
file beside it, which then takes its place with the mode and the owner of the old one. What another
process changed meanwhile is left alone; commands that change one file at the same time take turns,
by a lock on its directory, from the last look to the replacement.

A state directory has one krond, but two state directories may name one file, for example that of a
service and one that was tried by hand: then each of the two runs every job of it. That may be
meant, so it is said and not refused. Each krond holds a lock on the files that it has read, for
which it needs no more than the right to read them; the lock ends with its process. A file that was
replaced is another file, and is locked anew at the next reload. Where the file system has no locks,
nothing is said, and of more than `FILES_MAX` files the rest is not asked about.

Spec: KRONTAB-21 to KRONTAB-23, KRONTAB-27, KRONTAB-44, KRONTAB-47, KROND-39.
"""

import contextlib
import errno
import fcntl
import logging
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from errno import EACCES, ENOENT
from pathlib import Path
from tempfile import mkstemp

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import Krontab, Problem, read_krontab
from gnomon.apps.krond.krontab.problem import report
from gnomon.errors import DefinitionError, KrontabError, MissingExtraError
from gnomon.shell.observe.log import log

__all__ = [
    "BYTES_MAX",
    "FILES_MAX",
    "Loading",
    "OtherKronds",
    "krontab_files",
    "load",
    "load_file",
    "load_jobs",
    "on_host",
    "passed_over",
    "replace_text",
]

BYTES_MAX = 16_000_000
"""The largest file that is read."""

FILES_MAX = 1_000
"""Of how many files it is asked whether another krond has them."""

_LEFT_OVER = re.compile(r"^\.|^README|~$|\.(bak|orig|rej|swp|dpkg-\w+|rpm\w+)$|^#.*#$")
_SALT = re.compile("%[H%]")
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.(kron|krontab|yaml|yml))?", re.ASCII)
_MODE = 0o644
"""Of a new file; the umask takes its part."""

_HELD = (errno.EWOULDBLOCK, errno.EACCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """What several files say."""

    krontabs: tuple[Krontab, ...]

    @property
    def jobs(self) -> list[Job]:
        """Their jobs, in the order of files and lines, as they are on this machine."""
        host = os.uname().nodename
        return [on_host(job, host) for krontab in self.krontabs for job in krontab.jobs]

    @property
    def error_count(self) -> int:
        return sum(len(krontab.errors) for krontab in self.krontabs)

    @property
    def report(self) -> str:
        """Every error, ready to be printed."""
        return "".join(report(one.file, one.text, one.errors) for one in self.krontabs)


def load(paths: Sequence[Path]) -> Loading:
    """What the files at these paths say; raises OSError for what cannot be read."""
    files = dict.fromkeys(file for path in paths for file in krontab_files(path))
    return Loading(krontabs=tuple(load_file(file) for file in files))


def load_jobs(paths: Sequence[Path]) -> list[Job]:
    """The jobs of the files at these paths, of which there is at least one; else KrontabError."""
    try:
        loading = load(paths)
    except OSError as error:
        where = error.filename or "file"
        hint = "hint: name krontab files, or directories of them\n"
        raise KrontabError(f"error: {where}: {error.strerror or error}\n{hint}", count=1) from error
    except MissingExtraError as error:
        raise KrontabError(f"error: {error}\n", count=1) from error
    if loading.error_count:
        raise KrontabError(loading.report, count=loading.error_count)
    if not loading.jobs:
        where = ", ".join(map(str, paths))
        hint = "hint: write e.g. 0 3 * * * name=backup command=/usr/bin/backup\n"
        raise KrontabError(f"error: {where}: has no jobs\n{hint}", count=1)
    return loading.jobs


def on_host(job: Job, host: str) -> Job:
    """The job with `%H` in its salt as the name of a machine, and `%%` as a percent sign."""
    schedule, salt = job.schedule, job.schedule.decider.salt
    if "%" not in salt:
        return job
    known = {"%H": host, "%%": "%"}
    salt = _SALT.sub(lambda found: known[found[0]], salt)
    return replace(job, schedule=replace(schedule, decider=replace(schedule.decider, salt=salt)))


def krontab_files(path: Path) -> Iterator[Path]:
    """The files that a path stands for, as absolute paths, in the order of their names."""
    absolute = Path(os.path.abspath(path))
    if not absolute.is_dir():
        yield absolute
        return
    for file in sorted(absolute.iterdir()):
        if _NAME.fullmatch(file.name) and not file.is_dir():
            yield file


def passed_over(path: Path) -> list[Path]:
    """The files of a directory that do not count, except those that no user expects to."""
    if not path.is_dir():
        return []
    counted = set(krontab_files(path))
    return [
        file
        for file in sorted(Path(os.path.abspath(path)).iterdir())
        if file not in counted and file.is_file() and not _LEFT_OVER.search(file.name)
    ]


def load_file(file: Path) -> Krontab:
    """What one file says, with what is wrong with the file itself."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait
    with os.fdopen(descriptor, "rb") as opened:
        distrust = _distrust(file, os.fstat(opened.fileno()))
        data = b"" if distrust else opened.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        distrust = ("is too large", f"write at most {BYTES_MAX} bytes, or several files")
    if distrust is not None:
        return _refused(
            file, Problem(line=1, column=1, where="file", reason=distrust[0], hint=distrust[1])
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _refused(file, _undecodable(data, error))
    return read_krontab(text, file=str(file))


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


def _distrust(file: Path, found: os.stat_result) -> tuple[str, str] | None:
    """Why the file cannot be trusted, and what to do; None when it can."""
    own = (0, os.geteuid())
    if not stat.S_ISREG(found.st_mode):
        return "is no regular file", "name a file of text"
    if found.st_mode & stat.S_IWOTH:
        return "can be written by everybody", f"chmod o-w {file}"
    if found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getegid()):
        return "can be written by a group that is not krond's", f"chmod g-w {file}"
    if found.st_uid not in own or file.lstat().st_uid not in own:
        return "belongs to another user", f"chown it to root or to the user of krond: {file}"
    folder = file.parent.stat()
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        return "is in a directory that everybody can write to", f"chmod o-w {file.parent}"
    return None


def _refused(file: Path, problem: Problem) -> Krontab:
    return Krontab(file=str(file), text="", entries=(), problems=(problem,))


def _undecodable(data: bytes, error: UnicodeDecodeError) -> Problem:
    before = data[: error.start]
    line_start = before.rfind(b"\n") + 1
    return Problem(
        line=before.count(b"\n") + 1,
        column=len(before[line_start:].decode("utf-8")) + 1,
        where="file",
        reason="is not text in UTF-8",
        got=f"byte 0x{data[error.start]:02x}",
        hint="save it as UTF-8",
    )


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
