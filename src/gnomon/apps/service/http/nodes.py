"""
How far have the nodes of a run come? What the embedded executor has written down, as an answer.

Spec: HTTP-21.
"""

from dataclasses import dataclass

from gnomon.apps.service.viewing import instant_text
from gnomon.ports.executions import NodeRow

__all__ = ["NodeView", "node_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node of a run; one that has not begun is not there."""

    node_id: str
    state: str
    """running, success, failed or skipped."""
    attempt: int
    detail: str
    started_at: str | None
    ended_at: str | None


def node_view(row: NodeRow) -> NodeView:
    return NodeView(
        node_id=row.node_id,
        state=row.state,
        attempt=row.attempt,
        detail=row.detail,
        started_at=None if row.started_ms is None else instant_text(row.started_ms),
        ended_at=None if row.ended_ms is None else instant_text(row.ended_ms),
    )
