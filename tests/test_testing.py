"""`gnomon.testing`: users test their own schedules on virtual time."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

import gnomon.testing
from gnomon.errors import DefinitionError
from tests.clauses import clause


async def nothing() -> None:
    """A callback."""


NIGHTLY = [("backup", "0 2 * * *", nothing, timedelta(minutes=5))]


@clause("TESTING-1")
def test_a_day_passes_in_no_time_and_what_is_due_in_it_is_run() -> None:
    async def scenario() -> list[datetime]:
        async with gnomon.testing.world(start="2026-03-01T00:00:00Z") as world:
            await world.scheduler().initialize(NIGHTLY)
            await world.advance(days=2)
            return world.starts("backup")

    assert gnomon.testing.run(scenario()) == [
        datetime(2026, 3, 1, 2, tzinfo=UTC), datetime(2026, 3, 2, 2, tzinfo=UTC),
    ]  # fmt: skip


@clause("TESTING-2")
def test_a_crash_cuts_off_a_run_which_is_started_again() -> None:
    async def scenario() -> list[str]:
        async with gnomon.testing.world(start="2026-03-01T01:59:00Z") as world:

            async def slow() -> None:
                await asyncio.sleep(600)

            registrations = [("backup", "0 2 * * *", slow, timedelta(minutes=5))]
            await world.scheduler().initialize(registrations)
            await world.advance(minutes=5)
            await world.crash()
            await world.advance(hours=1)
            await world.scheduler().initialize(registrations)
            await world.advance(minutes=1)
            return [
                f"{one.at:%H:%M} {one.detail}" for one in world.history if one.event == "RunStart"
            ]

    assert gnomon.testing.run(scenario()) == [
        "02:00 due 2026-03-01T02:00:00Z attempt 1",
        "03:04 interrupted 2026-03-01T02:00:00Z attempt 2",
    ]


@clause("TESTING-3")
def test_the_clock_can_be_set_and_what_was_due_does_not_come_again() -> None:
    async def scenario() -> tuple[int, datetime]:
        async with gnomon.testing.world(start="2026-03-01T01:59:00Z") as world:
            await world.scheduler().initialize(NIGHTLY)
            await world.advance_to("2026-03-01T02:01:00Z")
            world.set_clock("2026-03-01T01:58:00Z")
            await world.advance(minutes=10)
            return len(world.starts("backup")), world.now

    expected = datetime(2026, 3, 1, 2, 8, tzinfo=UTC)
    assert gnomon.testing.run(scenario()) == (1, expected)


@clause("TESTING-4")
def test_a_world_on_a_real_loop_is_refused_with_what_to_do() -> None:
    async def scenario() -> None:
        async with gnomon.testing.world(start="2026-03-01T00:00:00Z"):
            pass

    with pytest.raises(DefinitionError, match=r"gnomon\.testing\.run"):
        asyncio.run(scenario())


@clause("TESTING-4")
@pytest.mark.parametrize("start", ["2026-03-01", datetime(2026, 3, 1)])  # noqa: DTZ001
def test_an_instant_without_an_offset_is_refused(start: str | datetime) -> None:
    async def scenario() -> None:
        async with gnomon.testing.world(start=start):
            pass

    with pytest.raises(DefinitionError):
        gnomon.testing.run(scenario())
