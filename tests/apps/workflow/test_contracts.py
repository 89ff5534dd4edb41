"""What each phase may do, what prepare must return, and what becomes of a breach."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from gnomon.apps.workflow.context import (
    MUTATE,
    NEXT,
    PREPARE,
    PRODUCER,
    Context,
    Prepared,
    Step,
    to_json,
)
from gnomon.apps.workflow.definition import Tool
from gnomon.apps.workflow.function_calls import FunctionCalls
from gnomon.apps.workflow.pending_events import PendingEvents
from gnomon.core.civil.instant import from_epoch
from gnomon.errors import LogicError, TransientError
from gnomon.ports.workflow_facts import Event, Handler, HandlerKind
from gnomon.shell.clock import SystemClock
from tests.apps.workflow.facts import NOW
from tests.apps.workflow.stage import Stage, everything, play, simple
from tests.clauses import clause

HANDLER = Handler(
    name="sheet", kind=HandlerKind.CONSUMER, place=0, subscribes=("orders",), publishes=("done",),
    state='{"n":1}',
)  # fmt: skip

ACTS: dict[str, Callable[[Context], object]] = {
    "peek": lambda ctx: ctx.peek("orders"),
    "each": lambda ctx: ctx.each("orders"),
    "find": lambda ctx: ctx.find("orders", "o1"),
    "pending": lambda ctx: ctx.pending("orders"),
    "publish": lambda ctx: ctx.publish("done", "d1"),
    "input": lambda ctx: ctx.input("mail", "message", "5"),
    "read": lambda ctx: ctx.read(len, "abc"),
    "mutate": lambda ctx: ctx.mutate("append"),
}
MAY = {
    PRODUCER: {"publish", "input", "read"},
    PREPARE: {"peek", "each", "find", "pending", "read"},
    MUTATE: {"mutate"},
    NEXT: {"publish"},
}


def context(step: Step) -> Context:
    tools = {"append": Tool("append", approval=False)}
    return Context(
        step, HANDLER, now=from_epoch(NOW // 1000), run=1, tools=tools,
        pending=PendingEvents(
            {"orders": [Event(topic="orders", id="o1", payload='{"a":1}')]}, {"orders": 70}
        ),
    )  # fmt: skip


@clause("FLOW-13")
@pytest.mark.parametrize("step", list(MAY), ids=lambda step: step.name)
@pytest.mark.parametrize("act", list(ACTS))
def test_a_phase_may_do_what_its_contract_says_and_nothing_else(step: Step, act: str) -> None:
    ctx = context(step)

    if act in MAY[step]:
        ACTS[act](ctx)
        ctx.close()
    else:
        with pytest.raises(LogicError, match=f"ctx.{act}: {step.name} of sheet must not"):
            ACTS[act](ctx)


@clause("FLOW-13")
def test_a_breach_counts_also_when_the_script_catches_it() -> None:
    ctx = context(PREPARE)

    with pytest.raises(LogicError):
        ctx.publish("done", "d1")

    with pytest.raises(LogicError, match="must not publish"):
        ctx.close()


@clause("FLOW-13", "FAIL-3")
def test_what_reading_outside_raises_counts_also_when_the_script_catches_it() -> None:
    ctx = context(PREPARE)

    def fetch() -> None:
        raise TransientError("rate limit")

    with pytest.raises(TransientError):
        ctx.read(fetch)
    with pytest.raises(TransientError):
        ctx.close()


@clause("FLOW-13")
def test_what_a_coroutine_reads_outside_is_awaited_and_counts_too() -> None:
    async def fetch(answer: int) -> int:
        if not answer:
            raise TransientError("rate limit")
        return answer

    async def scenario() -> None:
        ctx = context(PRODUCER)
        assert await ctx.read(fetch, 5) == 5  # type: ignore[misc]
        with pytest.raises(TransientError):
            await ctx.read(fetch, 0)  # type: ignore[misc]
        with pytest.raises(TransientError):
            ctx.close()

    asyncio.run(scenario())


@clause("FLOW-14")
@pytest.mark.parametrize(
    ("step", "act"),
    [
        (PREPARE, lambda ctx: ctx.peek("other")),
        (PREPARE, lambda ctx: ctx.pending("done")),
        (NEXT, lambda ctx: ctx.publish("orders", "o1")),
        (PRODUCER, lambda ctx: ctx.publish(5, "o1")),
        (
            PREPARE,
            lambda ctx: ctx.preparation(
                {"reservations": [{"topic": "other", "ids": ["a"]}]}, now_ms=NOW
            ),
        ),
    ],
)
def test_a_topic_that_was_not_declared_is_a_mistake(
    step: Step, act: Callable[[Context], object]
) -> None:
    with pytest.raises(LogicError, match="has not declared it"):
        act(context(step))


def test_a_context_shows_events_state_and_counts() -> None:
    ctx = context(PREPARE)

    assert [(one.id, one.payload, one.attempt) for one in ctx.peek("orders")] == [
        ("o1", {"a": 1}, 1)
    ]
    assert ctx.peek("orders", limit=0) == []
    assert (ctx.pending("orders"), ctx.state) == (70, {"n": 1})


@clause("FLOW-16")
@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        "nothing",
        {"reservation": []},
        {"reservations": "o1"},
        {"reservations": {"topic": "orders"}},
        {"reservations": ["o1"]},
        {"reservations": [{"topic": "orders"}]},
        {"reservations": [{"topic": "orders", "ids": "o1"}]},
        {"reservations": [{"topic": "orders", "ids": [1]}]},
        {"reservations": [], "ui": "title"},
        {"reservations": [], "ui": {"title": 5}},
        {"reservations": [], "data": object()},
        {"reservations": [], "data": float("nan")},
    ],
)
def test_what_prepare_must_not_return_is_a_mistake_of_the_script(result: object) -> None:
    with pytest.raises(LogicError):
        context(PREPARE).preparation(result, now_ms=NOW)


@clause("FLOW-16")
def test_what_prepare_may_return_is_read() -> None:
    found = context(PREPARE).preparation(
        {
            "reservations": [{"topic": "orders", "ids": ("o1", "o2", "o1")}],
            "data": {"n": 2}, "ui": {"title": "2 orders"}, "wakeAt": "2026-03-01T09:00:00Z",
        },
        now_ms=NOW,
    )  # fmt: skip

    assert found.reservations == (("orders", "o1"), ("orders", "o2"))
    assert (found.title, found.wake_ms) == ("2 orders", NOW + 9 * 3_600_000)


@clause("FLOW-16", "FLOW-24")
@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"reservations": "o1"}, "reservations must be a list"),
        ({"reservations": [{"topic": "orders", "ids": ["o1", "o9"]}]}, "not pending: orders/o9"),
        ({"reservations": [{"topic": "done", "ids": ["o1"]}]}, "has not declared it"),
    ],
)
def test_a_mistake_of_prepare_fails_its_run_and_loses_no_event(
    result: dict[str, object], said: str
) -> None:
    orders, sheet = simple()
    sheet.prepare(lambda ctx, state: result if ctx.peek("orders") else {})

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")

        failed = (await stage.runs())[-1]
        assert (failed.status, failed.phase) == ("failed:logic", "preparing")
        assert said in failed.error
        assert await stage.events() == {"o1": "pending"}

    play(scenario)


@clause("FLOW-17")
def test_a_second_mutation_is_refused_and_then_none_is_made() -> None:
    orders, sheet = simple()
    made: list[object] = []

    def mutate(ctx: Context, prepared: Prepared) -> None:
        ctx.mutate("append", 1)
        with suppress(LogicError):
            ctx.mutate("append", 2)

    sheet.mutate(mutate)
    orders.tool("append")(lambda call: made.append(call.params))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")

        assert made == []
        failed = (await stage.runs())[-1]
        assert (failed.status, failed.phase) == ("failed:logic", "prepared")
        assert await stage.events() == {"o1": "pending"}

    play(scenario)


@clause("FLOW-26", "FLOW-17")
def test_a_tool_that_was_not_declared_is_a_mistake() -> None:
    with pytest.raises(LogicError, match="declared are: append"):
        context(MUTATE).mutate("delete")


@clause("FLOW-18")
@pytest.mark.parametrize("value", [object(), {1, 2}, float("inf"), b"x", "x" * 1_000_001])
def test_what_json_cannot_hold_is_a_mistake(value: object) -> None:
    with pytest.raises(LogicError, match="payload"):
        to_json(value, "payload")


@clause("FLOW-18")
@pytest.mark.parametrize("id", ["", "x" * 501, 5, None, "a\0b", "\udcff"])
def test_an_id_is_text_that_is_not_too_long(id: str) -> None:
    with pytest.raises(LogicError, match="an id must be text"):
        context(NEXT).publish("done", id)


@clause("FLOW-23")
def test_without_reservations_mutate_is_not_called() -> None:
    orders, sheet = simple()
    called: list[object] = []
    sheet.mutate(lambda ctx, prepared: called.append(prepared.data))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        assert called == []
        await stage.publish("o1")
        assert called == [["o1"]]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("FLOW-19")
def test_functions_are_called_in_threads_and_coroutines_in_the_loop() -> None:
    async def scenario() -> None:
        functions = FunctionCalls(SystemClock(), threads=1)

        async def coroutine() -> int:
            return threading.get_ident()

        assert await functions.call(coroutine) == threading.get_ident()
        assert await functions.call(threading.get_ident) != threading.get_ident()
        assert await functions.mutate(threading.get_ident) != threading.get_ident()
        functions.close()

    asyncio.run(scenario())


@clause("FLOW-19", "FAIL-16")
@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
@pytest.mark.parametrize("threads", [0, 1])
def test_what_a_function_raises_ends_nothing_but_its_step(
    error: BaseException, threads: int
) -> None:
    def function() -> None:
        raise error

    async def scenario() -> None:
        functions = FunctionCalls(SystemClock(), threads=threads)
        if threads or not isinstance(error, KeyboardInterrupt):
            with pytest.raises((ValueError, LogicError)):
                await functions.call(function)
        functions.close()

    asyncio.run(scenario())


@clause("FLOW-20")
def test_a_handler_that_takes_too_long_is_tried_again_and_its_rest_reaches_nothing() -> None:
    orders, sheet = simple()
    contexts: list[Context] = []

    async def prepare(ctx: Context, state: object) -> object:
        contexts.append(ctx)
        if len(contexts) == 1:
            await asyncio.sleep(10_000)
        return everything(ctx, ["orders"])

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.advance(seconds=305)
        first = (await stage.runs())[0]
        assert (first.status, first.error) == ("paused:transient", "took longer than 300 s")
        with pytest.raises(LogicError, match="the handler has returned"):
            contexts[0].peek("orders")
        await stage.advance(seconds=10)
        assert (await stage.runs())[-1].status == "committed"

    play(scenario)
