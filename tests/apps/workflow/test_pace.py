"""Consumers that feed themselves or each other: how often they run, and who goes in between."""

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.next_step import Begin, Rest, choose
from gnomon.apps.workflow.pace import BURST, Hold, Pace
from tests.apps.workflow.facts import NOW, consumer, facts, producer
from tests.apps.workflow.stage import START, Stage, everything, play
from tests.clauses import clause


class Echo:
    """A consumer that publishes to its own topic, so many events for each that it takes."""

    def __init__(self, *, width: int = 1, topics: tuple[str, ...] = ("rounds",)) -> None:
        self.begun: list[float] = []
        self.polled: list[float] = []
        self.stage: Stage
        self._width = width
        self._made = 0
        self.workflow = Workflow("orders")
        self.workflow.producer("poll", interval="10s", publishes=["other"])(self._poll)
        for place, topic in enumerate(topics):
            after = topics[(place + 1) % len(topics)]
            one = self.workflow.consumer(f"echo{place}", subscribes=[topic], publishes=[after])
            one.prepare(lambda ctx, state, topic=topic: self._prepare(ctx, topic))
            one.next(lambda ctx, prepared, outcome, after=after: self._next(ctx, prepared, after))

    def at(self) -> float:
        return (self.stage.now_ms() - START) / 1000

    def _poll(self, ctx: Context, state: object) -> None:
        self.polled.append(self.at())

    def _prepare(self, ctx: Context, topic: str) -> object:
        ids = [one.id for one in ctx.peek(topic, limit=1)]
        if not ids:
            return {}
        self.begun.append(self.at())
        return {"reservations": [{"topic": topic, "ids": ids}]}

    def _next(self, ctx: Context, prepared: Prepared, topic: str) -> None:
        for _ in range(self._width if prepared.reservations else 0):
            self._made += 1
            ctx.publish(topic, f"e{self._made}")


def lasts(echo: Echo, *, seconds: float) -> None:
    async def scenario(stage: Stage) -> None:
        echo.stage = stage
        await stage.start(echo.workflow)
        await stage.publish("first", topic="rounds")
        await stage.advance(seconds=seconds)

    play(scenario)


@clause("WHEN-16")
def test_a_consumer_that_feeds_itself_runs_a_hundred_times_at_once_and_then_once_a_second() -> None:
    echo = Echo()

    lasts(echo, seconds=60)

    at_once = sum(at == 0 for at in echo.begun)
    assert BURST <= at_once <= BURST + 2
    assert len(echo.begun) - at_once in (59, 60, 61)
    assert echo.polled == [0, 10, 20, 30, 40, 50, 60]


@clause("WHEN-16")
def test_more_events_with_each_round_make_it_no_faster() -> None:
    echo = Echo(width=3)

    lasts(echo, seconds=30)

    assert len(echo.begun) <= BURST + 35
    assert echo.polled == [0, 10, 20, 30]


@clause("WHEN-16")
def test_a_circle_of_three_is_one() -> None:
    echo = Echo(topics=("rounds", "back", "forth"))

    lasts(echo, seconds=30)

    assert len(echo.begun) <= BURST + 35
    assert echo.polled == [0, 10, 20, 30]


@clause("WHEN-16")
def test_a_chain_of_consumers_is_no_circle_however_much_goes_through_it() -> None:
    chain = Workflow("orders")
    ended: list[str] = []
    for name, after in (("a", "b"), ("b", "c"), ("c", "d")):
        one = chain.consumer(name, subscribes=[name], publishes=[after])
        one.prepare(lambda ctx, state, topic=name: _one_of(ctx, topic))
        one.next(lambda ctx, prepared, outcome, to=after: _pass_on(ctx, prepared, to))
    last = chain.consumer("d", subscribes=["d"])
    last.prepare(lambda ctx, state: everything(ctx, ["d"]))
    last.next(lambda ctx, prepared, outcome: ended.extend(prepared.data))

    async def scenario(stage: Stage) -> None:
        await stage.start(chain)
        await stage.host.commands.pause("orders")
        for number in range(150):
            await stage.host.commands.publish("orders", "a", f"e{number}")
        await stage.host.commands.resume("orders")
        for _ in range(20):
            await stage.advance()

        assert len(ended) == 150
        assert stage.now_ms() == START

    play(scenario)


def _one_of(ctx: Context, topic: str) -> object:
    ids = [one.id for one in ctx.peek(topic, limit=1)]
    return {"reservations": [{"topic": topic, "ids": ids}], "data": ids} if ids else {}


def _pass_on(ctx: Context, prepared: Prepared, topic: str) -> None:
    for id in prepared.data or []:  # type: ignore[attr-defined]
        ctx.publish(topic, id, id)


@clause("WHEN-16")
def test_one_that_changes_what_it_never_takes_is_slowed_down_too() -> None:
    made = Workflow("orders")
    begun: list[int] = []
    sheet = made.consumer("sheet", subscribes=["orders"], publishes=["orders"])

    def prepare(ctx: Context, state: object) -> object:
        begun.append(ctx.run)
        return {}

    def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        ctx.publish("orders", "same", len(begun))

    sheet.prepare(prepare)
    sheet.next(conclude)

    async def scenario(stage: Stage) -> None:
        await stage.start(made)
        await stage.advance(seconds=30)

        assert BURST < len(begun) <= BURST + 35

    play(scenario)


@clause("WHEN-16")
def test_what_comes_in_from_outside_meanwhile_calls_its_consumer_at_once() -> None:
    held = Hold(NOW + 1_000, arrivals=5)
    waiting = facts(producer(), consumer(), orders=(5, 5))
    called = facts(producer(), consumer(), orders=(5, 6))

    assert choose(waiting, {}, now_ms=NOW, repairs=False, hold=held) == Rest(NOW + 1_000)
    assert choose(waiting, {}, now_ms=NOW + 1_000, repairs=False, hold=held) == Begin("sheet")
    assert choose(called, {}, now_ms=NOW, repairs=False, hold=held) == Begin("sheet")
    due = facts(producer(next_run_ms=NOW), consumer(), orders=(5, 5))
    assert choose(due, {}, now_ms=NOW, repairs=False, hold=held) == Begin("poll")


@clause("WHEN-16")
def test_after_a_rest_all_of_the_burst_can_be_had_again() -> None:
    pace = Pace()

    assert [pace.run(now_ms=NOW) for _ in range(BURST)] == [None] * BURST
    assert pace.run(now_ms=NOW) == NOW + 1_000
    assert pace.run(now_ms=NOW + 1_000) == NOW + 2_000
    assert pace.run(now_ms=NOW + 200_000) is None


@clause("WHEN-16")
def test_a_host_that_begins_anew_knows_what_comes_from_a_circle() -> None:
    echo = Echo(width=2)

    async def scenario(stage: Stage) -> None:
        echo.stage = stage
        await stage.start(echo.workflow)
        await stage.publish("first", topic="rounds")
        await stage.advance(minutes=10)
        echo.begun.clear()
        await stage.crash()
        await stage.start(echo.workflow)
        await stage.advance(seconds=30)

        assert len(echo.begun) <= BURST + 35

    play(scenario)
