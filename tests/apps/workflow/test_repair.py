"""The host asks its repairer for a better script, a few times at most."""

import asyncio

import pytest

from gnomon.apps.workflow.repair import Trouble
from gnomon.apps.workflow.script import load_workflow
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause

SCRIPT = """
from gnomon.apps.workflow.definition import Workflow

orders = Workflow("orders")
sheet = orders.consumer("sheet", subscribes=["orders"])

@sheet.prepare
def prepare(ctx, state):
    return {"reservations": [{"topic": "orders", "ids": [one.id for one in ctx.peek("orders")]}]}

@sheet.next
def next(ctx, prepared, outcome):
    if prepared.reservations:
        BODY
"""
BROKEN = SCRIPT.replace("BODY", "raise ValueError('no')")
MENDED = SCRIPT.replace("BODY", "pass")


class Mender:
    """Gives the scripts that it was made with, one after the other."""

    def __init__(self, *scripts: str | None) -> None:
        self._scripts = list(scripts)
        self.troubles: list[Trouble] = []

    async def __call__(self, trouble: Trouble) -> str | None:
        self.troubles.append(trouble)
        return self._scripts.pop(0) if self._scripts else f"{BROKEN}# {len(self.troubles)}"


async def broken(stage: Stage, mender: Mender) -> None:
    """A workflow that fails after its first event."""
    await stage.start(repairer=mender)
    await stage.host.commands.deploy(load_workflow(BROKEN, where="orders.py"), text=BROKEN)
    await stage.advance()
    await stage.publish("o1")


@clause("FAIL-10", "FLOW-21", "PHASE-5")
def test_a_repair_is_deployed_and_the_run_is_tried_again_with_it() -> None:
    mender = Mender(MENDED)

    async def scenario(stage: Stage) -> None:
        await broken(stage, mender)

        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.story())[1:] == [
            "2 sheet emitting failed:logic",
            "3 sheet committed committed retry of 2",
            "4 sheet committed committed",
        ]
        assert [one.script for one in await stage.runs()] == [1, 1, 2, 2]
        (trouble,) = mender.troubles
        assert (trouble.workflow, trouble.script, trouble.error) == (
            "orders", BROKEN, "ValueError: no",
        )  # fmt: skip
        script = await stage.log.script("orders", 2)
        assert script is not None
        assert (script.reason, script.text) == ("repair", MENDED)

    play(scenario)


@clause("FAIL-11")
def test_three_repairs_are_made_and_then_the_workflow_waits() -> None:
    mender = Mender()

    async def scenario(stage: Stage) -> None:
        await broken(stage, mender)
        await stage.advance(hours=1)

        assert len(mender.troubles) == 3
        assert (await stage.facts()).standing.repairs == 3
        await stage.host.commands.resume("orders")
        await stage.advance()
        assert len(mender.troubles) == 6

    play(scenario)


@clause("FAIL-12")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("x = (", "must be Python"),
        (MENDED.replace('"orders")', '"other")'), "must keep the name"),
        (MENDED.replace('"sheet"', '"other"'), "must still have sheet"),
    ],
)
def test_a_repair_that_cannot_be_deployed_counts_and_its_error_goes_to_the_next(
    wrong: str, said: str
) -> None:
    mender = Mender(wrong, MENDED)

    async def scenario(stage: Stage) -> None:
        await broken(stage, mender)

        assert said in mender.troubles[1].error
        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.facts()).standing.script == 2

    play(scenario)


@clause("FAIL-10")
@pytest.mark.parametrize("answer", [None, BROKEN])
def test_without_a_better_script_the_workflow_waits(answer: str | None) -> None:
    mender = Mender(answer)

    async def scenario(stage: Stage) -> None:
        await broken(stage, mender)
        await stage.advance(hours=1)

        assert len(mender.troubles) == 1
        assert (await stage.runs())[-1].status == "failed:logic"

    play(scenario)


@clause("FAIL-10")
def test_a_repairer_that_fails_fails_nothing_else() -> None:
    async def scenario(stage: Stage) -> None:
        async def mender(trouble: Trouble) -> str:
            raise RuntimeError("no model")

        await stage.start(repairer=mender)
        await stage.host.commands.deploy(load_workflow(BROKEN, where="orders.py"), text=BROKEN)
        await stage.advance()
        await stage.publish("o1")

        assert (await stage.runs())[-1].status == "failed:logic"

    play(scenario)


@clause("FAIL-19", "FAIL-10")
def test_a_repair_that_takes_too_long_is_given_up_and_the_workflow_can_be_commanded() -> None:
    ended: list[str] = []

    async def scenario(stage: Stage) -> None:
        async def mender(trouble: Trouble) -> str:
            try:
                await asyncio.sleep(10_000)
            finally:
                ended.append(trouble.workflow)
            return MENDED

        await broken(stage, mender)  # type: ignore[arg-type]
        await stage.advance(seconds=299)
        assert ended == []
        await stage.advance(seconds=2)
        assert ended == ["orders"]
        assert (await stage.runs())[-1].status == "failed:logic"
        await stage.host.commands.deploy(load_workflow(MENDED, where="orders.py"), text=MENDED)
        await stage.advance()
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("FAIL-19")
def test_a_repairer_may_be_a_function_and_gives_a_text_or_nothing() -> None:
    async def scenario(stage: Stage) -> None:
        await broken(stage, lambda trouble: 5)  # type: ignore[arg-type]
        assert (await stage.runs())[-1].status == "failed:logic"
        await stage.crash()
        await stage.start(repairer=lambda trouble: MENDED)  # type: ignore[arg-type, return-value]
        await stage.advance()
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)
