"""
Server-sent events: what is happening, for as long as a client listens.

A stream begins after `Last-Event-ID`, or with what comes next, or, if the client does not want to
follow it, with the oldest that is known. It shows only what its client may see. When nothing
happens it sends a comment, so that every proxy on the way knows that it lives. It ends after ten
minutes, and browsers and other clients come back by themselves with the last id they saw. So no
client listens on with a token that has long expired.

Spec: HTTP-23.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import StreamingResponse

from gnomon.apps.service.events import FeedEvent
from gnomon.apps.service.http.parts import PartsOf, ServiceParts
from gnomon.apps.service.views import instant_text
from gnomon.ports.ledger_rows import Actor
from gnomon.shell.http.authentication import Reader
from gnomon.shell.http.openapi import problems

__all__ = ["router"]

BEAT_MS = 15_000
STREAM_MS = 600_000

router = APIRouter(tags=["events"])


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        **problems(429),
        200: {"description": "Events as they happen.", "content": {"text/event-stream": {}}},
    },
)
async def stream_events(
    actor: Reader,
    parts: PartsOf,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**62)] = None,
    follow: Annotated[
        bool, Query(description="false: end when everything that is known has been sent")
    ] = True,
) -> StreamingResponse:
    """Changes and runs, as server-sent events."""
    after = last_event_id
    if after is None:
        after = parts.events.newest if follow else 0
    stream = _follow(parts, actor, after) if follow else _known(parts, actor, after)
    return StreamingResponse(stream, media_type="text/event-stream")


async def _known(parts: ServiceParts, actor: Actor, after: int) -> AsyncIterator[str]:
    for event in parts.events.after(after):
        if actor.may_see(event.user_id):
            yield _text(event)


async def _follow(parts: ServiceParts, actor: Actor, after: int) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    ends_ms = parts.clock.monotonic_ms() + STREAM_MS
    while not parts.closing.is_set() and parts.clock.monotonic_ms() < ends_ms:
        found = await _news(parts, after)
        for event in found:
            after = event.number
            if actor.may_see(event.user_id):
                yield _text(event)
        if not found:
            yield ": still here\n\n"


async def _news(parts: ServiceParts, after: int) -> list[FeedEvent]:
    """The next events, or none when nothing happens for a while."""
    news = asyncio.create_task(parts.events.wait(after))
    await _first(news, parts.clock.sleep_ms(BEAT_MS), parts.closing.wait())
    return news.result() if news.done() and not news.cancelled() else []


async def _first(
    news: asyncio.Task[list[FeedEvent]], *others: Coroutine[object, object, object]
) -> None:
    """Wait for the first of them; nothing is left behind."""
    tasks: list[asyncio.Task[object]] = [asyncio.create_task(one) for one in others]
    try:
        await asyncio.wait([news, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting = [task for task in (news, *tasks) if not task.done()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _text(event: FeedEvent) -> str:
    facts = {
        "at": instant_text(event.at_ms),
        "user_id": event.user_id,
        "schedule_id": event.schedule_id,
        **event.fields,
    }
    return f"id: {event.number}\nevent: {event.kind}\ndata: {json.dumps(facts)}\n\n"
