"""Callbacks: how the scheduler calls them, and that nothing they do reaches another task."""

import asyncio
import logging
import threading
import types
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from datetime import timedelta
from functools import partial

import pytest

import gnomon
from gnomon.apps.declarative.log import LOGGER
from gnomon.errors import DefinitionError, InvalidRegistrationError
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
            meeting.wait()  # in the loop's own thread, no second callback would come
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


class Own(BaseException):
    """What a library raises that wants to pass every `except Exception`."""


class UnspeakableError(Exception):
    """An exception that cannot be printed."""

    def __str__(self) -> str:
        raise Own


def fails_with(error: BaseException) -> Callable[[], object]:
    async def callback() -> None:
        raise error

    return callback


def fails_in_the_loop(error: BaseException) -> Callable[[], object]:
    def callback() -> None:
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
        (BaseExceptionGroup("all", [Own()]), "BaseExceptionGroup: all (1 sub-exception)"),
        (Own("beyond"), "Own: beyond"),
        (GeneratorExit("closed"), "GeneratorExit: closed"),
        (StopAsyncIteration(), "StopAsyncIteration"),
        (UnspeakableError(), "UnspeakableError: (no text)"),
        (ValueError("\0"), "ValueError: \\x00"),
    ],
)
@pytest.mark.parametrize("kind", [fails_with, fails_in_the_loop])
def test_whatever_a_callback_raises_is_the_failure_of_its_own_run(
    error: BaseException, detail: str, kind: Callable[[BaseException], Callable[[], object]]
) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        bad = ("bad", "0 0 * * *", kind(error), 3600 * SECOND)
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


@clause("CALL-4")
@pytest.mark.parametrize("error", [Own(), GeneratorExit(), KeyboardInterrupt(), UnspeakableError()])
def test_a_function_in_a_thread_may_raise_what_it_likes_and_be_tried_again(
    error: BaseException,
) -> None:
    async def scenario() -> list[str]:
        def callback() -> None:
            raise error

        def observe(entries: Sequence[Entry]) -> None:
            for entry in entries:
                events.append(entry.event)
                if entry.event is Event.RUN_FAILURE:
                    failed.release()

        events: list[str] = []
        failed = asyncio.Semaphore(0)
        scheduler = gnomon.Scheduler(":memory:", zone="UTC", threads=1, observe=observe)
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await failed.acquire()
        await failed.acquire()
        await scheduler.stop()
        return events[2:6] + events[-1:]

    assert asyncio.run(scenario()) == ["RunStart", "RunFailure"] * 2 + ["StopEnd"]


@clause("CALL-9")
@pytest.mark.parametrize("kind", [fails_with, fails_in_the_loop])
def test_a_keyboard_interrupt_in_the_loop_ends_its_run_and_goes_on_to_the_program(
    kind: Callable[[BaseException], Callable[[], object]],
) -> None:
    stories: list[list[str]] = []

    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        await scheduler.initialize([("a", "1 * * * *", kind(KeyboardInterrupt()), 60 * SECOND)])
        try:
            await stage.until("00:01:30")
        finally:
            await scheduler.stop()
            stories.append(await stage.story())

    with pytest.raises(KeyboardInterrupt):
        on_stage(scenario)
    assert stories == [
        ["InitStart", "InitSuccess", "RunStart a", "RunFailure a", "StopStart", "StopEnd"]
    ]


def generates() -> Iterator[None]:
    yield


async def generates_later() -> AsyncIterator[None]:
    yield


class Generates:
    """An object whose call is a generator function."""

    def __call__(self) -> Iterator[None]:
        yield


