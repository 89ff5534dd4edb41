"""Coroutines: what they are told, and what becomes of what they raise."""

import asyncio

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.errors import DefinitionError
from gnomon.ports import Ended
from gnomon.shell.clock import SystemClock
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.steered_clock import SteeredClock
from tests.stand_ins.function_launcher import Context, Function, FunctionLauncher


def run_one(function: Function) -> Ended:
    async def scenario() -> Ended:
        launcher = FunctionLauncher({"it": function}, SystemClock())
        await launcher.launch(a_claim({"function": "it"}, launches=2))
        [end] = await launcher.ended()
        return end

    return asyncio.run(scenario())


@clause("LAUNCH-1")
def test_a_function_is_told_about_its_run() -> None:
    told = []

    async def function(context: Context) -> None:
        told.append((context.schedule_id, context.period, context.attempt))

    run_one(function)

    assert told == [("billing", "2026-03-01T00:00:00Z", 2)]


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@clause("LAUNCH-4")
@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError("two\nlines\x1b[31m"), "ValueError: two\\nlines\\x1b[31m"),
        (ValueError("x" * 9_999), "ValueError: " + "x" * 487 + "…"),
        (KeyError(), "KeyError"),
        (UnprintableError(), "UnprintableError: (no text)"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_what_a_function_raises_ends_its_run_only(error: BaseException, detail: str) -> None:
    async def function(context: Context) -> None:
        raise error

    end = run_one(function)

    assert (end.success, end.detail, end.reason) == (False, detail, None)


@clause("LAUNCH-3")
def test_a_function_that_will_not_be_cancelled_is_not_over() -> None:
    async def scenario() -> bool:
        clock, begun, leave = SteeredClock(), asyncio.Event(), asyncio.Event()
        clock.let_pass(10_000)

        async def stubborn(context: Context) -> None:
            begun.set()
            while not leave.is_set():
                try:
                    await leave.wait()
                except asyncio.CancelledError:
                    continue

        launcher = FunctionLauncher({"it": stubborn}, clock)
        claim = a_claim({"function": "it"})
        await launcher.launch(claim)
        await begun.wait()
        over = await launcher.end(claim.key, Reason.REPLACED)
        leave.set()
        await launcher.ended()
        return over is not False

    assert not asyncio.run(scenario())


@clause("LAUNCH-2")
def test_a_function_that_is_no_coroutine_function_is_refused() -> None:
    with pytest.raises(DefinitionError, match="coroutine"):
        FunctionLauncher({"it": print}, SystemClock())  # type: ignore[dict-item]


@clause("LAUNCH-1")
def test_a_function_runs_in_a_task_of_its_own_that_bears_its_key() -> None:
    names = []

    async def function(context: Context) -> None:
        task = asyncio.current_task()
        assert task is not None
        names.append((task.get_name(), context.key))

    end = run_one(function)

    assert names == [(end.key, end.key)]


@clause("LAUNCH-3")
def test_why_one_run_was_ended_is_not_said_of_the_next_under_its_key() -> None:
    async def scenario() -> list[Reason | None]:
        begun = asyncio.Event()

        async def function(context: Context) -> None:
            begun.set()
            if context.attempt == 1:
                await asyncio.Event().wait()
            raise ValueError

        launcher = FunctionLauncher({"it": function}, SystemClock())
        await launcher.launch(a_claim({"function": "it"}, launches=1))
        await begun.wait()
        assert await launcher.end(a_claim({"function": "it"}).key, Reason.REPLACED)
        first = await launcher.ended()
        await launcher.launch(a_claim({"function": "it"}, launches=2, fence=2))
        return [end.reason for end in [*first, *await launcher.ended()]]

    assert asyncio.run(scenario()) == [Reason.REPLACED, None]
