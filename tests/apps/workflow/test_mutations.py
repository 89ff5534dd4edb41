"""Mutations by the real host: uncertain ones, approvals, crashes, and people who decide."""

import asyncio
from pathlib import Path

import pytest

from gnomon.apps.workflow.context import Context, Outcome
from gnomon.apps.workflow.handler_calls import Call, applied, not_applied, unknown
from gnomon.apps.workflow.mutation_changes import Resolution
from gnomon.errors import AuthError, LogicError, TransientError
from gnomon.workflow import host
from tests.apps.workflow.sheet import Outside, shop
from tests.apps.workflow.stage import START, Stage, play, simple
from tests.clauses import clause


@clause("MUTATE-1", "MUTATE-11")
def test_a_mutation_is_in_the_store_when_its_tool_is_called() -> None:
    outside = Outside()

    async def scenario(stage: Stage) -> None:
        async def append(call: Call) -> None:
            facts = await stage.facts()
            assert facts.mutation is not None
            outside.made.append(f"{facts.mutation.key} {facts.mutation.status} {call.key}")

        await stage.start(shop(outside, append)[0])
        await stage.publish("o1")

        assert outside.made == ["orders/2-t1 in_flight orders/2-t1"]

    play(scenario)


@clause("MUTATE-13", "MUTATE-5", "MUTATE-7", "FAIL-7")
@pytest.mark.parametrize("error", [TimeoutError(), AuthError("expired"), KeyError("id")])
def test_after_no_answer_the_tool_is_asked_and_next_gets_the_result(error: Exception) -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        raise error

    orders, _ = shop(outside, append, reconcile=lambda call: applied({"row": 5}))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")

        assert outside.made == ["orders/2-t1"]
        assert outside.outcomes == [Outcome("applied", {"row": 5})]
        assert await stage.story() == ["1 sheet committed committed", "2 sheet committed committed"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("MUTATE-14")
def test_when_it_was_not_made_it_is_made_by_another_run_under_another_key() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        if len(outside.made) == 1:
            raise TransientError("no answer")

    orders, _ = shop(outside, append, reconcile=lambda call: not_applied())

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(seconds=11)

        assert outside.made == ["orders/2-t1", "orders/3-t2"]
        assert await stage.story() == [
            "1 sheet committed committed",
            "2 sheet mutating paused:transient",
            "3 sheet committed committed retry of 2",
        ]

    play(scenario)


@clause("MUTATE-5", "MUTATE-18", "PHASE-6", "FAIL-13")
def test_what_cannot_be_told_is_asked_without_end_and_after_five_times_a_person_too() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        raise TransientError("no answer")

    async def scenario(stage: Stage) -> None:
        async def reconcile(call: Call) -> object:
            outside.asked.append((stage.now_ms() - START) / 1000)
            match len(outside.asked):
                case 1:
                    raise ValueError("no")
                case 2:
                    return "yes"
                case 3:
                    await asyncio.sleep(1_000)
            return unknown()

        await stage.start(shop(outside, append, reconcile=reconcile)[0])
        await stage.publish("o1")
        await stage.advance(hours=1)

        # the third took 30 s and was given up
        assert outside.asked == [0, 10, 30, 100, 180, 340, 660, 1260, 1860, 2460, 3060]
        assert await stage.events() == {"o1": "reserved"}
        facts = await stage.facts()
        assert facts.mutation is not None
        assert facts.mutation.status == "indeterminate"
        await stage.publish("o2")
        assert (await stage.events())["o2"] == "pending"
        await stage.host.commands.resolve("orders", Resolution.TRY_AGAIN)
        await stage.advance()
        assert len(outside.asked) == 12

    play(scenario)


@clause("MUTATE-9", "MUTATE-4")
@pytest.mark.parametrize(
    ("said", "events", "outcome", "made"),
    [
        (Resolution.HAPPENED, "consumed", "applied", 1),
        (Resolution.SKIP, "skipped", "skipped", 1),
        (Resolution.DID_NOT_HAPPEN, "consumed", "applied", 2),
    ],
)
def test_a_person_decides_what_no_machine_can_know(
    said: Resolution, events: str, outcome: str, made: int
) -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        if len(outside.made) == 1:
            raise TransientError("no answer")

    orders, _ = shop(outside, append)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=2)
        assert len(outside.made) == 1
        await stage.host.commands.resolve("orders", said)
        await stage.advance()

        assert await stage.events() == {"o1": events}
        assert [one.status for one in outside.outcomes] == [outcome]
        assert len(outside.made) == made

    play(scenario)


