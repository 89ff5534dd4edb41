"""What executors say: once, in any order, and only about the run they mean."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gnomon.apps.service.feedback import FeedbackResult
from gnomon.ports.executor import Unanswered
from tests.apps.service.stage import ANNA, Stage
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually


def play(scenario: Callable[[Stage], Awaitable[None]]) -> None:
    async def whole() -> None:
        await scenario(await Stage.open())

    run_virtually(whole())


@clause("SERVICE-17")
def test_feedback_ends_a_run() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert()
        await stage.run_until("00:00:30")
        [row] = await stage.rows()

        assert await stage.say(row.key, "SUCCESS") is FeedbackResult.ACCEPTED
        assert await stage.words() == ["00:00:00 SUCCESS"]
        assert await stage.say(row.key, "SUCCESS") is FeedbackResult.KNOWN
        assert await stage.say(row.key, "FAILED") is FeedbackResult.KNOWN
        assert await stage.words() == ["00:00:00 SUCCESS"]

    play(scenario)


@clause("SERVICE-18")
@pytest.mark.parametrize("status", ["STARTED", "SUCCESS", "FAILED"])
def test_feedback_about_what_no_worker_launched_is_unknown(status: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert()
        assert await stage.say("nothing", status) is FeedbackResult.UNKNOWN
        await stage.registrar.trigger(ANNA, "nightly", token="one")
        assert await stage.say("manual:nightly:one", status) is FeedbackResult.UNKNOWN
        assert (await stage.rows())[0].state == "planned"

    play(scenario)


@clause("SERVICE-18")
def test_feedback_of_another_run_under_the_key_is_stale() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert()
        await stage.run_until("00:00:30")
        [row] = await stage.rows()

        assert await stage.say(row.key, "FAILED", run_id="another") is FeedbackResult.STALE
        assert await stage.words() == ["00:00:00 STARTED"]

    play(scenario)


@clause("SERVICE-18")
@pytest.mark.parametrize("first", ["STARTED", "SUCCESS"])
def test_feedback_may_come_before_the_worker_has_written_the_launch(first: str) -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms = 5_000
        await stage.upsert()
        running = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:00:02")
        key = stage.executor.calls[0].meta.idempotency_key
        assert await stage.say(key, first) is FeedbackResult.ACCEPTED
        await stage.wait_until("00:00:20")
        await stage.worker.stop(0)
        await running

        assert await stage.words() == [f"00:00:00 {first}"]
        [row] = await stage.rows()
        assert row.run_id == f"run:{key[:8]}"
        assert row.started_ms is not None
        assert row.started_ms - row.nominal * 1000 in ((0,) if first == "SUCCESS" else (2_000,))
        assert stage.counters.drift.count == 1
        assert stage.worker.runtime.telemetry.reports_refused == 0

    play(scenario)


@clause("SERVICE-18")
def test_an_end_counts_while_the_launch_is_being_tried_again() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")]
        await stage.upsert(launch_backoff="30s")
        await stage.run_until("00:00:10")
        key = stage.executor.calls[0].meta.idempotency_key

        assert await stage.say(key, "STARTED") is FeedbackResult.KNOWN
        assert await stage.say(key, "SUCCESS") is FeedbackResult.ACCEPTED
        await stage.run_until("00:00:50", worker=stage.another("worker-2"))
        assert len(stage.executor.calls) == 1
        assert await stage.words() == ["00:00:00 SUCCESS"]

    play(scenario)
