"""Two hosts on one database: each workflow has one holder, and a silent one is followed."""

import asyncio
from collections.abc import Callable

import asyncpg
import pytest

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.handler_calls import Call, applied
from gnomon.apps.workflow.host import Host
from gnomon.errors import OwnershipLostError
from gnomon.shell.chance import draw_token
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.postgres.statement import migrations
from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog
from gnomon.workflow import host
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, new, sheet

FIRST = """
INSERT INTO gnomon.flow_meta (name, value) VALUES ('schema', '1');
INSERT INTO gnomon.flows (name, title, zone, mode, script, version, fence, writes, holder, runs,
  arrivals, failures, repairs, created_at)
VALUES ('orders', '', 'UTC', 'active', 1, 1, 0, 0, '', 0, 1, 0, 0, '2026-03-01T00:00:00Z');
INSERT INTO gnomon.flow_events (workflow, topic, id, payload, status, number, arrival, attempt,
  reserved_by, causes, created_at)
VALUES ('orders', 'orders', 'o1', '1', 'consumed', 1, 1, 1, 7, '[]', '2026-03-01T00:00:00Z');
"""


def shop(deliver: Callable[[Call], object], said: list[str]) -> Workflow:
    made = Workflow("shop")
    consumer = made.consumer("ship", subscribes=["orders"])

    @consumer.prepare
    def prepare(ctx: Context, state: object) -> object:
        ids = [one.id for one in ctx.peek("orders")]
        return {"reservations": [{"topic": "orders", "ids": ids}] if ids else [], "data": ids}

    consumer.mutate(lambda ctx, prepared: ctx.mutate("deliver", prepared.data))
    consumer.next(lambda ctx, prepared, outcome: said.append(outcome.status))
    tool = made.tool("deliver")(deliver)
    tool.reconcile(lambda call: applied("asked"))
    return made


@clause("WLOG-10", "WLOG-4", "HOST-4", "RECOVER-3")
def test_a_silent_host_is_followed_and_what_it_does_later_is_not_written(database: str) -> None:
    said: list[str] = []
    delivered: list[str] = []

    async def scenario() -> None:
        begun, goes_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def slow(call: Call) -> str:
            delivered.append(call.key)
            begun.set()
            await goes_on.wait()
            return "late"

        def notice(call: Call) -> object:
            raise AssertionError("it was delivered already")

        first = Host(
            await PostgresWorkflowLog.open(database),
            SystemClock(),
            holder="first",
            draw_token=draw_token,
        )
        await first.deploy(shop(slow, said))
        await first.start()
        await first.commands.publish("shop", "orders", "o1")
        await begun.wait()
        await _forget_lease(database)
        second = Host(
            await PostgresWorkflowLog.open(database),
            SystemClock(),
            holder="second",
            draw_token=draw_token,
        )
        workflow = shop(notice, said)

        @workflow.consumers["ship"].next
        async def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
            said.append(f"{outcome}")
            done.set()

        await second.deploy(workflow)
        await second.start()
        await done.wait()
        goes_on.set()
        await second.stop()
        await first.stop()

        runs = (await second._store.runs("shop", limit=10))[::-1]
        assert [(one.status.value, one.retry_of) for one in runs[-2:]] == [
            ("crashed", None), ("committed", runs[-2].number),
        ]  # fmt: skip
        for one in (first, second):
            await one._store.close()

    asyncio.run(asyncio.wait_for(scenario(), 120))

    assert len(delivered) == 1
    assert said[-1] == "Outcome(status='applied', result='asked')"


@clause("WLOG-10", "WLOG-8")
def test_a_workflow_is_held_by_one_and_let_go_of_when_its_host_stops(database: str) -> None:
    async def scenario() -> None:
        one, two = [await PostgresWorkflowLog.open(database) for _ in range(2)]
        await one.commit(new(sheet()), seen=0)
        fence = (await one.take(holder="one"))["orders"]
        assert await two.take(holder="two") == {}
        await _forget_lease(database)
        assert await two.take(holder="two") == {"orders": fence + 1}
        assert await one.keep({"orders": fence}) == {"orders"}
        facts = await one.load("orders")
        assert facts is not None
        with pytest.raises(OwnershipLostError):
            await one.commit(new(), seen=facts.standing.version, fence=fence, number=1)
        await two.release({"orders": fence + 1})
        assert await one.take(holder="one") == {"orders": fence + 2}
        await one.close()
        await two.close()

    asyncio.run(scenario())


@clause("WCLI-3", "HOST-2")
def test_a_host_on_a_database_is_told_what_others_have_published(database: str) -> None:
    async def scenario() -> list[str]:
        said: list[str] = []
        done = asyncio.Event()

        async def deliver(call: Call) -> None:
            done.set()

        workflow = shop(deliver, said)
        async with host(database, workflow):
            beside = await PostgresWorkflowLog.open(database)
            commands = Host(beside, SystemClock(), holder="other", draw_token=draw_token).commands
            await commands.publish("shop", "orders", "o1")
            await done.wait()
            await beside.close()
        return said

    assert asyncio.run(asyncio.wait_for(scenario(), 60))[-1] == "applied"


async def _forget_lease(database: str) -> None:
    """As if the holder had been silent for long."""
    connection = await asyncpg.connect(database)
    await connection.execute(
        "UPDATE gnomon.workflows SET lease_until = now() - interval '1 second'"
    )
    await connection.close()


@clause("WLOG-1")
def test_tables_of_the_first_schema_keep_their_events_and_get_the_newest(database: str) -> None:
    async def scenario() -> None:
        beside = await asyncpg.connect(database)
        await beside.execute(migrations("gnomon", "workflow")[0])
        await beside.execute(FIRST)
        await beside.close()
        log = await PostgresWorkflowLog.open(database)
        facts = await log.load("orders")
        assert facts is not None
        assert await log.take(holder="me") == {"orders": 1}
        for published_ms, left in ((NOW, ["o1"]), (NOW + 1, [])):
            await log.forget(
                "orders",
                fence=1,
                ended_ms=NOW,
                published_ms=published_ms,
                after=0,
                limit=10,
                newest=100,
            )
            assert [one.id for one in await log.events("orders", limit=10)] == left
        await log.close()

    asyncio.run(scenario())
