"""
The journal of a `gnomon.Scheduler` as a trace that can be judged.

A journal keeps its newest entries. Where older ones are gone, the trace begins with the first list
that was accepted in what is left, or with the list in the records where there is none; ends of runs
that began before are left out.

Spec: CHECK-7.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.declarative.record import read_record
from gnomon.apps.declarative.recorder import trace_events
from gnomon.cli.problem import printable
from gnomon.errors import DamagedStoreError, StoreError
from gnomon.ports import JournalView
from gnomon.shell.store.family import Family, family_of
from gnomon.shell.store.journal import look_into_journal
from gnomon.shell.store.looking import holder_of
from gnomon.shell.store.ownership import lost_of
from gnomon.trace import Event, Kind, Registration

__all__ = ["JournalTrace", "read_journal", "trace_of"]

_OTHERS: dict[Family, tuple[str, str]] = {
    "ledger": ("is a ledger, and has no trace", "gnomon doctor examines it"),
    "workflow": ("holds workflows, and has no trace", "gnomon workflow doctor examines it"),
}


class JournalTrace(NamedTuple):
    """What a journal tells."""

    place: str
    events: list[Event]
    gone: int
    """How many of the oldest entries it has not kept."""


def read_journal(store: str, *, namespace: str, is_shared: bool) -> JournalTrace:
    """The trace in a store, which stays as it is; `StoreError` where there is no journal."""
    if is_shared:
        from gnomon.shell.store.postgres.fault import looking, place_of  # they need an extra
        from gnomon.shell.store.postgres.journal import look_into_shared_journal
        from gnomon.shell.store.postgres.statement import SCHEMA

        with looking(SCHEMA):
            view = asyncio.run(look_into_shared_journal(store, namespace=namespace))
        return trace_of(view, place=printable(place_of(store)))
    path = Path(store)
    other = _OTHERS.get(family_of(path) or "journal")
    if other is not None:
        raise StoreError(other[0], where=store, hint=f"name a journal or a trace; {other[1]}")
    if holder_of(path) is None and (loss := lost_of(path)) is not None:
        raise DamagedStoreError(loss, where=store, hint="put it back, or restore a backup")
    return trace_of(look_into_journal(store, namespace=namespace), place=store)


def trace_of(view: JournalView, *, place: str) -> JournalTrace:
    """The events, from a beginning that can be judged."""
    events = list(trace_events(view.entries))
    gone = view.entries[0].number - 1 if view.entries else 0
    return JournalTrace(place, _begun(events, view.records) if gone else events, gone)


def _begun(events: list[Event], records: dict[str, str]) -> list[Event]:
    """The events from the first list on that was accepted, without ends of former runs."""
    accepted = {one.call for one in events if one.kind is Kind.INIT_SUCCESS}
    for place, event in enumerate(events):
        if event.kind is Kind.INIT_START and event.call in accepted:
            return _without_former_ends(events[place:])
    known = [read_record(name, text) for name, text in records.items()]
    listed = tuple(Registration(one.name, one.cron, one.retry_ms) for one in known)
    first = events[0]
    start = Event(Kind.INIT_START, first.t, registrations=listed, wall_ms=first.wall_ms)
    return [start, start._replace(kind=Kind.INIT_SUCCESS, registrations=()),
            *_without_former_ends(events)]  # fmt: skip


def _without_former_ends(events: list[Event]) -> list[Event]:
    started: set[str] = set()
    found = []
    for event in events:
        if event.kind is Kind.RUN_START:
            started.add(event.task)
        elif event.kind in (Kind.RUN_SUCCESS, Kind.RUN_FAILURE) and event.task not in started:
            continue
        found.append(event)
    return found
