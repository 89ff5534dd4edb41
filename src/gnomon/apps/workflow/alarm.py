"""
A run waits for a person or has failed for long, or no run can begin: who is told, and of what?

The log tells of it, and whatever the host was given to tell people with. Each run is told of once
for each thing that it waits for, an outage once for all the tries that fail in it, a script that
cannot be loaded once for each version and cause, and all of it again by the next host, which does
not know what the one before has told.

Spec: SEEN-13, SEEN-15, FAIL-21, MUTATE-18.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gnomon.apps.workflow.failure import TRIES_UNTOLD
from gnomon.apps.workflow.function_calls import FunctionCalls
from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.overview import overview, unloadable
from gnomon.ports.workflow_facts import Facts, Mode, Mutation, MutationStatus, Run, RunStatus

__all__ = ["ALERT_MAX_MS", "UNLOADABLE", "Alarm", "Alarms", "Alert"]

ALERT_MAX_MS = 30_000
"""How long it may take to tell a person."""
UNLOADABLE = "unloadable"
"""What is told as the status when the script in force cannot be loaded."""
_CHANGING = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")
"""What may be another in the same error each time: addresses, times, counts."""
_Thing = tuple[int, RunStatus, int]
"""A run, its status, and since when."""
_OUTAGE: _Thing = 0, RunStatus.TRANSIENT, 0
"""What is told of an outage, whichever of its tries has failed."""


class Alarm(NamedTuple):
    """
    A run that goes on only when a person does something, or that an outage has kept for long; or a
    script that cannot be loaded, so that no run begins.
    """

    workflow: str
    title: str
    run: Run | None
    """None where the script cannot be loaded."""
    mutation: Mutation | None
    issue: str
    """What is wrong or waited for, in words."""
    answer: str
    """The command that helps."""
    script: int = 0
    """The version of the script that is in force."""

    @property
    def status(self) -> str:
        """That of the run, or `unloadable`."""
        return UNLOADABLE if self.run is None else self.run.status.value


Alert = Callable[[Alarm], Awaitable[None]]


class Alarms:
    """Of one workflow, as long as its host lives."""

    def __init__(self, functions: FunctionCalls, alert: Alert | None) -> None:
        self._functions = functions
        self._alert = alert
        self._told: set[_Thing] = set()
        self._unloadable: tuple[int, str] | None = None
        """The version and the cause that were told last, until it can be loaded again."""

    async def script(self, facts: Facts) -> None:
        """The script in force was looked at: it can be loaded, or not."""
        standing = facts.standing
        if not standing.trouble:
            if self._unloadable is not None:
                log(logging.INFO, "ScriptFound", workflow=standing.name, version=standing.script)
            self._unloadable = None
            return
        this = standing.script, _CHANGING.sub("#", standing.trouble)
        if standing.mode is Mode.PAUSED or this == self._unloadable:
            return
        self._unloadable = this
        issue, answer = unloadable(facts)
        await self._tell(
            Alarm(standing.name, standing.title, None, None, issue, answer, standing.script)
        )

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
        await self._tell(
            Alarm(
                standing.name,
                standing.title,
                run,
                facts.mutation,
                seen.issue,
                seen.answer,
                standing.script,
            )
        )

    async def _tell(self, alarm: Alarm) -> None:
        is_error = alarm.run is None or alarm.run.status is RunStatus.INTERNAL
        log(
            logging.ERROR if is_error else logging.WARNING, "NeedsAttention",
            workflow=alarm.workflow, run=None if alarm.run is None else alarm.run.number,
            status=alarm.status, issue=alarm.issue, answer=alarm.answer,
        )  # fmt: skip
        if self._alert is None:
            return
        try:
            await self._functions.call(self._alert, alarm, limit_ms=ALERT_MAX_MS)
        except Exception as error:  # an alert that fails must not fail the workflow
            log(logging.ERROR, "AlertFailed", failure=error, workflow=alarm.workflow)

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