@clause("CALL-6")
@pytest.mark.parametrize(
    "function",
    [
        generates, generates_later, partial(generates), partial(generates_later), Generates(),
        Generates().__call__, gnomon.with_timeout(generates, "5m"),
    ],
)  # fmt: skip
def test_a_generator_function_is_refused(function: Callable[[], object]) -> None:
    async def scenario(stage: Stage) -> str:
        with pytest.raises(InvalidRegistrationError) as refusal:
            await stage.scheduler().initialize([("a", "* * * * *", function, SECOND)])
        return refusal.value.hint

    assert on_stage(scenario).startswith("return instead of yield")


@clause("CALL-6")
def test_a_function_that_returns_a_generator_fails_for_nothing_was_done() -> None:
    async def scenario(stage: Stage) -> list[str]:
        @types.coroutine
        def old() -> Generator[None, None, None]:
            stage.note("old coroutine")
            yield

        scheduler = stage.scheduler()
        callbacks: list[Callable[[], object]] = [lambda: generates(), generates_later_too, old]
        await scheduler.initialize(
            [(str(number), "0 0 * * *", one, 60 * SECOND) for number, one in enumerate(callbacks)]
        )
        await stage.until("00:00:30")
        await scheduler.stop()
        details = {one.task: one.detail for one in await stage.entries() if one.detail}
        return [*stage.notes, details["0"], details["1"]]

    failure = "TypeError: the callback returned a generator, which nothing iterates, so nothing"
    assert on_stage(scenario) == ["00:00:00 old coroutine", *[f"{failure} was done"] * 2]


def generates_later_too() -> object:
    return generates_later()


@clause("CALL-7")
def test_a_run_that_takes_longer_than_its_time_out_is_cancelled_and_fails() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        name, cron, slow, _ = stage.task("a", "0 0 * * *", takes=100)
        limited = gnomon.with_timeout(slow, 30 * SECOND)
        scheduler = stage.scheduler(timeout="1m20s")
        await scheduler.initialize(
            [(name, cron, limited, 600 * SECOND), stage.task("b", "0 0 * * *", takes=100),
             stage.task("c", "0 0 * * *", takes=79)]
        )  # fmt: skip
        await stage.until("00:01:22")
        await scheduler.stop()
        ends = [one for one in await stage.entries() if "Run" in one.event and one.t_ms]
        return [f"{one.t_ms} {one.event} {one.task}" for one in ends], [ends[0].detail]

    assert on_stage(scenario) == (
        ["30000 RunFailure a", "79000 RunSuccess c", "80000 RunFailure b"],
        ["TimeoutError: did not end within 30 s"],
    )


@clause("CALL-8")
def test_a_function_in_a_thread_that_is_overdue_is_told_of_and_not_doubled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[asyncio.Event] = []

    class Hearing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("TaskRunOverdue"):
                heard[0].set()

    async def scenario() -> list[str]:
        def callback() -> None:
            release.wait()

        def observe(entries: Sequence[Entry]) -> None:
            events.extend(entry.event for entry in entries)

        events: list[str] = []
        release, overdue = threading.Event(), asyncio.Event()
        heard.append(overdue)
        scheduler = gnomon.Scheduler(":memory:", zone="UTC", timeout="1ms", observe=observe)
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await overdue.wait()
        release.set()
        await scheduler.stop()
        return events[2:]

    handler = Hearing()
    LOGGER.addHandler(handler)
    try:
        events = asyncio.run(scenario())
    finally:
        LOGGER.removeHandler(handler)
    assert events == ["RunStart", "StopStart", "RunSuccess", "StopEnd"]
    (line,) = [one for one in caplog.records if one.getMessage().startswith("TaskRunOverdue")]
    assert line.fields["ends"] is False  # type: ignore[attr-defined]


@clause("CALL-7")
@pytest.mark.parametrize("timeout", ["0", "-1s", "soon", timedelta(0), 5])
def test_a_time_out_of_nothing_is_refused(timeout: object) -> None:
    with pytest.raises(DefinitionError, match="timeout"):
        gnomon.with_timeout(print, timeout)  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="timeout"):
        gnomon.Scheduler(":memory:", timeout=timeout)  # type: ignore[arg-type]
