"""Expectations: the service tells once of a run that did not come, even if nothing began."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gnomon.apps.service.expectations import is_met
from gnomon.ports.executor import Refused
from tests.apps.service.stage import ANNA, Stage, at
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually

MISSED = "run.expectation_missed"


def play(scenario: Callable[[Stage], Awaitable[None]], *, detached: bool = False) -> None:
    async def whole() -> None:
        stage = await Stage.open(detached=detached)
        stage.executor.runs_ms = 1_000
        await scenario(stage)

    run_virtually(whole())


@clause("SERVICE-20")
def test_no_breach_is_told_when_everything_comes_in_time() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="10s", finish_by="20s")
        await stage.run_until("00:03:30")

        assert stage.told(MISSED) == []
        assert await stage.words() == [f"00:0{minute}:00 SUCCESS" for minute in range(4)]

    play(scenario)


@clause("SERVICE-20")
def test_a_run_that_did_not_begin_in_time_is_told_once() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(overlap_policy="skip", start_by="5s")
        stage.executor.runs_ms = 90_000
        await stage.run_until("00:02:30")

        assert stage.told(MISSED) == ["00:01:00 start_by"]

    play(scenario)


@clause("SERVICE-20")
def test_a_run_that_did_not_end_well_in_time_is_told() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(finish_by="20s", overlap_policy="allow")
        stage.executor.runs_ms = 30_000
        await stage.run_until("00:00:50")
        assert stage.told(MISSED) == ["00:00:00 finish_by"]

    play(scenario)


@clause("SERVICE-20")
def test_a_launch_that_failed_is_told_although_nothing_began() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Refused("no", permanent=True)]
        await stage.upsert(start_by="5s", finish_by="10s")
        await stage.run_until("00:00:30")

        assert stage.told(MISSED) == ["00:00:00 start_by", "00:00:00 finish_by"]

    play(scenario)


@clause("SERVICE-20")
def test_what_no_worker_was_there_to_start_is_told_by_the_next_worker() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="30s", catchup_policy="none")
        await stage.wait_until("00:03:45")
        await stage.run_until("00:03:50")

        assert stage.told(MISSED) == [f"00:0{minute}:00 start_by" for minute in range(4)]

    play(scenario)


@clause("SERVICE-20")
def test_two_workers_tell_one_breach_once() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="5s", version=9)
        second = stage.another("worker-2")
        both = [asyncio.create_task(one.run()) for one in (stage.worker, second)]
        await stage.wait_until("00:00:40")
        await asyncio.gather(stage.worker.stop(0), second.stop(0))
        await asyncio.gather(*both)

        assert stage.told(MISSED) == ["00:00:00 start_by"]

    play(scenario)


@clause("SERVICE-17", "SERVICE-20")
def test_a_run_elsewhere_that_is_not_heard_of_in_its_time_is_told() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.runs_ms = None
        await stage.upsert(max_duration="20s", cron_expr="0 0 * * *")
        await stage.run_until("00:00:50")

        assert await stage.words() == ["00:00:00 FAILED uncertain"]
        assert stage.told(MISSED) == ["00:00:00 max_duration"]

    play(scenario, detached=True)


@clause("SERVICE-21")
def test_what_was_left_out_on_purpose_is_no_breach() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="5s")
        await stage.registrar.skip_next(ANNA, "nightly")
        await stage.run_until("00:01:10")
        await stage.registrar.pause_schedule(ANNA, "nightly", True)
        await stage.run_until("00:03:10", worker=stage.another("worker-2"))
        await stage.registrar.pause_schedule(ANNA, "nightly", False)
        await stage.run_until("00:04:30", worker=stage.another("worker-3"))

        assert stage.told(MISSED) == []
        assert (await stage.words())[1:3] == [
            "00:01:00 SKIPPED requested", "00:02:00 SKIPPED paused x2",
        ]  # fmt: skip

    play(scenario)


@clause("SERVICE-20")
def test_an_edit_and_a_deletion_are_followed() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="5s", version=9)
        await stage.run_until("00:00:30")
        await stage.upsert(version=9)
        await stage.run_until("00:01:30", worker=stage.another("worker-2"))
        assert stage.told(MISSED) == ["00:00:00 start_by"]
        await stage.upsert(start_by="10s", version=9)
        await stage.registrar.delete_schedule(ANNA, "nightly")
        await stage.run_until("00:03:30", worker=stage.another("worker-3"))
        assert stage.told(MISSED) == ["00:00:00 start_by"]

    play(scenario)


@clause("SERVICE-20")
def test_a_long_outage_is_judged_in_bounded_time() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(start_by="30s")
        await stage.wait_until("10:00:45")
        await stage.run_until("10:00:59")

        told = stage.told(MISSED)
        assert len(told) == 100
        assert (told[0], told[-1]) == ("08:21:00 start_by", "10:00:00 start_by")

    play(scenario)


@clause("SERVICE-20")
@pytest.mark.parametrize(("by", "met"), [("00:00:00.999", False), ("00:00:01", True)])
def test_the_last_instant_still_counts(by: str, met: bool) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert()
        await stage.run_until("00:00:30")
        [row] = await stage.rows()
        assert row.ended_ms is not None
        late_ms = row.ended_ms - at("00:00:01")
        assert is_met(row, "finish_by", by_ms=at(by) + late_ms) is met

    play(scenario)
