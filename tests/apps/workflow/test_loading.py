"""A script that a host cannot load is looked at again, and its workflow goes on when it can be."""

import sys

import pytest

from gnomon.apps.workflow.script import load_workflow
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause


@clause("HOST-9")
def test_a_script_that_could_not_be_loaded_goes_on_once_what_it_imports_is_there_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """
import sys
from gnomon.workflow import Workflow
assert "a_share_that_is_away" not in sys.modules
orders = Workflow("orders")
orders.consumer("sheet", subscribes=["orders"]).prepare(
    lambda ctx, state: {"reservations": [
        {"topic": "orders", "ids": [one.id for one in ctx.peek("orders")]}]})
"""

    async def scenario(stage: Stage) -> None:
        await stage.start()
        await stage.host.desk.deploy(load_workflow(text, where="orders.py"), text=text)
        await stage.advance(minutes=1)
        await stage.crash()
        monkeypatch.setitem(sys.modules, "a_share_that_is_away", sys)
        await stage.start()
        await stage.publish("o1")
        await stage.advance(hours=2)
        assert "cannot be loaded" in (await stage.host.desk.lookup.overview("orders")).issue
        assert await stage.events() == {"o1": "pending"}

        monkeypatch.delitem(sys.modules, "a_share_that_is_away")
        await stage.advance(minutes=10)
        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.host.desk.lookup.overview("orders")).status == "Idle"

    play(scenario)
