"""
The tables of the contract about runs, row by row, with the real host on virtual time.

Statuses, classes of failures, how a pause resolves, phases and where they are reset. The rules have
tests of their own; here each row is what a user would see of it.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import pytest

from gnomon.errors import (
    AuthError,
    HostError,
    LogicError,
    PermissionDeniedError,
    TransientError,
    WorkflowError,
)
from tests.apps.workflow.shop import Shop
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause

REPAIRED = """
from gnomon.workflow import Workflow

orders = Workflow("orders")
orders.producer("fetch", interval="10m", publishes=["orders"])(lambda ctx, state: None)
orders.consumer("ship", subscribes=["orders"]).prepare(
    lambda ctx, state: {
        "reservations": [{"topic": "orders", "ids": [one.id for one in ctx.peek("orders")]}]
    }
)
"""


async def approve(stage: Stage) -> None:
    await stage.host.commands.approve("orders")


async def resume(stage: Stage) -> None:
    await stage.host.commands.resume("orders")


async def wait(stage: Stage) -> None:
    await stage.advance(seconds=11)


class Row(NamedTuple):
    """What goes wrong, which status that is, what resolves it, and which run goes on."""

    place: str
    trouble: WorkflowError
    status: str
    resolve: Callable[[Stage], Awaitable[None]]
    follows: bool
    """Whether another run follows; otherwise the same goes on."""


ROWS = {
    "transient": Row("prepare", TransientError("rate limit"), "paused:transient", wait, True),
    "logic": Row("prepare", LogicError("bad input"), "failed:logic", resume, True),
    "auth": Row("prepare", AuthError("token expired"), "paused:approval", approve, False),
    "permission": Row(
        "prepare", PermissionDeniedError("not granted"), "paused:approval", approve, False
    ),
    "internal": Row("prepare", HostError("our bug"), "failed:internal", resume, True),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("transient", marks=clause("FAIL-3")),
        pytest.param("logic", marks=clause("FAIL-4")),
        pytest.param("auth", marks=clause("FAIL-5")),
        pytest.param("permission", marks=clause("FAIL-6")),
        pytest.param("internal", marks=clause("FAIL-8")),
    ],
)
def test_the_class_of_a_failure_decides_the_status_and_what_resolves_it(name: str) -> None:
    row = ROWS[name]
    shop = Shop(row.place, row.trouble)

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.publish("o1")
        assert (await stage.story())[-1] == f"3 ship preparing {row.status}"
        assert shop.shipped == []
        await row.resolve(stage)
        await stage.advance()

        if row.follows:
            assert (await stage.story())[-2:] == [
                f"3 ship preparing {row.status}",
                "4 ship committed committed retry of 3",
            ]
        else:
            assert (await stage.story())[-1] == "3 ship committed committed"
        assert shop.shipped == [["o1"]]

    play(scenario)


@clause("FAIL-7", "MUTATE-7")
def test_an_indeterminate_mutation_is_reconciled_and_the_same_run_goes_on() -> None:
    shop = Shop("deliver", TransientError("no answer"))

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.publish("o1")

        assert (await stage.story())[-1] == "3 ship committed committed"
        assert shop.calls[-4:] == ["mutate", "deliver", "next", "applied found"]

    play(scenario)


@clause("FAIL-13", "WHEN-6", "WHEN-8", "WHEN-9")
@pytest.mark.parametrize("name", ROWS)
def test_while_a_run_is_not_resolved_triggers_gather_and_then_run_once(name: str) -> None:
    row = ROWS[name]
    shop = Shop(row.place, row.trouble)

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.advance(minutes=9, seconds=55)
        await stage.publish("o1")  # it fails, and waits
        await stage.advance(seconds=6)
        await stage.publish("o2")
        await stage.publish("o3")
        called = list(shop.calls)
        assert called == ["fetch", "prepare"]
        assert stage.host.flags("orders")["fetch"].queued
        await row.resolve(stage)
        await stage.advance()

        assert shop.shipped in ([["o1", "o2", "o3"]], [["o1"], ["o2", "o3"]])
        assert shop.calls[len(called) :].count("fetch") == 1
        assert shop.calls[-1] == "fetch"  # consumers first
        assert await stage.events() == dict.fromkeys(["o1", "o2", "o3"], "consumed")

    play(scenario)


@clause("RECOVER-1", "WHEN-5")
def test_an_active_run_of_a_dead_host_is_crashed_and_followed_by_another() -> None:
    shop = Shop("prepare", "hang")

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.publish("o1")
        assert (await stage.story())[-1] == "3 ship preparing active"
        await stage.crash()
        await stage.start(shop.workflow)

        assert (await stage.story())[-2:] == [
            "3 ship preparing crashed",
            "4 ship committed committed retry of 3",
        ]

    play(scenario)


@clause("FAIL-4", "FAIL-10", "FLOW-12")
def test_a_logic_failure_is_resolved_by_a_repair_and_another_run() -> None:
    shop = Shop("prepare", LogicError("bad input"))
    asked: list[str] = []

    async def repair(trouble: object) -> str:
        asked.append(str(getattr(trouble, "error", "")))
        return REPAIRED

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow, repairer=repair)
        await stage.publish("o1")

        assert asked == ["bad input"]
        assert (await stage.story())[-2:] == [
            "3 ship preparing failed:logic",
            "4 ship committed committed retry of 3",
        ]
        assert [one.script for one in (await stage.runs())[-2:]] == [1, 2]

    play(scenario)


@pytest.mark.parametrize(
    ("place", "trouble", "left", "followed", "shipped"),
    [
        pytest.param(
            "prepare", "hang", "3 ship preparing crashed",
            ["prepare", "mutate", "deliver", "next", "applied delivered"], 1,
            marks=clause("PHASE-1"),
        ),
        pytest.param(
            "mutate", "hang", "3 ship prepared crashed",
            ["prepare", "mutate", "deliver", "next", "applied delivered"], 1,
            marks=clause("PHASE-2"),
        ),
        pytest.param(
            "deliver", LogicError("refused"), "3 ship mutating failed:logic",
            ["prepare", "mutate", "deliver", "next", "applied delivered"], 1,
            marks=clause("PHASE-3"),
        ),
        pytest.param(
            "next", "hang", "3 ship mutated crashed", ["next", "applied delivered"], 1,
            marks=clause("PHASE-4"),
        ),
        pytest.param(
            "next", LogicError("bad result"), "3 ship emitting failed:logic",
            ["next", "applied delivered"], 1, marks=clause("PHASE-5"),
        ),
    ],
)  # fmt: skip
def test_the_phase_decides_what_the_next_run_does_again(
    place: str, trouble: WorkflowError | str, left: str, followed: list[str], shipped: int
) -> None:
    shop = Shop(place, trouble)

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.publish("o1")
        before = len(shop.calls)
        if trouble == "hang":
            await stage.crash()
            await stage.start(shop.workflow)
        else:
            await resume(stage)
            await stage.advance()

        assert (await stage.story())[-2:] == [left, "4 ship committed committed retry of 3"]
        assert shop.calls[before:] == followed
        assert len(shop.shipped) == shipped
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("RECOVER-3", "PHASE-6")
def test_a_mutation_that_may_have_been_applied_is_asked_about_and_not_made_again() -> None:
    shop = Shop("deliver", "hang")

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.publish("o1")
        await stage.crash()
        await stage.start(shop.workflow)

        assert (await stage.story())[-2:] == [
            "3 ship mutating crashed",
            "4 ship committed committed retry of 3",
        ]
        assert shop.calls[-2:] == ["next", "applied found"]

    play(scenario)


@clause("PHASE-7", "PHASE-8", "PHASE-9")
def test_each_phase_is_persisted_with_what_it_stands_for() -> None:
    shop = Shop()
    seen: list[tuple[str, bool, bool, str]] = []

    async def scenario(stage: Stage) -> None:
        async def look(place: str) -> None:
            run = (await stage.runs())[-1]
            (status,) = (await stage.events()).values()
            seen.append(
                (run.phase.value, run.prepared is not None, run.mutated is not None, status)
            )

        shop.meet = look  # type: ignore[method-assign] # in place of trouble
        await stage.start(shop.workflow)
        await stage.publish("o1")
        await look("end")

        assert seen == [
            ("preparing", False, False, "pending"),
            ("prepared", True, False, "reserved"),
            ("mutating", True, False, "reserved"),
            ("mutated", True, True, "reserved"),
            ("committed", True, True, "consumed"),
        ]

    play(scenario)
