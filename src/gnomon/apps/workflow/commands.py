"""
Where people give their commands, whether or not a host is at work on the workflow.

A command reads the facts, decides, and writes if nothing has changed meanwhile; otherwise it looks
again. It runs nothing itself; `ring` tells the host, if there is one, to look.

Spec: WASK-1, WASK-3 to WASK-8, FLOW-6, INPUT-3.
"""

import json
from collections.abc import Callable

from gnomon.apps.workflow import command_changes
from gnomon.apps.workflow.context import ID_MAX, is_id, to_json
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.deployment import deploy
from gnomon.apps.workflow.mutation_changes import Resolution, resolve
from gnomon.apps.workflow.queries import WorkflowQueries
from gnomon.apps.workflow.script import load_workflow, make_script
from gnomon.errors import CommandRefusedError, DefinitionError, LogicError
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import Answer, Facts, Publication, WorkflowChange
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["WorkflowCommands"]

_VERSIONS = 1_000
"""How far back another version is looked for."""
_Decide = Callable[[Facts], WorkflowChange | None]


class WorkflowCommands:
    """Commands to the workflows of one store."""

    def __init__(self, log: WorkflowLog, clock: Clock, *, ring: Callable[[str], None]) -> None:
        self.queries = WorkflowQueries(log)
        """What there is to be changed."""
        self._log = log
        self._clock = clock
        self._ring = ring

    async def deploy(self, workflow: Workflow, *, text: str = "", reason: str = "deploy") -> int:
        """Put a script in force; the version that is then in force."""
        handlers = workflow.handlers()
        script = make_script(workflow, text, reason=reason)
        while True:
            facts = await self._log.load(workflow.name)
            digest = None
            if facts is not None:
                before = await self._log.script(workflow.name, facts.standing.script)
                digest = None if before is None else before.digest
            change = deploy(
                facts, workflow.standing(), handlers, script, digest=digest,
                now_ms=self._clock.now_ms(),
            )  # fmt: skip
            if change is None:
                assert facts is not None
                return facts.standing.script
            if await self._write(change, seen=facts.standing.version if facts else 0):
                return change.standing.script

    async def rollback(self, workflow: str, version: int | None = None) -> tuple[int, int]:
        """
        Put an older version in force again, as a version of its own: which one, and its number.

        Without a version it is the newest before the one in force that differs from it.
        """
        wanted = await self._before(workflow) if version is None else version
        script = await self.queries.script(workflow, wanted)
        made = load_workflow(
            script.text, where=f"{workflow} version {wanted}", modules=json.loads(script.modules)
        )
        number = await self.deploy(made, text=script.text, reason=f"rollback to {wanted}")
        return wanted, number

    async def remove(self, workflow: str, *, discard: bool = False) -> None:
        """Remove a workflow that is stopped, with all that is known of it."""
        while True:
            facts = await self.queries.facts(workflow)
            command_changes.check_removable(facts, discard=discard)
            seen = facts.standing.version, facts.standing.arrivals
            if await self._log.remove(workflow, seen=seen) is Answer.MADE:
                self._ring(workflow)
                return

    async def publish(self, workflow: str, topic: str, id: str, payload: object = None) -> bool:
        """Publish an event from outside; whether that changed anything."""
        facts = await self.queries.facts(workflow)
        topics = {name for one in facts.handlers for name in (*one.subscribes, *one.publishes)}
        if topic not in topics:
            raise DefinitionError(
                f"must be a topic of the workflow {workflow}", where="topic", got=topic,
                hint=f"write one of {', '.join(sorted(topics))}",
            )  # fmt: skip
        if not is_id(id):
            raise DefinitionError(
                f"must be text of 1 to {ID_MAX} characters that a store can keep", where="id",
                got=id, hint="write what the event is called where it comes from",
            )  # fmt: skip
        one = Publication(topic, id, _payload(payload))
        changed = await self._log.publish(workflow, [one], now_ms=self._clock.now_ms())
        self._ring(workflow)
        return bool(changed)

    async def pause(self, workflow: str) -> None:
        await self._command(workflow, command_changes.pause)

    async def resume(self, workflow: str) -> str:
        """Go on; says whether it does."""
        now_ms = self._clock.now_ms()
        before = await self.queries.facts(workflow)
        await self._command(workflow, lambda facts: command_changes.resume(facts, now_ms=now_ms))
        after = await self.queries.facts(workflow)
        if after.standing.version == before.standing.version:
            return "was going on already"
        found = await self.queries.overview(workflow)
        return f"goes on; {found.issue}" if found.answer else "goes on"

    async def run_now(self, workflow: str) -> None:
        now_ms = self._clock.now_ms()
        await self._command(workflow, lambda facts: command_changes.run_now(facts, now_ms=now_ms))

    async def approve(self, workflow: str, *, key: str = "") -> None:
        """Grant what a run waits for; with a key, only that mutation."""
        now_ms = self._clock.now_ms()
        await self._command(
            workflow, lambda facts: command_changes.approve(facts, now_ms=now_ms, key=key)
        )

    async def reject(self, workflow: str, *, key: str = "") -> None:
        """Refuse what a run waits for; with a key, only that mutation."""
        now_ms = self._clock.now_ms()
        await self._command(
            workflow, lambda facts: command_changes.reject(facts, now_ms=now_ms, key=key)
        )

    async def resolve(self, workflow: str, said: Resolution) -> None:
        now_ms = self._clock.now_ms()
        await self._command(workflow, lambda facts: resolve(facts, said, now_ms=now_ms))

    async def skip_input(self, workflow: str, input_id: str) -> None:
        """Do nothing more about an input."""
        if not await self.queries.is_known(workflow, input_id):
            raise DefinitionError(
                f"must be an input of the workflow {workflow}", where="input", got=input_id,
                hint="gnomon workflow inputs names them",
            )  # fmt: skip
        while True:
            facts = await self.queries.facts(workflow)
            run = facts.run
            held = [] if run is None else await self._log.reserved(workflow, run.number)
            change = command_changes.skip_input(facts, input_id, held, now_ms=self._clock.now_ms())
            if await self._write(change, seen=facts.standing.version):
                return

    async def _before(self, workflow: str) -> int:
        facts = await self.queries.facts(workflow)
        at = await self._log.script(workflow, facts.standing.script)
        for one in await self._log.scripts(workflow, limit=_VERSIONS, before=facts.standing.script):
            if at is None or one.digest != at.digest:
                return one.version
        raise CommandRefusedError(
            "has no other version that is kept", where=workflow,
            got=f"version {facts.standing.script}", hint="deploy the script that you want",
        )  # fmt: skip

    async def _command(self, workflow: str, decide: _Decide) -> None:
        while True:
            facts = await self.queries.facts(workflow)
            change = decide(facts)
            if change is None or await self._write(change, seen=facts.standing.version):
                return

    async def _write(self, change: WorkflowChange, *, seen: int) -> bool:
        done = await self._log.commit(change, seen=seen)
        if done.answer is Answer.MADE:
            self._ring(change.standing.name)
        return done.answer is Answer.MADE


def _payload(value: object) -> str:
    try:
        return to_json(value, "payload")
    except LogicError as error:
        raise DefinitionError(
            error.reason.removeprefix("payload: "), where="payload", got=type(value).__name__,
            hint="publish less, e.g. where the rest of it can be found",
        ) from None  # fmt: skip
