"""Bad input and a server that refuses: said once, tried again, and nothing else waits for it."""

import logging
from collections.abc import Callable

import pytest

from gnomon.ports.kubernetes import Call, Create, Denial, Denied, Kind, NoAnswer, PutStatus
from gnomon.ports.kubernetes_object import text, things
from tests.apps.operator.lone_operator import POD
from tests.apps.operator.operating import Operating, in_a_world
from tests.clauses import clause

TEMPLATE = {"spec": {"template": {"spec": POD}}}


def denying_jobs(why: Denial | None) -> Callable[[Call], Denied | NoAnswer | None]:
    """No Job of the KronJob `report` can be made; None for a server that does not answer."""

    def deny(call: Call) -> Denied | NoAnswer | None:
        if not isinstance(call, Create) or call.kind is not Kind.JOB:
            return None
        if not text(call.object, "metadata", "name").startswith("report"):
            return None
        return NoAnswer("did not answer") if why is None else Denied(why, "no", None)

    return deny


def conditions(world: Operating) -> list[str]:
    return [text(one, "type") for one in things(world.kronjob(), "status", "conditions")]


@clause("OPERATOR-26", "OPERATOR-30")
def test_what_stands_in_the_way_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *", policy={"deadline": "10m"})
        _, way = world.operator()
        way.deny = denying_jobs(Denial.QUOTA)
        await world.until(75)
        way.deny = lambda call: None
        await world.until(90)

        assert [one.partition(":")[0] for one in world.events()] == ["LaunchFailed", "Started"]

    caplog.set_level(logging.INFO)
    in_a_world(scenario)
    assert caplog.text.count("no Job can be made") == 1
    assert caplog.text.count("LaunchFailed: ") == 1
    assert caplog.text.count(" trouble is over: ") == 1


@clause("OPERATOR-26", "OPERATOR-31")
@pytest.mark.parametrize("back", [63, 75, 105])
@pytest.mark.parametrize(
    "why",
    [
        Denial.FORBIDDEN, Denial.QUOTA, Denial.INVALID, Denial.TERMINATING, Denial.TOO_LARGE,
        Denial.UNAUTHENTICATED, Denial.TOO_MANY, None,
    ],
)  # fmt: skip
def test_trouble_that_ends_within_the_deadline_costs_no_period_and_is_asked_for_ever_less_often(
    why: Denial | None, back: int
) -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        world.make("good", schedule="2 1 * * * *")
        one, way = world.operator()
        await world.until(50)
        way.deny = denying_jobs(why)
        await world.until(back)
        tries = [call for call in way.asked if isinstance(call, Create) and call.kind is Kind.JOB]
        assert len([call for call in tries if "report" in str(call.object)]) <= 7
        assert (one.figures.bugs, one.queue.held) == (0, 1)
        if why is not None:
            assert "LaunchFailing" in conditions(world)
            assert world.events()[0].startswith("LaunchFailed: no Job can be made")
        assert world.released()[0] == ("00:01:02", "00:01:02")
        way.deny = lambda call: None
        await world.until(160)

        assert world.outcomes() == ["00:01 executed Succeeded"]
        assert "LaunchFailing" not in conditions(world)

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_an_operator_that_may_not_write_a_status_starts_nothing_and_loses_no_period(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        _, way = world.operator()
        await world.until(50)
        denied = Denied(Denial.FORBIDDEN, 'cannot update resource "kronjobs/status"', None)
        way.deny = lambda call: denied if isinstance(call, PutStatus) else None
        await world.until(100)
        assert world.released() == []
        way.deny = lambda call: None
        await world.until(160)

        assert world.outcomes() == ["00:01 executed Succeeded"]

    caplog.set_level(logging.INFO)
    in_a_world(scenario)
    assert caplog.text.count('cannot update resource "kronjobs/status"') == 1


WRONG: list[dict[str, object]] = [
    {"schedule": "0 25 * * *"}, {"schedule": 5}, {"schedule": "x" * 1000}, {"timezone": "Mars"},
    {"window": {"duration": "1d"}}, {"window": []}, {"policy": {"deadline": "-1s"}},
    {"policy": "forbid"}, {"constraints": {"only": "hour=1"}}, {"distribution": {"mu": 1}},
    {"jobTemplate": None}, {"jobTemplate": {"spec": []}}, {"recordsLimit": "many"}, {"odd": 1},
    {"schedule": "* * * * *", "window": {"duration": "24h"}},
]  # fmt: skip


@clause("OPERATOR-2", "OPERATOR-31")
def test_specs_that_cannot_be_meant_are_said_once_and_hold_up_no_other() -> None:
    async def scenario(world: Operating) -> None:
        for number, spec in enumerate(WRONG):
            world.make(f"bad-{number}", schedule="* * * * *", jobTemplate=TEMPLATE)
            world.edit(f"bad-{number}", **spec)
        world.make("good", schedule="* * * * *", jobTemplate=TEMPLATE)
        one, way = world.operator()
        await world.until(150)

        for number, _ in enumerate(WRONG):
            (message,) = {
                text(said, "message")
                for said in things(world.kronjob(f"bad-{number}"), "status", "conditions")
            }
            assert message.startswith("spec.")
            assert message.count(", got ") == 1
            assert "; " in message
        assert [line.partition(":")[0] for line in world.events()].count("InvalidSpec") == len(
            WRONG
        )
        assert world.outcomes("good") == ["00:01 executed Succeeded", "00:02 executed"]
        assert [when for when, now in world.released() if when != now] == []
        assert (one.figures.bugs, one.queue.held) == (0, 0)
        written = [call.name for call in way.asked if isinstance(call, PutStatus)]
        assert [name for name in set(written) if "bad" in name and written.count(name) > 1] == []

    in_a_world(scenario)
