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
from typing import Protocol

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.reconciling import Finding
from gnomon.apps.workflow.steps import Call, applied, not_applied, unknown
from gnomon.errors import LogicError, PermissionDeniedError, TransientError
from gnomon.simulation.dice import Dice
from gnomon.simulation.gate import Gate, Nature
from gnomon.simulation.workflow.outside import Outside
from gnomon.simulation.workflow.plan import Behaviour, Spec

__all__ = ["NAME", "Surroundings", "make_workflow"]

NAME = "shop"
BATCH_WAIT = timedelta(seconds=60)


class Surroundings(Nature, Protocol):
    """What the script needs of the world around it."""

    spec: Spec
    outside: Outside
    behaviour: Dice
    at_work: list[str]
    """The handlers that are at work in the process that lives."""

    def complain(self, text: str) -> None: ...


def make_workflow(gate: Gate[Nature], world: Surroundings) -> Workflow:
    """The workflow, as one process has it."""
    made = Workflow(NAME)
    script = _Script(gate, world)
    made.producer("poll", interval=world.spec.interval, publishes=["orders"])(script.poll)
    for name, topic, publishes in (("ship", "orders", ["shipped"]), ("bill", "shipped", [])):
        consumer = made.consumer(name, subscribes=[topic], publishes=publishes)
        consumer.prepare(script.preparing(name, topic))
        consumer.mutate(script.mutating(name))
        consumer.next(script.concluding(name))
        behaviour = world.spec.behaviour
        tool = made.tool(name, approval=behaviour.approval and name == "bill")(script.tool(name))
        if behaviour.reconciles:
            tool.reconcile(script.reconciling(name))
    return made


class _Script:
    def __init__(self, gate: Gate[Nature], world: Surroundings) -> None:
        self._gate = gate
        self._world = world
        self._moods: Behaviour = world.spec.behaviour

    async def poll(self, ctx: Context, state: object) -> object:
        async def work() -> object:
            seen = state if isinstance(state, int) else 0
            items = self._world.outside.feed(self._world.at())
            for item in items[max(seen - 1, 0) :]:  # the last one again, as producers do
                source = ctx.input("feed", "item", item)
                ctx.publish("orders", item, item, inputs=[source])
            return len(items)

        return await self._step("poll", work)

    def preparing(self, name: str, topic: str) -> Callable[[Context, object], Awaitable[object]]:
        async def prepare(ctx: Context, state: object) -> object:
            async def work() -> object:
                return self._choose(ctx, topic, state)

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
                if self._world.behaviour.chance(self._moods.cannot_tell):
                    return unknown()
                found = self._world.outside.was_applied(call.key)
                return applied(list(found.items)) if found else not_applied()

            return await self._gate.call(f"reconcile {name}", work, stores=True)

        return reconcile

    def _choose(self, ctx: Context, topic: str, state: object) -> object:
        """Take some of what is pending; wait for more of it, but not for ever."""
        moods, events = self._moods, ctx.peek(topic)
        if not events:
            return {}
        if len(events) < moods.waits_for and not self._waited(ctx, events[0].id):
            return {"wakeAt": (ctx.now + BATCH_WAIT).isoformat()}
        ids = [one.id for one in events[: moods.takes]]
        return {
            "reservations": [{"topic": topic, "ids": ids}], "data": ids,
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
        if dice.chance(moods.unheard):
            raise TransientError("no connection")
        if dice.chance(moods.refuses):
            raise dice.pick((PermissionDeniedError, LogicError))("refused")
        assert isinstance(call.params, list)
        outside.apply(name, call.key, call.params, self._world.at())
        if dice.chance(moods.unanswered):
            raise TransientError("no answer")
        return call.params

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
