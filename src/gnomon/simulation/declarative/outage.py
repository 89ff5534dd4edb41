"""
What happens to these tasks if the program is down for a while?

The real scheduler lives on a stage: it runs before the outage, is killed when it begins, is started
again when it ends, and goes on for a while. The callbacks of the user are not called; in their
place something takes as long as it is told to, and succeeds. Every occurrence is accounted for: it
was run on time, late, or not at all because a later run stood for it.

Spec: SIMULATE-1, SIMULATE-2.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.declarative.callback import RunContext
from gnomon.core.civil.instant import from_epoch
from gnomon.core.recurrence import Recurrence, cron
from gnomon.simulation.declarative.stage import World, run, world

__all__ = ["Fate", "Occurrence", "Outage", "Planned", "Start", "what_happens"]

OCCURRENCES_MAX = 100_000
ON_TIME_S = 2


class Planned(NamedTuple):
    """A task of the user, without its callback."""

    name: str
    cron: str | Recurrence
    retry_delay: timedelta


class Outage(NamedTuple):
    """When the program is down, and what is looked at around it, in epoch seconds."""

    first: int
    down: int
    up: int
    last: int


class Fate(StrEnum):
    """What became of an occurrence."""

    ON_TIME = "on time"
    LATE = "late"
    MERGED = "not at all"
    """A later run stood for it."""
    PENDING = "still to come"


class Start(NamedTuple):
    """A run that was started."""

    task: str
    at: int
    nominal: int
    reason: str


class Occurrence(NamedTuple):
    """One occurrence of a task, and what became of it."""

    task: str
    nominal: int
    fate: Fate
    at: int | None
    """When the run started that was for it, or that stood for it."""


def what_happens(
    tasks: Sequence[Planned], outage: Outage, *, zone: str, takes: timedelta
) -> tuple[list[Occurrence], list[Start]]:
    """Every occurrence from first to last with its fate, and every start, in order of time."""
    starts: list[Start] = run(_course(tasks, outage, zone, takes))
    found = [
        _account(task, nominal, [one for one in starts if one.task == task.name])
        for task in tasks
        for nominal in _occurrences(task, zone, outage)
    ]
    return sorted(found, key=lambda one: (one.nominal, one.task)), starts


def _occurrences(task: Planned, zone: str, outage: Outage) -> list[int]:
    recurrence = _recurrence(task, zone)
    found: list[int] = []
    at = recurrence.next_epoch(outage.first - 1)
    while at is not None and at <= outage.last and len(found) < OCCURRENCES_MAX:
        found.append(at)
        at = recurrence.next_epoch(at)
    return found


def _recurrence(task: Planned, zone: str) -> Recurrence:
    if isinstance(task.cron, str):
        return cron(task.cron, zone=zone, dialect="posix")
    return task.cron


def _account(task: Planned, nominal: int, starts: Sequence[Start]) -> Occurrence:
    for start in starts:
        if start.nominal == nominal:
            fate = Fate.ON_TIME if start.at <= nominal + ON_TIME_S else Fate.LATE
            return Occurrence(task.name, nominal, fate, start.at)
        if start.nominal > nominal:
            return Occurrence(task.name, nominal, Fate.MERGED, start.at)
    return Occurrence(task.name, nominal, Fate.PENDING, None)


async def _course(
    tasks: Sequence[Planned], outage: Outage, zone: str, takes: timedelta
) -> list[Start]:
    starts: list[Start] = []
    async with world(from_epoch(outage.first)) as stage:
        registrations = [
            (one.name, one.cron, _callback(stage, starts, takes), one.retry_delay) for one in tasks
        ]
        await stage.scheduler(zone=zone).initialize(registrations)
        await stage.advance_to(from_epoch(outage.down))
        await stage.crash()
        await stage.advance_to(from_epoch(outage.up))
        await stage.scheduler(zone=zone).initialize(registrations)
        await stage.advance_to(from_epoch(outage.last))
        await stage.advance(seconds=ON_TIME_S)
        await stage.crash()
    return starts


def _callback(
    stage: World, starts: list[Start], takes: timedelta
) -> Callable[[RunContext], object]:
    async def callback(context: RunContext) -> None:
        at = int(stage.now.timestamp())
        starts.append(Start(context.task, at, context.nominal, context.reason))
        await asyncio.sleep(takes.total_seconds())

    return callback
