"""
Nodes that are HTTP requests.

Spec: EXEC-15.
"""

import asyncio

from gnomon.core.dag import HttpNode
from gnomon.shell.executor.node import NodeContext, NodeEnd, Record, cut_log
from gnomon.shell.http.outgoing import Outgoing, Request, Response, Trouble

__all__ = ["HttpNodes"]


_WITH_BODY = ("POST", "PUT", "PATCH")
"""Requests without a body of their own that are given the parameters of the run as one."""


class HttpNodes:
    """Carries out http nodes, under the rule of an `Outgoing`."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

    async def carry_out(self, node: HttpNode, context: NodeContext, record: Record) -> NodeEnd:
        headers = {**context.given, "Idempotency-Key": context.key}
        body = b"" if node.body is None else node.body.encode()
        if node.body is None and node.method in _WITH_BODY and context.params:
            body = context.meta.params.encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            came = await self._outgoing.request(
                Request(node.method, node.url, headers, body, node.timeout_ms)
            )
        except asyncio.CancelledError:
            return NodeEnd(False, "stopped")
        if isinstance(came, Trouble):
            return NodeEnd(False, f"{came.message} ({came.fault})")
        return NodeEnd(_is_success(came, node), f"status {came.status}", _log(came))

    async def close(self) -> None:
        await self._outgoing.close()


def _is_success(came: Response, node: HttpNode) -> bool:
    return came.status in node.expect if node.expect else 200 <= came.status < 300


def _log(came: Response) -> str:
    text = came.body.decode(errors="replace")
    return cut_log(f"{text}\n... the rest was not read ..." if came.cut else text)
