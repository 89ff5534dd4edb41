"""
The text of a DAG becomes a value, or an error that says where and what to write instead.

`parse_dag` reads the whole document before anything else happens. The order of nodes, edges and
triggers, the order of names and white space are not content: the canonical form has them sorted,
and the digest is taken from that. What a schedule's fields mean is for the registrar to read.

Spec: DAG-1 to DAG-6.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256

from gnomon.core.dag.document import At, read_document
from gnomon.core.dag.node_reading import read_node
from gnomon.core.dag.order import dependencies, find_cycle
from gnomon.core.dag.value import Dag, Edge, Json, Node, Trigger, TriggerType
from gnomon.errors import DefinitionError

__all__ = ["EDGES_MAX", "NODES_MAX", "TRIGGERS_MAX", "VERSION_MAX", "parse_dag"]

NODES_MAX = 1_000
EDGES_MAX = 10_000
TRIGGERS_MAX = 100
VERSION_MAX = 2**31 - 1
_SHOWN_MAX = 12
"""So many nodes of a cycle are printed in full."""


@lru_cache(64)
def parse_dag(text: str) -> Dag:
    """The DAG that a JSON document describes."""
    root = read_document(text)
    found = root.table(
        required=("workflow_id", "version", "nodes"),
        optional=("edges", "triggers", "name", "description"),
    )
    for name in ("name", "description"):
        if name in found:
            found[name].text()
    nodes = _read_nodes(found["nodes"])
    names = [node.node_id for node in nodes]
    edges = _read_edges(found["edges"], set(names)) if "edges" in found else ()
    _refuse_cycle(names, edges)
    canonical = _canonical(root)
    return Dag(
        workflow_id=found["workflow_id"].identifier(),
        version=found["version"].whole(least=1, most=VERSION_MAX),
        nodes=nodes,
        edges=edges,
        triggers=_read_triggers(found["triggers"]) if "triggers" in found else (),
        text=canonical,
        digest=sha256(canonical.encode()).hexdigest(),
    )


def _read_nodes(at: At) -> tuple[Node, ...]:
    nodes = {}
    for one in at.items(least=1, most=NODES_MAX):
        node = read_node(one)
        if node.node_id in nodes:
            raise DefinitionError(
                "is the id of another node too", where=f"{one.path}.id", got=node.node_id,
                hint="give each node an id of its own",
            )  # fmt: skip
        nodes[node.node_id] = node
    return tuple(nodes[name] for name in sorted(nodes))


def _read_edges(at: At, names: set[str]) -> tuple[Edge, ...]:
    edges: set[Edge] = set()
    for one in at.items(most=EDGES_MAX):
        ends = one.table(required=("from", "to"), optional=())
        edge = Edge(_node_named(ends["from"], names), _node_named(ends["to"], names))
        if edge in edges:
            raise DefinitionError(
                "is there twice", where=one.path, got=f"{edge.before} -> {edge.after}",
                hint="keep one of the two",
            )  # fmt: skip
        edges.add(edge)
    return tuple(sorted(edges))


def _node_named(at: At, names: set[str]) -> str:
    name = at.text()
    if name not in names:
        raise at.refused("is no node of this DAG", _closest(name, names))
    return name


def _closest(name: str, names: Iterable[str]) -> str:
    alike = [one for one in sorted(names) if one.casefold() == name.casefold()]
    shown = alike or sorted(names)
    return f"write {', '.join(shown[:5])}{' or another' if len(shown) > 5 else ''}"


def _refuse_cycle(names: Sequence[str], edges: Iterable[Edge]) -> None:
    cycle = find_cycle(dependencies(names, edges))
    if cycle is not None:
        shown = cycle if len(cycle) <= _SHOWN_MAX else [*cycle[: _SHOWN_MAX - 1], "...", cycle[-1]]
        raise DefinitionError(
            f"lead back to where they began: {' -> '.join(shown)}", where="edges",
            got=f"a cycle of {len(cycle) - 1}", hint="remove one of these edges",
        )  # fmt: skip


def _read_triggers(at: At) -> tuple[Trigger, ...]:
    triggers: dict[str, Trigger] = {}
    for one in at.items(most=TRIGGERS_MAX):
        trigger = _read_trigger(one)
        if trigger.trigger_id in triggers:
            raise DefinitionError(
                "is the id of another trigger too", where=f"{one.path}.id", got=trigger.trigger_id,
                hint="give each trigger an id of its own",
            )  # fmt: skip
        triggers[trigger.trigger_id] = trigger
    return tuple(triggers[name] for name in sorted(triggers))


def _read_trigger(at: At) -> Trigger:
    entries = at.entries()
    if "type" not in entries:
        raise DefinitionError(
            "is missing", where=f"{at.path}.type", got=None, hint=f"write {', '.join(TriggerType)}"
        )
    type_text = entries["type"].text()
    if type_text not in list(TriggerType):
        raise entries["type"].refused("is no type of trigger", f"use {', '.join(TriggerType)}")
    name = entries["id"].identifier() if "id" in entries else "main"
    return Trigger(
        trigger_id=name,
        type=TriggerType(type_text),
        fields={key: one.value for key, one in entries.items() if key not in ("id", "type")},
        place=at.path,
    )


def _canonical(root: At) -> str:
    """The same text for every way of writing the same DAG."""
    assert isinstance(root.value, dict)
    whole: dict[str, Json] = dict(root.value)
    for name in ("nodes", "edges", "triggers"):
        listed = whole.pop(name, None)
        if isinstance(listed, list) and listed:
            whole[name] = sorted(listed, key=_dumped)
    return _dumped(whole)


def _dumped(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
