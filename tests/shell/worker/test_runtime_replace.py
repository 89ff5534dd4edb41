"""
One run in the place of another: what a worker ends first, and what it may not end.

Time is virtual. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

from tests.clauses import clause
from tests.shell.virtual_time import run_virtually
from tests.shell.worker_world import World


@clause("RUN-8")
def test_a_run_is_replaced_after_it_has_been_ended() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "held", overlap_policy="replace")
        await world.runtime.turn()
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.runtime.collect()
        await world.pass_ms(1)
        for _ in range(3):
            await world.runtime.turn()
        await world.pass_ms(1)
        return await world.words("one"), world.began

    words, began = run_virtually(scenario())
    assert words == ["done FAILED replaced", "running STARTED -"]
    assert began == ["one 00:00:00 1", "one 00:01:00 1"]


@clause("RUN-8")
def test_what_cannot_be_ended_is_not_replaced() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        await world.save("one", "stubborn", overlap_policy="replace", launches_max=1)
        await world.runtime.turn()
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.pass_ms(20_000)
        await world.runtime.turn()
        words = await world.words("one")
        world.go.set()
        return words, world.began

    words, began = run_virtually(scenario())
    assert words == ["running STARTED -", "done FAILED launch_failed"]
    assert began == ["one 00:00:00 1"]


@clause("RUN-8")
def test_the_run_of_another_worker_is_not_replaced() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "held", overlap_policy="replace", lease="1h", launches_max=1)
        await world.runtime.turn()
        await world.pass_ms(60_000)
        other = world.another("worker-2")
        await other.turn()
        await world.pass_ms(1)
        await other.turn()
        return await world.words("one")

    assert run_virtually(scenario())[1] == "done FAILED launch_failed"


@clause("RUN-8")
def test_a_run_that_has_ended_meanwhile_is_not_in_the_way_of_another() -> None:
    async def scenario() -> list[str]:
        world = World()
        await world.save("one", "stubborn", overlap_policy="allow")
        await world.runtime.turn()
        await world.save("one", "held", overlap_policy="allow")
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.save("one", "quick", overlap_policy="replace", launches_max=1)
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.runtime.collect()
        await world.runtime.turn()  # the end of the second is written; the first takes its time
        world.go.set()
        await world.runtime.collect()
        await world.pass_ms(10)
        await world.runtime.turn()
        await world.runtime.collect()
        await world.runtime.turn()
        return await world.words("one")

    words = run_virtually(scenario())
    assert words == ["done SUCCESS -", "done FAILED replaced", "done SUCCESS -"]


@clause("RUN-8")
def test_a_run_that_another_worker_has_taken_over_is_not_replaced() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        world = World()
        more = {"overlap_policy": "replace", "uncertain": "restart", "launches_max": 1}
        await world.save("one", "held", lease="70s", **more)
        await world.runtime.turn()
        await world.pass_ms(10)
        other = world.apart("worker-2")
        await world.ledger.recover(owner="worker-2", adopted=[], now_ms=world.clock.now_ms())
        await other.turn()
        # The first worker does not know yet, and has its own run of that key in hand.
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.pass_ms(10)
        await world.runtime.turn()
        return await world.words("one"), world.began

    words, began = run_virtually(scenario())
    assert began == ["one 00:00:00 1", "one 00:00:00 2"]
    assert words == ["claimed ENQUEUED -", "done FAILED launch_failed"]
