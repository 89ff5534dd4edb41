"""A run that waits for a person is told of, once for what it waits for."""

import logging

import pytest

from gnomon.apps.workflow.alarm import Alarm
from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.handler_calls import Call, applied
from gnomon.errors import AuthError, HostError, LogicError, TransientError
from tests.apps.workflow.sheet import Outside, shop
from tests.apps.workflow.stage import START, Stage, everything, play, simple
from tests.clauses import clause


class Told:
    """A person who is told, and may fail to hear it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.alarms: list[Alarm] = []
        self._error = error

    async def __call__(self, alarm: Alarm) -> None:
        self.alarms.append(alarm)
        if self._error is not None:
            raise self._error

    def said(self) -> list[tuple[str, str, str]]:
        return [(one.status, one.issue, one.answer) for one in self.alarms]


@clause("SEEN-13", "FAIL-8")
def test_a_bug_of_the_host_or_of_a_tool_is_told_of_once_and_again_by_the_next_host(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told, later = Told(), Told()
    orders, sheet = simple()

    def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        if prepared.data:
            raise HostError("a bug")

    sheet.next(conclude)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders, alert=told)
        with caplog.at_level(logging.WARNING, "gnomon.workflow"):
            await stage.publish("o1")
        await stage.publish("o2")
        await stage.advance(hours=3)
        assert told.said() == [
            ("failed:internal", "A tool or Gnomon itself failed: a bug",
             "gnomon workflow resume orders"),
        ]  # fmt: skip
        (line,) = [one for one in caplog.records if "NeedsAttention" in one.message]
        assert line.levelno == logging.ERROR

        await stage.crash()
        await stage.start(orders, alert=later)
        await stage.advance(hours=1)
        assert [one.status for one in later.alarms] == ["failed:internal"]

    play(scenario)


@clause("SEEN-13")
def test_each_thing_that_a_run_waits_for_is_told_of_and_nothing_that_passes_by_itself() -> None:
    told, outside = Told(), Outside()
    failing: list[Exception | None] = [
        TransientError("away", acted=False),
        AuthError("sign in", acted=False),
        LogicError("no"),
    ]

    def append(call: object) -> None:
        if failing and (error := failing.pop(0)):
            raise error

    orders, sheet = shop(outside, append, approval=True)
    sheet.prepare(lambda ctx, state: everything(ctx, ["orders"]))

    async def scenario(stage: Stage) -> None:
        commands = stage.host.commands if hasattr(stage, "host") else None
        await stage.start(orders, alert=told)
        commands = stage.host.commands
        await stage.publish("o1")
        for _ in range(4):
            await stage.advance(minutes=1)
            if (await stage.runs())[-1].status == "paused:approval":
                await commands.approve("orders")
        await stage.advance(minutes=1)
        statuses = [one.status for one in told.alarms]
        assert statuses[0] == "paused:approval"
        assert statuses[-1] == "failed:logic"
        assert "paused:transient" not in statuses
        assert len(told.alarms) == len({(one.run, one.issue) for one in told.alarms}) == 3

    play(scenario)


@clause("SEEN-13")
def test_who_cannot_be_told_fails_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    told = Told(RuntimeError("no mail"))
    orders, sheet = simple()
    sheet.prepare(lambda ctx, state: 5)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders, alert=told)
        sheet.prepare(lambda ctx, state: {})
        await stage.host.commands.resume("orders")
        await stage.advance()
        assert (await stage.runs())[-1].status == "committed"

    with caplog.at_level(logging.ERROR, "gnomon.workflow"):
        play(scenario)

    assert len(told.alarms) == 1
    assert "AlertFailed" in caplog.text


@clause("SEEN-13")
def test_a_workflow_that_is_paused_is_told_of_when_it_goes_on() -> None:
    told = Told()
    orders, sheet = simple()
    sheet.prepare(lambda ctx, state: 5)

    async def scenario(stage: Stage) -> None:
        await stage.start()
        await stage.host.commands.deploy(orders)
        await stage.host.commands.pause("orders")
        await stage.crash()
        await stage.start(orders, alert=told)
        assert told.alarms == []
        await stage.host.commands.resume("orders")
        await stage.advance()
        assert [one.status for one in told.alarms] == ["failed:logic"]

    play(scenario)


@clause("FAIL-21", "SEEN-13", "SEEN-14")
def test_an_outage_of_hours_is_told_of_once_and_the_workflow_goes_on_when_it_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told, outside = Told(), Outside()

    async def scenario(stage: Stage) -> None:
        def append(call: Call) -> None:
            outside.asked.append((stage.now_ms() - START) / 1000)
            if stage.now_ms() < START + 5 * 3_600_000:
                raise TransientError("no connection", acted=False)
            outside.made.append(call.key)

        await stage.start(shop(outside, append)[0], alert=told)
        await stage.publish("o1")
        await stage.advance(minutes=5)
        assert told.said() == []
        assert (await stage.host.queries.overview("orders")).status == "Running"

        await stage.advance(hours=4)
        issue = "Has failed 6 times in a row, and is tried again: no connection"
        assert told.said() == [
            ("paused:transient", issue, "wait, or gnomon workflow resume orders")
        ]
        seen = await stage.host.queries.overview("orders")
        assert seen.status == "Needs attention"
        assert seen.next_ms is not None
        assert START < seen.next_ms - 4 * 3_600_000 - 300_000 <= START + 600_000

        await stage.advance(hours=1, minutes=10)
        assert await stage.events() == {"o1": "consumed"}
        assert (await stage.host.queries.overview("orders")).status == "Idle"
        assert (len(outside.made), len(told.alarms)) == (1, 1)
        assert [outside.asked[0], *outside.asked[6:9]] == [0, 630, 1230, 1830]
        assert len(outside.asked) == 7 + (5 * 3600 - 630) // 600 + 1

    with caplog.at_level(logging.INFO, "gnomon.workflow"):
        play(scenario)
    said = [one.message for one in caplog.records]
    assert sum("NeedsAttention" in one for one in said) == 1
    assert sum("OutageOver" in one for one in said) == 1


@clause("FAIL-21", "SEEN-13")
def test_the_next_outage_is_told_of_again_and_so_is_one_that_a_person_resumed_in_vain(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = Told()
    orders, sheet = simple()
    away = [True]

    def prepare(ctx: Context, state: object) -> object:
        if away[0]:
            raise ConnectionRefusedError("no connection")
        return everything(ctx, ["orders"])

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders, alert=told)
        await stage.advance(hours=1)
        await stage.host.commands.resume("orders")
        await stage.advance(minutes=5)
        assert len(told.alarms) == 1
        assert "OutageOver" not in caplog.text
        await stage.advance(minutes=5)
        assert len(told.alarms) == 2

        away[0] = False
        await stage.advance(minutes=10)
        assert caplog.text.count("OutageOver") == 1
        away[0] = True
        await stage.publish("o1")
        await stage.advance(hours=1)
        assert len(told.alarms) == 3

    with caplog.at_level(logging.INFO, "gnomon.workflow"):
        play(scenario)


@clause("MUTATE-18", "SEEN-13", "SEEN-14")
def test_a_mutation_that_an_outage_left_in_doubt_is_settled_when_it_ends() -> None:
    told, outside = Told(), Outside()

    async def scenario(stage: Stage) -> None:
        def is_away() -> bool:
            return stage.now_ms() < START + 5 * 3_600_000

        def append(call: Call) -> None:
            outside.made.append(call.key)
            if is_away():
                raise TimeoutError("no answer")

        def reconcile(call: Call) -> object:
            outside.asked.append(stage.now_ms())
            if is_away():
                raise ConnectionRefusedError("no connection")
            return applied()

        await stage.start(shop(outside, append, reconcile=reconcile)[0], alert=told)
        await stage.publish("o1")
        await stage.advance(hours=4)
        (alarm,) = told.alarms
        assert alarm.issue.startswith("It is not known whether this was done: Append rows")
        assert "its tool is asked again" in alarm.issue

        await stage.advance(hours=1, minutes=10)
        assert await stage.events() == {"o1": "consumed"}
        assert [one.status for one in outside.outcomes] == ["applied"]
        assert (len(outside.made), len(told.alarms)) == (1, 1)
        assert len(outside.asked) == 7 + (5 * 3600 - 630) // 600 + 1

    play(scenario)


@clause("SEEN-13")
def test_a_second_thing_that_the_same_run_waits_for_is_told_of_too() -> None:
    told, outside = Told(), Outside()
    signed_in: list[bool] = []

    def prepare(ctx: Context, state: object) -> object:
        if not signed_in and ctx.peek("orders"):
            raise AuthError("sign in")
        return everything(ctx, ["orders"])

    orders, sheet = shop(outside, lambda call: outside.made.append(call.key), approval=True)
    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders, alert=told)
        await stage.publish("o1")
        await stage.advance(minutes=1)
        signed_in.append(True)
        await stage.host.commands.approve("orders")
        await stage.advance(minutes=1)

        (first, second) = told.alarms
        numbers = {one.run.number for one in told.alarms if one.run is not None}
        assert len(numbers) == 1
        assert [first.issue, second.issue.partition(" (")[0]] == [
            "Waiting for you: sign in", "Waiting for you: wants to: Append rows",
        ]  # fmt: skip

    play(scenario)
