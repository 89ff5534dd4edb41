"""Two consumers of one topic: each event is dealt with once, and none is passed over."""

from collections.abc import Callable

from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Workflow
from gnomon.errors import TransientError
from tests.apps.workflow.stage import Stage, play
from tests.clauses import clause


class Shared:
    """Two consumers of `orders`: each takes what its rule says, and is asked each time."""

    def __init__(self, **rules: Callable[[str], bool]) -> None:
        self.dealt: list[str] = []
        self.looked: list[str] = []
        self.fails: list[str] = []
        self.workflow = Workflow("orders")
        for name, rule in rules.items():
            one = self.workflow.consumer(name, subscribes=["orders"])
            one.prepare(lambda ctx, state, name=name, rule=rule: self._prepare(ctx, name, rule))
            one.mutate(lambda ctx, prepared: ctx.mutate("note", prepared.data))
        self.workflow.tool("note")(lambda call: self.dealt.extend(call.params))

    def _prepare(self, ctx: Context, name: str, rule: Callable[[str], bool]) -> object:
        ids = [one.id for one in ctx.peek("orders") if rule(one.id)]
        self.looked.append(name)
        if ids and self.fails:
            raise TransientError(self.fails.pop())
        return {
            "reservations": [{"topic": "orders", "ids": ids}],
            "data": [f"{name} {id}" for id in ids],
        }


@clause("WHEN-17")
def test_each_takes_its_own_and_both_are_called() -> None:
    shared = Shared(even=lambda id: int(id) % 2 == 0, odd=lambda id: int(id) % 2 == 1)

    async def scenario(stage: Stage) -> None:
        await stage.start(shared.workflow)
        shared.looked.clear()
        await stage.publish("1", "2", "3")

        assert sorted(shared.dealt) == ["even 2", "odd 1", "odd 3"]
        assert set(shared.looked) == {"even", "odd"}
        assert set((await stage.events()).values()) == {"consumed"}

    play(scenario)


@clause("WHEN-17")
def test_what_both_want_belongs_to_the_one_that_was_declared_first() -> None:
    shared = Shared(first=lambda id: True, second=lambda id: True)

    async def scenario(stage: Stage) -> None:
        await stage.start(shared.workflow)
        await stage.publish("1")

        assert shared.dealt == ["first 1"]

    play(scenario)


@clause("WHEN-17")
def test_what_one_has_released_the_other_still_sees() -> None:
    wants = {"first": True}
    shared = Shared(first=lambda id: wants["first"], second=lambda id: not wants["first"])
    shared.fails.append("no connection")

    async def scenario(stage: Stage) -> None:
        await stage.start(shared.workflow)
        await stage.publish("1")
        assert shared.dealt == []
        wants["first"] = False
        await stage.advance(seconds=11)

        assert shared.dealt == ["second 1"]

    play(scenario)


@clause("WHEN-17", "FLOW-8", "FLOW-11")
def test_a_consumer_that_is_added_sees_what_the_first_has_left() -> None:
    alone = Shared(even=lambda id: int(id) % 2 == 0)
    both = Shared(even=lambda id: int(id) % 2 == 0, odd=lambda id: int(id) % 2 == 1)

    async def scenario(stage: Stage) -> None:
        await stage.start(alone.workflow)
        await stage.publish("1")
        await stage.host.deploy(both.workflow, text="# both")
        await stage.advance()

        assert both.dealt == ["odd 1"]

    play(scenario)
