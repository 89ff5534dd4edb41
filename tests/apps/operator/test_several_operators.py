"""Several operators, the end of one, and what one asks when there is nothing to do."""

from gnomon.ports.kubernetes import (
    Find,
    Get,
    JsonPatch,
    Kind,
    PutStatus,
)
from tests.apps.operator.operating import LEASE, Operating, in_a_world
from tests.clauses import clause


@clause("OPERATOR-33")
def test_nothing_is_asked_in_vain_when_nothing_is_due() -> None:
    async def scenario(world: Operating) -> None:
        for number in range(20):
            world.make(f"report-{number}", schedule="0 3 * * *")
        _, way = world.operator(lease=LEASE)
        await world.until(60)
        way.asked.clear()
        await world.until(660)

        asked = [one for one in way.asked if not isinstance(one, Find)]
        assert {one.kind for one in asked} == {Kind.LEASE}
        assert len(asked) <= 12 * 10 + 1
        assert not [one for one in way.asked if isinstance(one, Find)]

    in_a_world(scenario)


@clause("OPERATOR-33")
def test_one_operator_works_and_another_goes_on_when_it_dies() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="* * * * *")
        first, _ = world.operator("a", lease=LEASE)
        await world.until(10)
        second, way = world.operator("b", lease=LEASE)
        await world.until(70)
        assert (first.leads, second.leads) == (True, False)
        assert {type(one) for one in way.asked} == {Find, Get}

        await world.kill(first)
        await world.until(130)

        assert second.leads
        assert second.elector is not None
        assert second.elector.holder == "b"
        assert [line[:14] for line in world.outcomes()] == ["00:01 executed", "00:02 executed"]
        assert len(world.released()) == 2

    in_a_world(scenario)


@clause("OPERATOR-33")
def test_an_operator_that_is_stopped_gives_the_lease_back() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="* * * * *")
        first, _ = world.operator("a", lease=LEASE)
        await world.until(10)
        second, _ = world.operator("b", lease=LEASE)
        await world.until(20)

        await world.stop(first)
        await world.until(26)

        assert second.leads

    in_a_world(scenario)


@clause("OPERATOR-33")
def test_two_operators_without_a_lease_run_a_period_once() -> None:
    async def scenario(world: Operating) -> None:
        for number in range(5):
            world.make(f"report-{number}", schedule="* * * * *")
        world.operator("a")
        world.operator("b")
        await world.until(190)

        assert len(world.released()) == 15
        assert len(set(world.released())) == 3

    in_a_world(scenario)


@clause("OPERATOR-34")
def test_a_stop_lets_a_pass_come_to_its_end() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        await world.until(58)
        way.lag_ms = lambda call: 2_000 if isinstance(call, PutStatus | JsonPatch) else 0
        await world.until(61)

        await world.stop(one)

        assert world.outcomes() == ["00:01 executed"]
        assert world.events()[-1].startswith("Started: released report-20260301000100-")

    in_a_world(scenario)


@clause("OPERATOR-34")
def test_a_stop_waits_no_longer_than_its_grace() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        await world.until(58)
        way.lag_ms = lambda call: 3_600_000
        await world.until(61)
        began = world.clock.monotonic_ms()

        await world.stop(one)

        assert world.clock.monotonic_ms() - began == 10_000

    in_a_world(scenario)


@clause("OPERATOR-34")
def test_an_operator_of_one_namespace_sees_no_other() -> None:
    async def scenario(world: Operating) -> None:
        world.server.namespaces.add("test")
        world.make(schedule="* * * * *")
        one, way = world.operator(namespace="test")
        await world.until(70)

        assert len(one.kronjobs) == 0
        assert {call.namespace for call in way.asked if isinstance(call, Find)} == {"test"}
        assert world.outcomes() == []

    in_a_world(scenario)
