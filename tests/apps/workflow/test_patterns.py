"""The patterns that workflows are made of: each wakes when its row of the table says so."""

from datetime import timedelta

from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Workflow
from tests.apps.workflow.stage import START, Stage, play, simple
from tests.clauses import clause


def reserve(topic: str, ids: list[str]) -> dict[str, object]:
    return {"reservations": [{"topic": topic, "ids": ids}], "data": ids}


class Diary:
    """What was dealt with, and at which second."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, list[str]]] = []
        self.looks = 0


@clause("WAKE-7", "WHEN-13")
def test_first_in_first_out_takes_each_event_as_it_comes() -> None:
    orders, sheet = simple()
    diary: list[object] = []
    sheet.prepare(
        lambda ctx, state: reserve("orders", [one.id for one in ctx.peek("orders", limit=1)])
    )
    sheet.next(lambda ctx, prepared, outcome: diary.extend(prepared.data))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.host.commands.pause("orders")
        await stage.publish("o1", "o2", "o3")
        await stage.host.commands.resume("orders")
        await stage.advance()

        assert diary == ["o1", "o2", "o3"]
        assert (await stage.facts()).handler("sheet").wake_ms is None

    play(scenario)


@clause("WAKE-7", "WHEN-11")
def test_correlation_waits_for_the_event_that_belongs_to_it() -> None:
    pairs = Workflow("orders")
    match = pairs.consumer("match", subscribes=["orders", "payments"])
    found: list[object] = []

    @match.prepare
    def prepare(ctx: Context, state: object) -> object:
        paid = {one.id for one in ctx.peek("payments")}
        both = [one.id for one in ctx.peek("orders") if one.id in paid]
        return {
            "reservations": [
                {"topic": "orders", "ids": both}, {"topic": "payments", "ids": both},
            ],
            "data": both,
        }  # fmt: skip

    match.next(lambda ctx, prepared, outcome: found.extend(prepared.data))

    async def scenario(stage: Stage) -> None:
        await stage.start(pairs)
        await stage.publish("a", "b")
        await stage.advance(hours=5)
        assert found == []
        await stage.publish("b", topic="payments")
        assert found == ["b"]
        await stage.publish("a", topic="payments")
        assert found == ["b", "a"]

    play(scenario)


@clause("WAKE-7")
def test_a_time_window_is_dealt_with_after_its_delay() -> None:
    orders, sheet = simple()
    diary = Diary()

    async def scenario(stage: Stage) -> None:
        def prepare(ctx: Context, state: object) -> object:
            pending = ctx.peek("orders")
            if not pending:
                return {}
            first = state or ctx.now.isoformat()
            due = START + 3_600_000
            if stage.now_ms() < due:
                return {"wakeAt": (ctx.now + timedelta(hours=1)).isoformat(), "data": first}
            diary.lines.append((stage.now_ms() - START, [one.id for one in pending]))
            return reserve("orders", [one.id for one in pending])

        sheet.prepare(prepare)
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=3)

        assert diary.lines == [(3_600_000, ["o1"])]

    play(scenario)


@clause("WAKE-7", "WAKE-6")
def test_a_batch_is_dealt_with_when_it_is_full_or_its_time_is_up() -> None:
    orders, sheet = simple()
    diary = Diary()

    async def scenario(stage: Stage) -> None:
        def prepare(ctx: Context, state: object) -> object:
            pending = [one.id for one in ctx.peek("orders")]
            since = min((int(one.split("@")[1]) for one in pending), default=0)
            waited = (stage.now_ms() - START) / 1000 - since
            if not pending:
                return {}
            if len(pending) < 3 and waited < 3600:
                wake = ctx.now + timedelta(seconds=3600 - waited)
                return {"wakeAt": wake.isoformat()}
            diary.lines.append(((stage.now_ms() - START) // 1000, pending))
            return reserve("orders", pending)

        sheet.prepare(prepare)
        await stage.start(orders)
        await stage.publish("a@0", "b@0", "c@0")
        await stage.advance(minutes=10)
        await stage.publish("d@600")
        await stage.advance(minutes=10)
        await stage.publish("e@1200")
        await stage.advance(hours=2)

        assert diary.lines == [(0, ["a@0", "b@0", "c@0"]), (4200, ["d@600", "e@1200"])]

    play(scenario)


@clause("WAKE-7", "WAKE-2")
def test_a_daily_digest_is_made_at_nine_and_wishes_for_the_next_at_the_same_time() -> None:
    orders, sheet = simple()
    diary = Diary()

    async def scenario(stage: Stage) -> None:
        def prepare(ctx: Context, state: object) -> object:
            diary.looks += 1
            nine = ctx.now.replace(hour=9, minute=0, second=0, microsecond=0)
            later = nine if ctx.now < nine else nine + timedelta(days=1)
            if ctx.now.hour != 9 or ctx.now.minute:
                return {"wakeAt": later.isoformat()}
            pending = [one.id for one in ctx.peek("orders")]
            diary.lines.append(((stage.now_ms() - START) // 3_600_000, pending))
            return {**reserve("orders", pending), "wakeAt": later.isoformat()}

        sheet.prepare(prepare)
        await stage.start(orders)
        await stage.advance(hours=1)
        await stage.publish("o1")
        await stage.advance(hours=9)
        await stage.publish("o2")
        await stage.advance(hours=50)

        assert diary.lines == [(9, ["o1"]), (33, ["o2"]), (57, [])]
        assert diary.looks == 6

    play(scenario)
