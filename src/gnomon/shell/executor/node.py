"""
What it takes to carry out one node, whatever its type.

A node is told about its run, says how it ended, and may be cancelled: then it comes to its end as
soon as it can and says so like any other. Nothing that a node does may raise.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from gnomon.core.civil.instant import format_instant
from gnomon.ports.dag import LOG_MAX
from gnomon.ports.executor import Meta

__all__ = ["NodeContext", "NodeEnd", "Record", "cut_log"]

Record = Callable[[str], Awaitable[bool]]
"""Writes down which process a node is; False when the run is no longer ours."""


_LINES_MAX = 4_000


class NodeEnd(NamedTuple):
    """How a node ended."""

    success: bool
    detail: str
    """In one line."""
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """What a node is told about its run."""

    meta: Meta
    node_id: str
    attempt: int
    """How often this node was begun, this time included."""
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of a command or the headers of a request, secrets included."""
    former: str | None = None
    """Which process the node was when an earlier worker left it, for one that goes on alone."""
    goes_on: Callable[[], bool] = lambda: False
    """Whether being cancelled means only that this worker no longer looks after the node."""
    lines: list[str] = field(default_factory=list, repr=False)

    @property
    def key(self) -> str:
        """The same for every try of this node in this run, so that an effect can be made once."""
        return f"{self.meta.idempotency_key}:{self.node_id}"

    @property
    def scheduled_for(self) -> str:
        """The planned instant of the run in RFC 3339."""
        return format_instant(self.meta.scheduled_for)

    @property
    def params(self) -> dict[str, object]:
        """What the run was given, by its schedule and by who triggered it."""
        found: dict[str, object] = json.loads(self.meta.params)
        return found

    def environment(self) -> dict[str, str]:
        """The variables that every process of a node is told its run by."""
        meta = self.meta
        return {
            "GNOMON_SCHEDULE": meta.schedule_id,
            "GNOMON_PERIOD": self.scheduled_for,
            "GNOMON_WORKFLOW": meta.workflow_id,
            "GNOMON_VERSION": str(meta.version),
            "GNOMON_USER": meta.user_id,
            "GNOMON_NODE": self.node_id,
            "GNOMON_KEY": self.key,
            "GNOMON_PARAMS": meta.params,
        }

    @property
    def name(self) -> str:
        """A name that tells nodes of runs apart, fit for a file and for a Job."""
        return sha256(self.key.encode()).hexdigest()[:32]

    def log(self, text: str) -> None:
        """Add a line to what is kept of this node."""
        self.lines.append(str(text)[:LOG_MAX])
        if len(self.lines) > _LINES_MAX:
            del self.lines[_LINES_MAX // 4 : _LINES_MAX // 2]  # of a long log the middle goes


def cut_log(text: str) -> str:
    """The text as it can be kept: without NUL, of a long one the first and the last part."""
    clean = text.replace("\0", "\ufffd").encode(errors="replace").decode()
    if len(clean) <= LOG_MAX:
        return clean
    half = LOG_MAX // 2 - 50
    return f"{clean[:half]}\n... {len(clean) - 2 * half} characters left out ...\n{clean[-half:]}"
