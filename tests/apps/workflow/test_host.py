"""The host at work on virtual time: calls, queues, waking, and one run at a time."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.handler_calls import Call
from gnomon.errors import StoreError, TransientError
from tests.apps.workflow.stage import START, Stage, everything, play, simple
from tests.clauses import clause


@clause("FLOW-7", "FLOW-22", "WHEN-7", "WHEN-13", "PHASE-9")
def test_an_event_is_prepared_mutated_and_committed_once() -> None:
    orders, sheet = simple()
    rows: list[object] = []
    outcomes: list[Outcome] = []
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", prepared.data))
    sheet.next(lambda ctx, prepared, outcome: outcomes.append(outcome))

    @orders.tool("append")
    def append(call: Call) -> int:
        rows.append(call.params)
        return len(rows)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")

        assert rows == [["o1"]]
        assert outcomes == [Outcome("none", None), Outcome("applied", 1)]
        assert await stage.events() == {"o1": "consumed"}
        assert await stage.story() == ["1 sheet committed committed", "2 sheet committed committed"]

    play(scenario)


@clause("WHEN-8", "WHEN-12")
def test_events_that_arrive_during_a_run_call_the_consumer_once_after_it() -> None:
    orders, sheet = simple()
    seen: list[list[object]] = []

    async def prepare(ctx: Context, state: object) -> object:
        found = everything(ctx, ["orders"])
        seen.append([one.payload for one in ctx.peek("orders")])
        await asyncio.sleep(10)
        return found

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.advance(seconds=1)
        await stage.publish("o1", "o2", "o3")
        assert stage.host.flags("orders")["sheet"].dirty is False  # by the facts of before
        await stage.advance(seconds=60)

        assert seen == [[], ["o1", "o2", "o3"]]

    play(scenario)


@clause("WHEN-11")
def test_a_consumer_that_reserves_nothing_is_not_called_in_circles() -> None:
    orders, sheet = simple()
    calls: list[int] = []

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        calls.append(len(ctx.peek("orders")))
        return {"reservations": []}

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=2)
        await stage.publish("o2")

        assert calls == [0, 1, 2]

    play(scenario)


@clause("FLOW-29")
def test_a_prepare_sees_as_much_as_its_consumer_says_and_knows_how_much_there_is() -> None:
    orders = Workflow("orders")
    sheet = orders.consumer("sheet", subscribes=["orders"], sees=2)
    seen: list[tuple[list[str], int]] = []

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        seen.append(([one.id for one in ctx.peek("orders")], ctx.pending("orders")))
        return {}

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.host.commands.pause("orders")
        await stage.publish("o1", "o2", "o3")
        await stage.host.commands.resume("orders")
        await stage.advance()

        assert seen[-1] == (["o1", "o2"], 3)

    play(scenario)


@clause("WHEN-14")
def test_an_event_published_again_calls_no_consumer_unless_it_is_pending_and_changed() -> None:
    orders, sheet = simple()
    calls: list[object] = []

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        calls.append(len(ctx.peek("orders")))
        return {}

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.publish("o1")
        assert calls == [0, 1]
        await stage.host.commands.publish("orders", "orders", "o1", "another")
        await stage.advance()
        assert calls == [0, 1, 1]

    play(scenario)


@clause("WHEN-1", "WHEN-3", "WHEN-15", "FAIL-3", "FAIL-21")
def test_a_producer_is_tried_again_and_then_counts_from_its_commit() -> None:
    orders = Workflow("orders")
    at: list[float] = []

    async def scenario(stage: Stage) -> None:
        @orders.producer(interval="5m")
        def poll(ctx: Context, state: object) -> None:
            at.append((stage.now_ms() - START) / 1000)
            if len(at) < 3:
                raise TransientError("rate limit")

        await stage.start(orders)
        await stage.advance(minutes=12)

        assert at == [0, 10, 30, 330, 630]
        assert await stage.story() == [
            "1 poll preparing paused:transient",
            "2 poll preparing paused:transient retry of 1",
            "3 poll committed committed retry of 2",
            "4 poll committed committed",
            "5 poll committed committed",
        ]

    play(scenario)


@clause("WHEN-5", "WHEN-6", "WHEN-9")
def test_what_comes_due_during_a_long_run_runs_once_after_it_consumers_first() -> None:
    orders, sheet = simple()
    order: list[str] = []

    @orders.producer(interval="10s", publishes=["orders"])
    async def slow(ctx: Context, state: object) -> None:
        order.append("slow")
        ctx.publish("orders", f"o{len(order)}")
        await asyncio.sleep(35)

    orders.producer("quick", interval="10s")(lambda ctx, state: order.append("quick"))
    sheet.next(lambda ctx, prepared, outcome: order.append("sheet") if prepared.data else None)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.advance(seconds=40)

        assert order == ["slow", "sheet", "quick"]

    play(scenario)


@clause("WAKE-1", "WAKE-6")
def test_a_consumer_wakes_at_its_wish_or_with_an_event_whichever_comes_first() -> None:
    orders, sheet = simple()
    at: list[int] = []

    async def scenario(stage: Stage) -> None:
        def prepare(ctx: Context, state: object) -> object:
            at.append((stage.now_ms() - START) // 1000)
            return {"wakeAt": "2026-03-01T01:00:00Z"} if len(at) < 3 else {}

        sheet.prepare(prepare)
        await stage.start(orders)
        await stage.advance(minutes=10)
        await stage.publish("o1")
        await stage.advance(hours=5)

        assert at == [0, 600, 3600]
        assert (await stage.facts()).handler("sheet").wake_ms is None

    play(scenario)


@clause("HOST-1")
def test_a_slow_workflow_delays_no_other() -> None:
    slow, sheet = simple("slow")
    quick, other = simple("quick")
    ended: list[float] = []

    async def prepare(ctx: Context, state: object) -> object:
        await asyncio.sleep(200)
        return {}

    async def scenario(stage: Stage) -> None:
        sheet.prepare(prepare)
        other.next(lambda ctx, prepared, outcome: ended.append(stage.now_ms() - START))
        await stage.start(slow, quick)
        await stage.advance(seconds=1)

        assert ended == [0]

    play(scenario)


@clause("HOST-5")
def test_stopping_lets_a_run_at_work_come_to_its_end() -> None:
    orders, sheet = simple()

    async def prepare(ctx: Context, state: object) -> object:
        await asyncio.sleep(20)
        return everything(ctx, ["orders"])

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.advance(seconds=1)
        await stage.host.stop()

        assert await stage.story() == ["1 sheet committed committed"]
        assert await stage.log.take(holder="another") == {"orders": 2}

    play(scenario)


@clause("HOST-6", "FLOW-21")
def test_a_workflow_whose_script_cannot_be_found_waits_and_loses_nothing() -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.crash()
        await stage.start()  # it does not have the workflow in its memory
        await stage.publish("o1")
        await stage.advance(minutes=5)
        assert await stage.events() == {"o1": "pending"}
        await stage.crash()
        await stage.start(orders)
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("HOST-3", "FLOW-21")
def test_a_deployment_whose_answer_is_lost_is_run_by_the_program_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, _ = simple()
    second, sheet = simple()
    heard: list[object] = []
    sheet.next(lambda ctx, prepared, outcome: heard.append(prepared.data))

    async def scenario(stage: Stage) -> None:
        await stage.start(first)
        monkeypatch.setattr(stage.host.commands, "deploy", lose_answer(stage.host.commands.deploy))
        with pytest.raises(StoreError):
            await stage.host.deploy(second)
        await stage.publish("o1")
        await stage.advance(minutes=5)

        assert (await stage.facts()).standing.script == 2
        assert heard == [["o1"]]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("FLOW-6", "FLOW-12", "FLOW-15", "FAIL-4", "FAIL-13")
def test_a_corrected_script_goes_on_with_the_state_and_the_events_of_the_one_before() -> None:
    first, sheet = simple()
    sheet.next(lambda ctx, prepared, outcome: {"rows": 2} if prepared.data else None)
    second, corrected = simple()
    states: list[object] = []

    def broken(ctx: Context, state: object) -> object:
        raise ValueError("no such column")

    def prepare(ctx: Context, state: object) -> object:
        states.append(state)
        return everything(ctx, ["orders"])

    corrected.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(first)
        await stage.publish("o1")
        sheet.prepare(broken)
        await stage.publish("o2")
        assert await stage.events() == {"o1": "consumed", "o2": "pending"}
        assert (await stage.runs())[-1].error == "ValueError: no such column"
        await stage.host.deploy(second, text="# corrected")
        await stage.advance()

        assert states == [{"rows": 2}]
        assert await stage.events() == {"o1": "consumed", "o2": "consumed"}
        assert [(one.number, one.retry_of, one.script) for one in await stage.runs()][-2:] == [
            (3, None, 1), (4, 3, 2),
        ]  # fmt: skip

    play(scenario)


@clause("FLOW-22", "PHASE-12", "FAIL-4")
def test_a_next_that_fails_is_tried_again_with_the_same_outcome_and_nothing_is_made_twice() -> None:
    orders, sheet = simple()
    made: list[str] = []
    outcomes: list[tuple[Prepared, Outcome]] = []
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", prepared.data))

    @orders.tool("append")
    def append(call: Call) -> object:
        made.append(call.key)
        return {"row": 5}

    def draw(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        if prepared.data:
            outcomes.append((prepared, outcome))
            if len(outcomes) < 3:
                raise TransientError("not now")
            ctx.publish("done", "d1")

    sheet.next(draw)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(minutes=2)

        assert made == ["orders/2-t1"]
        assert len({repr(one) for one in outcomes}) == 1
        assert outcomes[0][1] == Outcome("applied", {"row": 5})
        assert await stage.story() == [
            "1 sheet committed committed",
            "2 sheet emitting paused:transient",
            "3 sheet emitting paused:transient retry of 2",
            "4 sheet committed committed retry of 3",
        ]
        assert await stage.events() == {"o1": "consumed", "d1": "pending"}

    play(scenario)


def lose_answer(act: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    """The same, done to its end and then not answered."""

    async def lost(*arguments: object, **named: object) -> int:
        await act(*arguments, **named)
        raise StoreError("did not answer", where="store", hint="")

    return lost
