"""The text of a DAG: what is read from it, and what is said about one that is wrong."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.dag import (
    ActionNode,
    CommandNode,
    Edge,
    HttpNode,
    PythonNode,
    TriggerType,
    parse_dag,
)
from gnomon.core.dag.value import Json
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.core.dag.dags import a_dag, a_node, dag_text


def refusal(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        parse_dag(text)
    return str(caught.value)


@clause("DAG-1")
def test_a_dag_of_two_nodes_is_read() -> None:
    dag = parse_dag(
        dag_text(
            version=3,
            nodes=[a_node("extract"), a_node("load")],
            edges=[{"from": "extract", "to": "load"}],
            triggers=[{"type": "schedule_based", "cron_expr": "0 3 * * *"}],
        )
    )

    assert (dag.workflow_id, dag.version) == ("report", 3)
    assert [node.node_id for node in dag.nodes] == ["extract", "load"]
    assert dag.edges == (Edge("extract", "load"),)
    assert [(one.trigger_id, one.type) for one in dag.triggers] == [("main", TriggerType.SCHEDULE)]
    assert dag.triggers[0].fields == {"cron_expr": "0 3 * * *"}


@clause("DAG-2")
def test_what_is_written_in_another_order_has_the_same_digest() -> None:
    nodes: list[Json] = [a_node("a"), a_node("b"), a_node("c")]
    edges: list[Json] = [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]
    one = parse_dag(dag_text(nodes=nodes, edges=edges))
    other = parse_dag(
        json.dumps(dict(reversed(a_dag(nodes=nodes[::-1], edges=edges[::-1]).items())), indent=4)
    )

    assert one.digest == other.digest
    assert one.text == other.text


@clause("DAG-2")
def test_what_means_something_else_has_another_digest() -> None:
    assert parse_dag(dag_text()).digest != parse_dag(dag_text(description="for Anna")).digest


@clause("DAG-2")
def test_the_digest_of_a_dag_is_the_hash_of_its_canonical_text() -> None:
    dag = parse_dag(dag_text())

    assert dag.text == (
        '{"nodes":[{"command":["true"],"id":"first","type":"command"}],'
        '"version":1,"workflow_id":"report"}'
    )
    assert dag.digest == "65400e1bfecd3920082041185c22c5f94f0b8fd1724054ae242f865d3d5f71e8"


@clause("DAG-2")
def test_the_canonical_text_means_the_same_dag() -> None:
    dag = parse_dag(dag_text(nodes=[a_node("z"), a_node("e")], edges=[]))

    assert parse_dag(dag.text) == dag


@clause("DAG-3")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"workflow_id": "../etc"}, "workflow_id: must be 1 to 200 letters, digits"),
        ({"workflow_id": 5}, "workflow_id: must be text, got 5"),
        ({"version": 0}, "version: must lie between 1 and 2147483647, got 0"),
        ({"version": True}, "version: must be a whole number, got True"),
        ({"version": "1"}, "version: must be a whole number, got '1'"),
        ({"nodes": []}, "nodes: must have 1 to 1000 entries, got 0"),
        ({"nodes": {}}, "nodes: must be a list, got {}"),
        ({"nodes": [5]}, "nodes[0]: must be an object, got 5"),
        ({"nodes": [{"id": "x"}]}, "nodes[0].type: is missing, got None; write command, http"),
        ({"nodes": [{"id": "x", "type": "lambda"}]}, "nodes[0].type: is no type of node"),
        ({"nodes": [a_node("a"), a_node("a")]}, "nodes[1].id: is the id of another node too"),
        ({"edges": [{"from": "first"}]}, "edges[0].to: is missing"),
        ({"edges": [{"from": "First", "to": "first"}]}, "edges[0].from: is no node of this"),
        ({"owner": "anna"}, "owner: is not a known key, got 'owner'; use workflow_id, version"),
        ({"two words": 1}, '["two words"]: is not a known key'),
        ({"triggers": [{"type": "cron"}]}, "triggers[0].type: is no type of trigger, got 'cron'"),
        ({"triggers": [{}]}, "triggers[0].type: is missing"),
        ({"triggers": [{"type": "event_based", "id": "a b"}]}, "triggers[0].id: must be 1 to 200"),
    ],
)
def test_an_error_names_the_place_in_the_document(fields: dict[str, Json], message: str) -> None:
    assert refusal(dag_text(**fields)).startswith(message)


@clause("DAG-3")
def test_a_missing_key_is_named() -> None:
    assert refusal('{"workflow_id": "a", "version": 1}') == (
        "nodes: is missing, got None; every object here has workflow_id, version, nodes"
    )


@clause("DAG-3")
def test_an_edge_that_stands_twice_is_refused() -> None:
    edges: list[Json] = [{"from": "a", "to": "b"}] * 2

    assert refusal(dag_text(nodes=[a_node("a"), a_node("b")], edges=edges)) == (
        "edges[1]: is there twice, got 'a -> b'; keep one of the two"
    )


@clause("DAG-3")
def test_triggers_have_ids_of_their_own() -> None:
    trigger: Json = {"type": "schedule_based", "cron_expr": "* * * * *"}

    assert refusal(dag_text(triggers=[trigger, trigger])).startswith(
        "triggers[1].id: is the id of another trigger too, got 'main'"
    )


@clause("DAG-4")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "dag: is not JSON (Expecting value"),
        ("[]", "dag: must be an object, got []"),
        ("null", "dag: must be an object, got None"),
        ('{"a": 1, "a": 2}', "a: stands twice in one object"),
        ('{"a": [{"b": 1, "c": 2, "b": 3}]}', "a[0].b: stands twice in one object"),
        ('{"a": NaN}', "dag: is not JSON (NaN is no number)"),
        ('{"a": 1e999}', "a: is too large a number, got inf"),
        ('{"a": 9223372036854775808}', "a: is too large a number"),
        ('{"a": ' + "1" * 5000 + "}", "dag: is not JSON (Exceeds the limit"),
        ('{"a": "\\ud800"}', "a: has half of a character"),
        ('{"\\ud800": 1}', "dag: has half of a character"),
        ("[" * 34 + "]" * 34, "[0][0][0]"),
        ("[" * 100_000, "dag: is nested deeper than 32 levels"),
        ('{"a": "' + "x" * 1_048_576 + '"}', "dag: must have at most 1048576 bytes"),
        ('{"a": "' + "é" * 600_000 + '"}', "dag: must have at most 1048576 bytes"),
    ],
    ids=range(15),
)
def test_what_no_document_may_hold_is_refused(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


@clause("DAG-4")
def test_a_dag_has_at_most_a_thousand_nodes() -> None:
    nodes: list[Json] = [a_node(f"n{number}") for number in range(1001)]

    assert refusal(dag_text(nodes=nodes)) == (
        "nodes: must have 1 to 1000 entries, got 1001; split it"
    )


@clause("DAG-4")
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["id", "type", "nodes", "edges", "url", "command", "version", "from"]),
        inner, max_size=4,
    ),
))  # fmt: skip
def test_whatever_is_written_is_read_or_refused_with_a_place(value: Json) -> None:
    for text in (json.dumps(value), dag_text(nodes=[value]), dag_text(triggers=[value])):
        with contextlib.suppress(DefinitionError):
            assert parse_dag(text).digest


@clause("DAG-5")
def test_a_cycle_is_printed() -> None:
    nodes: list[Json] = [a_node(one) for one in "abcd"]
    pairs = ["ab", "bc", "cb", "cd"]
    edges: list[Json] = [{"from": pair[0], "to": pair[1]} for pair in pairs]

    assert refusal(dag_text(nodes=nodes, edges=edges)) == (
        "edges: lead back to where they began: b -> c -> b, got 'a cycle of 2'; "
        "remove one of these edges"
    )


@clause("DAG-5")
def test_a_node_that_waits_for_itself_is_a_cycle() -> None:
    assert "first -> first" in refusal(dag_text(edges=[{"from": "first", "to": "first"}]))


@clause("DAG-5")
def test_a_long_cycle_is_printed_in_short() -> None:
    names = [f"n{number:02d}" for number in range(40)]
    nodes: list[Json] = [a_node(one) for one in names]
    edges: list[Json] = [
        {"from": one, "to": other} for one, other in zip(names, [*names[1:], names[0]], strict=True)
    ]

    assert "n09 -> n10 -> ... -> n00, got 'a cycle of 40'" in refusal(
        dag_text(nodes=nodes, edges=edges)
    )


@clause("DAG-8")
def test_a_command_has_arguments_and_circumstances() -> None:
    node = a_node(
        command=["pg_dump", "-Fc"], cwd="/srv", env={"PGHOST": "db"}, timeout="1h", grace="0s"
    )

    assert parse_dag(dag_text(nodes=[node])).nodes == (
        CommandNode(
            node_id="first", arguments=("pg_dump", "-Fc"), cwd="/srv", env={"PGHOST": "db"},
            timeout_ms=3_600_000, grace_ms=0,
        ),
    )  # fmt: skip


@clause("DAG-8")
def test_a_shell_text_is_read_by_a_shell() -> None:
    (node,) = parse_dag(dag_text(nodes=[a_node(shell="date > now")])).nodes

    assert isinstance(node, CommandNode)
    assert node.arguments == ("/bin/sh", "-c", "date > now")
    assert (node.timeout_ms, node.grace_ms) == (0, 10_000)


@clause("DAG-8")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": ["a"], "shell": "b"}, "nodes[0]: must have either a list `command`"),
        ({"cwd": "/"}, "nodes[0]: must have either a list `command` or a text `shell`"),
        ({"command": []}, "nodes[0].command: must have 1 to 1000 entries"),
        ({"command": [""]}, "nodes[0].command[0]: must be 1 to 4096 characters"),
        ({"command": ["a", 5]}, "nodes[0].command[1]: must be text, got 5"),
        ({"command": ["a\0"]}, "nodes[0].command[0]: must be 1 to 4096 characters without NUL"),
        ({"shell": "a", "env": {"LD_PRELOAD": "x"}}, "nodes[0].env.LD_PRELOAD: is a reserved"),
        ({"shell": "a", "env": {"A=B": "x"}}, 'nodes[0].env["A=B"]: is no name of a variable'),
        ({"shell": "a", "env": {"A": 5}}, "nodes[0].env.A: must be text"),
        ({"shell": "a", "timeout": "0s"}, "nodes[0].timeout: must lie between 1ms and 168h0m0s"),
        ({"shell": "a", "timeout": "soon"}, "nodes[0].timeout: must be a duration"),
        ({"shell": "a", "timeout": 5}, "nodes[0].timeout: must be text"),
        ({"shell": "a", "user": "root"}, "nodes[0].user: is not a known key"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(fields: dict[str, Json], message: str) -> None:
    node: Json = {"id": "first", "type": "command", **fields}

    assert refusal(dag_text(nodes=[node])).startswith(message)


@clause("DAG-9")
def test_a_request_has_a_method_and_a_body() -> None:
    node: Json = {
        "id": "tell", "type": "http", "url": "https://example.org/hook", "json": {"n": 1},
        "headers": {"X-Team": "data"}, "expect": [202, 200], "timeout": "5s",
    }  # fmt: skip

    assert parse_dag(dag_text(nodes=[node])).nodes == (
        HttpNode(
            node_id="tell", method="POST", url="https://example.org/hook", body='{"n":1}',
            headers={"X-Team": "data", "Content-Type": "application/json"}, timeout_ms=5_000,
            expect=(200, 202),
        ),
    )  # fmt: skip


@clause("DAG-9")
def test_a_request_without_a_body_gets() -> None:
    node: Json = {"id": "ask", "type": "http", "url": "http://example.org"}
    (found,) = parse_dag(dag_text(nodes=[node])).nodes

    assert isinstance(found, HttpNode)
    assert (found.method, found.body, found.timeout_ms) == ("GET", None, 30_000)


@clause("DAG-9")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"url": "ftp://a"}, "nodes[0].url: must be an http or https URL with a host"),
        ({"url": "https:///path"}, "nodes[0].url: must be an http or https URL with a host"),
        ({"url": "http://[::1"}, "nodes[0].url: is no URL"),
        ({"url": "http://a:99999"}, "nodes[0].url: is no URL"),
        ({"url": "http://u:secret@a"}, "nodes[0].url: must not hold a user or password, got 'a'"),
        ({"url": "http://a/é"}, "nodes[0].url: must be printable ASCII"),
        ({"url": "http://a", "method": "get"}, "nodes[0].method: is no method"),
        ({"url": "http://a", "headers": {"Host": "b"}}, "nodes[0].headers.Host: is no header"),
        ({"url": "http://a", "headers": {"a b": "c"}}, 'nodes[0].headers["a b"]: is no header'),
        ({"url": "http://a", "headers": {"A": "b\r\nC: d"}}, "nodes[0].headers.A: must be print"),
        ({"url": "http://a", "json": 1, "body": "x"}, "nodes[0]: must not have both"),
        ({"url": "http://a", "expect": [99]}, "nodes[0].expect[0]: must lie between 200 and 599"),
        ({"url": "http://a", "expect": []}, "nodes[0].expect: must have 1 to 100 entries"),
        ({}, "nodes[0].url: is missing"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(fields: dict[str, Json], message: str) -> None:
    assert refusal(dag_text(nodes=[{"id": "x", "type": "http", **fields}])).startswith(message)


@clause("DAG-10")
def test_a_function_has_a_module_and_arguments() -> None:
    node: Json = {
        "id": "sum", "type": "python", "callable": "team.jobs:Report.build",
        "arguments": {"day": "today"},
    }  # fmt: skip

    assert parse_dag(dag_text(nodes=[node])).nodes == (
        PythonNode(
            node_id="sum", module="team.jobs", function="Report.build",
            arguments={"day": "today"}, timeout_ms=0,
        ),
    )  # fmt: skip


@clause("DAG-10")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"callable": "os.system"}, "nodes[0].callable: must name a function of a module"),
        ({"callable": "os:"}, "nodes[0].callable: must name a function of a module"),
        ({"callable": "a:b", "arguments": []}, "nodes[0].arguments: must be an object"),
        ({"callable": "a:b", "arguments": {"a b": 1}}, "nodes[0].arguments: must have names"),
    ],
)
def test_a_function_that_makes_no_sense_is_refused(fields: dict[str, Json], message: str) -> None:
    assert refusal(dag_text(nodes=[{"id": "x", "type": "python", **fields}])).startswith(message)


@clause("DAG-11")
def test_an_action_is_kept_as_it_is_for_the_executor() -> None:
    node: Json = {"id": "send", "type": "action", "uses": "gmail.send", "with": {"to": ["a"]}}
    dag = parse_dag(dag_text(nodes=[node]))

    assert dag.nodes == (ActionNode(node_id="send", uses="gmail.send", given={"to": ["a"]}),)
    assert '"with":{"to":["a"]}' in dag.text
