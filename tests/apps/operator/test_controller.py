"""The operator at work: it looks in time, one pass at a time, and one KronJob holds up no other."""

import asyncio
import logging

import pytest

from gnomon.apps.operator.controller import Controller
from gnomon.apps.operator.figures import families_of
from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import (
    Call,
    Create,
    Delete,
    Denial,
    Denied,
    Get,
    Kind,
    MergePatch,
    PutStatus,
)
from gnomon.ports.kubernetes_object import text, things
from gnomon.shell.observe.prometheus import page_text
from tests.apps.operator.operating import Operating, in_a_world
from tests.clauses import clause


@clause("OPERATOR-31")
def test_a_job_is_released_in_its_chosen_second() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="*/5 * * * *", window={"duration": "2m"})
        world.lasts_s = 5
        world.make("second", schedule="17,47 1 * * * *")
        world.operator()
        await world.until(470)

        assert world.outcomes() == ["00:05 executed Succeeded"]
        (job,) = [name for name in world.job_names() if name.startswith("report")]
        annotations = "metadata", "annotations"
        chosen = text(world.done(Get(Kind.JOB, "prod", job)), *annotations, "gnomon.dev/chosen")
        started = dict(world.released())
        assert started["00:05:00"] == chosen[11:19]
        assert started["00:01:17"] == "00:01:17"
        assert started["00:01:47"] == "00:01:47"

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_a_kronjob_in_trouble_holds_up_no_other() -> None:
    async def scenario(world: Operating) -> None:
        for name in ("bad", "good"):
            world.make(name, schedule="* * * * *", policy={"deadline": "30s"})
        _, way = world.operator()

        def deny(call: Call) -> Denied | None:
            refused = isinstance(call, Create) and call.kind is Kind.JOB
            name = text(call.object, "metadata", "name") if refused else ""  # type: ignore[union-attr]
            return Denied(Denial.QUOTA, "full", None) if name.startswith("bad") else None

        way.deny = deny
        await world.until(150)

        assert world.outcomes("good") == ["00:01 executed Succeeded", "00:02 executed"]
        assert world.outcomes("bad") == ["00:01 missed launch_failed"]
        tries = [one for one in way.asked if isinstance(one, Create) and one.kind is Kind.JOB]
        refused = [one for one in tries if text(one.object, "metadata", "name").startswith("bad")]
        assert 8 <= len(refused) <= 14  # two periods, held back longer each time

    in_a_world(scenario)


