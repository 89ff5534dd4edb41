"""
The workflow log as a contract: what the workflow door knows of its workflows, and how it changes.

It holds workflows with their handlers, the events of their topics, one record for each attempt to
run a handler, and one for each mutation of the outside world. A change is written whole or not at
all, and only by the holder of the workflow, on the facts that it decided from: the holder's fencing
number and the workflow's version must still be the ones that it read. It is called a log, and its
port `WorkflowLog`, because a store of definitions of workflows is something else.

Spec: WLOG-1 to WLOG-9.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from gnomon.ports.workflow_facts import (
    Answer,
    Committed,
    Event,
    EventStatus,
    Facts,
    Input,
    Mutation,
    Publication,
    Run,
    Script,
    WorkflowChange,
)

__all__ = ["WorkflowLog"]


class WorkflowLog(Protocol):
    """
    Where workflows keep their facts. Each method is one transaction.

    A write that raises has done nothing, or cannot know. The holder of the workflow makes the same
    write again, under the same number, and it is not made twice.
    """

    @property
    def name(self) -> str:
        """The store, in words for people."""
        ...

    async def take(self, *, holder: str, known: Collection[str] = ()) -> dict[str, int]:
        """
        Hold every workflow that is free; their fencing numbers, by name.

        `known` are those that the holder knows it holds; others that it holds without knowing,
        because an answer was lost, are taken once more.
        """
        ...

    async def keep(self, held: Mapping[str, int]) -> set[str]:
        """Go on holding; the names of those that were lost."""
        ...

    async def release(self, held: Mapping[str, int]) -> None:
        """Let go, so that another can take them at once."""
        ...

    async def load(self, workflow: str) -> Facts | None:
        """The facts; None when there is no such workflow."""
        ...

    async def commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        """
        Write a change that was decided from version `seen`; 0 when there was no workflow.

        With a fencing number it is the holder's write of this number, and a write that was made
        already is not made again; `OwnershipLostError` when another holds the workflow. Without
        one it is a command of another caller.
        """
        ...

    async def publish(
        self, workflow: str, publications: Sequence[Publication], *, now_ms: int
    ) -> int:
        """Publish from outside; how many events are newly pending or have changed."""
        ...

    async def peek(
        self, workflow: str, topics: Sequence[str], *, limit: int, after: int = 0
    ) -> dict[str, list[Event]]:
        """The oldest pending events of each topic; those with a larger number than `after`."""
        ...

    async def find(self, workflow: str, topic: str, ids: Sequence[str]) -> list[Event]:
        """The pending events of a topic that have these ids, oldest first."""
        ...

    async def reserved(self, workflow: str, run: int) -> list[Event]:
        """What a run has reserved, oldest first."""
        ...

    async def script(self, workflow: str, version: int) -> Script | None: ...

    async def scripts(
        self, workflow: str, *, limit: int, before: int | None = None
    ) -> list[Script]:
        """The versions of its script that are kept, newest first."""
        ...

    async def remove(self, workflow: str, *, seen: tuple[int, int]) -> Answer:
        """
        Remove a workflow with all that is known of it, if its version and its newest arrival are
        still those that were seen. Its holder has lost it, also when another of its name is made.
        """
        ...

    async def versions(self) -> dict[str, tuple[int, int]]:
        """Of each workflow its version and its newest arrival: whether to look again."""
        ...

    async def holders(self) -> dict[str, str]:
        """Of each workflow who holds it at this moment, in words; empty where no host does."""
        ...

    async def runs(self, workflow: str, *, limit: int, before: int | None = None) -> list[Run]:
        """Newest first."""
        ...

    async def mutations(self, workflow: str, runs: Collection[int]) -> list[Mutation]:
        """Those that stand under the numbers of these runs, newest first."""
        ...

    async def events(
        self, workflow: str, *, limit: int, topic: str | None = None,
        status: EventStatus | None = None, before: int | None = None,
    ) -> list[Event]:  # fmt: skip
        """Newest first; those with a smaller number than `before`."""
        ...

    async def inputs(self, workflow: str, *, limit: int, id: str | None = None) -> list[Input]:
        """Newest first; or the one with this id, if it is there."""
        ...

    async def forget(
        self, workflow: str, *, fence: int, ended_ms: int, published_ms: int, after: int,
        limit: int, newest: int,
    ) -> int:  # fmt: skip
        """
        Forget some of what is over, as the holder; the event to go on after, 0 at the end.

        Runs that ended before an instant go, but not the `newest`, and none that the current one
        follows; then events that are settled, were last published before an instant and whose run
        is gone, among the next ones after a number. What waits is never forgotten.
        """
        ...

    async def close(self) -> None: ...
