"""Callbacks: how they are called, and that nothing they do reaches anybody else."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

import gnomon
from gnomon.ports import Entry, Event
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause


class CallableObject:
    """An object that is called, and whose call is a coroutine."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def __call__(self) -> None:
        self._stage.note("object")


@clause("CALL-1")
def test_a_callback_may_be_anything_that_can_be_called() -> None:
    async def scenario(stage: Stage) -> list[str]:
        async def coroutine() -> None:
            stage.note("coroutine")

        async def named(name: str) -> None:
            stage.note(name)

        callbacks: list[Callable[[], object]] = [
            coroutine, partial(named, "partial"), CallableObject(stage), lambda: named("awaitable"),
            lambda: stage.note("function"),
        ]  # fmt: skip
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [(str(number), "* * * * *", one, SECOND) for number, one in enumerate(callbacks)]
        )
        await stage.until("00:00:30")
        await scheduler.stop()
        return sorted(note.partition(" ")[2] for note in stage.notes)

    assert on_stage(scenario) == ["awaitable", "coroutine", "function", "object", "partial"]


@clause("CALL-1")
def test_functions_run_in_a_bounded_number_of_threads_beside_the_loop() -> None:
    async def scenario() -> set[str]:
        def callback() -> None:
            names.append(threading.current_thread().name)
            meeting.wait()  # in the loop's own thread, nobody else would ever come
            loop.call_soon_threadsafe(called.release)

        names: list[str] = []
        meeting = threading.Barrier(2)
        called, loop = asyncio.Semaphore(0), asyncio.get_running_loop()
        scheduler = gnomon.Scheduler(":memory:", zone="UTC", threads=2)
        await scheduler.initialize([(name, "* * * * *", callback, SECOND) for name in "abcd"])
        for _ in range(4):
            await called.acquire()
        await scheduler.stop()
        return set(names)

    assert asyncio.run(scenario()) == {"gnomon-run_0", "gnomon-run_1"}


def fails_with(error: BaseException) -> Callable[[], object]:
    async def callback() -> None:
        raise error

    return callback


@clause("CALL-4")
@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (asyncio.CancelledError("enough"), "CancelledError: enough"),
        (SystemExit(3), "SystemExit: 3"),
        (StopIteration(), "RuntimeError: coroutine raised StopIteration"),
        (TimeoutError("a\nb"), "TimeoutError: a\\nb"),
        (ExceptionGroup("many", [KeyError("a")]), "ExceptionGroup: many (1 sub-exception)"),
    ],
)
def test_whatever_a_callback_raises_is_the_failure_of_its_own_run(
    error: BaseException, detail: str
) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        bad = ("bad", "0 0 * * *", fails_with(error), 3600 * SECOND)
        await scheduler.initialize([bad, stage.task("good", takes=1)])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes, [one.detail for one in await stage.entries() if one.task == "bad"]

    notes, details = on_stage(scenario)
    assert notes == ["00:00:00 good", "00:01:00 good"]
    assert details == ["due 2026-03-01T00:00:00Z attempt 1", detail]


@clause("CALL-4")
def test_whatever_a_function_raises_in_its_thread_is_the_failure_of_its_own_run() -> None:
    def stops() -> None:
        raise StopIteration

    def leaves() -> None:
        raise SystemExit(1)

    async def scenario() -> dict[str, str]:
        def observe(entries: Sequence[Entry]) -> None:
            for entry in entries:
                if entry.event is Event.RUN_FAILURE:
                    details[entry.task] = entry.detail
                    failed.release()

        details: dict[str, str] = {}
        failed = asyncio.Semaphore(0)
        scheduler = gnomon.Scheduler(":memory:", zone="UTC", threads=1, observe=observe)
        await scheduler.initialize(
            [("a", "* * * * *", stops, 60 * SECOND), ("b", "* * * * *", leaves, 60 * SECOND)]
        )
        await failed.acquire()
        await failed.acquire()
        await scheduler.stop()
        return details

    assert asyncio.run(scenario()) == {
        "a": "RuntimeError: coroutine raised StopIteration", "b": "SystemExit: 1",
    }  # fmt: skip


@clause("CALL-4")
def test_a_callback_that_raises_at_once_does_not_keep_the_others_from_starting() -> None:
    async def scenario(stage: Stage) -> list[str]:
        def bad() -> None:
            raise ValueError("no")

        scheduler = stage.scheduler()
        await scheduler.initialize(
            [("a", "* * * * *", bad, SECOND), stage.task("b"), ("c", "* * * * *", bad, SECOND)]
        )
        await stage.until("00:00:00.500")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 b"]
