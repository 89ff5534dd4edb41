"""
The person who looks after a workflow: decides what no machine can know, and never lies.

From time to time the person looks at the workflow, from another process. The person grants or
refuses what waits for approval, and resumes what has failed. Where the end of a mutation is not
known, the person looks outside and says what is there.

Spec: WSIM-3.
"""

from typing import Protocol

from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.mutation_changes import Resolution
from gnomon.errors import DefinitionError
from gnomon.ports.workflow_facts import Facts, Mode, MutationStatus, RunStatus
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.notes import Notes
from gnomon.simulation.workflow.outside import Outside, Question
from gnomon.simulation.workflow.plan import Do, Errand, Spec
from gnomon.simulation.workflow.script import NAME

__all__ = ["Person"]

_RUNS = 10_000
"""More than any world has."""


class Witnessed(Protocol):
    """What a person needs to know of the world."""

    spec: Spec
    notes: Notes
    outside: Outside
    log: WorkflowLog

    def at(self) -> int: ...


class Person:
    """Gives commands, as another process would."""

    def __init__(self, world: Witnessed, commands: WorkflowCommands, dice: Dice) -> None:
        self._world = world
        self._commands = commands
        self._dice = dice

    async def look(self, *, healed: bool) -> None:
        """See to what the workflow needs; afterwards, let nothing stay paused."""
        facts = await self._world.log.load(NAME)
        if facts is None:
            return
        try:
            if healed and facts.standing.mode is Mode.PAUSED:
                await self._commands.resume(NAME)
            elif facts.run is not None:
                await self._see_to(facts, facts.run.status)
        except DefinitionError as error:  # it went on by itself meanwhile
            self._world.notes.hit(f"refused: {error.reason}")

    async def push(self, item: str) -> bool:
        """Publish an item from outside; False when there is no workflow yet."""
        if await self._world.log.load(NAME) is None:
            return False
        self._world.notes.hit("pushed")
        await self._commands.publish(NAME, "orders", item, item)
        if self._world.spec.behaviour.labels:
            await self._commands.publish(NAME, "labels", item, item)
        return True

    async def run_errand(self, errand: Errand) -> None:
        """Do something to the workflow, at any time."""
        commands, which = self._commands, errand.which
        try:
            if errand.do is Do.PAUSE:
                await commands.pause(NAME)
            elif errand.do is Do.RESUME:
                await commands.resume(NAME)
            elif errand.do is Do.RUN_NOW:
                await commands.run_now(NAME)
            elif errand.do is Do.SKIP_INPUT:
                known = await self._world.log.inputs(NAME, limit=100)
                if known:
                    await commands.skip_input(NAME, known[which % len(known)].id)
        except DefinitionError as error:
            self._world.notes.hit(f"refused: {error.reason}")

    async def _see_to(self, facts: Facts, status: RunStatus) -> None:
        notes, commands = self._world.notes, self._commands
        if status is RunStatus.APPROVAL:
            if facts.run is not None and facts.run.prepared and self._dice.chance(15):
                notes.hit("rejected")
                await commands.reject(NAME)
                await self._note_question(facts, granted=None)
            else:
                notes.hit("approved")
                await self._approve(facts)
        elif status is RunStatus.RECONCILIATION:
            await self._resolve(facts)
        elif status in (RunStatus.LOGIC, RunStatus.INTERNAL):  # others go on by themselves
            notes.hit(f"resumed {status.value}")
            await commands.resume(NAME)

    async def _approve(self, facts: Facts) -> None:
        """Agree to what was seen, and to nothing else; or sign in again."""
        run = facts.run
        assert run is not None
        if run.fault == "approval":
            assert run.asked is not None
            asked = run.asked
            self._world.outside.approved.add((asked.tool, asked.params, asked.key))
            await self._commands.approve(NAME, key=asked.key)
            await self._note_question(facts, granted=facts.standing.script)
        else:
            self._world.notes.hit("signed in again")
            await self._commands.approve(NAME)

    async def _note_question(self, facts: Facts, *, granted: int | None) -> None:
        if facts.run is None or facts.run.asked is None:
            return
        asked, at, first = facts.run.asked, self._world.at(), facts.run.number
        runs = await self._world.log.runs(NAME, limit=_RUNS)
        before = {one.number: one.retry_of for one in runs}
        while (number := before.get(first)) is not None:
            first = number
        self._world.notes.hit("asked to approve")
        self._world.outside.asked.append(
            Question(asked.tool, asked.params, asked.script, granted, at, first)
        )

    async def _resolve(self, facts: Facts) -> None:
        mutation = facts.mutation
        if mutation is None or mutation.status is not MutationStatus.INDETERMINATE:
            return
        if mutation.reconcilable and self._world.spec.trusts:
            return
        was_made = self._world.outside.was_applied(mutation.key) is not None
        said = Resolution.HAPPENED if was_made else Resolution.DID_NOT_HAPPEN
        if mutation.reconcilable and self._dice.chance(20):
            said = Resolution.TRY_AGAIN
        elif not was_made and self._dice.chance(20):
            said = Resolution.SKIP
        self._world.notes.hit(f"resolved {said.value}")
        await self._commands.resolve(NAME, said)
