"""Scripts as authors write them, run by a host in a process of its own."""

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.test_cli_workflow import serving, until, workflow
from tests.clauses import clause

SCRIPT = """
from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import NamedTuple

from gnomon.workflow import Call, Context, Finding, Outcome, Prepared, Workflow, applied
from prices import Price, total

orders = Workflow("orders")


class Kind(Enum):
    BOOK = "book"


class Line(NamedTuple):
    kind: Kind
    price: Price


@dataclass(slots=True)
class Order:
    id: str
    lines: list[Line] = field(default_factory=list)


@orders.producer(interval="1h", publishes=["orders"])
def poll(ctx: Context, state: object) -> None:
    order = Order("o1", [Line(Kind.BOOK, Price(5))])
    ctx.publish("orders", order.id, {"total": total(one.price for one in order.lines)})


sheet = orders.consumer("sheet", subscribes=["orders"])


@sheet.prepare
def prepare(ctx: Context, state: object) -> dict[str, object]:
    found = ctx.peek("orders")
    return {
        "reservations": [{"topic": "orders", "ids": [one.id for one in found]}],
        "data": [one.payload for one in found],
    }


@sheet.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    ctx.mutate("append", prepared.data)


@sheet.next
def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
    from shown import words

    if prepared.data:
        ctx.note(words(outcome.result))


@orders.tool("append")
async def append(call: Call) -> object:
    return {"rows": len(call.params), "of": asdict(Price(call.params[0]["total"]))}


@append.reconcile
def was_appended(call: Call) -> Finding:
    return applied()
"""
BESIDE = {
    "prices.py": """
from __future__ import annotations
from collections.abc import Iterable
from dataclasses import dataclass

@dataclass(frozen=True, order=True)
class Price:
    euros: int

def total(prices: Iterable[Price]) -> int:
    return sum(one.euros for one in prices)
""",
    "shown.py": "def words(result):\n    return f'appended {result}'\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "orders.py").write_text(SCRIPT)
    for name, text in BESIDE.items():
        (scripts / name).write_text(text)
    return tmp_path


@clause("FLOW-27", "FLOW-28", "WCLI-1")
def test_a_script_with_dataclasses_and_modules_beside_it_is_run(folder: Path) -> None:
    with serving(folder, "scripts/orders.py") as process:
        line = until(process, "RunCommitted", "appended")

    assert "{'rows': 1, 'of': {'euros': 5}}" in line


@clause("FLOW-21", "FLOW-28")
def test_a_host_runs_what_was_deployed_when_the_folder_is_gone(folder: Path) -> None:
    assert workflow("deploy", "scripts/orders.py").out == "orders: version 1 is in force\n"
    (folder / "scripts" / "shown.py").write_text("def words(result):\n    return 'changed'\n")
    assert workflow("deploy", "scripts/orders.py").out == "orders: version 2 is in force\n"
    shutil.rmtree(folder / "scripts")

    with serving(folder) as process:
        until(process, "RunCommitted", "changed")


@clause("FAIL-18", "WCLI-2")
def test_where_a_script_failed_is_kept_with_its_run(folder: Path) -> None:
    (folder / "scripts" / "shown.py").write_text("def words(result):\n    return result['no']\n")

    with serving(folder, "scripts/orders.py") as process:
        until(process, "RunFailed", "KeyError")

    run = json.loads(workflow("runs", "orders", "--json").out)["runs"][0]
    assert (run["status"], run["error"]) == ("failed:logic", "KeyError: 'no'")
    assert "return result['no']" in run["traceback"]
    assert run["traceback"].endswith("KeyError: 'no'\n")
