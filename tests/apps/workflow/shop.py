"""A shop for the tables of the contract: orders are fetched and shipped, and something fails."""

import asyncio

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.handler_calls import Call, applied
from gnomon.errors import WorkflowError
from tests.apps.workflow.stage import everything

__all__ = ["Shop"]


class Shop:
    """Orders are fetched and shipped; once, at the place that is said, something goes wrong."""

    def __init__(self, place: str = "", trouble: WorkflowError | str | None = None) -> None:
        self.place = place
        self.trouble = trouble
        self.calls: list[str] = []
        """Each function that was called with something to do."""
        self.shipped: list[object] = []
        self.workflow = Workflow("orders")
        self.workflow.producer("fetch", interval="10m", publishes=["orders"])(self.fetch)
        ship = self.workflow.consumer("ship", subscribes=["orders"])
        ship.prepare(self.prepare)
        ship.mutate(self.mutate)
        ship.next(self.conclude)
        self.workflow.tool("deliver")(self.deliver).reconcile(lambda call: applied("found"))

    async def fetch(self, ctx: Context, state: object) -> object:
        self.calls.append("fetch")
        return {"fetched": int(state["fetched"]) + 1 if isinstance(state, dict) else 1}

    async def prepare(self, ctx: Context, state: object) -> object:
        found = everything(ctx, ["orders"])
        if found["data"]:
            await self.meet("prepare")
        return found

    async def mutate(self, ctx: Context, prepared: Prepared) -> None:
        await self.meet("mutate")
        ctx.mutate("deliver", prepared.data)

    async def deliver(self, call: Call) -> object:
        await self.meet("deliver")
        self.shipped.append(call.params)
        return "delivered"

    async def conclude(self, ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        if prepared.data:
            await self.meet("next")
            self.calls.append(f"{outcome.status} {outcome.result}")

    async def meet(self, place: str) -> None:
        self.calls.append(place)
        if place == self.place:
            trouble, self.trouble = self.trouble, None
            if trouble == "hang":
                await asyncio.sleep(10_000)
            elif isinstance(trouble, WorkflowError):
                raise trouble
