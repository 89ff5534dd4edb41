"""
What is happening right now? A feed of numbered events, for callers that want to watch.

The feed holds the newest thousand that this process knows of, in order. A caller that has seen
number n asks for those after it, and waits when there are none. The feed is for looking, not for
keeping: the ledger and the audit log are what counts. After a restart the numbers go on from the
clock, so that an old number never finds the wrong events.

Spec: SERVICE-30.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gnomon.ports import Clock

__all__ = ["EventFeed", "FeedEvent"]

KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """Something that has happened."""

    number: int
    at_ms: int
    kind: str
    """`schedule.upserted`, `run.started` and the like."""
    user_id: str | None
    """Whose it is; None for what belongs to no user."""
    schedule_id: str | None
    fields: Mapping[str, str | int | bool | None] = field(default_factory=dict)
    heard: bool = False
    """Whether it happened in another process, and was heard of."""


class EventFeed:
    """The newest events of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[FeedEvent] = deque(maxlen=KEPT)
        self._number = clock.now_ms()
        self._news = asyncio.Event()

    def publish(
        self,
        kind: str,
        *,
        user_id: str | None = None,
        schedule_id: str | None = None,
        **fields: str | int | bool | None,
    ) -> FeedEvent:
        """Tell all callers that watch."""
        return self._add(
            FeedEvent(
                number=0, at_ms=self._clock.now_ms(), kind=kind, user_id=user_id,
                schedule_id=schedule_id, fields=fields,
            )
        )  # fmt: skip

    def hear(self, event: FeedEvent) -> FeedEvent:
        """Tell of what has happened in another process, under a number of this one."""
        return self._add(event)

    def _add(self, event: FeedEvent) -> FeedEvent:
        self._number += 1
        event = replace(event, number=self._number)
        self._events.append(event)
        self._news.set()
        self._news = asyncio.Event()
        return event

    @property
    def newest(self) -> int:
        """The number of the newest event, or the one before the first."""
        return self._number

    def after(self, number: int) -> list[FeedEvent]:
        """The events after this number that are still here, oldest first."""
        return [event for event in self._events if event.number > number]

    async def wait(self, after: int) -> list[FeedEvent]:
        """The events after this number, once there is one."""
        while not (found := self.after(after)):
            await self._news.wait()
        return found
