"""
How far have the nodes of one run come, and which may begin?

A node may begin when all before it have succeeded. When one fails, everything that stands behind it
is skipped, and the rest goes on. What has ended before, by the record of an earlier try, is not
done again; what had only begun is done again.

Spec: DAG-6, EXEC-10, EXEC-11, EXEC-13.
"""

from collections.abc import Iterable

from gnomon.core.dag import Dag, dependencies, dependents
from gnomon.ports.dag import NodeRow, NodeState

__all__ = ["ReadyNodes"]

_BEGUN = NodeState.RUNNING


class ReadyNodes:
    """The nodes of a run, by how far they have come."""

    def __init__(self, dag: Dag, rows: Iterable[NodeRow] = ()) -> None:
        names = [node.node_id for node in dag.nodes]
        self._waits_for = dependencies(names, dag.edges)
        self._behind = dependents(names, dag.edges)
        self._states: dict[str, NodeState] = {}
        self._left = dict.fromkeys(names)
        """The nodes that have not begun, in their order."""
        for row in rows:
            if row.node_id in self._left and row.state is not _BEGUN:
                del self._left[row.node_id]
                self._states[row.node_id] = row.state
        # The worker that wrote a failure may have died before it wrote what that means.
        for node in list(self._left):
            if any(self._states.get(one) is NodeState.FAILED for one in self._before(node)):
                self._settle(node, NodeState.SKIPPED)

    @property
    def is_over(self) -> bool:
        """Whether no node is left, and none is under way."""
        return not self._left and _BEGUN not in self._states.values()

    @property
    def failed(self) -> list[str]:
        return sorted(self._in(NodeState.FAILED))

    @property
    def skipped(self) -> list[str]:
        return sorted(self._in(NodeState.SKIPPED))

    @property
    def size(self) -> int:
        return len(self._waits_for)

    def begin_ready(self) -> list[str]:
        """The nodes that may begin now; they count as begun from here on."""
        ready = [node for node in self._left if self._is_ready(node)]
        for node in ready:
            self._settle(node, _BEGUN)
        return ready

    def finish(self, node: str, *, success: bool) -> list[str]:
        """A node has ended; those that are skipped because of that."""
        self._states[node] = NodeState.SUCCESS if success else NodeState.FAILED
        if success:
            return []
        skipped = [one for one in self._left if one in self._behind[node]]
        for one in skipped:
            self._settle(one, NodeState.SKIPPED)
        return skipped

    def give_up(self) -> list[str]:
        """Nothing more may begin; those that are skipped because of that."""
        skipped = list(self._left)
        for one in skipped:
            self._settle(one, NodeState.SKIPPED)
        return skipped

    def _is_ready(self, node: str) -> bool:
        return all(self._states.get(one) is NodeState.SUCCESS for one in self._waits_for[node])

    def _before(self, node: str) -> list[str]:
        return [one for one, behind in self._behind.items() if node in behind]

    def _in(self, state: NodeState) -> list[str]:
        return [node for node, found in self._states.items() if found is state]

    def _settle(self, node: str, state: NodeState) -> None:
        del self._left[node]
        self._states[node] = state
