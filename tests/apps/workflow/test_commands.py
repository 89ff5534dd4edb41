"""Commands to workflows at work: run now, pause, resume, and what another process has changed."""

import asyncio
from collections.abc import Callable

import pytest

from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Workflow
from gnomon.errors import CommandRefusedError, DefinitionError, UnknownWorkflowError
from tests.apps.workflow.stage import START, Stage, everything, play, simple
from tests.clauses import clause


@clause("HOST-2", "WASK-7")
def test_what_another_process_has_changed_is_seen_within_half_a_minute() -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        elsewhere = WorkflowCommands(stage.log, stage, ring=lambda name: None)
        await elsewhere.publish("orders", "orders", "o1")
        await stage.advance(seconds=31)
        assert await stage.events() == {"o1": "consumed"}
        await elsewhere.pause("orders")
        await stage.publish("o2")
        assert await stage.events() == {"o1": "consumed", "o2": "pending"}

    play(scenario)


@clause("WASK-4")
def test_run_now_runs_every_producer_once_and_counts_anew() -> None:
    orders = Workflow("orders")
    at: dict[str, list[float]] = {"one": [], "two": []}

    async def scenario(stage: Stage) -> None:
        def note(name: str) -> Callable[..., None]:
            return lambda ctx, state: at[name].append((stage.now_ms() - START) / 1000)

        orders.producer("one", interval="5m")(note("one"))
        orders.producer("two", cron="0 * * * *")(note("two"))
        await stage.start(orders)
        await stage.advance(minutes=1)
        await stage.host.commands.run_now("orders")
        await stage.advance(minutes=6)

        assert at == {"one": [0, 60, 360], "two": [0, 60]}
        assert (await stage.facts()).handler("two").next_run_ms == START + 3_600_000

    play(scenario)


@clause("WASK-1", "WASK-8")
def test_a_paused_workflow_waits_and_goes_on_with_what_has_gathered() -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.host.commands.pause("orders")
        await stage.publish("o1", "o2")
        await stage.advance(hours=1)
        assert await stage.events() == {"o1": "pending", "o2": "pending"}
        with pytest.raises(CommandRefusedError, match="is stopped"):
            await stage.host.commands.run_now("orders")
        await stage.host.commands.resume("orders")
        await stage.advance()
        assert await stage.events() == {"o1": "consumed", "o2": "consumed"}

    play(scenario)


@clause("WASK-6")
def test_a_command_to_a_workflow_that_is_not_there_says_which_are() -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        with pytest.raises(UnknownWorkflowError, match="deployed are: orders"):
            await stage.host.commands.pause("order")
        with pytest.raises(DefinitionError, match="write one of done, orders"):
            await stage.host.commands.publish("orders", "orderz", "o1")

    play(scenario)


@clause("WASK-6", "FLOW-18")
@pytest.mark.parametrize(
    ("id", "payload", "where"),
    [
        ("", 1, "id"),
        ("x" * 501, 1, "id"),
        ("a\0b", 1, "id"),
        ("\udcff", 1, "id"),
        ("o1", object(), "payload"),
        ("o1", "x" * 1_000_000, "payload"),
    ],
)
def test_what_cannot_be_kept_is_not_published(id: str, payload: object, where: str) -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        with pytest.raises(DefinitionError) as refused:
            await stage.host.commands.publish("orders", "orders", id, payload)

        assert refused.value.where == where
        assert await stage.events() == {}

    play(scenario)


def fetched(*, approval: bool = False) -> Workflow:
    """A producer that fetches two orders, each an input, and a consumer that ships both."""
    orders, sheet = simple()

    @orders.producer(interval="1h", publishes=["orders"])
    def fetch(ctx: Context, state: object) -> None:
        for id in ("o1", "o2"):
            ctx.publish("orders", id, id, inputs=[ctx.input("shop", "order", id)])

    sheet.mutate(lambda ctx, prepared: ctx.mutate("ship", prepared.data))
    orders.tool("ship", approval=approval)(lambda call: None)
    return orders


@clause("INPUT-3")
def test_an_input_can_be_skipped_while_its_run_waits_for_approval() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start(fetched(approval=True))
        await stage.advance(seconds=1)
        assert await stage.events() == {"o1": "reserved", "o2": "reserved"}

        await stage.host.commands.skip_input("orders", "shop/order/o1")
        await stage.advance()
        await stage.host.commands.approve("orders")
        await stage.advance()

        assert await stage.events() == {"o1": "skipped", "o2": "consumed"}

    play(scenario)


@clause("INPUT-3", "WASK-7")
def test_an_input_can_be_skipped_while_a_prepare_that_has_seen_it_is_at_work() -> None:
    orders = fetched()

    @orders.consumers["sheet"].prepare
    async def prepare(ctx: Context, state: object) -> object:
        found = everything(ctx, ["orders"])
        await asyncio.sleep(10)
        return found

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.advance(seconds=15)
        await stage.host.commands.skip_input("orders", "shop/order/o1")
        await stage.advance(minutes=1)

        assert await stage.events() == {"o1": "skipped", "o2": "consumed"}
        assert [one.status for one in await stage.runs() if one.fault == "logic"] == []

    play(scenario)


@clause("WASK-6", "INPUT-3")
def test_an_input_that_is_not_there_cannot_be_skipped() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start(fetched())
        with pytest.raises(DefinitionError, match="must be an input"):
            await stage.host.commands.skip_input("orders", "shop/order/o9")

    play(scenario)
