"""
The record of executions as a contract: which nodes of a run have come how far.

An embedded executor writes here before it begins a node and when the node has ended, so that the
worker that takes a run over knows what need not be done again. A run is written to under the number
it was last begun with; a writer that comes with a smaller one is refused.

Spec: EXECUTION-1 to EXECUTION-4.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from gnomon.ports.executor import FeedbackStatus

__all__ = ["LOG_MAX", "Execution", "Executions", "NodeRow", "NodeState"]

LOG_MAX = 64 * 1024
"""Characters kept of what one node has said."""


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


class Execution(NamedTuple):
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


class Executions(Protocol):
    """
    Where an embedded executor keeps how far its runs have come.

    Each method is one transaction. A method that raises has done nothing, or cannot know, and may
    be called again.
    """

    async def begin(self, execution: Execution) -> Execution:
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

    async def get(self, key: str) -> Execution | None:
        """A run with its nodes, without what they said."""
        ...

    async def log(self, key: str, node_id: str) -> str | None:
        """What a node has said; None when there is no such node."""
        ...

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` runs that ended before an instant; say how many."""
        ...
