"""How far a run has come: which nodes may begin, and which never will."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.dag import Dag, parse_dag
from gnomon.core.dag.value import Json
from gnomon.ports.dag import NodeRow, NodeState
from gnomon.shell.executor.ready_nodes import ReadyNodes
from tests.clauses import clause
from tests.core.dag.dags import a_node, dag_text


def dag_of(nodes: str, *edges: str) -> Dag:
    """Nodes with names of one letter, and edges like `ab`."""
    listed: list[Json] = [a_node(one) for one in nodes]
    return parse_dag(
        dag_text(nodes=listed, edges=[{"from": edge[0], "to": edge[1]} for edge in edges])
    )


DIAMOND = dag_of("abcd", "ab", "ac", "bd", "cd")


@clause("EXEC-10")
def test_nodes_begin_when_all_before_them_have_succeeded() -> None:
    nodes = ReadyNodes(DIAMOND)

    assert nodes.begin_ready() == ["a"]
    assert nodes.begin_ready() == []
    assert nodes.finish("a", success=True) == []
    assert nodes.begin_ready() == ["b", "c"]
    nodes.finish("b", success=True)
    assert nodes.begin_ready() == []
    nodes.finish("c", success=True)
    assert nodes.begin_ready() == ["d"]
    assert not nodes.is_over
    nodes.finish("d", success=True)
    assert nodes.is_over
    assert (nodes.failed, nodes.skipped) == ([], [])


@clause("EXEC-11")
def test_a_failure_skips_what_stands_behind_it_and_nothing_else() -> None:
    nodes = ReadyNodes(dag_of("abcde", "ab", "bc", "de"))
    assert nodes.begin_ready() == ["a", "d"]

    assert nodes.finish("a", success=False) == ["b", "c"]
    nodes.finish("d", success=True)
    assert nodes.begin_ready() == ["e"]
    nodes.finish("e", success=True)
    assert nodes.is_over
    assert (nodes.failed, nodes.skipped) == (["a"], ["b", "c"])


@clause("EXEC-13")
def test_what_has_ended_before_is_not_done_again() -> None:
    rows = [NodeRow("a", NodeState.SUCCESS, 1), NodeRow("b", NodeState.RUNNING, 1)]

    assert ReadyNodes(DIAMOND, rows).begin_ready() == ["b", "c"]


@clause("EXEC-13")
def test_a_failure_of_an_earlier_try_still_skips_what_stands_behind_it() -> None:
    nodes = ReadyNodes(
        DIAMOND, [NodeRow("a", NodeState.SUCCESS, 1), NodeRow("b", NodeState.FAILED, 1)]
    )

    assert nodes.skipped == ["d"]
    assert nodes.begin_ready() == ["c"]


@clause("EXEC-11")
def test_nothing_begins_after_giving_up() -> None:
    nodes = ReadyNodes(DIAMOND)
    nodes.begin_ready()

    assert nodes.give_up() == ["b", "c", "d"]
    nodes.finish("a", success=True)
    assert nodes.begin_ready() == []
    assert nodes.is_over


@clause("EXEC-10", "EXEC-11")
@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1])),
    st.sets(st.integers(0, 7)),
    st.randoms(use_true_random=False),
)
def test_every_node_ends_once_and_none_before_its_time(
    pairs: set[tuple[int, int]], failing: set[int], dice: st.DataObject
) -> None:
    names = "abcdefgh"
    edges = {(names[one], names[other]) for one, other in pairs}
    nodes = ReadyNodes(dag_of(names, *(one + other for one, other in sorted(edges))))
    begun: list[str] = []
    done: set[str] = set()
    under_way: list[str] = []
    while True:
        for node in nodes.begin_ready():
            assert {one for one, other in edges if other == node} <= done
            begun.append(node)
            under_way.append(node)
        if not under_way:
            break
        node = under_way.pop(dice.randrange(len(under_way)))  # type: ignore[attr-defined]
        success = names.index(node) not in failing
        nodes.finish(node, success=success)
        if success:
            done.add(node)

    assert nodes.is_over
    assert len(begun) == len(set(begun))
    assert sorted([*begun, *nodes.skipped]) == list(names)
    assert set(nodes.failed) == set(begun) - done
