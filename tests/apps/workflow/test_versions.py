"""Older scripts are put in force again, and workflows are removed."""

import pytest

from gnomon.apps.workflow.script import load_workflow
from gnomon.errors import CommandRefusedError, DefinitionError, UnknownWorkflowError
from tests.apps.workflow.sheet import Outside, shop
from tests.apps.workflow.stage import Stage, everything, play, simple
from tests.clauses import clause

SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders")
sheet = orders.consumer("sheet", subscribes=["orders"])

@sheet.prepare
def prepare(ctx, state):
    BODY
    return {"reservations": [{"topic": "orders", "ids": [one.id for one in ctx.peek("orders")]}]}
"""
GOOD = SCRIPT.replace("BODY", "pass")
BAD = SCRIPT.replace("BODY", "raise ValueError('no')")


async def deploy(stage: Stage, text: str) -> None:
    await stage.host.deploy(load_workflow(text, where="orders.py"), text=text)
    await stage.advance()


@clause("WASK-9", "SEEN-12", "FLOW-12", "FLOW-21")
def test_a_deployment_that_went_wrong_is_taken_back_and_its_run_tried_again() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start()
        await deploy(stage, GOOD)
        await deploy(stage, BAD)
        await stage.publish("o1")
        assert (await stage.runs())[-1].status == "failed:logic"

        assert await stage.host.commands.rollback("orders") == (1, 3)
        await stage.advance()

        assert await stage.events() == {"o1": "consumed"}
        found = await stage.host.queries.versions("orders", limit=10)
        assert found.in_force == 3
        assert [(one.version, one.reason) for one in found.rows] == [
            (3, "rollback to 1"), (2, "deploy"), (1, "deploy"),
        ]  # fmt: skip
        assert (found.rows[0].text, found.rows[0].digest) == (GOOD, found.rows[2].digest)

    play(scenario)


@clause("WASK-9")
def test_the_version_before_is_one_that_differs_and_any_can_be_named() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start()
        for text in (GOOD, GOOD + "# 2", GOOD + "# 3"):
            await deploy(stage, text)
        commands = stage.host.commands
        assert await commands.rollback("orders", 1) == (1, 4)
        assert await commands.rollback("orders", 1) == (1, 4)  # in force already
        assert await commands.rollback("orders") == (3, 5)

    play(scenario)


@clause("WASK-9", "WASK-6")
def test_a_version_that_is_not_kept_or_has_no_text_is_refused() -> None:
    orders, _ = simple()

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        commands = stage.host.commands
        with pytest.raises(CommandRefusedError, match="no other version"):
            await commands.rollback("orders")
        for version, said in ((1, "whose text was kept"), (7, "that is kept"), (2**62, "kept")):
            with pytest.raises(DefinitionError, match=said):
                await commands.rollback("orders", version)
        with pytest.raises(UnknownWorkflowError):
            await commands.rollback("nope")
        assert (await stage.facts()).standing.script == 1

    play(scenario)


@clause("SEEN-12")
def test_a_run_comes_with_its_mutation_also_a_later_attempt_of_it() -> None:
    outside = Outside()
    failing = [ValueError("no"), None]

    def conclude(ctx: object, prepared: object, outcome: object) -> None:
        if prepared.data and (error := failing.pop(0)):  # type: ignore[attr-defined]
            raise error

    orders, sheet = shop(outside, lambda call: outside.made.append(call.key))
    sheet.next(conclude)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.commands.resume("orders")
        await stage.advance()

        found = await stage.host.queries.runs("orders", limit=2, after=4)
        assert [one.number for one in found.rows] == [3, 2]
        assert [one.mutation for one in found.rows] == [2, 2]
        assert {number: one.key for number, one in found.mutations.items()} == {2: outside.made[0]}

    play(scenario)


@clause("WASK-10", "WASK-6")
def test_a_workflow_is_removed_only_when_it_is_paused_and_nothing_of_it_is_left_to_do() -> None:
    orders, sheet = simple()
    sheet.prepare(lambda ctx, state: {})

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        commands = stage.host.commands
        await stage.publish("o1")
        with pytest.raises(CommandRefusedError, match="is not stopped"):
            await commands.remove("orders", discard=True)
        await commands.pause("orders")
        with pytest.raises(CommandRefusedError, match="has 1 event that waits"):
            await commands.remove("orders")
        await commands.remove("orders", discard=True)
        await stage.advance(minutes=1)
        with pytest.raises(UnknownWorkflowError):
            await commands.pause("orders")
        assert stage.host.held == 0

    play(scenario)


@clause("WASK-10")
def test_an_open_run_is_only_dropped_when_that_is_said() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start()
        await deploy(stage, BAD)
        await stage.host.commands.pause("orders")
        with pytest.raises(CommandRefusedError, match="a run that is not over"):
            await stage.host.commands.remove("orders")
        await stage.host.commands.remove("orders", discard=True)
        assert await stage.log.load("orders") is None

    play(scenario)


@clause("WASK-10", "HOST-4")
def test_a_host_goes_on_with_a_new_workflow_of_the_same_name_and_with_its_script() -> None:
    seen: list[str] = []
    first, sheet = simple()
    other, again = simple()
    other.producer("poll", interval="1h", publishes=["orders"])(lambda ctx, state: None)
    for name, consumer in (("first", sheet), ("other", again)):

        def prepare(ctx: object, state: object, name: str = name) -> object:
            seen.append(name)
            return everything(ctx, ["orders"])  # type: ignore[arg-type]

        consumer.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(first)
        commands = stage.host.commands
        await commands.pause("orders")
        await commands.remove("orders")
        await stage.host.deploy(other)
        await stage.publish("o1")
        await stage.advance(minutes=2)

        assert set(seen[1:]) == {"other"}
        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.facts()).standing.fence == 3

    play(scenario)
