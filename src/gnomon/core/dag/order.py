"""
Which nodes wait for which, and is there a beginning?

Spec: DAG-5, DAG-6.
"""

from collections.abc import Iterable, Mapping

from gnomon.core.dag.value import Edge

__all__ = ["dependencies", "dependents", "find_cycle", "topological"]


def dependencies(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, set[str]]:
    """For each node, those that must have succeeded before it may begin."""
    found: dict[str, set[str]] = {node: set() for node in nodes}
    for before, after in edges:
        found[after].add(before)
    return found


def dependents(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, set[str]]:
    """For each node, those that wait for it, directly or by way of others."""
    direct: dict[str, set[str]] = {node: set() for node in nodes}
    for before, after in edges:
        direct[before].add(after)
    whole: dict[str, set[str]] = {}
    for node in reversed(topological(dependencies(direct, edges))):
        whole[node] = direct[node].union(*(whole[one] for one in direct[node]))
    return whole


def topological(waits_for: Mapping[str, set[str]]) -> list[str]:
    """The nodes in an order in which each comes after those it waits for; not those in a cycle."""
    waiting = {node: len(before) for node, before in waits_for.items()}
    behind: dict[str, list[str]] = {node: [] for node in waits_for}
    for node, before in waits_for.items():
        for one in before:
            behind[one].append(node)
    order = [node for node, count in waiting.items() if not count]
    for node in order:  # grows while it is walked
        for one in behind[node]:
            waiting[one] -= 1
            if not waiting[one]:
                order.append(one)
    return order


def find_cycle(waits_for: Mapping[str, set[str]]) -> list[str] | None:
    """The nodes of one cycle in the order of its edges, the first also last; None for no cycle."""
    ordered = set(topological(waits_for))
    left = {node: sorted(before - ordered) for node, before in waits_for.items()}
    start = next((node for node in sorted(waits_for) if node not in ordered), None)
    if start is None:
        return None
    # A node that is left waits for another that is left, or stands behind a cycle: walking back
    # along the edges must come to a node a second time.
    way: list[str] = [start]
    while (back := left[way[-1]][0]) not in way:
        way.append(back)
    cycle = way[way.index(back) :][::-1]
    first = cycle.index(min(cycle))
    turned = cycle[first:] + cycle[:first]
    return [*turned, turned[0]]
