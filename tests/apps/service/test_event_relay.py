"""Events reach the feeds of other processes: once, in order, and whole as far as they fit."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from gnomon.apps.service.event_relay import BYTES_MAX, EventRelay
from gnomon.apps.service.events import EventFeed, FeedEvent
from gnomon.errors import StoreError
from tests.clauses import clause
from tests.shell.virtual_time import VirtualClock, run_virtually


class Air:
    """Carries what one relay says to every relay, the sender too."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.relays: list[EventRelay] = []
        self.said: list[str] = []
        self.is_broken = False

    def feed(self, name: str) -> EventFeed:
        feed = EventFeed(self.clock)
        self.relays.append(EventRelay(feed, self.clock, name=name, send=self._send))
        return feed

    async def carry(self) -> None:
        """Let every relay do its work for a second."""
        tasks = [asyncio.create_task(relay.work()) for relay in self.relays]
        await self.clock.sleep_ms(1_000)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, texts: Sequence[str]) -> None:
        if self.is_broken:
            raise StoreError("cannot be reached", where="database", transient=True)
        for text in texts:
            self.said.append(text)
            for relay in self.relays:
                relay.hear(text)


def kinds(feed: EventFeed) -> list[str]:
    return [event.kind for event in feed.after(0)]


@clause("SERVICE-32")
def test_what_one_process_does_is_told_at_the_other_once() -> None:
    async def story() -> None:
        air = Air()
        api, worker = air.feed("api"), air.feed("worker")
        api.publish("schedule.upserted", user_id="acme", schedule_id="nightly", revision=1)
        done = worker.publish(
            "run.ended", user_id="acme", schedule_id="nightly", success=True, detail="1 node"
        )
        worker.publish("run.skipped", user_id="acme", schedule_id="nightly", reason=None)
        await air.carry()

        [own, *heard] = api.after(0)
        assert [event.kind for event in heard] == ["run.ended", "run.skipped"]
        assert heard[0] == FeedEvent(
            number=own.number + 1, at_ms=done.at_ms, kind="run.ended", user_id="acme",
            schedule_id="nightly", fields={"success": True, "detail": "1 node"}, heard=True,
        )  # fmt: skip
        assert kinds(worker) == ["run.ended", "run.skipped", "schedule.upserted"]
        assert len(air.said) == 2

    run_virtually(story())


@clause("SERVICE-32")
def test_many_events_go_in_few_texts_and_all_arrive_in_order() -> None:
    async def story() -> None:
        air = Air()
        api, worker = air.feed("api"), air.feed("worker")
        for number in range(500):
            worker.publish("run.ended", schedule_id="nightly", number=number)
        await air.carry()

        assert [event.fields["number"] for event in api.after(0)] == list(range(500))
        assert max(len(text.encode()) for text in air.said) <= BYTES_MAX
        assert len(air.said) < 10

    run_virtually(story())


@clause("SERVICE-32")
def test_words_that_are_too_long_are_cut() -> None:
    async def story() -> None:
        air = Air()
        api, worker = air.feed("api"), air.feed("worker")
        worker.publish("run.failed", schedule_id="nightly", detail="é" * 5_000, success=False)
        await air.carry()

        [event] = api.after(0)
        assert event.fields == {"detail": "é" * 200, "success": False}

    run_virtually(story())


@clause("SERVICE-32")
def test_a_relay_goes_on_when_its_database_is_back() -> None:
    async def story() -> None:
        air = Air()
        api, worker = air.feed("api"), air.feed("worker")
        air.is_broken = True
        worker.publish("run.ended", number=1)
        await air.carry()
        air.is_broken = False
        worker.publish("run.ended", number=2)
        await air.carry()

        assert [event.fields["number"] for event in api.after(0)] == [2]

    run_virtually(story())


@clause("SERVICE-32")
@pytest.mark.parametrize("text", ["", "{}", "[1]", '["x", [[1]]]', json.dumps(["x", 3])])
def test_what_is_no_event_is_passed_over(text: str) -> None:
    async def story() -> None:
        air = Air()
        api = air.feed("api")
        air.relays[0].hear(text)

        assert api.after(0) == []

    run_virtually(story())


@clause("SERVICE-32")
def test_what_happens_at_the_very_end_can_be_told_before_one_goes() -> None:
    async def story() -> None:
        air = Air()
        api, worker = air.feed("api"), air.feed("worker")
        worker.publish("run.ended")
        await air.relays[1].tell()
        await air.relays[1].tell()

        assert kinds(api) == ["run.ended"]

    run_virtually(story())