@clause("OPERATOR-26", "OPERATOR-31")
def test_trouble_with_one_period_does_not_delay_the_next() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="*/5 * * * * *", policy={"deadline": "3s"})
        _, way = world.operator()
        tried: dict[str, str] = {}

        def deny(call: Call) -> Denied | None:
            if isinstance(call, Create) and call.kind is Kind.JOB:
                period = text(call.object, "metadata", "annotations", "gnomon.dev/period")
                tried.setdefault(period, format_instant(world.clock.now_ms() // 1000))
                return Denied(Denial.INVALID, "no such template", None)
            return None

        way.deny = deny
        await world.until(64)

        assert [line[6:] for line in world.outcomes()] == ["missed launch_failed"] * 11
        assert list(tried) == list(tried.values())

    in_a_world(scenario)


@clause("OPERATOR-26", "OPERATOR-31")
@pytest.mark.parametrize("back", [63, 90, 104])
def test_a_server_that_is_back_before_the_deadline_costs_no_period(back: int) -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        await world.until(50)
        way.is_cut = True
        await world.until(back)
        way.is_cut = False
        await world.until(160)

        assert world.outcomes() == ["00:01 executed Succeeded"]
        assert one.figures.passes_in_trouble > 0

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_no_two_passes_over_one_kronjob_are_under_way() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="* * * * *")
        _, way = world.operator()
        under_way: list[Call] = []
        most = 0

        def lag_ms(call: Call) -> int:
            nonlocal most
            if not (isinstance(call, Create) and call.kind is Kind.EVENT):
                under_way.append(call)
                most = max(most, len(under_way))
                asyncio.get_running_loop().call_later(0.9, under_way.remove, call)
            return 900

        way.lag_ms = lag_ms
        for second in range(1, 100, 5):
            await world.until(second)
            world.done(
                MergePatch(
                    Kind.KRONJOB, "prod", "report", {"metadata": {"labels": {"n": str(second)}}}
                )
            )
        await world.until(150)

        assert most == 1
        assert [line[:14] for line in world.outcomes()] == ["00:01 executed", "00:02 executed"]

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_a_pass_that_takes_too_long_is_left_and_made_anew() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *", policy={"deadline": "10m"})
        _, way = world.operator()
        await world.until(55)
        way.lag_ms = lambda call: 11_000 if isinstance(call, Create) else 0
        await world.until(80)
        way.lag_ms = lambda call: 0
        await world.until(110)

        assert world.outcomes() == ["00:01 executed"]
        assert len(world.released()) == 1

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_a_bug_in_a_pass_is_trouble_of_one_kronjob(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: Operating) -> None:
        world.make("good", schedule="1 * * * *")
        world.make("odd", schedule="1 * * * *")
        one, way = world.operator()

        def deny(call: Call) -> Denied | None:
            if isinstance(call, PutStatus) and call.name == "odd":
                raise RuntimeError("no such thing")
            return None

        way.deny = deny
        await world.until(100)

        assert world.outcomes("good") == ["00:01 executed Succeeded"]
        assert one.figures.bugs >= 1

    caplog.set_level(logging.ERROR)
    in_a_world(scenario)
    assert "kronjob='prod/odd'" in caplog.text
    assert "RuntimeError: no such thing" in caplog.text


@clause("OPERATOR-31")
def test_an_edit_is_taken_up_at_once_also_in_trouble() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *", policy={"deadline": "10m"})
        one, way = world.operator()
        way.deny = lambda call: (
            Denied(Denial.FORBIDDEN, "no", None)
            if isinstance(call, Create) and call.kind is Kind.JOB
            else None
        )
        await world.until(121)
        assert one.queue.held == 1
        way.deny = lambda call: None
        way.asked.clear()
        world.edit(jobTemplate={"metadata": {"labels": {"a": "b"}}})
        await world.until(123)

        assert len(world.released()) == 1
        assert one.queue.held == 0

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_a_server_that_asks_to_be_left_alone_is(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        _, way = world.operator()
        await world.until(55)
        way.deny = lambda call: Denied(Denial.TOO_MANY, "later", None, retry_after_ms=20_000)
        way.asked.clear()
        await world.until(79)

        assert len([one for one in way.asked if isinstance(one, Create)]) == 1
        way.deny = lambda call: None
        await world.until(90)
        assert world.outcomes() == ["00:01 executed"]

    caplog.set_level(logging.INFO)
    in_a_world(scenario)
    assert caplog.text.count(" trouble: ") == 1
    assert caplog.text.count(" trouble is over: ") == 1


@clause("OPERATOR-31", "OPERATOR-18")
def test_a_clock_that_was_set_forward_is_noticed_within_seconds() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="0 1 * * *")
        one, _ = world.operator()
        await world.until(60)
        world.clock.offset_ms += 3_600_000 - 60_000
        await asyncio.sleep(6)

        assert one.figures.clock_jumps == 1
        assert world.outcomes() == ["01:00 executed"]

    in_a_world(scenario)


@clause("OPERATOR-30")
def test_events_tell_what_was_started_and_how_it_ended() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        world.operator()
        await world.until(100)

        (job,) = world.job_names()
        assert world.events() == [
            f"Started: released {job} for the period 2026-03-01T00:01:00Z",
            f"Completed: {job} for the period 2026-03-01T00:01:00Z: Succeeded",
        ]

    in_a_world(scenario)


@clause("OPERATOR-30")
def test_events_that_are_refused_hold_nothing_up() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        way.deny = lambda call: (
            Denied(Denial.FORBIDDEN, "no", None)
            if isinstance(call, Create) and call.kind is Kind.EVENT
            else None
        )
        await world.until(100)

        assert world.outcomes() == ["00:01 executed Succeeded"]
        assert one.figures.events_dropped == 2
        assert one.figures.told == {"Started": 1, "Completed": 1}

    in_a_world(scenario)


@clause("OPERATOR-22", "OPERATOR-32")
def test_a_job_deleted_by_hand_is_noticed_and_not_made_again() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        world.operator()
        await world.until(65)
        (job,) = world.job_names()
        world.delete(Kind.JOB, job)
        await world.until(70)

        assert world.job_names() == []
        assert world.outcomes() == ["00:01 executed Deleted"]

    in_a_world(scenario)


def test_a_kronjob_that_was_deleted_is_forgotten() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="* * * * *")
        one, _ = world.operator()
        await world.until(65)
        world.delete(Kind.KRONJOB, "report")
        await world.until(130)

        assert len(one.queue) == len(one.kronjobs) == len(one.jobs) == 0
        assert len(world.released()) == 1

    in_a_world(scenario)


@clause("OPERATOR-35")
def test_figures_tell_what_was_asked_and_how_late_jobs_were_released() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        await world.until(50)
        way.lag_ms = lambda call: 300
        await world.until(100)

        assert one.figures.lag.count == 1
        assert one.figures.lag.max_ms == 900
        assert one.figures.questions["create", "jobs", "done"] == 1
        assert one.figures.questions["jsonpatch", "jobs", "done"] == 1
        page = page_text(families_of(one.figures, {"leader": ("Whether it leads.", 1)}))
        for line in (
            'gnomon_operator_questions_total{act="create",answer="done",kind="jobs"} 1.0',
            'gnomon_operator_events_total{reason="Started"} 1.0',
            'gnomon_operator_start_lateness_seconds_bucket{le="1.0"} 1.0',
            "gnomon_operator_passes_in_trouble_total 0.0",
            "gnomon_operator_leader 1.0",
        ):
            assert f"{line}\n" in page

    in_a_world(scenario)


def test_an_error_in_what_works_beside_ends_the_operator() -> None:
    async def scenario(world: Operating) -> None:
        one, way = world.operator()
        way.find = None  # type: ignore[assignment]
        with pytest.raises(TypeError):
            await world._tasks.pop(one)

    in_a_world(scenario)


def conditions(world: Operating) -> list[str]:
    return [text(one, "type") for one in things(world.kronjob(), "status", "conditions")]


def test_a_namespace_that_ends_is_trouble_and_no_more() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        way.deny = lambda call: (
            Denied(Denial.TERMINATING, "the namespace is being terminated", None)
            if isinstance(call, Create)
            else None
        )
        await world.until(100)

        assert "LaunchFailing" in conditions(world)
        assert isinstance(one, Controller)
        assert not [call for call in way.asked if isinstance(call, Delete)]

    in_a_world(scenario)


@clause("OPERATOR-31")
def test_what_an_operator_writes_itself_is_no_news_to_it() -> None:
    async def scenario(world: Operating) -> None:
        world.make(schedule="1 * * * *")
        one, way = world.operator()
        way.lag_ms = lambda call: 200  # so that the watch tells of a write within the pass
        await world.until(50)
        before = one.figures.passes
        await world.until(100)

        assert before == 1
        assert one.figures.passes == 4  # its second, the Job that began, and the Job that ended

    in_a_world(scenario)
