"""
A bounded pool of threads that no program has to wait for.

The pool of the standard library is joined when the interpreter ends, so that one function that
hangs keeps a whole process from ending. These threads end with the process, whatever they do.

Spec: CALL-1, EMBED-5.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context

__all__ = ["DaemonThreads", "Outcome"]

Work = Callable[[], object]


class Outcome(Future[tuple[object, BaseException | None]]):
    """What a function returned or raised; as a value, for a future cannot take every error."""


class DaemonThreads:
    """At most `count` threads; what is more than they can do at once waits its turn."""

    def __init__(self, count: int, *, name: str) -> None:
        self._count = count
        self._name = name
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._begun = 0
        self._free = 0
        """How many threads have nothing to do, less what was handed over and not yet taken."""

    def submit(self, work: Work) -> Outcome:
        """Have this done, in the context of the caller."""
        outcome, context = Outcome(), copy_context()
        outcome.set_running_or_notify_cancel()

        def do() -> None:
            outcome.set_result(context.run(_result_of, work))

        with self._lock:
            self._waiting.put(do)
            self._free -= 1
            if self._free < 0 and self._begun < self._count:
                self._begin()
        return outcome

    def close(self) -> None:
        """Let the threads end once they have nothing to do."""
        with self._lock:
            for _ in range(self._begun):
                self._waiting.put(None)
            self._begun = self._count

    def _begin(self) -> None:
        name = f"{self._name}_{self._begun}"
        threading.Thread(target=self._work, name=name, daemon=True).start()
        self._begun += 1
        self._free += 1

    def _work(self) -> None:
        while (do := self._waiting.get()) is not None:
            do()
            with self._lock:
                self._free += 1


def _result_of(work: Work) -> tuple[object, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:
        return None, error