@clause("MUTATE-14", "FAIL-21")
def test_a_tool_that_never_gets_through_is_not_called_in_a_circle() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        raise TransientError("no connection")

    orders, _ = shop(outside, append, reconcile=lambda call: not_applied())

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=6)

        # at once, after 10, 20, 40, 80, 160 and 320 s, then every 10 minutes
        assert len(outside.made) == 7 + (6 * 3600 - 630) // 600
        assert len(set(outside.made)) == len(outside.made)
        facts = await stage.facts()
        assert (facts.standing.failures, facts.standing.retry_ms) == (
            41, START + (630 + 35 * 600) * 1000,
        )  # fmt: skip
        assert await stage.events() == {"o1": "pending"}

    play(scenario)


@clause("MUTATE-17")
def test_no_two_stores_draw_the_same_key(tmp_path: Path) -> None:
    keys: list[str] = []

    def once(store: str) -> None:
        orders, _ = shop(Outside(), lambda call: keys.append(call.key))

        async def whole() -> None:
            committed = asyncio.Event()
            orders.consumers["sheet"].next(
                lambda ctx, prepared, outcome: committed.set() if prepared.data else None
            )
            async with host(store, orders, threads=0) as running:
                await running.commands.publish("orders", "orders", "o1")
                await committed.wait()

        asyncio.run(whole())

    store = tmp_path / "workflows.sqlite3"
    once(str(store))
    for file in tmp_path.iterdir():  # the store is begun anew
        file.unlink()
    once(str(store))

    assert len(set(keys)) == 2
    assert {key.partition("-")[0].partition("/")[0] for key in keys} == {"orders"}


@clause("MUTATE-3")
def test_a_tool_that_takes_too_long_is_ended_and_its_outcome_is_uncertain() -> None:
    outside = Outside()

    async def append(call: Call) -> None:
        try:
            await asyncio.sleep(10_000)
        except asyncio.CancelledError:
            outside.made.append("ended")
            raise

    orders, _ = shop(outside, append, reconcile=lambda call: unknown())

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(seconds=301)

        assert outside.made == ["ended"]
        assert (await stage.runs())[-1].status == "paused:reconciliation"

    play(scenario)


@clause("RECOVER-1", "RECOVER-3", "MUTATE-7")
@pytest.mark.parametrize("was_made", [True, False])
def test_a_crash_during_the_mutation_is_followed_by_a_question_and_not_by_another_mutation(
    was_made: bool,
) -> None:
    outside = Outside()

    async def append(call: Call) -> None:
        if was_made or len(outside.asked):
            outside.made.append(call.key)
        if not outside.asked:
            await asyncio.sleep(100)

    def reconcile(call: Call) -> object:
        outside.asked.append(1)
        return applied() if call.key in outside.made else not_applied()

    orders, _ = shop(outside, append, reconcile=reconcile)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.crash()
        await stage.start(orders)

        assert len(outside.made) == 1
        assert await stage.events() == {"o1": "consumed"}
        assert [one.status for one in outside.outcomes] == ["applied"]
        story = await stage.story()
        assert story[1] == "2 sheet mutating crashed"
        assert story[2] == (
            "3 sheet committed committed retry of 2" if was_made
            else "3 sheet mutating paused:reconciliation retry of 2"
        )  # fmt: skip

    play(scenario)


@clause("RECOVER-5", "FAIL-21")
def test_a_wait_goes_on_after_a_restart() -> None:
    orders, sheet = simple()
    at: list[float] = []

    async def scenario(stage: Stage) -> None:
        def prepare(ctx: Context, state: object) -> object:
            at.append((stage.now_ms() - START) / 1000)
            if len(at) < 4:
                raise TransientError("rate limit")
            return {}

        sheet.prepare(prepare)
        await stage.start(orders)
        await stage.advance(seconds=15)
        await stage.crash()
        await stage.advance(seconds=5)
        await stage.start(orders)
        await stage.advance(seconds=60)

        assert at == [0, 10, 30, 70]

    play(scenario)


@clause("FAIL-4", "MUTATE-13")
def test_a_mutation_that_was_refused_for_good_is_made_after_the_correction() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        if call.params != "corrected":
            raise LogicError("no such column")
        outside.made.append(call.key)

    orders, _ = shop(outside, append)
    second, sheet = shop(outside, append)
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", "corrected"))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        assert await stage.events() == {"o1": "pending"}
        await stage.host.deploy(second, text="# corrected")
        await stage.advance()

        assert outside.made == ["orders/3-t2"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)
