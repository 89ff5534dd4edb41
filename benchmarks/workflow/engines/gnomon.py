"""
Gnomon: `python -m benchmarks.workflow.engines.gnomon WHAT COUNT STORE`.

- `events` and `many`: COUNT events in one workflow or in ten; each is prepared, a tool that does
  nothing is called, `next` runs, and all of it is committed.
- `latency`: COUNT events one after the other, each timed from its publication to its prepare.
- `idle`: COUNT workflows with nothing to do; the share of a core that they cost.
"""

import asyncio
import json
import sys
import time

from gnomon.ports.workflow_facts import Publication
from gnomon.shell.chance import draw_token
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.workflow_opening import open_log
from gnomon.workflow import Context, Host, Workflow, host

MANY = 10
IDLE_S = 45


def shop(name: str, finished: asyncio.Event, left: list[int]) -> Workflow:
    made = Workflow(name)
    consumer = made.consumer("ship", subscribes=["orders"], sees=1)

    @consumer.prepare
    async def prepare(ctx: Context, state: object) -> object:
        events = ctx.peek("orders", limit=1)
        return {
            "reservations": [{"topic": "orders", "ids": [one.id]} for one in events],
            "data": [one.id for one in events],
        }

    @consumer.mutate
    async def mutate(ctx: Context, prepared: object) -> None:
        ctx.mutate("nothing")

    @consumer.next
    async def conclude(ctx: Context, prepared: object, outcome: object) -> None:
        left[0] -= bool(prepared.reservations)  # type: ignore[attr-defined]
        if left[0] == 0:
            finished.set()

    @made.tool("nothing")
    async def nothing(call: object) -> None: ...

    return made


async def events(count: int, store: str, names: list[str]) -> dict[str, float]:
    finished, left = asyncio.Event(), [count]
    log = await open_log(store)
    for name in names:
        workflow = shop(name, finished, left)
        await Host(log, SystemClock(), holder="", draw_token=draw_token).commands.deploy(workflow)
        ids = range(count // len(names))
        await log.publish(name, [Publication("orders", str(one), "1") for one in ids], now_ms=0)
    await log.close()
    started = time.perf_counter()
    async with host(store, *(shop(name, finished, left) for name in names)):
        await finished.wait()
    return {"seconds": time.perf_counter() - started}


async def latency(count: int, store: str) -> dict[str, float]:
    begun, found = asyncio.Event(), []
    made = Workflow("shop")
    consumer = made.consumer("ship", subscribes=["orders"])

    @consumer.prepare
    async def prepare(ctx: Context, state: object) -> object:
        begun.set()
        ids = [one.id for one in ctx.peek("orders")]
        return {"reservations": [{"topic": "orders", "ids": ids}] if ids else []}

    async with host(store, made) as running:
        await begun.wait()
        for number in range(count):
            while (await running.queries.facts("shop")).run is not None:
                await asyncio.sleep(0.001)
            begun.clear()
            started = time.perf_counter()
            await running.commands.publish("shop", "orders", str(number))
            await begun.wait()
            found.append(time.perf_counter() - started)
    found.sort()
    return {"p50_ms": 1000 * found[count // 2], "p99_ms": 1000 * found[count * 99 // 100]}


async def idle(count: int, store: str) -> dict[str, float]:
    async with host(store) as running:
        for number in range(count):
            made = Workflow(f"w{number}")
            made.producer("poll", interval="24h")(lambda ctx, state: None)
            made.consumer("ship", subscribes=["orders"]).prepare(lambda ctx, state: {})
            await running.deploy(made)
        while any(running._tasks) or running._rung or running._looks:
            await asyncio.sleep(0.2)
        await asyncio.sleep(2)
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(IDLE_S)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
    return {"percent_of_a_core": 100 * share}


if __name__ == "__main__":
    what, number, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if what in ("events", "many"):
        shops = ["shop"] if what == "events" else [f"shop{one}" for one in range(MANY)]
        result = asyncio.run(events(number, place, shops))
    else:
        result = asyncio.run({"latency": latency, "idle": idle}[what](number, place))
    print(json.dumps(result))
