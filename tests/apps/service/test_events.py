"""The feed of events: numbered, in order, bounded, and waited for."""

import asyncio

from gnomon.apps.service.events import KEPT, EventFeed
from tests.clauses import clause
from tests.shell.steered_clock import SteeredClock


@clause("SERVICE-30")
def test_a_reader_that_has_seen_an_event_gets_those_after_it() -> None:
    feed = EventFeed(SteeredClock(5_000))
    first = feed.publish("schedule.upserted", user_id="acme", schedule_id="nightly", revision=1)
    second = feed.publish("schedule.paused", user_id="acme", schedule_id="nightly")

    assert feed.after(first.number) == [second]
    assert feed.after(0) == [first, second]
    assert feed.newest == second.number
    assert (first.kind, first.at_ms, first.fields) == ("schedule.upserted", 5_000, {"revision": 1})


@clause("SERVICE-30")
def test_the_numbers_of_a_later_process_are_greater() -> None:
    first = EventFeed(SteeredClock(5_000)).publish("one")
    later = EventFeed(SteeredClock(6_000)).publish("two")

    assert later.number > first.number


@clause("SERVICE-30")
def test_a_feed_forgets_its_oldest_events() -> None:
    feed = EventFeed(SteeredClock())
    for _ in range(KEPT + 5):
        feed.publish("tick")

    found = feed.after(0)

    assert len(found) == KEPT
    assert found[-1].number - found[0].number == KEPT - 1


@clause("SERVICE-30")
def test_everybody_who_waits_is_told_of_an_event() -> None:
    async def story() -> list[list[str]]:
        feed = EventFeed(SteeredClock())
        waiting = [asyncio.create_task(feed.wait(feed.newest)) for _ in range(2)]
        await asyncio.sleep(0)
        feed.publish("tick")
        return [[one.kind for one in await task] for task in waiting]

    assert asyncio.run(story()) == [["tick"], ["tick"]]
