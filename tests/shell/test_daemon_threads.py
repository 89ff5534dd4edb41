"""Threads that no program waits for: as many as allowed, in order, in the caller's context."""

import threading
from collections.abc import Callable
from contextvars import ContextVar

from gnomon.shell.daemon_threads import DaemonThreads
from tests.clauses import clause

WORD: ContextVar[str] = ContextVar("word", default="none")


@clause("CALL-1")
def test_work_is_done_by_as_few_threads_as_are_needed_and_no_more_than_allowed() -> None:
    pool = DaemonThreads(3, name="pool")
    names: list[str] = []

    def note() -> None:
        names.append(threading.current_thread().name)

    first = pool.submit(note)
    first.result()
    meeting = threading.Barrier(4)
    held = [pool.submit(meeting.wait) for _ in range(3)]
    later = pool.submit(note)
    assert not later.done()
    meeting.wait()
    for one in held:
        one.result()
    later.result()
    pool.close()

    assert names[0] == "pool_0"
    assert names[1] in {"pool_0", "pool_1", "pool_2"}
    assert not any(one.name == "pool_3" for one in threading.enumerate())


@clause("CALL-1")
def test_what_a_function_returns_or_raises_is_a_value() -> None:
    pool = DaemonThreads(1, name="pool")
    failure = KeyboardInterrupt()

    def fail() -> None:
        raise failure

    given: Callable[[], object] = lambda: 7  # noqa: E731
    assert pool.submit(given).result() == (7, None)
    assert pool.submit(fail).result() == (None, failure)
    pool.close()


@clause("CALL-1", "STOP-9")
def test_work_is_done_in_the_context_of_its_caller() -> None:
    pool = DaemonThreads(1, name="pool")
    token = WORD.set("here")
    work = pool.submit(WORD.get)
    WORD.reset(token)

    assert work.result() == ("here", None)
    pool.close()


@clause("EMBED-5")
def test_a_pool_that_is_closed_ends_its_threads_once_they_are_done() -> None:
    pool = DaemonThreads(2, name="closing")
    release = threading.Event()
    work = [pool.submit(release.wait) for _ in range(2)]
    threads = [one for one in threading.enumerate() if one.name.startswith("closing")]
    pool.close()
    assert [one.daemon for one in threads] == [True, True]
    release.set()
    for one in threads:
        one.join()

    assert [one.result() for one in work] == [(True, None)] * 2
