"""
A run waits for a person: who is told, and of what?

The log tells of it, and whatever the host was given to tell people with. Each run is told of once
for each thing that it waits for, and again by the next host, which does not know what the one
before has told.

Spec: SEEN-13.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gnomon.apps.workflow.caller import Caller
from gnomon.apps.workflow.events import log
from gnomon.apps.workflow.overview import overview
from gnomon.ports.workflow_facts import Facts, Mode, Mutation, Run, RunStatus

__all__ = ["ALERT_MAX_MS", "Alarm", "Alarms", "Alert"]

ALERT_MAX_MS = 30_000
"""How long it may take to tell somebody."""


class Alarm(NamedTuple):
    """A run that goes on only when a person does something."""

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
        self._told: tuple[int, RunStatus] | None = None

    async def rest(self, facts: Facts) -> None:
        """The workflow rests until somebody calls: a run that is open then waits for a person."""
        run, standing = facts.run, facts.standing
        if run is None or standing.mode is Mode.PAUSED or run.status is RunStatus.ACTIVE:
            return
        if self._told == (run.number, run.status):
            return
        self._told = run.number, run.status
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
