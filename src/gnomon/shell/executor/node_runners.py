"""
Which nodes can be carried out here, and by what?

Each type of node has its own way; a type without one is refused for the whole DAG, before
anything of it begins.

Spec: EXEC-5, EXEC-16, EXEC-17.
"""

from dataclasses import replace
from typing import assert_never

from gnomon.core.dag import (
    ActionNode,
    CommandNode,
    Dag,
    HttpNode,
    Node,
    PythonNode,
    Secret,
)
from gnomon.shell.executor.command_node import CommandNodes
from gnomon.shell.executor.http_node import HttpNodes
from gnomon.shell.executor.job_node import JobNodes
from gnomon.shell.executor.node import NodeContext, NodeEnd, Record
from gnomon.shell.executor.python_node import PythonNodes
from gnomon.shell.executor.secrets import Secrets, given_to, hidden

__all__ = ["NodeRunners"]

_NO_COMMANDS = "commands are not allowed here; set GNOMON_ALLOW_COMMANDS=true"
_NO_FUNCTIONS = "Python functions are not allowed here; name their modules in GNOMON_PYTHON_MODULES"


class NodeRunners:
    """The ways that nodes are carried out; None for a type that is not allowed."""

    def __init__(
        self, *, commands: CommandNodes | None = None, requests: HttpNodes | None = None,
        functions: PythonNodes | None = None, secrets: Secrets | None = None,
        jobs: JobNodes | None = None,
    ) -> None:  # fmt: skip
        self._jobs = jobs
        self._commands = commands
        self._requests = requests
        self._functions = functions
        self._secrets = secrets or Secrets()

    def objection_to(self, dag: Dag, user_id: str) -> str | None:
        """Why a DAG cannot be carried out here for a user; None when it can."""
        for node in dag.nodes:
            if objection := self._objection_to(node):
                return f"node {node.node_id}: {objection}"
            for one in given_to(node).values():
                if isinstance(one, Secret) and self._secrets.get(user_id, one.name) is None:
                    return f"node {node.node_id}: there is no secret {one.name} for {user_id}"
        return None

    async def carry_out(self, node: Node, context: NodeContext, record: Record) -> NodeEnd:
        """Carry a node out with its secrets, and leave their values out of what is kept."""
        given = given_to(node)
        filled = self._secrets.fill(context.meta.user_id, given)
        if filled is None:
            return NodeEnd(False, "a secret is no longer there")
        end = await self._carry_out(node, replace(context, given=filled), record)
        known = [filled[name] for name, one in given.items() if isinstance(one, Secret)]
        return NodeEnd(end.success, hidden(end.detail, known), hidden(end.log, known))

    async def _carry_out(self, node: Node, context: NodeContext, record: Record) -> NodeEnd:
        match node:
            case CommandNode():
                assert self._commands is not None
                return await self._commands.carry_out(node, context, record)
            case HttpNode():
                assert self._requests is not None
                return await self._requests.carry_out(node, context, record)
            case PythonNode():
                assert self._functions is not None
                return await self._functions.carry_out(node, context, record)
            case ActionNode():
                assert self._jobs is not None
                return await self._jobs.carry_out(node, context, record)
            case _:
                assert_never(node)

    def outlive(self, node: Node) -> bool:
        """Whether a node goes on without this process, so that another worker can take it up."""
        return isinstance(node, ActionNode)

    def grace_ms(self, node: Node) -> int:
        """How long a node may take to end when it is told to."""
        if isinstance(node, ActionNode) and self._jobs is not None:
            return self._jobs.grace_ms(node)
        return node.grace_ms if isinstance(node, CommandNode) else 0

    async def clear_away(self, node: Node, context: NodeContext, process: str) -> bool:
        """End the process that an earlier try of a node may have left; whether none is left."""
        if isinstance(node, ActionNode):
            return self._jobs is not None and await self._jobs.clear_away(process)
        return self._commands is None or await self._commands.clear_away(context, process)

    async def close(self) -> None:
        for one in (self._commands, self._requests, self._functions, self._jobs):
            if one is not None:
                await one.close()

    def _objection_to(self, node: Node) -> str | None:
        match node:
            case CommandNode():
                return None if self._commands else _NO_COMMANDS
            case HttpNode():
                return None if self._requests else "HTTP requests are not allowed here"
            case PythonNode():
                if self._functions is None:
                    return _NO_FUNCTIONS
                return self._functions.objection_to(node)
            case ActionNode():
                if self._jobs is None:
                    return f"the action {node.uses} needs an executor that knows it"
                return self._jobs.objection_to(node)
            case _:
                assert_never(node)
