"""
The repairer: asked for a better script, when one has failed.

A repair is a new version of the script, deployed like any other, after which the run is tried
again. It is asked for a few times at most; then the workflow waits for its author. A repair that
cannot be deployed counts as well, and the next one is told what was wrong with it.

Spec: FAIL-10 to FAIL-12.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

from gnomon.apps.workflow.deployment import deploy
from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.script import load_workflow, make_script
from gnomon.errors import DefinitionError
from gnomon.ports.workflow_facts import Facts, Run, Script, WorkflowChange

__all__ = ["Repairer", "Trouble", "repaired"]


class Trouble(NamedTuple):
    """What has failed, and with which script."""

    workflow: str
    script: str
    """Empty when its text was not kept."""
    run: Run
    error: str
    """What the run said, or what was wrong with the repair before this."""


Repairer = Callable[[Trouble], Awaitable[str | None]]
"""Gives the text of a better script, or None when there is none."""


async def repaired(
    facts: Facts, script: Script | None, ask: Callable[[Trouble], Awaitable[object]], *,
    now_ms: Callable[[], int],
) -> WorkflowChange | None:  # fmt: skip
    """What is written after a repair was asked for; None when there is none."""
    run = facts.run
    assert run is not None
    trouble = Trouble(facts.standing.name, script.text if script else "", run, run.error)
    try:
        text = await ask(trouble)
        if text is not None and not isinstance(text, str):
            raise TypeError(f"a repairer must give a text or None, got {type(text).__name__}")
    except Exception as error:  # a repairer that fails must not fail the workflow
        log(logging.ERROR, "RepairFailed", failure=error, workflow=facts.standing.name)
        return None
    if not text:
        return None
    change = _deployment(facts, run, script, text, now_ms())
    if change is None:
        return None
    standing = replace(change.standing, repairs=facts.standing.repairs + 1)
    return replace(change, standing=standing)


def _deployment(
    facts: Facts, run: Run, script: Script | None, text: str, now_ms: int
) -> WorkflowChange | None:
    name = facts.standing.name
    try:
        workflow = load_workflow(
            text, where=f"repair of {name}",
            modules=json.loads(script.modules) if script else {},
        )  # fmt: skip
        if workflow.name != name:
            raise DefinitionError(
                "must keep the name of the workflow", where=f"repair of {name}",
                got=workflow.name, hint=f'write Workflow("{name}")',
            )  # fmt: skip
        return deploy(
            facts, workflow.standing(), workflow.handlers(),
            make_script(workflow, text, reason="repair"),
            digest=script.digest if script else None, now_ms=now_ms,
        )  # fmt: skip
    except DefinitionError as error:
        failed = replace(run, error=f"{run.error} (and its repair: {error})"[:1000])
        return WorkflowChange(standing=facts.standing, runs=(failed,))
