"""Events as they happen."""

import asyncio
import json
import re

import pytest

from gnomon.apps.service.events import FeedEvent
from tests.apps.service.http.service_stage import MINUTELY, Stage, play
from tests.clauses import clause


def parsed(text: str) -> list[tuple[str, dict[str, object]]]:
    """The events of a stream: kind and facts."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.partition(": ")[::2] for line in block.splitlines() if line[0] != ":")
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@clause("HTTP-23")
def test_what_has_happened_since_an_event_is_told() -> None:
    async def story(stage: Stage) -> None:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        whole = (await stage.acme.get("/events?follow=false", headers={"last-event-id": "0"})).text
        number = re.findall(r"^id: (\d+)$", whole, re.MULTILINE)[0]
        await stage.acme.post("/schedules/minutely/trigger")
        rest = await stage.acme.get("/events?follow=false", headers={"last-event-id": number})

        assert rest.headers["content-type"].startswith("text/event-stream")
        assert parsed(whole) == [
            ("schedule.upserted", {"at": "2026-03-01T12:00:00.000Z", "user_id": "acme",
                                   "schedule_id": "minutely", "revision": 1}),
        ]  # fmt: skip
        assert [kind for kind, _ in parsed(rest.text)] == ["run.triggered"]
        assert (await stage.acme.get("/events?follow=false")).text == whole + rest.text

    play(story)


@clause("HTTP-23")
def test_a_caller_that_follows_is_told_at_once_until_the_service_ends() -> None:
    async def story(stage: Stage) -> None:
        listens = asyncio.Event()
        wait = stage.parts.events.wait

        async def noted(after: int) -> list[FeedEvent]:
            listens.set()
            return await wait(after)

        async def until_it_listens() -> None:
            await listens.wait()
            listens.clear()

        stage.parts.events.wait = noted  # type: ignore[method-assign]
        following = asyncio.create_task(stage.acme.get("/events"))
        await until_it_listens()
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        await until_it_listens()
        body = {"schedule_id": "minutely", "paused": True}
        await stage.acme.post("/schedules/pause", json=body)
        await until_it_listens()
        stage.parts.closing.set()
        text = (await following).text

        assert [kind for kind, _ in parsed(text)] == ["schedule.upserted", "schedule.paused"]

    play(story)


@clause("HTTP-23")
@pytest.mark.parametrize("number", ["x", "-1", "1.5", "9" * 30])
def test_an_odd_number_of_an_event_is_refused(number: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.acme.get("/events", headers={"last-event-id": number})

        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "last-event-id")

    play(story)
