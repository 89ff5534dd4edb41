"""
How do events reach those who listen at another process? They are sent, and heard there.

Where API and workers are processes of their own, each has a feed of its own. A relay sends what is
new in the feed of its process, several events in one text. It puts what it hears from others into
that feed, under numbers of this process, and does not send it on, so that an event comes to each
feed once. It is for looking, like the feed: what is said while no process hears is not repeated.

Spec: SERVICE-32.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence

from gnomon.apps.service.events import EventFeed, FeedEvent
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.observe.log import log

__all__ = ["EventRelay"]

BYTES_MAX = 7_900
"""Of one text; a database carries a little more."""
GAP_MS = 50
"""How long to wait between texts, so that events that come singly are sent together."""
_CUT = 200
_Fields = dict[str, str | int | bool | None]


class EventRelay:
    """The relay of one process, which `name` tells from all others."""

    def __init__(
        self, feed: EventFeed, clock: Clock, *, name: str,
        send: Callable[[Sequence[str]], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._feed, self._clock = feed, clock
        self._name, self._send = name, send
        self._seen = feed.newest

    async def work(self) -> None:
        """Send what is new, until cancelled."""
        while True:
            await self._feed.wait(self._seen)
            await self.tell()
            await self._clock.sleep_ms(GAP_MS)

    async def tell(self) -> None:
        """Send what is new, if there is something."""
        events, self._seen = self._feed.after(self._seen), self._feed.newest
        texts = list(_texts(self._name, [event for event in events if not event.heard]))
        try:
            if texts:
                await self._send(texts)
        except StoreError as error:
            log(logging.WARNING, "events could not be told to others", error=str(error))

    def hear(self, text: str) -> None:
        """Take note of what a relay has sent; of one's own, and of strangers, nothing."""
        try:
            name, events = json.loads(text)
            found = [_read(*event) for event in events if name != self._name]
        except (ValueError, TypeError):
            log(logging.WARNING, "something that is no event was heard", text=text[:_CUT])
            return
        for event in found:
            self._feed.hear(event)


def _texts(name: str, events: Sequence[FeedEvent]) -> Iterator[str]:
    """The events in as few texts as hold them."""
    frame = len(_coded([name, []]).encode())
    packed, length = list[str](), frame
    for event in events:
        one = _one(event, BYTES_MAX - frame)
        size = len(one.encode()) + 1
        if packed and length + size > BYTES_MAX:
            yield f"[{_coded(name)},[{','.join(packed)}]]"
            packed, length = [], frame
        packed.append(one)
        length += size
    if packed:
        yield f"[{_coded(name)},[{','.join(packed)}]]"


def _one(event: FeedEvent, most: int) -> str:
    """One event as text; its words are cut where it would be too long."""
    facts = event.at_ms, event.kind, event.user_id, event.schedule_id
    text = _coded([*facts, dict(event.fields)])
    if len(text.encode()) < most:
        return text
    cut = {
        name: value[:_CUT] if isinstance(value, str) else value
        for name, value in event.fields.items()
    }
    return _coded([*facts, cut])


def _coded(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _read(
    at_ms: int, kind: str, user_id: str | None, schedule_id: str | None, fields: _Fields
) -> FeedEvent:
    return FeedEvent(
        number=0, at_ms=at_ms, kind=kind, user_id=user_id, schedule_id=schedule_id,
        fields=dict(fields), heard=True,
    )  # fmt: skip
