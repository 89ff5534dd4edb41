"""`gnomon workflow test`: what a script would do, while nothing is done."""

import json
from pathlib import Path

import pytest

from tests.acceptance.command_line import Done, gnomon
from tests.clauses import clause

SCRIPT = """
from pathlib import Path
from gnomon.workflow import Workflow

orders = Workflow("orders", title="Orders")

@orders.producer(interval="5m", publishes=["orders"])
def poll(ctx, state):
    ctx.publish("orders", "polled", {"item": 1})

sheet = orders.consumer("sheet", subscribes=["orders", "refunds"], publishes=["done"])

@sheet.prepare
def prepare(ctx, state):
    first = ctx.peek("orders", limit=1)
    ids = [one.id for one in first]
    return {"reservations": [{"topic": "orders", "ids": ids}] if ids else [],
            "data": [one.payload["item"] for one in first]}

@sheet.mutate
def mutate(ctx, prepared):
    ctx.mutate("append", {"items": prepared.data}, title="Append rows")

@sheet.next
def conclude(ctx, prepared, outcome):
    if prepared.data:
        ctx.publish("done", f"row-{outcome.result['row']}")

@orders.tool("append", approval=True)
def append(call):
    Path("called").touch()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.py").write_text(SCRIPT)
    return tmp_path


def attempt(*options: str) -> Done:
    return gnomon("workflow", "test", "orders.py", *options)


@clause("WCLI-8")
def test_it_says_what_would_be_done_and_does_nothing(folder: Path) -> None:
    done = attempt(
        "--event", 'orders/17={"item": 5}', "--event", "refunds/1", "--result",
        'append={"row": 3}', "--no-producers",
    )  # fmt: skip

    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "orders: 1 producers, 1 consumers, 1 tools; no tool was called\n"
        "    1  sheet            takes orders/17; would call append with "
        '{"items":[5]} (Append rows); publishes done/row-3\n'
        "    2  sheet            does nothing\n"
        "    3  poll             does nothing\n"
        "left pending: 1 in done, 1 in refunds\n"
    )
    assert [one.name for one in folder.iterdir()] == ["orders.py"]


@clause("WCLI-8", "WCLI-2")
def test_producers_are_called_and_the_whole_is_given_as_json(folder: Path) -> None:
    found = json.loads(attempt("--result", 'append={"row": 3}', "--json").out)

    assert (found["workflow"], found["stopped"]) == ("orders", False)
    assert [one["handler"] for one in found["runs"]] == ["sheet", "poll", "sheet"]
    assert found["runs"][1]["publishes"] == [{"topic": "orders", "id": "polled"}]
    assert found["runs"][2]["mutation"]["params"] == {"items": [1]}


@clause("WCLI-8", "FAIL-18")
def test_a_script_that_fails_is_said_with_its_line(folder: Path) -> None:
    done = attempt("--event", "orders/17=[]", "--no-producers")

    assert done.code == 1
    assert "failed:logic in preparing: TypeError: list indices" in done.out
    assert 'File "orders.py", line 18, in prepare' in done.out
    assert done.out.endswith("left pending: 1 in orders\n")


@clause("WCLI-8", "WCLI-4")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--event", "orders"), "event: must be a topic and an id"),
        (("--event", "orders/1=x"), "event: must be JSON"),
        (("--event", "other/1"), "topic: must be a topic of the workflow orders"),
        (("--result", "append"), "result: must be a tool and what it gives"),
        (("--result", "delete=1"), "result: must be a tool of the script"),
    ],
)
def test_what_cannot_be_tried_is_refused(options: tuple[str, str], said: str, folder: Path) -> None:
    done = attempt(*options)

    assert (done.code, said in done.err) == (1, True)
