"""
One change of a workflow, on PostgreSQL, inside the transaction of its caller.

It does what `shell.store.workflow_writing` does on SQLite, in the same order. The row of the
workflow is locked by the caller, so that numbers are given out one at a time.

Spec: WLOG-2 to WLOG-7.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gnomon.ports.workflow_facts import EventStatus, Publication, WorkflowChange
from gnomon.shell.store.instant_text import from_text
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.workflow_rows import Row, handler_row, mutation_row, names_text, run_row
from gnomon.shell.store.workflow_writing import REFRESH_MS, NotPending

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["HANDLER_AT", "MUTATION_AT", "RUN_AT", "Writing", "sent"]

HANDLER_AT = (6, 7, 9)
"""Which columns of a row are instants."""
RUN_AT = (16, 17)
MUTATION_AT = (10, 12, 13)


def sent(row: Row, instants: tuple[int, ...]) -> list[object]:
    """A row as it is sent: instants are milliseconds, and no text has a zero in it."""
    return [
        from_text(value) if place in instants and isinstance(value, str)
        else value.replace("\0", "\ufffd") if isinstance(value, str)
        else value
        for place, value in enumerate(row)
    ]  # fmt: skip


class Writing:
    """What one transaction writes about one workflow."""

    def __init__(self, connection: "Connection", sql: Statements, workflow: str) -> None:
        self._connection = connection
        self._sql = sql
        self._workflow = workflow

    async def apply(self, change: WorkflowChange, *, arrivals: int, now_ms: int) -> None:
        """Everything but the row of the workflow itself."""
        await self._write_records(change)
        for one in change.inputs:
            await self._do("put_input", self._workflow, one.id, one.title, now_ms)
        if change.publish:
            found = change.publish
            if change.inherits:
                found = await self._inherited(change.publisher, found)
            await self.publish(
                found, arrivals=arrivals, publisher=change.publisher, now_ms=now_ms,
                rounds=change.rounds,
            )  # fmt: skip
        await self._move_events(change)

    async def publish(
        self, publications: Iterable[Publication], *, arrivals: int, publisher: int | None,
        now_ms: int, rounds: int = 0,
    ) -> int:  # fmt: skip
        """Add or change events; how many are newly pending, or pending and changed."""
        first, counts, newest = arrivals, Counter[str](), {}
        for one in publications:
            key = (self._workflow, one.topic, one.id)
            causes = names_text(one.causes)
            known = await self._connection.fetchrow(self._sql["known_event"], *key)
            if known is None:
                arrivals += 1
                values = (one.payload, arrivals, arrivals, publisher, causes, now_ms, rounds)
                await self._do("add_event", *key, *values)
                counts[one.topic] += 1
                newest[one.topic] = arrivals
            elif (known[0], known[2]) != (one.payload, causes):
                if known[1] == EventStatus.PENDING:
                    arrivals += 1
                    newest[one.topic] = arrivals
                await self._do("set_event", one.payload, causes, arrivals, *key)
            if known is not None and known[3] < now_ms - REFRESH_MS:
                await self._do("refresh_event", now_ms, *key)
            for cause in one.causes:
                await self._do("add_cause", self._workflow, cause, one.topic, one.id)
        if arrivals != first:
            await self._do("arrivals", arrivals, self._workflow)
        await self._add(counts, newest)
        return arrivals - first

    async def _write_records(self, change: WorkflowChange) -> None:
        workflow = self._workflow
        if change.script is not None:
            await self._do("add_script", workflow, *change.script)
        for handler in change.handlers:
            await self._do("put_handler", workflow, *sent(handler_row(handler), HANDLER_AT))
        for name in change.removed:
            await self._do("remove_handler", workflow, name)
        for run in change.runs:
            await self._do("put_run", workflow, *sent(run_row(run), RUN_AT))
        for mutation in change.mutations:
            await self._do("put_mutation", workflow, *sent(mutation_row(mutation), MUTATION_AT))

    async def _move_events(self, change: WorkflowChange) -> None:
        if change.settle is not None:
            run, status = change.settle
            moved = await self._rows("settle", status.value, self._workflow, run)
            if status is EventStatus.PENDING:
                await self._add(Counter(moved), {})
        if change.hand_over is not None:
            old, new = change.hand_over
            await self._do("hand_over", new, self._workflow, old)
        if change.reserve is not None:
            await self._reserve(*change.reserve)
        if change.skip_input:
            await self._take(await self._rows("skip_input", self._workflow, change.skip_input))
            await self._do("mark_input", self._workflow, change.skip_input)

    async def _reserve(self, run: int, events: Sequence[tuple[str, str]]) -> None:
        missing = [
            (topic, id)
            for topic, id in events
            if not await self._rows("reserve", run, self._workflow, topic, id)
        ]
        if missing:
            raise NotPending(tuple(missing))
        await self._take([topic for topic, _ in events])

    async def _add(self, more: Counter[str], newest: dict[str, int]) -> None:
        for topic in dict.fromkeys([*more, *newest]):
            values = (self._workflow, topic, more[topic], newest.get(topic, 0))
            await self._do("count_topic", *values)

    async def _take(self, topics: Iterable[str]) -> None:
        for topic, taken in Counter(topics).items():
            await self._do("take_from_topic", taken, self._workflow, topic)

    async def _inherited(
        self, run: int | None, publications: Sequence[Publication]
    ) -> list[Publication]:
        texts = await self._rows("causes_of", self._workflow, run)
        causes = dict.fromkeys(cause for text in texts for cause in json.loads(text))
        return [
            one._replace(causes=tuple(dict.fromkeys([*one.causes, *causes])))
            for one in publications
        ]

    async def _do(self, name: str, *values: object) -> None:
        await self._connection.execute(self._sql[name], *values)

    async def _rows(self, name: str, *values: object) -> list[str]:
        """The first column of what a statement gives."""
        return [row[0] for row in await self._connection.fetch(self._sql[name], *values)]
