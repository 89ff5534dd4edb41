"""
The workflow store as a contract: the DAGs that have been deployed, by user, id and version.

A version is written once and never changes, so that a run can always be explained by what it was
given. Each user has ids of its own. Texts are canonical JSON, with their digest; what stands in
them is read elsewhere.

Spec: WSTORE-1 to WSTORE-6.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["StoredDag", "WorkflowStore"]


class StoredDag(NamedTuple):
    """One version of a workflow."""

    user_id: str
    workflow_id: str
    version: int
    digest: str
    """SHA-256 of the canonical text, in lower-case hex."""
    text: str
    created_ms: int


class WorkflowStore(Protocol):
    """
    Where DAGs are kept.

    A method that raises has done nothing, or cannot know, and may be called again.
    """

    async def put(self, dag: StoredDag) -> StoredDag:
        """
        Keep a version, unless it is there; return it as it is kept. One that was removed is there
        again.

        A caller that gets another digest back than it brought has lost to an earlier caller, and
        nothing was changed.
        """
        ...

    async def remove(
        self, user_id: str, workflow_id: str, *, version: int | None = None, now_ms: int
    ) -> int:
        """
        Have a version of a workflow, or all of them, no longer there; how many that were.

        What it was is kept, so that no other content can take its number.
        """
        ...

    async def highest(self, user_id: str, workflow_id: str) -> int:
        """The highest version that was ever put, also one that was removed; 0 for none."""
        ...

    async def load(self, user_id: str, workflow_id: str, version: int) -> StoredDag | None:
        """One version; None when there is none."""
        ...

    async def newest(self, user_id: str, workflow_id: str) -> StoredDag | None:
        """The highest version of a workflow."""
        ...

    async def versions(
        self, user_id: str, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Sequence[StoredDag]:
        """The versions of a workflow, highest first, those below `before`."""
        ...

    async def workflows(
        self, *, user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> Sequence[StoredDag]:
        """
        The newest version of each workflow, of one user or of all, in the order of user and id.

        `after` is the user and id of the last one that was seen.
        """
        ...
