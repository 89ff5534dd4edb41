"""
The tables of the contract about scheduling, row by row, with the real host on virtual time.

What is persisted and what is recovered, the constraints of `wakeAt`, and what users see. The rules
have tests of their own; the patterns of waking have theirs in `test_patterns`.
"""

import pytest

from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Workflow
from gnomon.errors import AuthError
from tests.apps.workflow.shop import Shop
from tests.apps.workflow.stage import START, Stage, everything, play, simple
from tests.clauses import clause

MINUTE, HOUR = 60_000, 3_600_000


@clause("RECOVER-6", "WHEN-3")
@pytest.mark.parametrize(
    ("away", "ran"), [(3, [0, 10, 20]), (45, [0, 48, 58]), (7, [0, 10, 20])]
)  # fmt: skip
def test_a_persisted_next_run_shows_what_was_missed(away: int, ran: list[int]) -> None:
    orders = Workflow("orders")
    at: list[int] = []

    async def scenario(stage: Stage) -> None:
        orders.producer("fetch", interval="10m")(
            lambda ctx, state: at.append((stage.now_ms() - START) // MINUTE)
        )
        await stage.start(orders)
        await stage.advance(minutes=3)
        await stage.crash()
        await stage.advance(minutes=away)
        await stage.start(orders)
        await stage.advance(minutes=60 - 3 - away)

        assert at[:3] == ran

    play(scenario)


@clause("WAKE-2", "RECOVER-6")
@pytest.mark.parametrize(("away", "woke"), [(20, [0, 60]), (90, [0, 100])])
def test_a_persisted_wish_to_wake_is_kept_after_a_restart(away: int, woke: list[int]) -> None:
    orders, sheet = simple()
    at: list[int] = []

    async def scenario(stage: Stage) -> None:
        @sheet.prepare
        def prepare(ctx: Context, state: object) -> object:
            at.append((stage.now_ms() - START) // MINUTE)
            return {"wakeAt": "2026-03-01T01:00:00Z"} if len(at) == 1 else {}

        await stage.start(orders)
        await stage.advance(minutes=10)
        await stage.crash()
        await stage.advance(minutes=away)
        await stage.start(orders)
        await stage.advance(minutes=120)

        assert at == woke

    play(scenario)


@clause("FLOW-15", "RECOVER-6")
def test_a_persisted_state_is_handed_in_after_a_restart() -> None:
    shop = Shop()

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.crash()
        await stage.start(shop.workflow)
        await stage.advance(minutes=10)

        assert (await stage.facts()).handler("fetch").state == '{"fetched":2}'

    play(scenario)


@clause("RECOVER-6", "WHEN-7")
def test_pending_events_make_a_consumer_dirty_again_after_a_restart() -> None:
    shop = Shop()

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.crash()
        await WorkflowCommands(stage.log, stage, ring=lambda name: None).publish(
            "orders", "orders", "o1", "o1"
        )
        await stage.start(shop.workflow)

        assert shop.shipped == [["o1"]]

    play(scenario)


@clause("RECOVER-6", "WHEN-6")
def test_times_that_have_passed_queue_a_producer_again_after_a_restart() -> None:
    shop = Shop("prepare", "hang")

    async def scenario(stage: Stage) -> None:
        await stage.start(shop.workflow)
        await stage.advance(minutes=9)
        await stage.publish("o1")
        await stage.advance(minutes=2)  # the producer is queued behind it
        assert shop.calls == ["fetch", "prepare"]
        await stage.crash()
        await stage.start(shop.workflow)

        assert shop.calls[2:] == [
            "prepare", "mutate", "deliver", "next", "applied delivered", "fetch",
        ]  # fmt: skip

    play(scenario)


@pytest.mark.parametrize(
    ("wish", "wakes_ms"),
    [
        pytest.param("2026-03-01T00:00:05Z", 30_000, marks=clause("WAKE-3"), id="minimum"),
        pytest.param("2026-03-05T00:00:00Z", 24 * HOUR, marks=clause("WAKE-4"), id="maximum"),
        pytest.param("1970-01-01T00:00:00Z", 30_000, marks=clause("WAKE-3"), id="invalid: past"),
        pytest.param("9999-12-31T23:59:59Z", 24 * HOUR, marks=clause("WAKE-4"), id="invalid: far"),
        pytest.param("tomorrow", 30_000, marks=clause("WAKE-8"), id="invalid: garbage"),
        pytest.param("", 30_000, marks=clause("WAKE-8"), id="invalid: empty"),
        pytest.param(1_772_355_600, 30_000, marks=clause("WAKE-8"), id="invalid: a number"),
    ],
)
def test_a_wish_to_wake_is_brought_within_its_bounds(wish: str, wakes_ms: int) -> None:
    orders, sheet = simple()
    at: list[int] = []

    async def scenario(stage: Stage) -> None:
        @sheet.prepare
        def prepare(ctx: Context, state: object) -> object:
            at.append(stage.now_ms() - START)
            return {"wakeAt": wish} if len(at) == 1 else {}

        await stage.start(orders)
        await stage.advance(hours=25)

        assert at == [0, wakes_ms]

    play(scenario)


@clause("WHEN-12", "WHEN-13", "WAKE-2")
def test_a_commit_leaves_the_wish_to_wake_and_no_flags() -> None:
    orders, sheet = simple()

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        return everything(ctx, ["orders"]) | {"wakeAt": "2026-03-01T01:00:00Z"}

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")

        assert (await stage.facts()).handler("sheet").wake_ms == START + HOUR
        assert stage.host.flags("orders")["sheet"] == (False, False)

    play(scenario)


@clause("SEEN-1", "SEEN-8", "SEEN-3", "SEEN-14", "SEEN-5", "SEEN-6")
def test_a_user_sees_a_status_an_issue_a_schedule_and_what_is_pending() -> None:
    shop = Shop("prepare", AuthError("reconnect Gmail"))

    async def scenario(stage: Stage) -> None:
        async def seen() -> tuple[str, str, int]:
            found = await stage.host.queries.overview("orders")
            return found.status.value, found.issue, found.pending

        await stage.start(shop.workflow)
        assert await seen() == ("Idle", "", 0)
        found = await stage.host.queries.overview("orders")
        assert (found.schedule, found.next_ms) == (["Checks every 10 minutes"], START + 600_000)
        await stage.publish("o1")
        assert await seen() == ("Needs attention", "Waiting for you: reconnect Gmail", 1)
        shop.place, shop.trouble = "deliver", "hang"
        await stage.host.commands.approve("orders")
        await stage.advance()
        assert await seen() == ("Running", "", 0)
        await stage.host.commands.pause("orders")
        assert (await seen())[0] == "Stopped"

    play(scenario)
