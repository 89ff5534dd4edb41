"""
What is known of the workflows of a store, for callers on the command line and over HTTP.

Nothing here changes anything, and nothing here waits for a host.

Spec: SEEN-1, SEEN-3 to SEEN-6, SEEN-8 to SEEN-10, WASK-6, WHTTP-9.
"""

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from gnomon.apps.workflow.definition import is_name
from gnomon.apps.workflow.overview import Overview, Serving, WorkflowStats, overview, stats_of
from gnomon.apps.workflow.storable import is_storable
from gnomon.errors import DefinitionError, UnknownWorkflowError
from gnomon.ports.workflow_facts import (
    Event,
    EventStatus,
    Facts,
    Input,
    Mutation,
    Run,
    Script,
)
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["ROWS_MAX", "Attempts", "Page", "Versions", "WorkflowQueries"]

ROWS_MAX = 10_000
"""The most rows that are given at once."""
_RECENT = 100
_Row = TypeVar("_Row", Run, Event)


class Page(NamedTuple, Generic[_Row]):
    """Some rows of a list."""

    rows: list[_Row]
    next: int | None
    """What to ask for those that follow with; None at the end."""


class Attempts(NamedTuple):
    """Some runs, with the mutations that they know of."""

    rows: list[Run]
    next: int | None
    mutations: Mapping[int, Mutation]
    """By the number of the run under which each stands."""


class Versions(NamedTuple):
    """Some versions of a script, newest first."""

    rows: list[Script]
    next: int | None
    in_force: int


class WorkflowQueries:
    """Looks at the workflows of one store; a name that is not deployed is refused."""

    def __init__(self, log: WorkflowLog) -> None:
        self._log = log

    async def facts(self, workflow: str) -> Facts:
        """What is known of a workflow; `UnknownWorkflowError` when there is none."""
        facts = await self._log.load(workflow) if is_name(workflow) else None
        if facts is None:
            known = ", ".join(sorted(await self._log.versions())) or "none"
            raise UnknownWorkflowError(
                "must be a workflow that is deployed", where="workflow", got=workflow,
                hint=f"deployed are: {known}",
            )  # fmt: skip
        return facts

    async def overview(self, workflow: str) -> Overview:
        return await self._overview(workflow, await self._log.holders())

    async def overviews(self) -> list[Overview]:
        """Of every workflow, by name."""
        holders = await self._log.holders()
        return [await self._overview(name, holders) for name in sorted(holders)]

    async def stats(self, *, now_ms: int) -> list[WorkflowStats]:
        """Of every workflow, by name."""
        return [await self._stats(name, now_ms) for name in sorted(await self._log.versions())]

    async def runs(self, workflow: str, *, limit: int, after: int | None = None) -> Attempts:
        """Newest first; those that follow the run `after`."""
        await self.facts(workflow)
        page = _page(await self._log.runs(workflow, limit=limit + 1, before=after), limit)
        numbers = {one.mutation for one in page.rows if one.mutation is not None}
        found = await self._log.mutations(workflow, sorted(numbers)) if numbers else []
        return Attempts(page.rows, page.next, {one.run: one for one in found})

    async def versions(self, workflow: str, *, limit: int, after: int | None = None) -> Versions:
        """The versions of a script that are kept, newest first; those before `after`."""
        facts = await self.facts(workflow)
        found = await self._log.scripts(workflow, limit=limit + 1, before=after)
        more = found[limit - 1].version if len(found) > limit else None
        return Versions(found[:limit], more, facts.standing.script)

    async def script(self, workflow: str, version: int) -> Script:
        """One version, with its text."""
        await self.facts(workflow)
        found = await self._log.script(workflow, version) if version < 1 << 62 else None
        if found is None:
            raise DefinitionError(
                f"must be a version of {workflow} that is kept", where="version", got=version,
                hint=f"gnomon workflow versions {workflow} lists them",
            )  # fmt: skip
        if not found.text:
            raise DefinitionError(
                "must be a version whose text was kept", where="version", got=version,
                hint="it is in a program: change it there, and start the program",
            )  # fmt: skip
        return found

    async def events(
        self, workflow: str, *, limit: int, topic: str | None = None,
        status: EventStatus | None = None, after: int | None = None,
    ) -> Page[Event]:  # fmt: skip
        """Newest first; those that follow the event `after`."""
        await self.facts(workflow)
        if topic is not None and not is_name(topic):
            raise DefinitionError(
                "must be the name of a topic", where="topic", got=topic, hint="write e.g. orders"
            )
        found = await self._log.events(
            workflow, limit=limit + 1, topic=topic, status=status, before=after
        )
        return _page(found, limit)

    async def inputs(self, workflow: str, *, limit: int) -> list[Input]:
        """Newest first."""
        await self.facts(workflow)
        return await self._log.inputs(workflow, limit=limit)

    async def is_known(self, workflow: str, input_id: str) -> bool:
        """Whether something of this id has come in."""
        await self.facts(workflow)
        return is_storable(input_id) and bool(
            await self._log.inputs(workflow, limit=1, id=input_id)
        )

    async def check(self) -> None:
        """`StoreError` while the store cannot be reached."""
        await self._log.versions()

    async def _overview(self, workflow: str, holders: Mapping[str, str]) -> Overview:
        facts = await self.facts(workflow)
        run = facts.run
        in_work = [] if run is None else await self._log.reserved(workflow, run.number)
        return overview(
            facts, await self._log.runs(workflow, limit=_RECENT), in_work=len(in_work),
            host=Serving(holders.get(workflow, ""), self._log.name),
        )  # fmt: skip

    async def _stats(self, workflow: str, now_ms: int) -> WorkflowStats:
        facts = await self.facts(workflow)
        oldest = await self._log.peek(workflow, sorted(facts.pending), limit=1)
        return stats_of(
            facts, {topic: one for topic, found in oldest.items() for one in found}, now_ms=now_ms
        )


def _page(found: list[_Row], limit: int) -> Page[_Row]:
    """Of the rows that were asked for, one more than wanted, those that are wanted."""
    rows = found[:limit]
    return Page(rows, rows[-1].number if len(found) > limit else None)
