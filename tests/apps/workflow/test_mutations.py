"""Mutations by the real host: uncertain ones, approvals, crashes, and people who decide."""

import asyncio
from collections.abc import Callable

import pytest

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Consumer, Workflow
from gnomon.apps.workflow.reconciling import Resolution
from gnomon.apps.workflow.steps import Call, applied, not_applied, unknown
from gnomon.errors import AuthError, LogicError, PermissionDeniedError, TransientError
from tests.apps.workflow.stage import START, Stage, play, simple
from tests.clauses import clause


class Outside:
    """A system outside, which counts what was done to it."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.asked: list[float] = []
        self.outcomes: list[Outcome] = []


def shop(
    outside: Outside, tool: Callable[[Call], object], *, approval: bool = False,
    reconcile: Callable[[Call], object] | None = None,
) -> tuple[Workflow, Consumer]:  # fmt: skip
    """Each event is appended outside by the tool."""
    orders, sheet = simple()

    def next_step(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        if prepared.data:
            outside.outcomes.append(outcome)

    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", prepared.data, title="Append rows"))
    sheet.next(next_step)
    made = orders.tool("append", approval=approval)(tool)
    made.on_reconcile = reconcile
    return orders, sheet


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

        assert outside.made == ["orders/2 in_flight orders/2"]

    play(scenario)


@clause("MUTATE-2", "MUTATE-5", "MUTATE-7", "FAIL-7")
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

        assert outside.made == ["orders/2"]
        assert outside.outcomes == [Outcome("applied", {"row": 5})]
        assert await stage.story() == ["1 sheet committed committed", "2 sheet committed committed"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("MUTATE-8")
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

        assert outside.made == ["orders/2", "orders/3"]
        assert await stage.story() == [
            "1 sheet committed committed",
            "2 sheet mutating paused:reconciliation",
            "3 sheet committed committed retry of 2",
        ]

    play(scenario)


@clause("MUTATE-5", "MUTATE-6", "PHASE-6", "FAIL-13")
def test_what_cannot_be_told_is_asked_five_times_and_then_a_person_must_decide() -> None:
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

        assert outside.asked == [0, 10, 30, 100, 180]  # the third took 30 s and was given up
        assert await stage.events() == {"o1": "reserved"}
        facts = await stage.facts()
        assert facts.mutation is not None
        assert facts.mutation.status == "indeterminate"
        await stage.publish("o2")
        assert (await stage.events())["o2"] == "pending"
        await stage.host.desk.resolve("orders", Resolution.TRY_AGAIN)
        await stage.advance()
        assert len(outside.asked) == 6

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
        await stage.host.desk.resolve("orders", said)
        await stage.advance()

        assert await stage.events() == {"o1": events}
        assert [one.status for one in outside.outcomes] == [outcome]
        assert len(outside.made) == made

    play(scenario)


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


@clause("MUTATE-12")
@pytest.mark.parametrize(
    ("approves", "events", "outcome"),
    [(True, "consumed", "applied"), (False, "skipped", "skipped")],
)
def test_a_mutation_waits_for_approval_and_keeps_its_preparation(
    approves: bool, events: str, outcome: str
) -> None:
    outside = Outside()
    orders, _ = shop(outside, lambda call: outside.made.append(call.key), approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=1)
        waiting = (await stage.runs())[-1]
        assert (waiting.phase, waiting.status) == ("prepared", "paused:approval")
        assert waiting.error == "wants to: Append rows"
        assert outside.made == []
        await stage.crash()
        await stage.start(orders)
        desk = stage.host.desk
        await (desk.approve("orders") if approves else desk.reject("orders"))
        await stage.advance()

        assert outside.made == (["orders/2"] if approves else [])
        assert [one.status for one in outside.outcomes] == [outcome]
        assert await stage.events() == {"o1": events}
        assert len(await stage.runs()) == 2

    play(scenario)


@clause("FAIL-6", "MUTATE-11")
def test_what_was_not_permitted_is_made_by_the_same_run_under_the_same_key_when_it_is() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        if len(outside.made) == 1:
            raise PermissionDeniedError("read only")

    orders, _ = shop(outside, append)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        assert await stage.events() == {"o1": "reserved"}
        await stage.host.desk.approve("orders")
        await stage.advance()

        assert outside.made == ["orders/2", "orders/2"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("FAIL-5")
def test_after_signing_in_again_the_same_run_goes_on() -> None:
    orders, sheet = simple()
    tokens: list[str] = []

    def prepare(ctx: Context, state: object) -> object:
        if not tokens:
            raise AuthError("reconnect the mailbox")
        return {}

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        assert await stage.story() == ["1 sheet preparing paused:approval"]
        tokens.append("new")
        await stage.host.desk.approve("orders")
        await stage.advance()
        assert await stage.story() == ["1 sheet committed committed"]

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


@clause("RECOVER-5", "FAIL-9")
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


@clause("FAIL-4", "MUTATE-2")
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

        assert outside.made == ["orders/3"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)
