"""
The journal of a `gnomon.Scheduler` as a trace that can be judged.

A journal keeps its newest entries. Where older ones are gone, the trace begins with a list that was
accepted in what is left: the first of a new owner, or else the first at all, or else the list in
the records. Runs that were going on then are taken to begin there.

Spec: CHECK-7.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.declarative.recorder import trace_events
from gnomon.apps.declarative.task import read_record
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
    """The events from a list on that was accepted, at best the first of an owner."""
    accepted = {one.call for one in events if one.kind is Kind.INIT_SUCCESS}
    places = [
        place
        for place, one in enumerate(events)
        if one.kind is Kind.INIT_START and one.call in accepted
    ]
    anew = [one for one in places if one and events[one - 1].kind in (Kind.STOP_END, Kind.CRASH)]
    if places:
        return _with_former_runs(events[(anew or places)[0] :])
    known = [read_record(name, text) for name, text in records.items()]
    listed = tuple(Registration(one.name, one.cron, one.retry_ms) for one in known)
    first = events[0]
    start = Event(Kind.INIT_START, first.t, registrations=listed, wall_ms=first.wall_ms)
    success = start._replace(kind=Kind.INIT_SUCCESS, registrations=())
    return _with_former_runs([start, success, *events])


def _with_former_runs(events: list[Event]) -> list[Event]:
    """Runs that end and did not begin were going on when the list was accepted."""
    begun: set[str] = set()
    former: dict[str, None] = {}
    found = []
    listed = {one.name for one in events[0].registrations}
    for event in events:
        if event.kind is Kind.RUN_START:
            begun.add(event.task)
        elif event.kind in (Kind.RUN_SUCCESS, Kind.RUN_FAILURE) and event.task not in begun:
            begun.add(event.task)
            if event.task not in listed:
                continue  # of a task that is none any more
            former[event.task] = None
        found.append(event)
    call = events[0].call
    place = next(
        place
        for place, one in enumerate(found, 1)
        if one.kind is Kind.INIT_SUCCESS and one.call == call
    )
    runs = [found[place - 1]._replace(kind=Kind.RUN_START, call=0, task=name) for name in former]
    return [*found[:place], *runs, *found[place:]]
