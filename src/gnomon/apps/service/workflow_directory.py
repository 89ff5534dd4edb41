"""
Workflows in a directory: `USER/WORKFLOW/VERSION.json`, one file for each version.

For those who keep their workflows beside their code: files that people wrote are read like files
that were deployed, and checked like them. An id is a name of a directory and nothing else, and
links are not followed. A version is written beside its place first and then linked into it, so that
it is there as a whole or not at all, and never replaces another.

Spec: WSTORE-1 to WSTORE-6.
"""

import asyncio
import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TypeVar

from gnomon.apps.service.dag import parse_dag
from gnomon.apps.service.dag.document import TEXT_MAX
from gnomon.apps.service.identity import check_id
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports.workflow_store import StoredDag

__all__ = ["DirectoryWorkflowStore"]

_FILE = re.compile(r"([1-9][0-9]{0,9})\.json", re.ASCII)
_REMOVED = re.compile(r"\.([1-9][0-9]{0,9})\.json\.removed", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
_PAGE_MAX = 1000
_Result = TypeVar("_Result")


class DirectoryWorkflowStore:
    """A `gnomon.ports.workflow_store.WorkflowStore` of JSON files."""

    def __init__(self, directory: Path, *, executor: Executor | None = None) -> None:
        self._directory = directory
        self._executor = executor
        with _explained(directory):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def put(self, dag: StoredDag) -> StoredDag:
        return await self._hop(lambda: self._put(dag))

    async def remove(
        self, user_id: str, workflow_id: str, *, version: int | None = None, now_ms: int
    ) -> int:
        def work() -> int:
            folder = self._place(user_id, workflow_id)
            numbers = [one for one in _numbers(folder, _FILE) if version in (None, one)]
            with _explained(folder):
                for one in numbers:
                    (folder / f"{one:d}.json").rename(folder / _removed(one))
                if numbers:
                    _sync(folder)
            return len(numbers)

        return await self._hop(work)

    async def highest(self, user_id: str, workflow_id: str) -> int:
        def work() -> int:
            folder = self._place(user_id, workflow_id)
            return max([0, *_numbers(folder, _FILE), *_numbers(folder, _REMOVED)])

        return await self._hop(work)

    async def load(self, user_id: str, workflow_id: str, version: int) -> StoredDag | None:
        return await self._hop(lambda: self._load(self._place(user_id, workflow_id), version))

    async def newest(self, user_id: str, workflow_id: str) -> StoredDag | None:
        found = await self.versions(user_id, workflow_id, limit=1)
        return found[0] if found else None

    async def versions(
        self, user_id: str, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Sequence[StoredDag]:
        def work() -> list[StoredDag]:
            place = self._place(user_id, workflow_id)
            numbers = [one for one in _numbers(place, _FILE) if before is None or one < before]
            found = [self._load(place, one) for one in numbers[: min(limit, _PAGE_MAX)]]
            return [one for one in found if one is not None]

        return await self._hop(work)

    async def workflows(
        self, *, user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> Sequence[StoredDag]:
        def work() -> list[StoredDag]:
            found: list[StoredDag] = []
            for user in _names(self._directory) if user_id is None else [user_id]:
                for name in _names(self._directory / check_id(user, where="user_id")):
                    if (user, name) > after and len(found) < min(limit, _PAGE_MAX):
                        place = self._place(user, name)
                        numbers = _numbers(place, _FILE)
                        newest = self._load(place, numbers[0]) if numbers else None
                        found += [] if newest is None else [newest]
            return found

        return await self._hop(work)

    def _put(self, dag: StoredDag) -> StoredDag:
        folder = self._place(dag.user_id, dag.workflow_id)
        place = folder / f"{dag.version:d}.json"
        removed = self._load(folder, dag.version, name=_removed(dag.version))
        if removed is not None:
            if removed.digest == dag.digest:
                with _explained(place):
                    (folder / _removed(dag.version)).rename(place)
                    _sync(folder)
            return removed
        with _explained(place):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = place.with_name(f".{place.name}.{os.getpid()}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            try:
                with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                    file.write(dag.text.encode())
                    file.flush()
                    os.fsync(file.fileno())
                os.utime(draft, ns=(dag.created_ms * 1_000_000,) * 2)
                with contextlib.suppress(FileExistsError):
                    os.link(draft, place, follow_symlinks=False)
            finally:
                draft.unlink(missing_ok=True)
            _sync(folder)
        kept = self._load(folder, dag.version)
        assert kept is not None
        return kept

    def _load(self, folder: Path, version: int, *, name: str | None = None) -> StoredDag | None:
        place = folder / (name or f"{version:d}.json")
        with _explained(place):
            try:
                descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except (FileNotFoundError, NotADirectoryError):
                return None
            with os.fdopen(descriptor, "rb") as file:
                text = file.read(TEXT_MAX + 1).decode(errors="replace")
                created_ms = os.fstat(file.fileno()).st_mtime_ns // 1_000_000
        dag, workflow_id = parse_dag(text), folder.name
        if (dag.workflow_id, dag.version) != (workflow_id, version):
            raise DefinitionError(
                f"must hold version {version} of {workflow_id}", where=str(place),
                got=f"version {dag.version} of {dag.workflow_id}", hint="rename one of the two",
            )  # fmt: skip
        user_id = folder.parent.name
        return StoredDag(user_id, workflow_id, version, dag.digest, dag.text, created_ms)

    def _place(self, user_id: str, workflow_id: str) -> Path:
        """The folder of a workflow, which is never outside of the directory."""
        user, workflow = (
            check_id(user_id, where="user_id"),
            check_id(workflow_id, where="workflow_id"),
        )
        return self._directory / user / workflow

    async def _hop(self, work: Callable[[], _Result]) -> _Result:
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _removed(version: int) -> str:
    """The name of the file of a version that was removed."""
    return f".{version:d}.json.removed"


def _names(folder: Path) -> list[str]:
    """What in a folder has a name that can be an id, in order."""
    return sorted(one for one in _listed(folder) if _ID.fullmatch(one))


def _numbers(folder: Path, name: re.Pattern[str]) -> list[int]:
    """The versions that there are files of under such a name, highest first."""
    found = map(name.fullmatch, _listed(folder))
    return sorted((int(one[1]) for one in found if one), reverse=True)


def _listed(folder: Path) -> list[str]:
    with _explained(folder):
        try:
            return os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []


@contextlib.contextmanager
def _explained(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        transient = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE)
        raise StoreError(
            f"cannot be read or written ({error.strerror})", where=str(place),
            hint="check the directory, its permissions and the disk", transient=transient,
        ) from error  # fmt: skip


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
