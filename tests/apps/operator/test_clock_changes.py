"""A KronJob on the days on which clocks change, and when its zone is changed; on virtual time."""

from collections.abc import Awaitable, Callable

import pytest

from gnomon.ports.kubernetes_object import text
from tests.apps.operator.lone_operator import POD, epoch
from tests.apps.operator.operating import Operating, in_a_world
from tests.clauses import clause

HOUR = 3600
TEMPLATE = {"spec": {"template": {"spec": POD}}}


def in_a_night(start: str, scenario: Callable[[Operating], Awaitable[None]]) -> None:
    in_a_world(scenario, start_ms=epoch(start) * 1000, look_ms=2_000)


def starts_of(start: str, hours: int, schedule: str, dst: str) -> list[str]:
    """When Jobs were released in the night, in UTC; each in the second of its own period."""
    found: list[str] = []

    async def scenario(world: Operating) -> None:
        world.make(schedule=schedule, timezone="Europe/Paris", dst=dst, jobTemplate=TEMPLATE)
        world.operator()
        await world.until(hours * HOUR, every_s=30)
        assert all(period == now for period, now in world.released())
        found.extend(now[:5] for _, now in world.released())

    in_a_night(start, scenario)
    return found


def next_period(world: Operating) -> str:
    return text(world.kronjob(), "status", "next", "period")


@clause("OPERATOR-52")
@pytest.mark.parametrize(
    ("schedule", "dst", "starts"),
    [
        ("30 2 * * *", "strict", []),
        ("30 2 * * *", "vixie", ["01:00"]),
        ("30 2 * * *", "civil", []),
        ("0,30 1-3 * * *", "vixie", ["00:00", "00:30", "01:00", "01:30"]),
        ("0,30 1-3 * * *", "civil", ["00:00", "00:30", "01:00", "01:30"]),
        ("30 * * * *", "vixie", ["22:30", "23:30", "00:30", "01:30", "02:30"]),
    ],
)
def test_where_clocks_go_forward_a_skipped_time_is_what_its_policy_says(
    schedule: str, dst: str, starts: list[str]
) -> None:
    """In Paris 02:00 is 03:00 on 29 March 2026, at 01:00 UTC."""
    assert starts_of("2026-03-28T22:00:00Z", 5, schedule, dst) == starts


@clause("OPERATOR-52")
@pytest.mark.parametrize(
    ("schedule", "dst", "starts"),
    [
        ("30 2 * * *", "strict", ["00:30"]),
        ("30 2 * * *", "vixie", ["00:30"]),
        ("30 2 * * *", "civil", ["00:30", "01:30"]),
        ("30 * * * *", "strict", ["22:30", "23:30", "00:30", "02:30"]),
        ("30 * * * *", "vixie", ["22:30", "23:30", "00:30", "01:30", "02:30"]),
        ("30 * * * *", "civil", ["22:30", "23:30", "00:30", "01:30", "02:30"]),
    ],
)
def test_where_clocks_go_back_a_repeated_time_is_what_its_policy_says(
    schedule: str, dst: str, starts: list[str]
) -> None:
    """In Paris 03:00 is 02:00 on 25 October 2026, at 01:00 UTC."""
    assert starts_of("2026-10-24T22:00:00Z", 5, schedule, dst) == starts


@clause("OPERATOR-52")
@pytest.mark.parametrize("dies_at_s", [2 * HOUR, 9_010, 3 * HOUR, 12_600])
def test_an_operator_that_comes_in_the_repeated_hour_runs_nothing_again(dies_at_s: int) -> None:
    """Midnight, just after the run at 02:30, when clocks go back, and at the second 02:30."""

    async def scenario(world: Operating) -> None:
        world.make(
            schedule="30 2 * * *", timezone="Europe/Paris", policy={"deadline": "3h"},
            jobTemplate=TEMPLATE,
        )  # fmt: skip
        first, _ = world.operator("a")
        await world.until(dies_at_s, every_s=30)
        await world.kill(first)
        await world.until(dies_at_s + 5, every_s=30)
        world.operator("b")
        await world.until(7 * HOUR, every_s=30)

        assert [period for period, _ in world.released()] == ["00:30:00"]
        assert world.outcomes() == ["00:30 executed Succeeded"]
        assert next_period(world) == "2026-10-26T01:30:00Z"

    in_a_night("2026-10-24T22:00:00Z", scenario)


