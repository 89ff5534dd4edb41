"""A script that a host cannot load is looked at again, and its workflow goes on when it can be."""

import logging
import sys

import pytest

from gnomon.apps.workflow.alarm import Alarm
from gnomon.apps.workflow.script import load_workflow
from gnomon.errors import DefinitionError
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause

TEXT = """
import sys
from gnomon.workflow import Workflow
if "a_share_that_is_away" in sys.modules:
    raise RuntimeError(sys.modules["a_share_that_is_away"].__doc__)
orders = Workflow("orders")
orders.producer("poll", interval="1d")(lambda ctx, state: None)
"""
ANSWER = "gnomon workflow deploy FILE, or start the program that has it"


class Why:
    """Stands in the place of a module, and says why it is away."""

    def __init__(self, why: str) -> None:
        self.__doc__ = why


def issue(version: int, why: str) -> str:
    return (
        f"Its script cannot be loaded: orders version {version}: must run without an error "
        f"(RuntimeError: {why}, line 5), got 'a script that fails'; correct it there"
    )


@clause("SEEN-15")
def test_a_script_that_cannot_be_loaded_is_told_of_once_for_each_version_and_cause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Alarm] = []

    async def hear(alarm: Alarm) -> None:
        told.append(alarm)

    def be_away(why: str) -> None:
        monkeypatch.setitem(sys.modules, "a_share_that_is_away", Why(why))

    async def scenario(stage: Stage) -> None:
        await stage.start()
        await stage.host.commands.deploy(load_workflow(TEXT, where="orders.py"), text=TEXT)
        await stage.advance(minutes=1)
        await stage.crash()
        be_away("no answer from 0x7f01 after 10 s")
        await stage.start(alert=hear)
        await stage.advance(hours=1)
        be_away("no answer from 0x7f55 after 11 s")
        await stage.advance(hours=1)
        be_away("refused")
        await stage.advance(hours=1)
        text = TEXT + "# changed"
        with pytest.raises(DefinitionError):
            load_workflow(text, where="orders.py")
        monkeypatch.delitem(sys.modules, "a_share_that_is_away")
        made = load_workflow(text, where="orders.py")
        be_away("refused")
        await stage.host.commands.deploy(made, text=text)
        await stage.advance(hours=1)
        monkeypatch.delitem(sys.modules, "a_share_that_is_away")
        await stage.advance(minutes=10)
        assert (await stage.host.queries.overview("orders")).issue == ""
        assert [(one.status, one.run, one.mutation, one.script) for one in told] == [
            ("unloadable", None, None, 1), ("unloadable", None, None, 1),
            ("unloadable", None, None, 2),
        ]  # fmt: skip
        assert [one.issue for one in told] == [
            issue(1, "no answer from 0x7f01 after 10 s"), issue(1, "refused"), issue(2, "refused"),
        ]  # fmt: skip
        assert {one.answer for one in told} == {ANSWER}

    with caplog.at_level(logging.INFO, "gnomon.workflow"):
        play(scenario)
    events = [str(record.__dict__["fields"]["event"]) for record in caplog.records]
    assert events.count("NeedsAttention") == 3
    assert events.count("ScriptFound") == 1


@clause("SEEN-15")
def test_a_script_is_told_of_again_after_it_could_be_loaded_and_by_the_next_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    async def hear(alarm: Alarm) -> None:
        told.append(alarm.issue)

    def be_away() -> None:
        away = Why("refused")
        monkeypatch.setitem(sys.modules, "a_share_that_is_away", away)

    async def scenario(stage: Stage) -> None:
        await stage.start()
        await stage.host.commands.deploy(load_workflow(TEXT, where="orders.py"), text=TEXT)
        await stage.advance(minutes=1)
        await stage.host.commands.pause("orders")
        await stage.crash()
        be_away()
        await stage.start(alert=hear)
        await stage.advance(hours=1)
        assert told == []

        await stage.host.commands.resume("orders")
        await stage.advance(hours=1)
        await stage.crash()
        await stage.start(alert=hear)
        await stage.advance(hours=1)
        assert told == [issue(1, "refused")] * 2

        monkeypatch.delitem(sys.modules, "a_share_that_is_away")
        await stage.advance(minutes=11)
        text = TEXT + "# changed"
        made = load_workflow(text, where="orders.py")
        be_away()
        await stage.host.commands.deploy(made, text=text)
        await stage.advance(hours=1)
        assert told[2:] == [issue(2, "refused")]

    play(scenario)


@clause("SEEN-15")
def test_the_line_of_a_module_beside_the_script_is_said() -> None:
    modules = {"parts/rates.py": "found = 1\nraise ValueError('no rates')\n"}

    with pytest.raises(DefinitionError) as raised:
        load_workflow("\nimport parts.rates\n", where="orders version 3", modules=modules)

    assert "(ValueError: no rates, parts/rates.py line 2)" in str(raised.value)


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
        await stage.host.commands.deploy(load_workflow(text, where="orders.py"), text=text)
        await stage.advance(minutes=1)
        await stage.crash()
        monkeypatch.setitem(sys.modules, "a_share_that_is_away", sys)
        await stage.start()
        await stage.publish("o1")
        await stage.advance(hours=2)
        assert "cannot be loaded" in (await stage.host.queries.overview("orders")).issue
        assert await stage.events() == {"o1": "pending"}

        monkeypatch.delitem(sys.modules, "a_share_that_is_away")
        await stage.advance(minutes=10)
        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.host.queries.overview("orders")).status == "Idle"

    play(scenario)
