"""
DAGs as values: a DAG of nodes, and what starts it.

Here belongs everything that follows from the text of a DAG alone: reading it, with errors that name
their place; its canonical form and digest; the order of its nodes. What does not belong here is
anything that acts: stores and executors are elsewhere, and everything in this package is pure.
"""

from gnomon.core.dag.order import dependencies, dependents
from gnomon.core.dag.reading import parse_dag
from gnomon.core.dag.value import (
    ActionNode,
    CommandNode,
    Dag,
    Edge,
    HttpNode,
    Node,
    NodeType,
    PythonNode,
    Secret,
    Trigger,
    TriggerType,
)

__all__ = [
    "ActionNode",
    "CommandNode",
    "Dag",
    "Edge",
    "HttpNode",
    "Node",
    "NodeType",
    "PythonNode",
    "Secret",
    "Trigger",
    "TriggerType",
    "dependencies",
    "dependents",
    "parse_dag",
]
