"""Lists of workflows over HTTP, page by page: nothing is left out, and nothing comes twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.workflow.http.stage import Stage, play
from tests.clauses import clause


async def publish(stage: Stage, *names: str) -> None:
    for name in names:
        await stage.host.commands.publish("orders", "orders", name)


async def page(stage: Stage, query: str) -> tuple[list[str], object]:
    """The ids of the events of a page, and what the next one is asked with."""
    found = (await stage.reader.get(f"/workflows/orders/events?{query}")).json()
    return [one["id"] for one in found["events"]], found["next"]


@clause("WHTTP-9")
def test_events_are_read_page_by_page_to_the_end() -> None:
    async def story(stage: Stage) -> None:
        await publish(stage, "o1", "o2", "o3", "o4")

        assert await page(stage, "limit=2") == (["o4", "o3"], 3)
        assert await page(stage, "limit=2&after=3") == (["o2", "o1"], None)
        assert await page(stage, "limit=2&after=1") == ([], None)

    play(story)


@clause("WHTTP-9")
def test_what_arrives_meanwhile_moves_no_page() -> None:
    async def story(stage: Stage) -> None:
        await publish(stage, "o1", "o2", "o3")
        assert await page(stage, "limit=1") == (["o3"], 3)

        await publish(stage, "o4", "o5")

        assert await page(stage, "limit=1&after=3") == (["o2"], 2)

    play(story)


@clause("WHTTP-9")
def test_a_page_keeps_to_the_topic_and_the_status() -> None:
    async def story(stage: Stage) -> None:
        await publish(stage, "o1", "o2", "o3")

        asked = "topic=orders&status=pending"
        assert await page(stage, f"limit=1&{asked}&after=3") == (["o2"], 2)
        assert await page(stage, "limit=1&status=consumed&after=3") == ([], None)

    play(story)


@clause("WHTTP-9")
def test_a_list_that_names_no_limit_has_a_hundred_rows() -> None:
    async def story(stage: Stage) -> None:
        await publish(stage, *(f"o{number}" for number in range(1, 102)))

        names, following = await page(stage, "")
        assert (len(names), names[-1], following) == (100, "o2", 2)

    play(story)


@clause("WHTTP-9")
@settings(max_examples=15, deadline=None)
@given(count=st.integers(0, 12), limit=st.integers(1, 7))
def test_the_pages_together_are_the_list(count: int, limit: int) -> None:
    async def story(stage: Stage) -> None:
        wanted = [f"o{number}" for number in range(count, 0, -1)]
        await publish(stage, *reversed(wanted))
        found, query = [], f"limit={limit}"
        while True:
            names, following = await page(stage, query)
            found += names
            if following is None:
                break
            query = f"limit={limit}&after={following}"

        assert found == wanted

    play(story)
