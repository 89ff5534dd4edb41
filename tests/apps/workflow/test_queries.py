"""Lists of runs, events and versions in pages: together they are the list, and the last ends it."""

from collections.abc import Awaitable, Callable

import pytest

from gnomon.apps.workflow.script import load_workflow
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause

SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders")
sheet = orders.consumer("sheet", subscribes=["orders"])

@sheet.prepare
def prepare(ctx, state):
    return {"reservations": [{"topic": "orders", "ids": [one.id for one in ctx.peek("orders", limit=1)]}]}
"""  # noqa: E501
ROWS = 4


async def pages(
    look: Callable[[int, int | None], Awaitable[tuple[list[int], int | None]]], limit: int
) -> list[list[int]]:
    """The numbers of the rows on each page, as long as there is said to be another."""
    found, after = list[list[int]](), None
    while True:
        numbers, after = await look(limit, after)
        found.append(numbers)
        if after is None:
            return found


@clause("WHTTP-9", "WASK-9")
@pytest.mark.parametrize("limit", range(1, ROWS + 2))
@pytest.mark.parametrize("what", ["runs", "events", "versions"])
def test_pages_of_any_size_are_the_whole_list_and_the_last_is_not_empty(
    what: str, limit: int
) -> None:
    async def scenario(stage: Stage) -> list[list[int]]:
        await stage.start()
        for number in range(ROWS):
            text = f"{SCRIPT}\n# {number}\n"
            await stage.host.deploy(load_workflow(text, where="orders.py"), text=text)
            await stage.publish(f"o{number}")
        queries = stage.host.queries

        async def look(limit: int, after: int | None) -> tuple[list[int], int | None]:
            if what == "runs":
                runs = await queries.runs("orders", limit=limit, after=after)
                return [one.number for one in runs.rows], runs.next
            if what == "events":
                events = await queries.events("orders", limit=limit, after=after)
                return [one.number for one in events.rows], events.next
            versions = await queries.versions("orders", limit=limit, after=after)
            return [one.version for one in versions.rows], versions.next

        return await pages(look, limit)

    found = play(scenario)

    whole = [number for page in found for number in page]
    assert whole == sorted(whole, reverse=True)
    assert (len(whole), len(found)) == (ROWS, -(-ROWS // limit))
