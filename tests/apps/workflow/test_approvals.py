"""Approvals: a person agrees to one mutation, or that something else is in order again."""

import pytest

from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.handler_calls import Call, not_applied
from gnomon.apps.workflow.mutation_changes import Resolution
from gnomon.errors import AuthError, LogicError, PermissionDeniedError, TransientError
from tests.apps.workflow.sheet import Outside, failing, shop
from tests.apps.workflow.stage import Stage, play, simple
from tests.clauses import clause


@clause("MUTATE-13", "FAIL-5")
def test_a_tool_that_has_not_acted_and_wants_a_new_sign_in_waits_for_it() -> None:
    outside = Outside()
    append = failing(outside, AuthError("reconnect the sheet", acted=False))
    orders, _ = shop(outside, append)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        waiting = (await stage.runs())[-1]
        assert (waiting.phase, waiting.status) == ("mutating", "paused:approval")
        assert waiting.error == "reconnect the sheet"
        await stage.host.commands.approve("orders")
        await stage.advance()

        assert outside.made == ["orders/2-t1", "orders/2-t1"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("MUTATE-16")
def test_who_has_signed_in_again_is_still_asked_about_the_mutation() -> None:
    outside = Outside()
    orders, sheet = shop(outside, lambda call: outside.made.append(call.key), approval=True)
    right = sheet.on_prepare
    assert right is not None
    tokens: list[str] = []

    def prepare(ctx: Context, state: object) -> object:
        if not tokens:
            raise AuthError("reconnect the mailbox")
        return right(ctx, state)

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        tokens.append("new")
        await stage.host.commands.approve("orders")
        await stage.advance()

        waiting = (await stage.runs())[-1]
        assert (waiting.phase, waiting.status) == ("prepared", "paused:approval")
        assert outside.made == []
        assert waiting.asked is not None
        assert waiting.asked[:3] == ("append", '["o1"]', "orders/1-t1")
        await stage.host.commands.approve("orders", key="orders/1-t1")
        await stage.advance()
        assert outside.made == ["orders/1-t1"]

    play(scenario)


@clause("MUTATE-15")
@pytest.mark.parametrize(("params", "made"), [("o1", ["orders/2-t1"]), ("o2", [])])
def test_another_script_may_make_what_was_approved_and_nothing_else(
    params: str, made: list[str]
) -> None:
    outside = Outside()
    orders, sheet = shop(outside, lambda call: outside.made.append(call.key), approval=True)
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", "o1"))
    second, sheet = shop(outside, lambda call: outside.made.append(call.key), approval=True)
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", params))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.deploy(second, text="# another")
        await stage.host.commands.approve("orders")
        await stage.advance()

        assert outside.made == made
        if not made:
            asked = (await stage.runs())[-1].asked
            assert asked is not None
            assert asked[:3] == ("append", '"o2"', "orders/2-t2")

    play(scenario)


@clause("MUTATE-15")
def test_a_tool_that_wants_approval_since_a_deployment_is_not_called_again_without_it() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        outside.made.append(call.key)
        raise PermissionDeniedError("read only")

    orders, _ = shop(outside, append)
    second, _ = shop(outside, append, approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.deploy(second, text="# with approval")
        await stage.host.commands.approve("orders")  # the permission
        await stage.advance()

        assert outside.made == ["orders/2-t1"]
        waiting = (await stage.runs())[-1]
        assert (waiting.phase, waiting.fault) == ("mutating", "approval")
        assert waiting.asked is not None
        assert waiting.asked.key == "orders/2-t1"
        await stage.host.commands.approve("orders")
        await stage.advance()
        assert outside.made == ["orders/2-t1", "orders/2-t1"]

    play(scenario)


@clause("MUTATE-13")
def test_a_tool_that_is_not_there_any_more_has_not_acted() -> None:
    outside = Outside()

    def append(call: Call) -> None:
        raise PermissionDeniedError("read only")

    orders, _ = shop(outside, append)
    second, sheet = simple()
    sheet.next(lambda ctx, prepared, outcome: None)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.deploy(second, text="# without the tool")
        await stage.host.commands.approve("orders")
        await stage.advance()

        waiting = (await stage.runs())[-1]
        assert (waiting.status, waiting.error) == (
            "failed:logic", "tool append is not there any more; declare it again",
        )  # fmt: skip

    play(scenario)


@clause("MUTATE-15")
@pytest.mark.parametrize(
    ("approves", "events", "outcome"),
    [(True, "consumed", "applied"), (False, "skipped", "skipped")],
)
def test_a_mutation_waits_for_approval_and_keeps_its_preparation(
    approves: bool, events: str, outcome: str
) -> None:
    outside = Outside()
    orders, _ = shop(outside, lambda call: outside.made.append(call.key), approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.advance(hours=1)
        waiting = (await stage.runs())[-1]
        assert (waiting.phase, waiting.status) == ("prepared", "paused:approval")
        assert waiting.error == "wants to: Append rows"
        assert outside.made == []
        await stage.crash()
        await stage.start(orders)
        commands = stage.host.commands
        await (commands.approve("orders") if approves else commands.reject("orders"))
        await stage.advance()

        assert outside.made == (["orders/2-t1"] if approves else [])
        assert [one.status for one in outside.outcomes] == [outcome]
        assert await stage.events() == {"o1": events}
        assert len(await stage.runs()) == 2

    play(scenario)


@clause("FAIL-6", "MUTATE-11")
def test_what_was_not_permitted_is_made_by_the_same_run_under_the_same_key_when_it_is() -> None:
    outside = Outside()
    append = failing(outside, PermissionDeniedError("read only"))
    orders, _ = shop(outside, append)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        assert await stage.events() == {"o1": "reserved"}
        await stage.host.commands.approve("orders")
        await stage.advance()

        assert outside.made == ["orders/2-t1", "orders/2-t1"]
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("FAIL-5")
def test_after_signing_in_again_the_same_run_goes_on() -> None:
    orders, sheet = simple()
    tokens: list[str] = []

    def prepare(ctx: Context, state: object) -> object:
        if not tokens:
            raise AuthError("reconnect the mailbox")
        return {}

    sheet.prepare(prepare)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        assert await stage.story() == ["1 sheet preparing paused:approval"]
        tokens.append("new")
        await stage.host.commands.approve("orders")
        await stage.advance()
        assert await stage.story() == ["1 sheet committed committed"]

    play(scenario)


async def questions(stage: Stage) -> list[tuple[str, str, str]]:
    """What the open run asks a person about."""
    return [one.asked[:3] for one in await stage.runs() if one.asked is not None]


@clause("MUTATE-19")
@pytest.mark.parametrize("acted", [False, None])
def test_an_approval_holds_while_an_outage_lasts_and_the_key_stays(acted: bool | None) -> None:
    outside = Outside()

    append = failing(outside, TransientError("no connection", acted=acted), times=6)
    orders, _ = shop(outside, append, approval=True, reconcile=lambda call: not_applied())

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        assert await questions(stage) == [("append", '["o1"]', "orders/2-t1")]
        await stage.host.commands.approve("orders")
        await stage.advance(hours=1)

        assert outside.made == ["orders/2-t1"] * 7
        assert await questions(stage) == []
        assert await stage.events() == {"o1": "consumed"}
        (found,) = await stage.log.mutations("orders", range(20))
        assert (found.run, found.status) == (2, "applied")

    play(scenario)


@clause("MUTATE-19")
def test_an_approval_holds_after_a_crash_before_and_after_its_first_try() -> None:
    outside = Outside()
    append = failing(outside, TransientError("no connection", acted=False))
    orders, _ = shop(outside, append, approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        commands = stage.host.commands
        await stage.crash()
        await commands.approve("orders")
        await stage.start(orders)
        await stage.crash()
        await stage.start(orders)
        await stage.advance(minutes=1)

        assert outside.made == ["orders/2-t1"] * 2
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("MUTATE-19")
def test_an_approval_holds_when_a_person_says_that_it_did_not_happen() -> None:
    outside = Outside()
    append = failing(outside, TransientError("no answer"))
    orders, _ = shop(outside, append, approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.commands.approve("orders")
        await stage.advance()
        await stage.host.commands.resolve("orders", Resolution.DID_NOT_HAPPEN)
        await stage.advance()

        assert outside.made == ["orders/2-t1"] * 2
        assert await stage.events() == {"o1": "consumed"}

    play(scenario)


@clause("MUTATE-19", "MUTATE-15")
def test_other_parameters_after_an_outage_are_asked_about_under_a_key_of_their_own() -> None:
    outside = Outside()
    append = failing(outside, TransientError("no connection", acted=False))
    orders, _ = shop(outside, append, approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.commands.approve("orders")
        await stage.publish("o2")
        await stage.advance(minutes=1)

        assert outside.made == ["orders/2-t1"]
        assert await questions(stage) == [("append", '["o1","o2"]', "orders/3-t3")]
        await stage.host.commands.approve("orders")
        await stage.advance()
        assert outside.made == ["orders/2-t1", "orders/3-t3"]

    play(scenario)


@clause("MUTATE-19", "MUTATE-15")
def test_another_version_of_the_script_is_asked_about_after_an_outage() -> None:
    outside = Outside()
    append = failing(outside, LogicError("wrong column"))
    orders, _ = shop(outside, append, approval=True)
    second, _ = shop(outside, append, approval=True)

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.commands.approve("orders")
        await stage.advance()
        await stage.host.deploy(second, text="# mended")
        await stage.advance(minutes=1)

        assert outside.made == ["orders/2-t1"]
        assert await questions(stage) == [("append", '["o1"]', "orders/3-t3")]

    play(scenario)


@clause("MUTATE-19")
def test_an_approval_is_over_with_its_mutation() -> None:
    outside = Outside()
    orders, sheet = shop(outside, lambda call: outside.made.append(call.key), approval=True)
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", "the same"))

    async def scenario(stage: Stage) -> None:
        await stage.start(orders)
        await stage.publish("o1")
        await stage.host.commands.approve("orders")
        await stage.publish("o2")
        await stage.advance()

        assert outside.made == ["orders/2-t1"]
        assert [one[1] for one in await questions(stage)] == ['"the same"']

    play(scenario)
