"""Alive, ready, and the page of figures."""

import asyncio

from gnomon.apps.operator.health import (
    STUCK_MS,
    UNHEARD_MS,
    operator_families,
    what_is_dead,
    what_is_unready,
)
from gnomon.ports.kubernetes import Denial, Denied, Kind
from gnomon.shell.observe.prometheus import page_text
from tests.apps.operator.operating import LEASE, Operating, in_a_world
from tests.clauses import clause


@clause("OPERATOR-36")
def test_an_operator_is_ready_when_it_has_seen_everything() -> None:
    async def scenario(world: Operating) -> None:
        one, _ = world.operator(lease=LEASE)
        assert what_is_unready(one, world.clock) == "KronJobs were not seen yet"
        await world.until(2)

        assert what_is_unready(one, world.clock) == ""
        assert what_is_dead(one, world.clock) == ""

    in_a_world(scenario)


@clause("OPERATOR-36")
def test_an_operator_that_cannot_be_heard_by_the_server_lives_and_is_not_ready() -> None:
    async def scenario(world: Operating) -> None:
        one, way = world.operator()
        await world.until(5)
        way.is_cut = True
        await world.until(200)

        assert what_is_unready(one, world.clock) == "KronJobs cannot be watched: cut off"
        assert what_is_dead(one, world.clock) == ""
        way.is_cut = False
        await world.until(220)
        assert what_is_unready(one, world.clock) == ""

    in_a_world(scenario)


@clause("OPERATOR-36")
def test_a_lease_that_cannot_be_had_is_a_reason_not_to_be_ready() -> None:
    async def scenario(world: Operating) -> None:
        one, way = world.operator(lease=LEASE)
        way.deny = lambda call: (
            Denied(Denial.FORBIDDEN, "no leases", None) if call.kind is Kind.LEASE else None
        )
        await world.until(5)

        said = what_is_unready(one, world.clock)
        assert said == "the Lease cannot be had: forbidden: no leases"

    in_a_world(scenario)


@clause("OPERATOR-36")
def test_what_stands_still_is_neither_ready_nor_alive() -> None:
    async def scenario(world: Operating) -> None:
        one, _ = world.operator()
        await world.until(5)
        await world.kill(one)
        await asyncio.sleep((UNHEARD_MS + STUCK_MS) / 1000)

        unheard_s = UNHEARD_MS // 1000
        assert (
            what_is_unready(one, world.clock) == f"nothing was heard of KronJobs for {unheard_s} s"
        )
        assert what_is_dead(one, world.clock).startswith("nothing was looked at for ")

    in_a_world(scenario)


@clause("OPERATOR-35")
def test_the_page_tells_how_things_are_now() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, _ = world.operator()
        await world.until(100)

        page = page_text(operator_families(one, world.clock, version="1", started_ms=5_000))

        for line in (
            "gnomon_operator_start_time_seconds 5.0",
            "gnomon_operator_leader 1.0",
            "gnomon_operator_kronjobs 1.0",
            "gnomon_operator_jobs 1.0",
            "gnomon_operator_passes_waiting 0.0",
            "gnomon_operator_kronjobs_in_trouble 0.0",
            'gnomon_operator_lists_total{kind="jobs"} 1.0',
        ):
            assert f"{line}\n" in page
        assert 'gnomon_operator_watch_age_seconds{kind="kronjobs"} ' in page

    in_a_world(scenario)
