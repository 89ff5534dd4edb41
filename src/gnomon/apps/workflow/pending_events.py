"""
What does a `prepare` see of the events that are pending?

The oldest of each topic are loaded before it begins. The others are asked for while it is at work:
page by page as it goes through them, or by their ids. A function goes through them with `for`, in
the thread that it has, and a coroutine with `async for`. What it has looked at is remembered, so
that a consumer that stands still before events that it never looks at can be told from one that
leaves them on purpose.

Spec: FLOW-29, FLOW-30, SEEN-11.
"""

import json
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from typing import NamedTuple, TypeVar

from gnomon.errors import LogicError
from gnomon.ports.workflow_facts import Event as StoredEvent
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["PAGE", "Event", "Events", "PendingEvents", "Source", "at_once"]

PAGE = 500
"""How many events, or ids, are asked for at once."""
_Page = list[StoredEvent]
_T = TypeVar("_T")
_Turn = Callable[[], Coroutine[object, object, _Page]]
"""Gives the next page each time that it is called, and an empty one at the end."""


class Event(NamedTuple):
    """An event as a script sees it."""

    topic: str
    id: str
    payload: object
    attempt: int


class Source(NamedTuple):
    """Where more events can be asked for."""

    log: WorkflowLog
    workflow: str
    wait: Callable[[Coroutine[object, object, _Page]], _Page]
    """How a function gets what only a coroutine can."""


class Events:
    """Pending events: `for` goes through them in a function, `async for` in a coroutine."""

    def __init__(
        self, begin: Callable[[], _Turn], show: Callable[[StoredEvent], Event],
        wait: Callable[[Coroutine[object, object, _Page]], _Page],
    ) -> None:  # fmt: skip
        self._begin = begin
        self._show = show
        self._wait = wait

    async def __aiter__(self) -> AsyncIterator[Event]:
        turn = self._begin()
        while page := await turn():
            for one in page:
                yield self._show(one)

    def __iter__(self) -> Iterator[Event]:
        turn = self._begin()
        while page := self._wait(turn()):
            for one in page:
                yield self._show(one)


def at_once(asking: Coroutine[object, object, _T]) -> _T:
    """What is asked for, where there is nothing to wait for; a `LogicError` where there is."""
    try:
        asking.send(None)
    except StopIteration as done:
        found: _T = done.value
        return found
    asking.close()
    raise LogicError(
        "a coroutine must not wait for events with for: write `async for`, e.g. "
        "[one async for one in ctx.each(topic)]"
    )


class PendingEvents:
    """The events that are pending as a prepare begins, and what it has looked at of them."""

    def __init__(
        self, loaded: Mapping[str, Sequence[StoredEvent]], sizes: Mapping[str, int],
        source: Source | None = None,
    ) -> None:  # fmt: skip
        self._loaded = loaded
        self._sizes = sizes
        self._source = source
        self._rounds: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """Of each event that was looked at, through how many consumers it has come."""
        self._searched: set[str] = set()
        """Topics in which events were looked for by their ids: the others are not meant."""
        self.failure: Exception | None = None
        """What the store said when more was asked for in vain."""

    def size(self, topic: str) -> int:
        return self._sizes.get(topic, 0)

    def first(self, topic: str, limit: int) -> list[Event]:
        """The oldest ones of a topic."""
        return [self._show(one) for one in self._loaded.get(topic, ())[: max(limit, 0)]]

    def each(self, topic: str, check: Callable[[], None]) -> Events:
        """All of a topic, oldest first; `check` is called before each page."""

        def begin() -> _Turn:
            passed, last = 0, None

            async def turn() -> _Page:
                nonlocal passed, last
                check()
                if last is None:
                    page = list(self._loaded.get(topic, ()))
                elif passed < self.size(topic):
                    page = await self._after(topic, last)
                else:
                    page = []
                passed, last = passed + len(page), page[-1].number if page else last
                return page

            return turn

        return self._events(begin)

    def find(self, topic: str, ids: Sequence[str], check: Callable[[], None]) -> Events:
        """Those of a topic that have these ids, oldest first within each page of ids."""
        self._searched.add(topic)

        def begin() -> _Turn:
            pages = iter([list(ids[at : at + PAGE]) for at in range(0, len(ids), PAGE)])

            async def turn() -> _Page:
                check()
                for wanted in pages:
                    if found := await self._found(topic, wanted):
                        return found
                return []

            return turn

        return self._events(begin)

    def rounds_of(self, reserved: Collection[tuple[str, str]]) -> int:
        """Through how many consumers those have come that are taken."""
        for events in self._loaded.values():
            for one in events:
                self._rounds[one.topic].setdefault(one.id, one.rounds)
        return max((self._rounds[topic].get(id, 0) for topic, id in reserved), default=0)

    def unseen(self) -> dict[str, int]:
        """Of each topic that was looked at, how many of its events were not."""
        left = {
            topic: self.size(topic) - len(shown)
            for topic, shown in self._rounds.items()
            if topic not in self._searched
        }
        return {topic: size for topic, size in left.items() if size > 0}

    def _events(self, begin: Callable[[], _Turn]) -> Events:
        return Events(begin, self._show, at_once if self._source is None else self._source.wait)

    def _show(self, one: StoredEvent) -> Event:
        self._rounds[one.topic][one.id] = one.rounds
        return Event(one.topic, one.id, json.loads(one.payload), one.attempt)

    async def _after(self, topic: str, number: int) -> _Page:
        if self._source is None:
            return []
        log, workflow, _ = self._source
        try:
            found = await log.peek(workflow, [topic], limit=PAGE, after=number)
        except Exception as error:
            self.failure = error
            raise
        return found[topic]

    async def _found(self, topic: str, ids: list[str]) -> _Page:
        if self._source is None or not self.size(topic):
            return []
        log, workflow, _ = self._source
        try:
            return await log.find(workflow, topic, ids)
        except Exception as error:
            self.failure = error
            raise
