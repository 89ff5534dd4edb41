"""
DAGs as a contract: those that have been deployed, and how far the runs of each have come.

A version is written once and never changes, so that a run can always be explained by what it was
given. Each user has ids of its own. Texts are canonical JSON, with their digest; what stands in
them is read elsewhere. An embedded executor writes how far a run has come before it begins a node
and when the node has ended, so that the worker that takes a run over knows what need not be done
again. A run is written to under the number it was last begun with; a writer that comes with a
smaller one is refused.

Spec: WSTORE-1 to WSTORE-6, EXECUTION-1 to EXECUTION-4.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from gnomon.ports.executor import FeedbackStatus

__all__ = ["LOG_MAX", "DagRun", "DagRuns", "DagStore", "NodeRow", "NodeState", "StoredDag"]

LOG_MAX = 64 * 1024
"""Characters kept of what one node has said."""


class StoredDag(NamedTuple):
    """One version of a DAG."""

    user_id: str
    workflow_id: str
    version: int
    digest: str
    """SHA-256 of the canonical text, in lower-case hex."""
    text: str
    created_ms: int


class DagStore(Protocol):
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
        Have a version of a DAG, or all of them, no longer there; how many that were.

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
        """The highest version of a DAG."""
        ...

    async def versions(
        self, user_id: str, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Sequence[StoredDag]:
        """The versions of a DAG, highest first, those below `before`."""
        ...

    async def newest_of_each(
        self, *, user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> Sequence[StoredDag]:
        """
        The newest version of each DAG, of one user or of all, in the order of user and id.

        `after` is the user and id of the last one that was seen.
        """
        ...


class NodeState(StrEnum):
    """How far a node has come; one that has no row has not begun."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    """A node before it failed."""


class NodeRow(NamedTuple):
    """What is known of a node."""

    node_id: str
    state: NodeState
    attempt: int
    """How often it was begun."""
    process: str | None = None
    """Which process it is, for one that is a process."""
    detail: str = ""
    """How it ended, in one line."""
    log: str | None = None
    """What it said; None where it was not asked for."""
    started_ms: int | None = None
    ended_ms: int | None = None


class DagRun(NamedTuple):
    """A run, and its nodes in the order of their ids."""

    key: str
    run_id: str
    workflow_id: str
    version: int
    user_id: str
    fence: int
    status: FeedbackStatus
    detail: str
    started_ms: int
    ended_ms: int | None = None
    nodes: tuple[NodeRow, ...] = ()


class DagRuns(Protocol):
    """
    Where an embedded executor keeps how far its runs have come.

    Each method is one transaction. A method that raises has done nothing, or cannot know, and may
    be called again.
    """

    async def begin(self, dag_run: DagRun) -> DagRun:
        """
        Enter a run, or take it over when it has a smaller number; return it as it is kept.

        A run that has ended stays as it is. What comes back with another number belongs to
        another worker.
        """
        ...

    async def write(self, key: str, nodes: Sequence[NodeRow], *, fence: int) -> bool:
        """Write how far nodes have come; False, and nothing written, under another number."""
        ...

    async def end(
        self, key: str, status: FeedbackStatus, detail: str, *, fence: int, now_ms: int
    ) -> bool:
        """Write how a run ended; False under another number, or when it had ended before."""
        ...

    async def get(self, key: str) -> DagRun | None:
        """A run with its nodes, without what they said."""
        ...

    async def log(self, key: str, node_id: str) -> str | None:
        """What a node has said; None when there is no such node."""
        ...

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` runs that ended before an instant; say how many."""
        ...
