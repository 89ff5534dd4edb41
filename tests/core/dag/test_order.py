"""Which nodes wait for which."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.dag.order import dependencies, dependents, find_cycle, topological
from gnomon.core.dag.value import Edge
from tests.clauses import clause

NAMES = "abcdefg"
graphs = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=15).map(
    lambda pairs: [Edge(*pair) for pair in sorted(pairs)]
)


@clause("DAG-6")
def test_a_node_waits_for_those_before_it() -> None:
    edges = [Edge("a", "b"), Edge("a", "c"), Edge("b", "d"), Edge("c", "d")]

    assert dependencies("abcd", edges) == {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}
    assert dependents("abcd", edges) == {
        "a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set(),
    }  # fmt: skip


@clause("DAG-6")
@given(graphs)
def test_an_order_has_each_node_after_those_it_waits_for(edges: list[Edge]) -> None:
    waits_for = dependencies(NAMES, edges)
    order = topological(waits_for)

    for index, node in enumerate(order):
        assert waits_for[node] <= set(order[:index])


@clause("DAG-5")
@given(graphs)
def test_there_is_a_cycle_exactly_when_some_node_has_no_place(edges: list[Edge]) -> None:
    waits_for = dependencies(NAMES, edges)
    cycle = find_cycle(waits_for)

    assert (cycle is None) == (len(topological(waits_for)) == len(NAMES))
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(Edge(*pair) in edges for pair in pairwise(cycle))