@clause("OPERATOR-52")
def test_an_operator_that_was_away_in_the_gap_finds_what_came_after_it() -> None:
    async def scenario(world: Operating) -> None:
        world.make(
            schedule="30 2 * * *", timezone="Europe/Paris", policy={"deadline": "3h"},
            jobTemplate=TEMPLATE,
        )  # fmt: skip
        first, _ = world.operator("a")
        await world.until(HOUR, every_s=30)
        assert next_period(world) == "2026-03-29T01:00:00Z"
        await world.kill(first)
        await world.until(4 * HOUR, every_s=30)
        world.operator("b")
        await world.until(5 * HOUR, every_s=30)

        assert world.released() == [("01:00:00", "02:00:00")]
        assert world.outcomes() == ["01:00 executed Succeeded"]
        assert next_period(world) == "2026-03-30T00:30:00Z"

    in_a_night("2026-03-28T22:00:00Z", scenario)


@clause("OPERATOR-53")
@pytest.mark.parametrize(
    ("zone", "following"),
    [("America/New_York", "2026-03-10T13:00:00Z"), ("Asia/Tokyo", "2026-03-11T00:00:00Z")],
)
def test_a_new_zone_keeps_what_was_and_announces_what_comes(zone: str, following: str) -> None:
    """Nine o'clock in Paris is 08:00 UTC; the edit comes an hour later."""

    async def scenario(world: Operating) -> None:
        world.make(schedule="0 9 * * *", timezone="Europe/Paris", jobTemplate=TEMPLATE)
        world.operator()
        await world.until(3 * HOUR, every_s=30)
        world.edit(timezone=zone)
        await world.until(3 * HOUR + 2, every_s=30)

        assert world.outcomes() == ["08:00 executed Succeeded"]
        assert next_period(world) == following
        await world.until(20 * HOUR, every_s=30)
        assert world.outcomes() == [
            "08:00 executed Succeeded", f"{following[11:16]} executed Succeeded",
        ]  # fmt: skip
        assert [period for period, _ in world.released()] == ["08:00:00", following[11:19]]

    in_a_night("2026-03-10T06:00:00Z", scenario)


@clause("OPERATOR-53")
@pytest.mark.parametrize("edited_s", [-1, 0, 1, 20, 50])
def test_an_instant_that_both_zones_name_runs_once(edited_s: int) -> None:
    """Nine o'clock is the same instant in Lisbon and in London."""

    async def scenario(world: Operating) -> None:
        world.make(schedule="0 9 * * *", timezone="Europe/Lisbon", jobTemplate=TEMPLATE)
        world.operator()
        await world.until(3 * HOUR + edited_s, every_s=30)
        world.edit(timezone="Europe/London")
        await world.until(5 * HOUR, every_s=30)

        assert [period for period, _ in world.released()] == ["09:00:00"]
        assert world.outcomes() == ["09:00 executed Succeeded"]
        assert next_period(world) == "2026-03-11T09:00:00Z"

    in_a_night("2026-03-10T06:00:00Z", scenario)


@clause("OPERATOR-53")
def test_a_window_that_is_open_keeps_its_second_when_the_zone_changes() -> None:
    async def scenario(world: Operating) -> None:
        world.make(
            schedule="0 9 * * *", timezone="Europe/Paris", window={"duration": "2h"},
            jobTemplate=TEMPLATE,
        )  # fmt: skip
        world.operator()
        await world.until(2 * HOUR + 10, every_s=30)
        chosen = text(world.kronjob(), "status", "next", "chosen")
        world.edit(timezone="America/New_York")
        await world.until(5 * HOUR, every_s=30)

        assert world.released() == [("08:00:00", chosen[11:19])]
        assert next_period(world) == "2026-03-10T13:00:00Z"

    in_a_night("2026-03-10T06:00:00Z", scenario)
