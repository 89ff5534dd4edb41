"""
A run waits for a person, or has failed for long: who is told, and of what?

The log tells of it, and whatever the host was given to tell people with. Each run is told of once
for each thing that it waits for, an outage once for all the tries that fail in it, and both again
by the next host, which does not know what the one before has told.

Spec: SEEN-13, FAIL-21, MUTATE-18.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gnomon.apps.workflow.caller import Caller
from gnomon.apps.workflow.events import log
from gnomon.apps.workflow.failure import TRIES_UNTOLD
from gnomon.apps.workflow.overview import overview
from gnomon.ports.workflow_facts import Facts, Mode, Mutation, MutationStatus, Run, RunStatus

__all__ = ["ALERT_MAX_MS", "Alarm", "Alarms", "Alert"]

ALERT_MAX_MS = 30_000
"""How long it may take to tell a person."""
_Thing = tuple[int, RunStatus, int]
"""A run, its status, and since when."""
_OUTAGE: _Thing = 0, RunStatus.TRANSIENT, 0
"""What is told of an outage, whichever of its tries has failed."""


class Alarm(NamedTuple):
    """A run that goes on only when a person does something, or that an outage has kept for long."""

    workflow: str
    title: str
    run: Run
    mutation: Mutation | None
    issue: str
    """What is wrong or waited for, in words."""
    answer: str
    """The command that helps."""


Alert = Callable[[Alarm], Awaitable[None]]


class Alarms:
    """Of one workflow, as long as its host lives."""

    def __init__(self, caller: Caller, alert: Alert | None) -> None:
        self._caller = caller
        self._alert = alert
        self._told: set[_Thing] = set()

    async def rest(self, facts: Facts, until_ms: int | None) -> None:
        """The workflow rests until then, or, where that is None, until a person calls."""
        run, standing = facts.run, facts.standing
        self._forget(facts)
        if run is None or standing.mode is Mode.PAUSED or run.status is RunStatus.ACTIVE:
            return
        if until_ms is not None and not _lasts(facts, run):
            return
        this: _Thing = run.number, run.status, run.updated_ms
        if run.status is RunStatus.TRANSIENT:
            this = _OUTAGE
        if this in self._told:
            return
        self._told.add(this)
        seen = overview(facts, ())
        level = logging.ERROR if run.status is RunStatus.INTERNAL else logging.WARNING
        log(
            level, "NeedsAttention", workflow=standing.name, run=run.number,
            status=run.status.value, issue=seen.issue, answer=seen.answer,
        )  # fmt: skip
        if self._alert is None:
            return
        alarm = Alarm(standing.name, standing.title, run, facts.mutation, seen.issue, seen.answer)
        try:
            await self._caller.call(self._alert, alarm, limit_ms=ALERT_MAX_MS)
        except Exception as error:  # whoever is told must not be the next thing that fails
            log(logging.ERROR, "AlertFailed", failure=error, workflow=standing.name)

    def _forget(self, facts: Facts) -> None:
        """Of what is over, another one can be told."""
        standing = facts.standing
        if _OUTAGE in self._told and standing.failures <= TRIES_UNTOLD:
            self._told.remove(_OUTAGE)
            if not standing.failures:  # otherwise a person has resumed it, in vain
                log(logging.INFO, "OutageOver", workflow=standing.name)
        if facts.run is None:
            self._told.clear()


def _lasts(facts: Facts, run: Run) -> bool:
    """Whether what the host tries by itself has failed so often that a person should know."""
    if run.status is RunStatus.TRANSIENT:
        return facts.standing.failures > TRIES_UNTOLD
    doubt = facts.mutation
    return doubt is not None and doubt.status is MutationStatus.INDETERMINATE
