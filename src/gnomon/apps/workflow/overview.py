"""
What does the owner of a workflow need to know?

Whether it runs, rests, needs attention or is stopped; what is wrong, in words; when it looks again;
what it has done lately; and what still waits. Phases, topics and retries are not for this: they are
in the list of runs.

Spec: SEEN-1 to SEEN-6.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.workflow.schedule import schedule_words
from gnomon.ports.workflow_facts import (
    Facts,
    HandlerKind,
    Mode,
    Mutation,
    MutationStatus,
    Run,
    RunStatus,
)

__all__ = ["Activity", "Overview", "Seen", "overview"]


class Seen(StrEnum):
    """The status of a workflow, as its owner sees it."""

    RUNNING = "Running"
    IDLE = "Idle"
    ATTENTION = "Needs attention"
    STOPPED = "Stopped"


class Activity(NamedTuple):
    at_ms: int
    text: str


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


def overview(facts: Facts, runs: Sequence[Run], *, limit: int = 5) -> Overview:
    """What there is to see; `runs` are the latest, newest first."""
    standing, run = facts.standing, facts.run
    issue, answer = ("", "") if run is None else _issue(facts, run)
    return Overview(
        name=standing.name, title=standing.title, status=_status(facts, answer), issue=issue,
        answer=answer, schedule=_schedule(facts), next_ms=_next_ms(facts),
        pending=sum(
            facts.pending[topic].size
            for one in facts.handlers for topic in one.subscribes if topic in facts.pending
        ),
        recent=[
            Activity(one.updated_ms, one.note) for one in runs
            if one.status is RunStatus.COMMITTED and one.note
        ][:limit],
        script=standing.script,
    )  # fmt: skip


def _status(facts: Facts, answer: str) -> Seen:
    if facts.standing.mode is Mode.PAUSED:
        return Seen.STOPPED
    if facts.run is None:
        return Seen.IDLE
    return Seen.ATTENTION if answer else Seen.RUNNING


def _issue(facts: Facts, run: Run) -> tuple[str, str]:
    """What is wrong, and the command that helps; none for what passes by itself."""
    name, error = facts.standing.name, run.error
    if run.status is RunStatus.APPROVAL:
        return f"Waiting for you: {error}", f"gnomon workflow approve {name}"
    if run.status is RunStatus.RECONCILIATION:
        return _uncertain(name, facts.mutation)
    if run.status is RunStatus.INTERNAL:
        return f"A tool or Gnomon itself failed: {error}", f"gnomon workflow resume {name}"
    if facts.standing.retry_ms is not None:
        return f"Trying again: {error}", ""
    if run.status is RunStatus.LOGIC:
        return f"The script failed: {error}", f"gnomon workflow deploy FILE, or resume {name}"
    if run.status is RunStatus.TRANSIENT:
        tries = facts.standing.failures
        return f"Failed {tries} times: {error}", f"gnomon workflow resume {name}"
    return "", ""


def _uncertain(name: str, mutation: Mutation | None) -> tuple[str, str]:
    assert mutation is not None
    what = mutation.title or mutation.tool
    issue = f"It is not known whether this was done: {what}"
    if mutation.status is not MutationStatus.INDETERMINATE:
        return issue, ""
    options = "happened|did-not-happen|skip" + ("|try-again" if mutation.reconcilable else "")
    return issue, f"gnomon workflow resolve {name} {options}"


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
