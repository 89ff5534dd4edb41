"""A run that the executor may have taken on: the worker asks again, and does not pass it over."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.ledger.period import period_key
from gnomon.ports.executor import Refused, Unanswered
from tests.apps.service.stage import ANNA, START_MS, Stage
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually

FIRST = period_key("nightly", START_MS // 1000)
BUSY = Refused("busy", permanent=False)


def play(scenario: Callable[[Stage], Awaitable[None]]) -> None:
    async def whole() -> None:
        await scenario(await Stage.open())

    run_virtually(whole())


async def die_after_the_commit(stage: Stage) -> None:
    """A worker claims what is due, and is gone before it has asked the executor."""
    now_ms = stage.clock.now_ms()
    changes = plan(await stage.ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
    await stage.ledger.commit(changes, owner="dead", confirmed=False, now_ms=now_ms)


@clause("ENGINE-6", "SERVICE-16")
def test_what_died_with_its_worker_does_not_give_way_while_its_executor_is_busy() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(overlap_policy="skip", launch_backoff="45s")
        await die_after_the_commit(stage)
        stage.executor.answers = [BUSY]
        await stage.worker.recover()
        await stage.run_until("00:01:50")

        assert [call.time for call in stage.executor.calls] == ["00:00:00.000", "00:01:30.005"]
        assert stage.executor.effects == [FIRST]
        assert await stage.words() == ["00:00:00 STARTED", "00:01:00 SKIPPED overlap"]

    play(scenario)


@clause("SERVICE-18")
@pytest.mark.parametrize("answer", [None, Unanswered("timed out")])
def test_a_run_that_is_over_before_its_launch_is_answered_says_when_it_began(
    answer: Unanswered | None,
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms, stage.executor.answers = 40_000, [answer] if answer else []
        await stage.upsert(cron_expr="0 0 * * *")
        working = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:00:10")
        assert await stage.say(FIRST, "SUCCESS") == "accepted"
        await stage.wait_until("00:01:50")
        await stage.worker.stop(0)
        await working

        [row] = await stage.rows()
        assert (row.status, row.run_id, row.launches) == ("SUCCESS", f"run:{FIRST[:8]}", 1)
        assert row.started_ms is not None
        assert row.started_ms - START_MS < 1_000
        assert stage.executor.kills == []

    play(scenario)


@clause("SERVICE-18")
def test_a_launch_whose_run_cannot_be_ended_goes_on_to_its_answer() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms, stage.executor.can_end = 80_000, False
        await stage.upsert(overlap_policy="replace")
        working = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:01:10")
        assert await stage.say(FIRST, "SUCCESS") == "accepted"
        await stage.wait_until("00:01:50")
        await stage.worker.stop(0)
        await working

        row = (await stage.rows())[0]
        assert (row.status, row.run_id, row.launches) == ("SUCCESS", f"run:{FIRST[:8]}", 1)
        assert row.started_ms is not None
        assert (FIRST, Reason.REPLACED) in stage.executor.kills

    play(scenario)


@clause("ENGINE-6", "SERVICE-16")
def test_what_was_not_answered_may_be_running_and_nothing_runs_beside_it() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")]
        await stage.upsert(overlap_policy="skip", launch_backoff="90s")
        await stage.run_until("00:01:50")

        assert stage.executor.effects == [FIRST]
        assert await stage.words() == ["00:00:00 STARTED", "00:01:00 SKIPPED overlap"]

    play(scenario)


@clause("ENGINE-6", "ASK-3")
def test_a_run_that_a_user_asks_for_does_not_run_beside_it_either() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")]
        await stage.upsert(cron_expr="0 0 * * *", overlap_policy="skip", launch_backoff="90s")
        await stage.run_until("00:00:30")
        await stage.registrar.trigger(ANNA, "nightly", token="now")
        await stage.run_until("00:01:50", worker=stage.another("worker-2"))

        assert stage.executor.effects == [FIRST]
        assert await stage.words() == ["00:00:00 STARTED", "00:00:30 SKIPPED overlap"]

    play(scenario)


@clause("ENGINE-6", "SERVICE-16")
def test_what_may_be_running_is_ended_before_a_newer_run_replaces_it() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")]
        await stage.upsert(overlap_policy="replace", launch_backoff="90s")
        await stage.run_until("00:00:30")
        await stage.run_until("00:01:50", worker=stage.another("worker-2"))

        assert stage.executor.kills == [(FIRST, Reason.REPLACED)]
        assert await stage.words() == ["00:00:00 FAILED replaced", "00:01:00 STARTED"]

    play(scenario)


@clause("ENGINE-6", "ASK-4")
@pytest.mark.parametrize(
    ("overlap", "kills", "words"),
    [
        ("skip", [], ["00:00:00 planned", "00:00:30 SKIPPED overlap"]),
        ("queue", [], ["00:00:00 planned", "00:00:30 queued"]),
        ("replace", [(FIRST, Reason.REPLACED)], ["00:00:00 FAILED replaced", "00:00:30 STARTED"]),
    ],
)
def test_in_a_pause_nothing_is_run_now_beside_it(
    overlap: str, kills: list[tuple[str, Reason]], words: list[str]
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")]
        await stage.upsert(overlap_policy=overlap, launch_backoff="90s")
        await stage.run_until("00:00:20")
        await stage.registrar.pause_schedule(ANNA, "nightly", paused=True)
        await stage.wait_until("00:00:30")
        await stage.registrar.trigger(ANNA, "nightly", token="now")
        await stage.run_until("00:05:00", worker=stage.another("worker-2"))

        assert stage.executor.kills == kills
        assert await stage.words() == words

    play(scenario)


@clause("ENGINE-6")
def test_what_was_certainly_not_taken_on_gives_way_to_the_next() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [BUSY]
        await stage.upsert(overlap_policy="skip", launch_backoff="90s")
        await stage.run_until("00:01:50")

        assert await stage.words() == ["00:00:00 SKIPPED overlap", "00:01:00 STARTED"]

    play(scenario)
