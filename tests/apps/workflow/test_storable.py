"""Characters that no store can keep: whatever has them in it, the run is recorded."""

import pytest

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.handler_calls import Call
from gnomon.apps.workflow.storable import is_storable, storable
from gnomon.errors import DefinitionError
from tests.apps.workflow.stage import Stage, everything, play, simple
from tests.clauses import clause

ODD = "caf\udce9\0.txt"
"""A name of a file that is no text, as Python reads it."""
SHOWN = "caf\\udce9\\x00.txt"


@clause("FAIL-15")
@pytest.mark.parametrize(
    ("text", "kept"),
    [("café ☕ \n", "café ☕ \n"), (ODD, SHOWN), ("x" * 21, "x" * 19 + "…"), ("", "")],
)
def test_what_no_store_can_keep_is_escaped(text: str, kept: str) -> None:
    assert storable(text, most=20) == kept
    assert is_storable(text) is (text != ODD)


def odd(where: str) -> Workflow:
    """A workflow that comes across the odd name in one place."""
    orders, sheet = simple()

    def at(place: str, otherwise: str = "") -> str:
        return ODD if place == where else otherwise

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        found = everything(ctx, ["orders"])
        if found["data"] and where == "error":
            raise ValueError(ODD)
        return found | {"ui": {"title": at("title")}}

    @sheet.next
    def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        ctx.note(at("note"))
        if prepared.data:
            ctx.publish("done", at("id", "d1"), inputs=[at("cause", "mail/1")])

    @sheet.mutate
    def mutate(ctx: Context, prepared: Prepared) -> None:
        ctx.mutate("append", at("params"), title=at("mutation"))

    @orders.tool("append")
    def append(call: Call) -> str:
        if where == "tool":
            raise RuntimeError(ODD)
        return at("result")

    return orders


@clause("FAIL-15")
@pytest.mark.parametrize(
    ("where", "last", "kept"),
    [
        ("title", "2 sheet committed committed", ""),
        ("note", "2 sheet committed committed", SHOWN),
        ("mutation", "2 sheet committed committed", SHOWN),
        ("params", "2 sheet committed committed", ""),
        ("result", "2 sheet committed committed", ""),
        ("error", "2 sheet preparing failed:logic", f"ValueError: {SHOWN}"),
        ("tool", "2 sheet mutating paused:reconciliation", f"RuntimeError: {SHOWN}"),
        ("id", "2 sheet emitting failed:logic", "an id must be text"),
        ("cause", "2 sheet emitting failed:logic", "inputs must be what ctx.input has returned"),
    ],
)
def test_a_run_is_recorded_wherever_it_came_across_them(where: str, last: str, kept: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start(odd(where))
        await stage.publish("o1")

        assert (await stage.story())[-1] == last
        run = (await stage.runs())[-1]
        assert kept in (run.error or run.note)

    play(scenario)


@clause("FAIL-15")
def test_an_input_cannot_be_known_by_them_but_can_be_called_so() -> None:
    orders = Workflow("orders")
    known: list[str] = []

    @orders.producer(interval="1h")
    def poll(ctx: Context, state: object) -> None:
        known.append(ctx.input("disk", "file", "1", title=ODD))
        ctx.input("disk", "file", ODD)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)

        assert await stage.story() == ["1 poll preparing failed:logic"]
        assert known == ["disk/file/1"]
        assert "that a store can keep" in (await stage.runs())[0].error

    play(scenario)


@clause("FLOW-26", "FAIL-15")
@pytest.mark.parametrize("title", [ODD, "x" * 501, None, 5])
def test_a_workflow_is_not_called_what_no_store_can_keep(title: str) -> None:
    with pytest.raises(DefinitionError, match="that a store can keep"):
        Workflow("orders", title=title)
