"""
What does the owner of a workflow need to know, in words and in numbers?

Whether it runs, rests, needs attention or is stopped; what is wrong, in words; when it looks again;
what it has done lately; what still waits, and what each handler waits for. A workflow that no host
works on, or whose script its host cannot load, does nothing by itself, and that is said. Phases and
retries are not for this: they are in the list of runs.

In numbers: what its open run waits for, how much waits in each topic and for how long, and how late
it is with what it does by itself. All of it follows from its facts.

Spec: SEEN-1, SEEN-3, SEEN-5, SEEN-6, SEEN-8 to SEEN-11, SEEN-14, FAIL-21, WHTTP-10.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.workflow.failure import TRIES_UNTOLD
from gnomon.apps.workflow.recovery import UNCERTAIN
from gnomon.apps.workflow.timing import schedule_words
from gnomon.ports.workflow_facts import (
    Event,
    Facts,
    Handler,
    HandlerKind,
    Mode,
    Mutation,
    MutationStatus,
    Run,
    RunStatus,
)

__all__ = [
    "Activity",
    "Overview",
    "Seen",
    "Serving",
    "Waiting",
    "Waits",
    "WorkflowStats",
    "overview",
    "stats_of",
    "unloadable",
]

SHOWN_MAX = 200
"""How much of the parameters of a mutation is shown."""
_OF_STATUS = {
    RunStatus.TRANSIENT: "has failed, and is tried again",
    RunStatus.APPROVAL: "waits for you",
    RunStatus.RECONCILIATION: "waits until it is known whether its mutation was made",
    RunStatus.LOGIC: "has failed, and waits for a better script",
    RunStatus.INTERNAL: "has failed, and waits for its maintainers",
}


class Seen(StrEnum):
    """The status of a workflow, as its owner sees it."""

    RUNNING = "Running"
    IDLE = "Idle"
    ATTENTION = "Needs attention"
    STOPPED = "Stopped"


class Activity(NamedTuple):
    at_ms: int
    text: str


class Waits(NamedTuple):
    """A handler, and what it waits for."""

    handler: str
    text: str
    at_ms: int | None
    """When it begins by itself; None when it waits for something else."""


class Serving(NamedTuple):
    """Who works on a workflow."""

    holder: str
    """Empty when no host does."""
    store: str


_UNKNOWN = Serving("a host", "")


class Overview(NamedTuple):
    name: str
    title: str
    status: Seen
    issue: str
    """What is wrong or waited for; empty when nothing is."""
    answer: str
    """The command that helps; empty when none is needed."""
    schedule: list[str]
    next_ms: int | None
    """When it looks again by itself."""
    pending: int
    recent: list[Activity]
    script: int
    in_work: int
    """How many events the open run has taken."""
    host: str
    """Who works on it; empty when no host does."""
    handlers: list[Waits]


class Waiting(NamedTuple):
    """What waits in a topic."""

    size: int
    oldest_ms: int
    """For how long the oldest event has waited; 0 when there is none."""


class WorkflowStats(NamedTuple):
    """One workflow in numbers."""

    name: str
    seen: Seen
    open_run: RunStatus | None
    """What the open run is doing, or what it waits for."""
    runs: int
    """How many runs were begun, ever."""
    failures: int
    """Transient failures in a row."""
    late_ms: int
    """For how long it should have looked again by itself; 0 when it is not late."""
    waiting: dict[str, Waiting]
    """By topic, for those that a consumer subscribes to."""


def overview(
    facts: Facts, runs: Sequence[Run], *, host: Serving = _UNKNOWN, in_work: int = 0, limit: int = 5
) -> Overview:
    """What there is to see; `runs` are the latest, newest first."""
    standing, run = facts.standing, facts.run
    issues = [] if run is None else [_issue(facts, run)]
    issues += _around(facts, host)
    if run is None and standing.mode is Mode.ACTIVE:
        issues += [(text, "") for text in (_standstill(one, runs) for one in facts.handlers)]
    issue = "; ".join(text for text, _ in issues if text)
    answer = "; ".join(text for _, text in issues if text)
    taken = {topic for one in facts.handlers for topic in one.subscribes}
    return Overview(
        name=standing.name, title=standing.title, status=_status(facts, answer), issue=issue,
        answer=answer, schedule=_schedule(facts),
        next_ms=_next_ms(facts) if host.holder and not standing.trouble else None,
        pending=sum(one.size for topic, one in facts.pending.items() if topic in taken),
        in_work=in_work, host="" if host is _UNKNOWN else host.holder,
        handlers=[_waits(facts, one, runs) for one in facts.handlers],
        recent=[
            Activity(one.updated_ms, one.note) for one in runs
            if one.status is RunStatus.COMMITTED and one.note
        ][:limit],
        script=standing.script,
    )  # fmt: skip


def stats_of(facts: Facts, oldest: Mapping[str, Event], *, now_ms: int) -> WorkflowStats:
    """The figures of a workflow; `oldest` are the oldest pending events, by topic."""
    standing, seen = facts.standing, overview(facts, ())
    topics = sorted({topic for one in facts.handlers for topic in one.subscribes})
    return WorkflowStats(
        name=standing.name, seen=seen.status,
        open_run=None if facts.run is None else facts.run.status,
        runs=standing.runs, failures=standing.failures,
        late_ms=0 if seen.next_ms is None else max(now_ms - seen.next_ms, 0),
        waiting={topic: _waiting(facts, topic, oldest.get(topic), now_ms) for topic in topics},
    )  # fmt: skip


def _status(facts: Facts, answer: str) -> Seen:
    if facts.standing.mode is Mode.PAUSED:
        return Seen.STOPPED
    if answer:
        return Seen.ATTENTION
    return Seen.IDLE if facts.run is None else Seen.RUNNING


def _around(facts: Facts, host: Serving) -> list[tuple[str, str]]:
    """What is wrong around a workflow, and the command that helps."""
    if facts.standing.mode is Mode.PAUSED:
        return []
    if not host.holder:
        return [("No host works on it", f"gnomon workflow run --store {host.store}")]
    return [unloadable(facts)] if facts.standing.trouble else []


def unloadable(facts: Facts) -> tuple[str, str]:
    """What is wrong with a script that cannot be loaded, and the command that helps."""
    said = f"Its script cannot be loaded: {facts.standing.trouble}"
    return said, "gnomon workflow deploy FILE, or start the program that has it"


def _waits(facts: Facts, one: Handler, runs: Sequence[Run]) -> Waits:
    run = facts.run
    if facts.standing.mode is Mode.PAUSED:
        return Waits(one.name, "is stopped", None)
    if run is not None and run.handler == one.name:
        at_ms = facts.standing.retry_ms
        if run.status is RunStatus.ACTIVE:
            return Waits(one.name, "is at work", None)
        return Waits(one.name, _OF_STATUS[run.status], at_ms)
    if run is not None:
        return Waits(one.name, f"waits until {run.handler} has come to its end", None)
    if one.kind is HandlerKind.PRODUCER:
        return Waits(one.name, schedule_words(one.schedule, zone=facts.standing.zone),
                     one.next_run_ms)  # fmt: skip
    left = {topic: facts.pending[topic].size for topic in one.subscribes if topic in facts.pending}
    if not left:
        return Waits(one.name, f"waits for an event in {_words(one.subscribes, 'or')}", one.wake_ms)
    said = _words([f"{size} in {topic}" for topic, size in left.items()], "and")
    unseen = _unseen(one, runs)
    said += f"; its prepare has not looked at {unseen}: see ctx.each and ctx.find" if unseen else ""
    return Waits(one.name, f"waits for another event; pending: {said}", one.wake_ms)


def _standstill(one: Handler, runs: Sequence[Run]) -> str:
    """A consumer that takes nothing and has not looked at all there is may never take anything."""
    said = _unseen(one, runs)
    return said and f"{one.name} has taken nothing, and has not looked at {said}"


def _unseen(one: Handler, runs: Sequence[Run]) -> str:
    """How much its latest prepare, which took nothing, has not looked at."""
    latest = next((run for run in runs if run.handler == one.name and run.prepared), None)
    found = {} if latest is None else json.loads(latest.prepared or "{}").get("unseen", {})
    if not found:
        return ""
    return _words([f"{size} in {topic}" for topic, size in found.items()], "and")


def _words(parts: Sequence[str], last: str) -> str:
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _issue(facts: Facts, run: Run) -> tuple[str, str]:
    """What is wrong, and the command that helps; none for what passes by itself."""
    name, error = facts.standing.name, run.error
    if run.status is RunStatus.APPROVAL:
        if run.asked is not None:
            shown = f"{run.asked.tool} {_cut(run.asked.params)}, key {run.asked.key}"
            return f"Waiting for you: {error} ({shown})", f"gnomon workflow approve {name}"
        return f"Waiting for you: {error}", f"gnomon workflow approve {name}"
    if run.status is RunStatus.RECONCILIATION:
        return _uncertain(name, facts.mutation, run)
    if run.status is RunStatus.INTERNAL:
        return f"A tool or Gnomon itself failed: {error}", f"gnomon workflow resume {name}"
    tries = facts.standing.failures
    if run.status is RunStatus.TRANSIENT and tries > TRIES_UNTOLD:
        said = f"Has failed {tries} times in a row, and is tried again: {error}"
        return said, f"wait, or gnomon workflow resume {name}"
    if facts.standing.retry_ms is not None:
        return f"Trying again: {error}", ""
    if run.status is RunStatus.LOGIC:
        return f"The script failed: {error}", f"gnomon workflow deploy FILE, or resume {name}"
    return "", ""


def _uncertain(name: str, mutation: Mutation | None, run: Run) -> tuple[str, str]:
    assert mutation is not None
    what = mutation.title or mutation.tool
    said = f" (its tool said: {run.error})" if run.error and run.fault != UNCERTAIN else ""
    issue = f"It is not known whether this was done: {what}{said}"
    if mutation.status is not MutationStatus.INDETERMINATE:
        return issue, ""
    if mutation.reconcilable:
        issue += "; its tool is asked again"
    options = "happened|did-not-happen|skip" + ("|try-again" if mutation.reconcilable else "")
    return issue, f"gnomon workflow resolve {name} {options}"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"


def _schedule(facts: Facts) -> list[str]:
    return [
        schedule_words(one.schedule, zone=facts.standing.zone)
        for one in facts.handlers
        if one.kind is HandlerKind.PRODUCER
    ]


def _next_ms(facts: Facts) -> int | None:
    if facts.standing.mode is Mode.PAUSED:
        return None
    if facts.run is not None:
        uncertain = facts.mutation.next_ms if facts.mutation is not None else None
        return facts.standing.retry_ms or uncertain
    times = [
        one.next_run_ms if one.kind is HandlerKind.PRODUCER else one.wake_ms
        for one in facts.handlers
    ]
    return min((at_ms for at_ms in times if at_ms is not None), default=None)


def _waiting(facts: Facts, topic: str, oldest: Event | None, now_ms: int) -> Waiting:
    if topic not in facts.pending or oldest is None:
        return Waiting(0, 0)
    return Waiting(facts.pending[topic].size, max(now_ms - oldest.created_ms, 0))
