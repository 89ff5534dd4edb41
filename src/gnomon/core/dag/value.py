"""
What a DAG is: nodes, the edges between them, and the triggers that start it.

A `Dag` that exists is valid: its ids are unique, its edges join nodes that are there, and no way
along them leads back. It knows its canonical text and the digest of it, so that two that mean the
same are equal.

Spec: DAG-1, DAG-2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

__all__ = [
    "ActionNode",
    "CommandNode",
    "Dag",
    "Edge",
    "HttpNode",
    "Json",
    "Node",
    "NodeType",
    "PythonNode",
    "Secret",
    "Trigger",
    "TriggerType",
]

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


class Secret(NamedTuple):
    """The name of something that must not stand in a DAG; the executor knows its value."""

    name: str


class NodeType(StrEnum):
    """What a node does."""

    COMMAND = "command"
    """Starts a process."""
    HTTP = "http"
    """Makes an HTTP request."""
    PYTHON = "python"
    """Calls a function of a module."""
    ACTION = "action"
    """Something that the executor knows under a name of its own, such as a template of a Job."""


class TriggerType(StrEnum):
    """What starts a DAG."""

    SCHEDULE = "schedule_based"
    MANUAL = "manual"
    """A person or a program that asks for a run."""
    EVENT = "event_based"
    """Kept, and left to the program that handles events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode:
    """A process: a program and its arguments, and the circumstances it runs in."""

    node_id: str
    arguments: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str | Secret]
    timeout_ms: int
    """0 for none."""
    grace_ms: int
    """How long after TERM comes KILL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpNode:
    """A request, and which answers are a success."""

    node_id: str
    method: str
    url: str
    headers: Mapping[str, str | Secret]
    body: str | None
    timeout_ms: int
    expect: tuple[int, ...]
    """The statuses that are a success; empty for all from 200 to 299."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonNode:
    """A function of a module, and what it is given by name."""

    node_id: str
    module: str
    function: str
    arguments: Mapping[str, Json]
    timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionNode:
    """What only the executor understands."""

    node_id: str
    uses: str
    given: Json = None
    """What stands under `with`."""
    timeout_ms: int = 0
    """0 for none."""


Node = CommandNode | HttpNode | PythonNode | ActionNode


class Edge(NamedTuple):
    """The second node may begin when the first has succeeded."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What starts a DAG; the fields of a schedule are read by the registrar."""

    trigger_id: str
    type: TriggerType
    fields: Mapping[str, Json]
    place: str
    """Where it stands in the document that was read, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dag:
    """One version of a DAG."""

    workflow_id: str
    version: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    triggers: tuple[Trigger, ...]
    text: str
    """The canonical JSON."""
    digest: str
    """SHA-256 of the canonical JSON, in lower-case hex."""

    @property
    def schedules(self) -> tuple[Trigger, ...]:
        """The triggers that are schedules."""
        return tuple(one for one in self.triggers if one.type is TriggerType.SCHEDULE)
