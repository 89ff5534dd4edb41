"""What a host forgets: what is over for long, and never what would then be done twice."""

from datetime import timedelta

import pytest

from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.retention import WorkflowRetention, published_before_ms
from gnomon.errors import DefinitionError, OwnershipLostError, StoreError
from gnomon.ports.workflow_facts import Facts, Handler, HandlerKind, Standing
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.workflow import host
from tests.apps.workflow.stage import START, Stage, everything, play, simple
from tests.clauses import clause

DAY = 86_400_000


def producer(name: str, ran_ms: int | None) -> Handler:
    return Handler(name=name, kind=HandlerKind.PRODUCER, place=0, ran_ms=ran_ms)


@clause("KEEP-3")
@pytest.mark.parametrize(
    ("ran", "before_ms"),
    [
        ((), 190 * DAY),
        ((199 * DAY,), 189 * DAY),
        ((199 * DAY, 50 * DAY), 40 * DAY),
        ((199 * DAY, None), 0),
        ((5 * DAY,), 0),
    ],
)
def test_the_age_of_an_event_is_counted_to_the_latest_run_of_every_producer(
    ran: tuple[int | None, ...], before_ms: int
) -> None:
    handlers = tuple(producer(f"p{number}", at_ms) for number, at_ms in enumerate(ran))
    facts = Facts(standing=Standing(name="orders"), handlers=handlers)

    assert published_before_ms(facts, keep_ms=10 * DAY, now_ms=200 * DAY) == before_ms


def listing(shipped: list[object]) -> Workflow:
    """A producer that publishes each time all that it sees, and a consumer that ships it."""
    orders, sheet = simple()

    @orders.producer(interval="1h", publishes=["orders"])
    def look(ctx: Context, state: object) -> None:
        ctx.publish("orders", "o1")

    sheet.prepare(lambda ctx, state: everything(ctx, ["orders"]))
    sheet.next(lambda ctx, prepared, outcome: shipped.extend(prepared.reservations))
    return orders


@clause("KEEP-3")
def test_what_is_published_each_time_is_done_once_whatever_comes_between() -> None:
    shipped: list[object] = []

    async def scenario(stage: Stage) -> None:
        await stage.start(listing(shipped), keep_ms=DAY)
        await stage.advance(hours=24 * 5)
        await stage.host.commands.pause("orders")
        await stage.advance(hours=24 * 2)
        await stage.host.commands.resume("orders")
        await stage.advance(hours=3)
        await stage.crash()
        await stage.advance(hours=24 * 40)
        await stage.start(listing(shipped), keep_ms=DAY)
        await stage.advance(hours=3)

        assert (await stage.runs())[0].number > 1  # the one that shipped it is gone
        assert len(shipped) == 1
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("KEEP-1", "KEEP-2")
def test_what_is_over_for_long_is_forgotten_and_what_waits_is_not() -> None:
    orders = Workflow("orders")
    sheet = orders.consumer("sheet", subscribes=["orders"])

    @orders.producer(interval="1h")
    def tick(ctx: Context, state: object) -> None: ...

    @sheet.prepare
    def prepare(ctx: Context, state: object) -> object:
        ids = [one.id for one in ctx.peek("orders") if one.id.startswith("o")]
        return {"reservations": [{"topic": "orders", "ids": ids}] if ids else []}

    async def scenario(stage: Stage) -> None:
        await stage.start(orders, keep_ms=DAY)
        await stage.publish("o1", "waits")
        await stage.advance(hours=24 * 5)

        assert await stage.events() == {"waits": "pending"}
        assert (await stage.runs())[0].number > 3

    play(scenario)


@clause("KEEP-1")
def test_without_a_length_of_time_everything_is_kept() -> None:
    orders, _ = simple()

    @orders.producer(interval="1h")
    def tick(ctx: Context, state: object) -> None: ...

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=24 * 5)

        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.runs())[0].number == 1

    play(scenario)


@clause("KEEP-1")
def test_less_than_a_day_is_refused() -> None:
    async def scenario(stage: Stage) -> None:
        with pytest.raises(DefinitionError, match="must be at least a day"):
            async with host(":memory:", keep=timedelta(hours=23)):
                raise AssertionError("it was taken")

    play(scenario)


class Noting:
    """A log that only notes what is to be forgotten, and fails if it is told to."""

    def __init__(self, *answers: int | Exception) -> None:
        self.asked: list[tuple[int, int]] = []
        self._answers = list(answers)

    async def forget(self, workflow: str, **how: int) -> int:
        self.asked.append((how["after"], how["ended_ms"]))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@clause("KEEP-4")
def test_it_is_done_once_an_hour_and_sooner_while_there_is_more() -> None:
    lost = StoreError("did not answer", where="store", transient=True)
    noting = Noting(1_000, lost, 0, 0, 0)

    async def scenario(stage: Stage) -> None:
        log: WorkflowLog = noting  # type: ignore[assignment] # it is asked for nothing else
        retention = WorkflowRetention(log, stage, 2 * DAY, 100)
        facts = Facts(standing=Standing(name="orders"))
        for _ in range(3 * 60):
            await retention.forget_some(facts)
            await stage.advance(minutes=1)

        ended_ms = START - 2 * DAY
        assert noting.asked == [
            (0, ended_ms), (1_000, ended_ms + 60_000), (1_000, ended_ms + 120_000),
            (0, ended_ms + 62 * 60_000),
            (0, ended_ms + 122 * 60_000),
        ]  # fmt: skip

    play(scenario)


@clause("HOST-4")
def test_a_host_that_has_lost_the_workflow_is_told() -> None:
    async def scenario(stage: Stage) -> None:
        log: WorkflowLog = Noting(OwnershipLostError("gone", where="store"))  # type: ignore[assignment]
        with pytest.raises(OwnershipLostError):
            await WorkflowRetention(log, stage, DAY, 100).forget_some(
                Facts(standing=Standing(name="orders"))
            )

    play(scenario)
