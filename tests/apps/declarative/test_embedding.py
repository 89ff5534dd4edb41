"""A scheduler in a program: gathered with a decorator, as a script, in a thread."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import gnomon
from gnomon.apps.declarative.embedding import Background
from gnomon.errors import (
    CronExpressionInvalidError,
    DefinitionError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    ScheduleDuplicateTaskError,
    StopSchedulerError,
)
from gnomon.ports import Entry
from gnomon.shell.store.journal import SqliteJournalOpener
from tests.apps.declarative.stage import SECOND, Stage
from tests.clauses import clause


async def story(store: Path) -> list[str]:
    journal = await SqliteJournalOpener(str(store)).open()
    entries: list[Entry] = await journal.entries()
    await journal.close()
    return [f"{entry.event} {entry.task}".strip() for entry in entries]


@clause("EMBED-1")
def test_decorated_functions_are_gathered_and_stay_what_they_are() -> None:
    tasks = gnomon.collect()
    hourly = gnomon.every("1h")

    @tasks("0 3 * * *")
    async def backup() -> str:
        return "done"

    @tasks(hourly, name="clean up", retry_delay="1h30m")
    def clean() -> None:
        """Removes old files."""

    assert tasks == [
        ("backup", "0 3 * * *", backup, timedelta(minutes=1)),
        ("clean up", hourly, clean, timedelta(hours=1, minutes=30)),
    ]
    assert asyncio.run(backup()) == "done"


@clause("EMBED-1")
def test_two_lists_know_nothing_of_each_other() -> None:
    one, two = gnomon.collect(), gnomon.collect()
    one("0 3 * * *")(print)

    assert len(one) == 1
    assert two == []


@clause("EMBED-1")
def test_a_delay_that_is_no_duration_is_refused_where_it_stands() -> None:
    with pytest.raises(DefinitionError, match="retry_delay"):
        gnomon.collect()("0 3 * * *", retry_delay="soon")


@clause("EMBED-4")
def test_a_decorator_without_a_cron_text_says_what_to_write() -> None:
    tasks = gnomon.collect()

    with pytest.raises(DefinitionError, match="before it decorates") as refusal:

        @tasks  # type: ignore[arg-type]
        def backup() -> None: ...

    assert refusal.value.hint == 'write @tasks("0 3 * * *")'
    assert tasks == []


def generates() -> Iterator[None]:
    yield


@clause("EMBED-4")
@pytest.mark.parametrize(
    ("cron", "options", "function", "expected"),
    [
        ("*/5 * * * *", {}, print, CronExpressionInvalidError),
        ("0 3 30 2 *", {}, print, CronExpressionInvalidError),
        ("0 3 * * *", {"retry_delay": timedelta(-1)}, print, NegativeRetryDelayError),
        ("0 3 * * *", {"retry_delay": 5}, print, RegistrationShapeError),
        ("0 3 * * *", {"name": ""}, print, InvalidRegistrationError),
        ("0 3 * * *", {"name": "first"}, print, ScheduleDuplicateTaskError),
        ("0 3 * * *", {"timeout": "soon"}, print, DefinitionError),
        ("0 3 * * *", {}, generates, InvalidRegistrationError),
        ("0 3 * * *", {}, "print", RegistrationShapeError),
        (5, {}, print, RegistrationShapeError),
    ],
)
def test_what_initialize_would_refuse_is_refused_where_it_is_written(
    cron: object, options: dict[str, object], function: object, expected: type[Exception]
) -> None:
    tasks = gnomon.collect()
    tasks("0 3 * * *", name="first")(print)

    with pytest.raises(expected) as refusal:
        tasks(cron, **options)(function)  # type: ignore[arg-type, type-var]

    assert len(tasks) == 1
    assert "registrations[0]" not in str(refusal.value)


@clause("EMBED-1", "CALL-7")
def test_a_decorated_function_may_have_a_time_out_of_its_own() -> None:
    tasks = gnomon.collect()

    @tasks("0 3 * * *", timeout="1h")
    async def backup() -> str:
        return "done"

    assert tasks[0][2] == gnomon.with_timeout(backup, timedelta(hours=1))
    assert asyncio.run(backup()) == "done"


@clause("EMBED-5")
@pytest.mark.parametrize("how", [[], ["dropped"]])
def test_a_second_interrupt_ends_a_script_whose_function_hangs(
    tmp_path: Path, how: list[str]
) -> None:
    store = tmp_path / "gnomon.sqlite3"
    command = [sys.executable, "-m", "tests.apps.declarative.hanging_script", str(store), *how]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stdout is not None
    with process, process.stdout as out:
        assert out.readline() == "hangs\n"
        process.send_signal(signal.SIGINT)
        assert out.readline() == "waits\n"
        if not how:
            process.send_signal(signal.SIGINT)
        assert out.read() == ""

    assert process.returncode != 0
    # What it cut off has no end, and is started again next time.
    assert {"RunStart hang", "StopEnd", "RunFailure hang"} & {*asyncio.run(story(store))} == {
        "RunStart hang"
    }


@clause("EMBED-5", "STOP-8")
def test_a_program_waits_for_a_hanging_function_no_longer_than_it_says(tmp_path: Path) -> None:
    store = tmp_path / "gnomon.sqlite3"
    release, called = threading.Event(), threading.Event()

    def hang() -> None:
        called.set()
        release.wait()

    scheduler = gnomon.Scheduler(store, zone="UTC")
    beside = gnomon.background([("hang", "* * * * *", hang, SECOND)], scheduler)
    called.wait()
    with pytest.raises(StopSchedulerError, match="still running when the time was up: hang"):
        beside.stop(within="1ms")
    release.set()


@clause("EMBED-5")
@pytest.mark.parametrize("threads", [0, 4])
def test_a_callback_may_stop_the_program_beside_which_it_runs(threads: int, tmp_path: Path) -> None:
    store = tmp_path / "gnomon.sqlite3"
    begun, asked = threading.Event(), threading.Event()
    beside: list[Background] = []

    def callback() -> None:
        begun.wait()
        beside[0].stop()
        asked.set()

    scheduler = gnomon.Scheduler(store, zone="UTC", threads=threads)
    beside.append(gnomon.background([("a", "* * * * *", callback, SECOND)], scheduler))
    begun.set()
    asked.wait()
    beside[0].stop()

    found = asyncio.run(story(store))
    assert found[-1] == "StopEnd"
    assert "RunSuccess a" in found


@clause("EMBED-2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_script_runs_until_it_is_told_to_stop_and_stops_in_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    store = tmp_path / "gnomon.sqlite3"
    command = [sys.executable, "-m", "tests.apps.declarative.lone_script", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as out:
        assert out.readline() == "ticks\n"
        process.send_signal(number)
        assert out.read() == "ticked\nbye\n"

    assert process.returncode == 0
    assert asyncio.run(story(store)) == [
        "InitStart", "InitSuccess", "RunStart tick", "StopStart", "RunSuccess tick", "StopEnd",
    ]  # fmt: skip


@clause("EMBED-2")
def test_a_script_belongs_into_the_main_thread() -> None:
    errors: list[DefinitionError] = []

    def work() -> None:
        with pytest.raises(DefinitionError) as refusal:
            gnomon.run([])
        errors.append(refusal.value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert errors[0].hint == "use gnomon.background() elsewhere"


@clause("EMBED-3")
def test_a_program_without_an_event_loop_runs_one_in_a_thread(tmp_path: Path) -> None:
    called = threading.Event()
    threads: list[str] = []

    async def callback() -> None:
        threads.append(threading.current_thread().name)
        called.set()

    scheduler = gnomon.Scheduler(tmp_path / "gnomon.sqlite3", zone="UTC")
    with gnomon.background([("a", "* * * * *", callback, SECOND)], scheduler) as beside:
        called.wait()
    beside.stop()

    assert threads[0] == "gnomon-background"
    assert asyncio.run(story(tmp_path / "gnomon.sqlite3"))[-1] == "StopEnd"


@clause("EMBED-3")
def test_an_error_of_initialize_is_raised_where_the_thread_was_asked_for() -> None:
    scheduler = gnomon.Scheduler(":memory:", zone="UTC")

    with pytest.raises(ScheduleDuplicateTaskError):
        gnomon.background([("a", "* * * * *", print, SECOND)] * 2, scheduler)


@clause("EMBED-3", "STOP-5")
def test_an_error_of_stop_is_raised_where_it_was_asked_for() -> None:
    stage = Stage("2026-03-01T00:00:00")
    scheduler = gnomon.Scheduler(zone="UTC", journal=stage.opener)
    beside = gnomon.background([("a", "0 0 1 1 *", print, SECOND)], scheduler)
    stage.faults.append("close before")

    with pytest.raises(StopSchedulerError):
        beside.stop()
    beside.stop()


@clause("EMBED-2")
def test_the_example_runs_and_stops(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "scheduler.py"
    process = subprocess.Popen(
        [sys.executable, str(example)], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    with process, process.stdout as out:
        assert out.readline().startswith("slow: due, for ")
        process.kill()
    again = subprocess.Popen(
        [sys.executable, str(example)], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert again.stdout is not None
    with again, again.stdout as out:
        # Due, if a minute has begun meanwhile.
        assert out.readline().startswith(("slow: interrupted, for ", "slow: due, for "))
        again.kill()


@clause("RUN-16", "OWNER-4")
@pytest.mark.parametrize("beside", [False, True])
def test_a_program_whose_store_is_gone_ends(beside: bool, tmp_path: Path) -> None:
    store = tmp_path / "store"
    began = []

    def remove() -> None:
        began.append(1)
        store.unlink(missing_ok=True)

    def whole() -> None:
        tasks = [("remove", gnomon.every("1s"), remove, SECOND)]
        if beside:
            background = gnomon.background(tasks, gnomon.Scheduler(store))
            background._thread.join()
            background.stop()
        else:
            gnomon.run(tasks, gnomon.Scheduler(store))

    with pytest.raises(StopSchedulerError, match="was removed while this process used it"):
        whole()
    assert began == [1]
    assert not store.exists()
