"""
One change of a workflow, on SQLite, inside the transaction of its caller.

The order is the one that the change names: records first, then what is published, then what becomes
of reserved events. How many events are pending in a topic is counted along, so that no reader has
to count a long queue.

Spec: WLOG-2 to WLOG-6.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from gnomon.ports.workflow_facts import EventStatus, Publication, WorkflowChange
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.workflow_rows import (
    handler_row,
    mutation_row,
    names_text,
    run_row,
)

__all__ = ["REFRESH_MS", "NotPending", "apply_change", "publish"]

REFRESH_MS = 3_600_000
"""How old a note of when an event was last published may be, before it is written anew."""

_SQL = named("workflow.sql")


class NotPending(Exception):  # noqa: N818 - it never leaves the store
    """Some events that were to be reserved are not pending."""

    def __init__(self, events: tuple[tuple[str, str], ...]) -> None:
        self.events = events
        super().__init__(events)


def apply_change(
    connection: sqlite3.Connection, change: WorkflowChange, *, arrivals: int, now_ms: int
) -> None:
    """Everything but the row of the workflow itself; `arrivals` is the newest there is."""
    workflow = change.standing.name
    _write_records(connection, change, workflow)
    if change.inputs:
        connection.executemany(
            _SQL["put_input"],
            [(workflow, one.id, one.title, to_text(now_ms)) for one in change.inputs],
        )
    if change.publish:
        found = change.publish
        if change.inherits:
            found = _inherited(connection, workflow, change.publisher, found)
        publish(
            connection, workflow, found, arrivals=arrivals, publisher=change.publisher,
            now_ms=now_ms, rounds=change.rounds,
        )  # fmt: skip
    _move_events(connection, change, workflow)


def publish(
    connection: sqlite3.Connection, workflow: str, publications: Iterable[Publication], *,
    arrivals: int, publisher: int | None, now_ms: int, rounds: int = 0,
) -> int:  # fmt: skip
    """Add or change events; how many are newly pending, or pending and changed."""
    first, counts, newest = arrivals, Counter[str](), {}
    for one in publications:
        key = (workflow, one.topic, one.id)
        causes = names_text(one.causes)
        known = connection.execute(_SQL["known_event"], key).fetchone()
        if known is None:
            arrivals += 1
            connection.execute(
                _SQL["add_event"],
                (*key, one.payload, arrivals, arrivals, publisher, causes, to_text(now_ms), rounds),
            )
            counts[one.topic] += 1
            newest[one.topic] = arrivals
        elif (known[0], known[2]) != (one.payload, causes):
            if known[1] == EventStatus.PENDING:
                arrivals += 1
                newest[one.topic] = arrivals
            connection.execute(_SQL["set_event"], (one.payload, causes, arrivals, *key))
        if known is not None and known[3] < to_text(now_ms - REFRESH_MS):
            connection.execute(_SQL["refresh_event"], (to_text(now_ms), *key))
        connection.executemany(
            _SQL["add_cause"], [(workflow, cause, one.topic, one.id) for cause in one.causes]
        )
    if arrivals != first:
        connection.execute(_SQL["arrivals"], (arrivals, workflow))
    _add(connection, workflow, counts, newest)
    return arrivals - first


def _write_records(connection: sqlite3.Connection, change: WorkflowChange, workflow: str) -> None:
    if change.script is not None:
        version, digest, text, reason, deployed_ms, modules = change.script
        connection.execute(
            _SQL["add_script"],
            (workflow, version, digest, text, reason, to_text(deployed_ms), modules),
        )
    for name, rows in (
        ("put_handler", [(workflow, *handler_row(one)) for one in change.handlers]),
        ("remove_handler", [(workflow, one) for one in change.removed]),
        ("put_run", [(workflow, *run_row(one)) for one in change.runs]),
        ("put_mutation", [(workflow, *mutation_row(one)) for one in change.mutations]),
    ):
        if rows:
            connection.executemany(_SQL[name], rows)


def _move_events(connection: sqlite3.Connection, change: WorkflowChange, workflow: str) -> None:
    if change.settle is not None:
        run, status = change.settle
        moved = connection.execute(_SQL["settle"], (status.value, workflow, run)).fetchall()
        if status is EventStatus.PENDING:
            _add(connection, workflow, Counter(topic for (topic,) in moved), {})
    if change.hand_over is not None:
        old, new = change.hand_over
        connection.execute(_SQL["hand_over"], (new, workflow, old))
    if change.reserve is not None:
        _reserve(connection, workflow, *change.reserve)
    if change.skip_input:
        skipped = connection.execute(_SQL["skip_input"], (workflow, change.skip_input)).fetchall()
        connection.execute(_SQL["mark_input"], (workflow, change.skip_input))
        _take(connection, workflow, [topic for (topic,) in skipped])


def _reserve(
    connection: sqlite3.Connection, workflow: str, run: int, events: Sequence[tuple[str, str]]
) -> None:
    missing = [
        (topic, id)
        for topic, id in events
        if not connection.execute(_SQL["reserve"], (run, workflow, topic, id)).rowcount
    ]
    if missing:
        raise NotPending(tuple(missing))
    _take(connection, workflow, [topic for topic, _ in events])


def _add(
    connection: sqlite3.Connection, workflow: str, more: Counter[str], newest: dict[str, int]
) -> None:
    """Topics have so many pending events more, and these newest arrivals."""
    for topic in dict.fromkeys([*more, *newest]):
        values = (workflow, topic, more[topic], newest.get(topic, 0))
        connection.execute(_SQL["count_topic"], values)


def _take(connection: sqlite3.Connection, workflow: str, topics: Iterable[str]) -> None:
    """One pending event less, each time that a topic is named."""
    for topic, taken in Counter(topics).items():
        connection.execute(_SQL["take_from_topic"], (taken, workflow, topic))


def _inherited(
    connection: sqlite3.Connection, workflow: str, run: int | None,
    publications: Sequence[Publication],
) -> list[Publication]:  # fmt: skip
    """The publications, with the inputs of everything that the run has reserved."""
    rows = connection.execute(_SQL["causes_of"], (workflow, run)).fetchall()
    causes = dict.fromkeys(cause for (text,) in rows for cause in json.loads(text))
    return [
        one._replace(causes=tuple(dict.fromkeys([*one.causes, *causes]))) for one in publications
    ]
