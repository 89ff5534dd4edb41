"""
A desk to work on a workflow log from: the port's calls, with small values.

Nothing here knows which store is behind the port.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TypeVar

from gnomon.ports.workflow_facts import (
    Answer,
    Committed,
    Event,
    EventStatus,
    Facts,
    Handler,
    HandlerKind,
    Publication,
    Script,
    Standing,
    WorkflowChange,
)
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["NOW", "WorkflowDesk", "event", "new", "sheet"]

NOW = 1_772_323_200_000  # 2026-03-01T00:00:00Z

_Result = TypeVar("_Result")


def sheet() -> Handler:
    """A consumer of the topic `orders`."""
    return Handler(
        name="sheet", kind=HandlerKind.CONSUMER, place=1, subscribes=("orders",),
        publishes=("done",),
    )  # fmt: skip


def new(*handlers: Handler, script: Script | None = None) -> WorkflowChange:
    """The workflow `orders` is made."""
    standing = Standing(name="orders", created_ms=NOW)
    return WorkflowChange(standing=standing, handlers=handlers, script=script)


def event(id: str, payload: str = "1", *, causes: tuple[str, ...] = ()) -> Publication:
    return Publication("orders", id, payload, causes)


def _same(standing: Standing) -> Standing:
    return standing


class WorkflowDesk:
    """A log, and the loop it lives in."""

    def __init__(self, runner: asyncio.Runner, make: Callable[[], WorkflowLog]) -> None:
        self._runner = runner
        self._make = make
        self.log = make()

    def do(self, call: Coroutine[object, object, _Result]) -> _Result:
        return self._runner.run(call)

    def reopen(self) -> None:
        self.close()
        self.log = self._make()

    def close(self) -> None:
        self.do(self.log.close())

    def facts(self) -> Facts:
        found = self.do(self.log.load("orders"))
        assert found is not None
        return found

    def try_commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        return self.do(self.log.commit(change, seen=seen, fence=fence, number=number))

    def commit(self, change: WorkflowChange) -> None:
        answer = self.try_commit(change, seen=0).answer
        assert answer is Answer.MADE

    def try_change(
        self, edit: Callable[[Standing], Standing] = _same, *, fence: int | None = None,
        number: int = 0, **parts: object,
    ) -> Committed:  # fmt: skip
        """Change the workflow from its present version."""
        standing = self.facts().standing
        change = replace(WorkflowChange(standing=edit(standing)), **parts)  # type: ignore[arg-type]
        return self.try_commit(change, seen=standing.version, fence=fence, number=number)

    def change(
        self, edit: Callable[[Standing], Standing] = _same, *, fence: int | None = None,
        number: int = 0, **parts: object,
    ) -> None:  # fmt: skip
        answer = self.try_change(edit, fence=fence, number=number, **parts).answer
        assert answer is Answer.MADE

    def publish(self, *publications: Publication) -> int:
        return self.do(self.log.publish("orders", publications, now_ms=NOW))

    def take(self, holder: str, *known: str) -> dict[str, int]:
        return self.do(self.log.take(holder=holder, known=known))

    def events(self) -> list[Event]:
        """Oldest first."""
        return self.do(self.log.events("orders", limit=100))[::-1]

    def statuses(self) -> dict[str, EventStatus]:
        return {one.id: one.status for one in self.events()}
