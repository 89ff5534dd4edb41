"""
The workflow of a world: items are fetched and shipped, and what was shipped is billed.

It is what an author would write, with a gate around every step, so that the process can die before
and after each, and with the moods that the seed draws. It tells the witness when handlers begin and
end, and complains itself when it is given what it should not be given.

Spec: WSIM-1, WSIM-2, WSIM-4.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from socket import gaierror
from typing import Protocol

from gnomon.apps.workflow.context import Context, Outcome, Prepared, to_json
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.handler_calls import Call, applied, not_applied, unknown
from gnomon.apps.workflow.mutation_changes import Finding
from gnomon.errors import AuthError, LogicError, PermissionDeniedError, TransientError
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.gate import Gate, Nature
from gnomon.simulation.workflow.outside import Outside
from gnomon.simulation.workflow.plan import Behaviour, Spec

__all__ = ["NAME", "ScriptWorld", "make_workflow"]

NAME = "shop"
BATCH_WAIT = timedelta(seconds=60)
NO_CONNECTION = (TransientError, ConnectionRefusedError, TimeoutError, gaierror)
ODD_WAKES: tuple[object, ...] = (
    "",
    "tomorrow",
    5,
    -1.5,
    "2026-03-01T09:00:00",
    True,
    [],
    "9999-99-99T99:99:99Z",
)


class ScriptWorld(Nature, Protocol):
    """What the script needs of the world around it."""

    spec: Spec
    outside: Outside
    behaviour: Dice
    begun: list[int]
    """When each handler was called."""
    at_work: list[str]
    """The handlers that are at work in the process that lives."""

    healed: bool
    """Whether nothing goes wrong any more."""

    def complain(self, text: str) -> None: ...


def make_workflow(gate: Gate[Nature], world: ScriptWorld) -> Workflow:
    """The workflow, as one process has it."""
    made = Workflow(NAME)
    script = _Script(gate, world)
    behaviour = world.spec.behaviour
    topics = ["orders", *(["echoes"] if behaviour.echoes else []),
              *(["labels"] if behaviour.labels else [])]  # fmt: skip
    made.producer("poll", interval=world.spec.interval, publishes=topics)(script.poll)
    for place, name in enumerate(("ship", "ship-too") if behaviour.shares else ("ship",)):
        _consume(made, script, name, place if behaviour.shares else None, behaviour)
    _consume(made, script, "bill", None, behaviour)
    if behaviour.echoes:
        echo = made.consumer("echo", subscribes=["echoes"], publishes=["echoes"])
        echo.prepare(script.listening)
        echo.next(script.echo)
    for name in ("ship", "bill"):
        tool = made.tool(name, approval=behaviour.approval and name == "bill")(script.tool(name))
        if behaviour.reconciles:
            tool.reconcile(script.reconciling(name))
    return made


def _consume(
    made: Workflow, script: "_Script", name: str, share: int | None, moods: Behaviour
) -> None:
    tool, topic, publishes = "bill", "shipped", list[str]()
    if name != "bill":
        tool, topic, publishes = "ship", "orders", ["shipped"]
    labels = ["labels"] if moods.labels and tool == "ship" else []
    consumer = made.consumer(
        name, subscribes=[topic, *labels], publishes=publishes, sees=moods.sees
    )
    consumer.prepare(script.preparing(tool, topic, share))
    consumer.mutate(script.mutating(tool))
    consumer.next(script.concluding(tool))


class _Script:
    def __init__(self, gate: Gate[Nature], world: ScriptWorld) -> None:
        self._gate = gate
        self._world = world
        self._moods: Behaviour = world.spec.behaviour

    async def poll(self, ctx: Context, state: object) -> object:
        async def work() -> object:
            self._reach("poll")
            seen = state if isinstance(state, int) else 0
            items = self._world.outside.feed(self._world.at())
            first = 0 if self._moods.republishes else max(seen - 1, 0)
            for item in items[first:]:  # the last one again, or all of them, as producers do
                source = ctx.input("feed", "item", item)
                self._world.outside.published[item] = self._world.at()
                ctx.publish("orders", item, item, inputs=[source])
            if self._moods.labels:
                for item in reversed(items[max(seen - 1, 0) :]):
                    source = ctx.input("feed", "item", item)
                    ctx.publish("labels", item, item, inputs=[source])
            if self._moods.echoes and not self._world.healed:
                ctx.publish("echoes", "e0")
            return len(items)

        return await self._step("poll", work)

    async def listening(self, ctx: Context, state: object) -> object:
        async def work() -> object:
            ids = [one.id for one in ctx.peek("echoes", limit=1)]
            return {"reservations": [{"topic": "echoes", "ids": ids}], "data": ids} if ids else {}

        return await self._step("prepare echo", work)

    async def echo(self, ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        async def work() -> None:
            if not self._world.healed:
                for number in range(self._moods.echoes):
                    ctx.publish("echoes", f"e{ctx.run}-{number}")

        await self._step("next echo", work)

    def preparing(
        self, name: str, topic: str, share: int | None
    ) -> Callable[[Context, object], Awaitable[object]]:
        async def prepare(ctx: Context, state: object) -> object:
            async def work() -> object:
                self._reach("prepare")
                if self._world.behaviour.chance(self._moods.signs_out):
                    raise AuthError("sign in again")
                return await self._choose(ctx, topic, share)

            return await self._step(f"prepare {name}", work)

        return prepare

    def mutating(self, name: str) -> Callable[[Context, Prepared], Awaitable[None]]:
        async def mutate(ctx: Context, prepared: Prepared) -> None:
            async def work() -> None:
                ctx.mutate(name, prepared.data, title=f"{name} {prepared.data}")

            await self._step(f"mutate {name}", work)

        return mutate

    def concluding(self, name: str) -> Callable[[Context, Prepared, Outcome], Awaitable[object]]:
        async def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> object:
            async def work() -> object:
                items = prepared.data if isinstance(prepared.data, list) else []
                self._check_outcome(name, prepared, outcome, items)
                if name == "ship" and outcome.status == "applied":
                    for item in items:
                        ctx.publish("shipped", item, item)
                return {"since": None}

            return await self._step(f"next {name}", work)

        return conclude

    def tool(self, name: str) -> Callable[[Call], Awaitable[object]]:
        async def call(call: Call) -> object:
            return await self._gate.call(
                f"apply {name}", lambda: self._apply(name, call), stores=True
            )

        return call

    def reconciling(self, name: str) -> Callable[[Call], Awaitable[Finding]]:
        async def reconcile(call: Call) -> Finding:
            async def work() -> Finding:
                self._reach("reconcile")
                if self._world.behaviour.chance(self._moods.cannot_tell):
                    return unknown()
                found = self._world.outside.was_applied(call.key)
                return applied(list(found.items)) if found else not_applied()

            return await self._gate.call(f"reconcile {name}", work)

        return reconcile

    async def _choose(self, ctx: Context, topic: str, share: int | None) -> object:
        """Take some of what is pending; wait for more of it, but not for ever."""
        moods = self._moods
        events = [
            one async for one in ctx.each(topic) if share is None or int(one.id[1:]) % 2 == share
        ]
        topics = [topic]
        if moods.labels and topic == "orders":
            topics.append("labels")
            known = {one.id async for one in ctx.find("labels", [one.id for one in events])}
            events = [one for one in events if one.id in known]
        if not events:
            return {}
        if len(events) < moods.waits_for and not self._waited(ctx, events[0].id):
            if moods.odd_wakes:
                return {"wakeAt": self._world.behaviour.pick(ODD_WAKES)}
            return {"wakeAt": (ctx.now + BATCH_WAIT).isoformat()}
        ids = [one.id for one in events[: moods.takes]]
        return {
            "reservations": [{"topic": one, "ids": ids} for one in topics], "data": ids,
            "ui": {"title": f"{len(ids)} items"},
        }  # fmt: skip

    def _waited(self, ctx: Context, first: str) -> bool:
        """Whether this one was seen a while ago; a process remembers that, if it lives."""
        since = self._world.outside.first_seen.setdefault(first, ctx.now)
        return ctx.now - since >= BATCH_WAIT

    async def _apply(self, name: str, call: Call) -> object:
        moods, dice, outside = self._moods, self._world.behaviour, self._world.outside
        outside.attempts[call.key] += 1
        await asyncio.sleep(dice.pick(moods.slow_ms) / 1000)
        self._gate.check()
        self._check_approval(name, call)
        self._reach("tool")
        if dice.chance(moods.signs_out):
            outside.fruitless.append(self._world.at())
            raise AuthError("sign in again", acted=dice.pick((False, None)))
        if dice.chance(moods.unheard):
            outside.fruitless.append(self._world.at())
            raise TransientError("no connection")
        if dice.chance(moods.refuses):
            raise dice.pick((PermissionDeniedError, LogicError))("refused")
        assert isinstance(call.params, list)
        outside.apply(name, call.key, call.params, self._world.at())
        self._reach("answer")
        if dice.chance(moods.unanswered):
            raise TransientError("no answer")
        return call.params

    def _reach(self, part: str) -> None:
        """Nothing gets through to a part that is cut off while an outage lasts."""
        world, at = self._world, self._world.at()
        if part in self._moods.cut_off and self._moods.is_away(at):
            world.outside.fruitless.append(at)
            world.notes.hit(f"cut off: {part}")
            raise world.behaviour.pick(NO_CONNECTION)("no connection")

    def _check_approval(self, name: str, call: Call) -> None:
        """What wants approval is never done without one that names it."""
        if name == "bill" and self._moods.approval:
            wanted = (name, to_json(call.params, "params"), call.key)
            if wanted not in self._world.outside.approved:
                self._world.complain(f"{wanted} was called, and no person had approved it")

    def _check_outcome(
        self, name: str, prepared: Prepared, outcome: Outcome, items: list[object]
    ) -> None:
        """`next` is told the truth about its mutation."""
        made = [
            one for one in self._world.outside.applications
            if one.tool == name and list(one.items) == items
        ]  # fmt: skip
        if outcome.status == "applied" and items and not made:
            self._world.complain(f"next of {name} was told that {items} was applied")
        if outcome.status == "none" and items:
            self._world.complain(f"next of {name} was told of no mutation for {items}")
        if outcome.status == "applied" and outcome.result not in (items, None):
            self._world.complain(f"next of {name} got {outcome.result} for {items}")

    async def _step(self, name: str, work: Callable[[], Awaitable[object]]) -> object:
        """A handler at work: alone, with a gate around it, and in the mood that the seed draws."""
        world = self._world
        if world.at_work:
            world.complain(f"{name} began while {world.at_work} were at work")
        world.at_work.append(name)
        world.begun.append(world.at())
        try:
            found = await self._gate.call(name, work, stores=False)
            await asyncio.sleep(world.behaviour.pick(self._moods.slow_ms) / 1000)
            self._gate.check()
            if world.behaviour.chance(self._moods.fails):
                raise world.behaviour.pick((TransientError, LogicError))("in a bad mood")
            return found
        finally:
            if self._gate.alive:
                world.at_work.remove(name)
