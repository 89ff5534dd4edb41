"""What a prepare sees of the pending events: all of them, one by its id, and what it leaves out."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Consumer, Workflow
from gnomon.apps.workflow.function_calls import waiting_here
from gnomon.apps.workflow.pending_events import PAGE, PendingEvents, Source
from gnomon.errors import LogicError, StoreError
from gnomon.ports.workflow_facts import Event
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause


def pairs(*, sees: int = 100) -> tuple[Workflow, Consumer, list[object]]:
    """Orders and payments that belong together are taken, and nothing else."""
    made = Workflow("orders")
    match = made.consumer("match", subscribes=["orders", "payments"], sees=sees)
    found: list[object] = []
    match.next(lambda ctx, prepared, outcome: found.extend(prepared.data or []))
    return made, match, found


def both(ids: list[str]) -> dict[str, object]:
    return {
        "reservations": [{"topic": one, "ids": ids} for one in ("orders", "payments") if ids],
        "data": ids,
    }


def by_each(ctx: Context, state: object) -> object:
    paid = {one.id for one in ctx.each("payments")}
    return both([one.id for one in ctx.each("orders") if one.id in paid])


def by_id(ctx: Context, state: object) -> object:
    orders = [one.id for one in ctx.each("orders")]
    return both([one.id for one in ctx.find("payments", orders)])


async def by_id_in_a_coroutine(ctx: Context, state: object) -> object:
    orders = [one.id async for one in ctx.each("orders")]
    return both([one.id async for one in ctx.find("payments", orders)])


def by_peeking(ctx: Context, state: object) -> object:
    paid = {one.id for one in ctx.peek("payments")}
    return both([one.id for one in ctx.peek("orders") if one.id in paid])


async def filled(stage: Stage, made: Workflow, *, orders: int) -> None:
    """So many orders wait, and then the last of them is paid."""
    await stage.start(made)
    await stage.host.commands.pause("orders")
    await stage.publish(*(f"o{number}" for number in range(1, orders + 1)))
    await stage.publish(f"o{orders}", topic="payments")
    await stage.host.commands.resume("orders")
    await stage.advance()


@clause("FLOW-29", "FLOW-30")
@pytest.mark.parametrize("prepare", [by_each, by_id, by_id_in_a_coroutine])
@pytest.mark.parametrize("orders", [3, 101, 100 + PAGE + 1])
def test_what_belongs_together_is_found_behind_any_number_of_events(
    prepare: Callable[[Context, object], object], orders: int
) -> None:
    made, match, found = pairs()
    match.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await filled(stage, made, orders=orders)

        assert found == [f"o{orders}"]

    play(scenario)


@clause("FLOW-29")
def test_all_events_are_given_once_in_their_order_also_the_second_time() -> None:
    made, match, _ = pairs(sees=2)
    seen: list[list[str]] = []

    @match.prepare
    def prepare(ctx: Context, state: object) -> object:
        seen.append([one.id for _ in range(2) for one in ctx.each("orders")])
        return {}

    async def scenario(stage: Stage) -> None:
        await filled(stage, made, orders=5)

        assert seen[-1] == ["o1", "o2", "o3", "o4", "o5"] * 2

    play(scenario)


@clause("FLOW-29")
def test_only_pending_events_of_the_topic_are_found_and_each_once() -> None:
    made, match, _ = pairs(sees=1)
    seen: list[list[str]] = []

    @match.prepare
    def prepare(ctx: Context, state: object) -> object:
        wanted = ["o2", "o2", "x", "o4"]
        seen.append([one.id for one in ctx.find("orders", wanted)])
        seen.append([one.id for one in ctx.find("orders", "o5")])
        seen.append([one.id for one in ctx.find("payments", ["o2"])])
        return {}

    async def scenario(stage: Stage) -> None:
        await filled(stage, made, orders=5)

        assert seen[-3:] == [["o2", "o4"], ["o5"], []]

    play(scenario)


@clause("FLOW-29", "FLOW-18")
@pytest.mark.parametrize("ids", [[5], "", ["a\0b"], [None]])
def test_an_id_that_no_event_can_have_is_a_mistake(ids: list[str]) -> None:
    made, match, _ = pairs()
    match.prepare(lambda ctx, state: {"data": [one.id for one in ctx.find("orders", ids)]})

    async def scenario(stage: Stage) -> None:
        await stage.start(made)
        (run,) = await stage.runs()
        assert (run.status, run.error[:9]) == ("failed:logic", "find: ids")

    play(scenario)


@clause("SEEN-10", "SEEN-11")
def test_a_consumer_that_stands_still_before_events_it_does_not_look_at_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made, match, found = pairs()
    match.prepare(by_peeking)

    async def scenario(stage: Stage) -> None:
        with caplog.at_level(logging.WARNING, "gnomon.workflow"):
            await filled(stage, made, orders=250)
            await stage.publish("o251")
        shown = await stage.host.queries.overview("orders")
        assert shown.issue == "match has taken nothing, and has not looked at 151 in orders"
        assert (shown.status, shown.answer) == ("Idle", "")
        (waits,) = shown.handlers
        assert waits.text.endswith("not looked at 151 in orders: see ctx.each and ctx.find")
        told = [one.message for one in caplog.records if "EventsNotLookedAt" in one.message]
        assert len(told) == 1
        assert "not_looked_at={'orders': 150}" in told[0]

        match.prepare(by_id)
        await stage.publish("o252")
        assert found == ["o250"]
        assert (await stage.host.queries.overview("orders")).issue == ""

    play(scenario)


@clause("SEEN-11")
def test_who_looks_at_everything_and_leaves_it_stands_still_before_nothing() -> None:
    made, match, _ = pairs()
    match.prepare(by_each)

    async def scenario(stage: Stage) -> None:
        await filled(stage, made, orders=150)
        await stage.publish("other")
        shown = await stage.host.queries.overview("orders")
        assert shown.issue == ""

    play(scenario)


class _Deaf(SqliteWorkflowLog):
    """Does not answer when more is asked for, a few times."""

    failures = 2

    async def peek(
        self, workflow: str, topics: object, *, limit: int, after: int = 0
    ) -> dict[str, list[Event]]:
        if after and self.failures:
            self.failures -= 1
            raise StoreError("did not answer", where="store", hint="", transient=True)
        return await super().peek(workflow, topics, limit=limit, after=after)  # type: ignore[arg-type]


@clause("FLOW-30")
@pytest.mark.parametrize("catches", [False, True])
def test_a_store_that_does_not_answer_fails_nothing_also_when_the_script_catches_it(
    catches: bool,
) -> None:
    made, match, found = pairs()

    @match.prepare
    def prepare(ctx: Context, state: object) -> object:
        try:
            return by_each(ctx, state)
        except StoreError:
            if catches:
                return {}
            raise

    async def scenario(stage: Stage) -> None:
        stage.log = _Deaf(Database(MEMORY, family="workflow"), lasting=True)
        await filled(stage, made, orders=150)
        await stage.advance(minutes=1)

        assert found == ["o150"]
        assert {one.status for one in await stage.runs()} == {"committed"}

    play(scenario)


@clause("FLOW-30")
def test_a_function_waits_in_its_thread_and_a_coroutine_must_not_wait_so() -> None:
    async def scenario() -> tuple[list[str], str]:
        log = await SqliteWorkflowLog.open(MEMORY)  # whose answers come from a thread of its own
        source = Source(log, "orders", waiting_here())
        old = Event(topic="orders", id="o1", payload="1", number=1)
        seen = PendingEvents({"orders": [old]}, {"orders": 5}, source)
        in_thread = await asyncio.to_thread(
            lambda: [one.id for one in seen.each("orders", lambda: None)]
        )
        with pytest.raises(LogicError) as wrong:
            list(seen.each("orders", lambda: None))
        await log.close()
        return in_thread, str(wrong.value)

    found, said = asyncio.run(scenario())

    assert found == ["o1"]
    assert "async for" in said
