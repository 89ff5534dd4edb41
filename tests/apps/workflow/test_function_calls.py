"""Functions that block: how many at once, who waits, and what becomes of those given up."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable
from threading import Event

import pytest

import gnomon.workflow
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.function_calls import THREADS, FunctionCalls, ThreadFigures, Threads
from gnomon.errors import DefinitionError, TransientError
from gnomon.shell.clock import SystemClock
from tests.clauses import clause


class Alarm(SystemClock):
    """A clock on which a time is over when the test says so."""

    def __init__(self) -> None:
        self.rings = asyncio.Event()

    async def sleep_ms(self, length_ms: int) -> None:
        await self.rings.wait()


def play(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scenario())  # type: ignore[arg-type]


async def breathe() -> None:
    """Let the loop and the threads go on for a moment."""
    await asyncio.sleep(0)


async def until(threads: Threads, wanted: ThreadFigures) -> None:
    """Until the figures are these; a test that waits for ever has found something."""
    while threads.figures() != wanted:
        await breathe()


@clause("HOST-7")
def test_eight_functions_that_block_delay_no_ninth_and_with_fewer_threads_it_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        hold = Event()
        for most, waiting in ((THREADS, 0), (8, 2)):
            hold.clear()
            functions = FunctionCalls(SystemClock(), threads=most)
            assert functions.threads is not None
            blocked = [asyncio.create_task(functions.call(hold.wait)) for _ in range(10)]
            await until(functions.threads, ThreadFigures(10 - waiting, waiting, 0, most))
            hold.set()
            assert await asyncio.gather(*blocked) == [True] * 10
            assert functions.threads.figures() == ThreadFigures(0, 0, 0, most)
            functions.close()

    with caplog.at_level(logging.WARNING, "gnomon.workflow"):
        play(scenario)

    assert [one.message for one in caplog.records] == ["ThreadsAllBusy: threads=8 left=0"]


@clause("HOST-1", "HOST-7")
def test_a_host_calls_a_ninth_workflow_beside_eight_that_block() -> None:
    hold, begun = Event(), Event()

    def blocking(number: int) -> Workflow:
        made = Workflow(f"slow{number}")
        made.producer("poll", interval="1h")(lambda ctx, state: hold.wait() and None)
        return made

    def quick(ctx: object, state: object) -> None:
        begun.set()

    async def scenario() -> None:
        ninth = Workflow("zebra")
        ninth.producer("poll", interval="1h")(quick)
        slow = [blocking(number) for number in range(8)]
        async with gnomon.workflow.host(":memory:", *slow, ninth) as running:
            while not begun.is_set() and not running.threads.waiting:
                await breathe()
            hold.set()
            assert begun.is_set()

    play(scenario)


@clause("HOST-7", "FLOW-20")
def test_the_wait_for_a_thread_is_not_time_of_the_handler() -> None:
    async def scenario() -> None:
        clock, hold = Alarm(), Event()
        functions = FunctionCalls(clock, threads=1)
        assert functions.threads is not None
        first = asyncio.create_task(functions.mutate(hold.wait))
        second = asyncio.create_task(functions.call(lambda: 5, limit_ms=10))
        await until(functions.threads, ThreadFigures(1, 1, 0, 1))
        clock.rings.set()
        await breathe()
        clock.rings.clear()
        hold.set()
        assert (await first, await second) == (True, 5)
        functions.close()

    play(scenario)


async def given_up(functions: FunctionCalls, clock: Alarm, hold: Event) -> None:
    """Call a function that blocks, and give it up."""
    call = asyncio.create_task(functions.call(hold.wait, limit_ms=10))
    assert functions.threads is not None
    busy = functions.threads.figures().busy
    while functions.threads.figures().busy == busy:
        await breathe()
    for _ in range(5):
        await breathe()
    clock.rings.set()
    with pytest.raises(TransientError, match="took longer"):
        await call
    clock.rings.clear()


@clause("HOST-8")
def test_a_function_that_was_given_up_takes_the_place_of_no_other_until_there_are_many(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        clock, hold = Alarm(), Event()
        functions = FunctionCalls(clock, threads=2)
        threads = functions.threads
        assert threads is not None
        for left in (1, 2):
            await given_up(functions, clock, hold)
            await until(threads, ThreadFigures(0, 0, left, 2))
        assert await functions.call(lambda: "goes on") == "goes on"
        await given_up(functions, clock, hold)
        await until(threads, ThreadFigures(1, 0, 3, 2))  # as many again are left already
        assert await functions.call(lambda: "goes on") == "goes on"
        hold.set()
        await until(threads, ThreadFigures(0, 0, 0, 2))
        functions.close()

    with caplog.at_level(logging.INFO, "gnomon.workflow"):
        play(scenario)

    told = [one.message.split(":")[0] for one in caplog.records]
    assert told == ["ThreadLeft"] * 3 + ["ThreadBack"] * 2


@clause("HOST-8")
def test_a_function_that_was_given_up_keeps_no_process_alive() -> None:
    script = """
import asyncio
from threading import Event
from gnomon.apps.workflow.function_calls import FunctionCalls
from gnomon.errors import TransientError
from gnomon.shell.clock import SystemClock

async def main():
    functions = FunctionCalls(SystemClock(), threads=1)
    try:
        await functions.call(Event().wait, limit_ms=1)
    except TransientError as error:
        print(error.reason)
    functions.close()

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "took longer than 0 s\n")


@clause("HOST-7")
@pytest.mark.parametrize("threads", [-1, 2.5, True, "8"])
def test_a_number_of_threads_that_is_none_is_refused(threads: int) -> None:
    async def scenario() -> None:
        with pytest.raises(DefinitionError, match="threads"):
            async with gnomon.workflow.host(":memory:", threads=threads):
                pass

    play(scenario)
