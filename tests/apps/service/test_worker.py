"""The worker, the run launcher and feedback: what is due is handed to the executor, once."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256

import pytest

from gnomon.apps.service.settings import Settings
from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.ledger.period import period_key
from gnomon.ports.dag import StoredDag
from gnomon.ports.executor import Accepted, Refused, Unanswered
from tests.apps.service.stage import ANNA, START_MS, Stage, at
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually


def play(scenario: Callable[[Stage], Awaitable[None]], *, detached: bool = True) -> None:
    async def whole() -> None:
        await scenario(await Stage.open(detached=detached))

    run_virtually(whole())


@clause("SERVICE-14")
def test_a_run_is_handed_over_with_its_dag_and_its_facts() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(overlap_policy="allow")
        await stage.run_until("00:01:30")

        [first, second] = stage.executor.calls
        assert (first.time, second.time) == ("00:00:00.000", "00:01:00.000")
        meta = second.meta
        assert meta.scheduled_for == at("00:01:00") // 1000
        text = f"nightly:{meta.scheduled_for}".encode()
        assert meta.idempotency_key == sha256(text).hexdigest()
        assert (meta.workflow_id, meta.version, meta.user_id) == ("report", 1, "anna")
        assert (meta.source, meta.schedule_id, meta.attempt) == ("schedule", "nightly", 1)

    play(scenario)


@clause("SERVICE-14")
def test_runs_asked_for_say_where_they_come_from() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(cron_expr="0 12 * * *", overlap_policy="allow")
        await stage.registrar.trigger(ANNA, "nightly", token="one")
        start, end = "2026-02-27T00:00:00Z", "2026-02-28T00:00:00Z"
        await stage.registrar.backfill(ANNA, "nightly", start=start, end=end, name="b")
        await stage.run_until("00:00:10")

        sources = {call.meta.source: call.meta.scheduled_for for call in stage.executor.calls}
        assert sources == {
            "manual": START_MS // 1000,
            "backfill": START_MS // 1000 - 36 * 3600,
        }

    play(scenario)


@clause("SERVICE-14")
def test_each_version_gets_its_own_dag() -> None:
    async def scenario(stage: Stage) -> None:
        dag = StoredDag("anna", "report", 2, "d2", '{"nodes": [2]}', START_MS)
        await stage.dags.put(dag)
        await stage.upsert(version=2)
        await stage.run_until("00:00:10")

        assert [call.meta.version for call in stage.executor.calls] == [2]

    play(scenario)


@clause("SERVICE-15")
def test_a_dag_that_is_not_there_is_a_permanent_failure() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(version=9, launches_max=5)
        await stage.run_until("00:00:30")

        assert stage.executor.calls == []
        assert await stage.words() == ["00:00:00 FAILED launch_failed"]
        [row] = await stage.rows()
        assert (row.launches, row.detail) == (1, "DAG report has no version 9")

    play(scenario)


@clause("SERVICE-15")
def test_a_launch_that_fails_is_tried_again_and_holds_up_no_other_schedule() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Refused("busy", permanent=False)] * 2
        await stage.upsert(launch_backoff="10s", launches_max=3)
        await stage.upsert(schedule_id="other", trigger_id="other", launch_backoff="10s")
        await stage.run_until("00:00:40")

        nightly = [c for c in stage.executor.calls if c.meta.schedule_id == "nightly"]
        other = [c for c in stage.executor.calls if c.meta.schedule_id == "other"]
        assert len(nightly) + len(other) == 4
        assert {c.time for c in (*nightly, *other)} == {"00:00:00.000", "00:00:10.005"}
        assert await stage.words() == ["00:00:00 STARTED"]
        assert stage.counters.runs_failed_launch == 2

    play(scenario)


@clause("SERVICE-15")
def test_a_launch_that_is_given_up_is_failed() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Refused("busy", permanent=False)] * 3
        await stage.upsert(launch_backoff="1s", launches_max=3)
        await stage.run_until("00:00:40")

        assert await stage.words() == ["00:00:00 FAILED launch_failed"]
        assert len(stage.executor.calls) == 3

    play(scenario)


@clause("SERVICE-15")
def test_an_executor_that_asks_to_be_left_alone_is() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Refused("busy", permanent=False, retry_after_ms=20_000)]
        await stage.upsert(launch_backoff="1s")
        await stage.run_until("00:00:40")

        assert [call.time[:8] for call in stage.executor.calls] == ["00:00:00", "00:00:20"]

    play(scenario)


@clause("SERVICE-16")
@pytest.mark.parametrize("trouble", [Unanswered("timed out"), RuntimeError("broken")])
def test_without_an_answer_it_is_asked_again_under_the_same_key(
    trouble: Unanswered | Exception,
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [trouble]
        await stage.upsert()
        await stage.run_until("00:00:30")

        keys = [call.meta.idempotency_key for call in stage.executor.calls]
        assert len(keys) == 2
        assert len(set(keys)) == 1
        assert await stage.words() == ["00:00:00 STARTED"]

    play(scenario)


@clause("SERVICE-16")
def test_what_was_never_answered_may_have_run() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out")] * 2
        await stage.upsert(launches_max=2)
        await stage.run_until("00:00:30")

        [row] = await stage.rows()
        assert (row.outcome, row.reason, row.status) == ("executed", "uncertain", "FAILED")

    play(scenario)


@clause("SERVICE-16")
def test_an_executor_that_breaks_once_does_not_break_the_worker() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [RuntimeError("broken")] * 3
        await stage.upsert(launches_max=3, launch_backoff="1s", overlap_policy="allow")
        await stage.run_until("00:01:30")

        assert await stage.words() == ["00:00:00 FAILED uncertain", "00:01:00 STARTED"]

    play(scenario)


@clause("SERVICE-14")
def test_a_slow_executor_holds_up_no_other_schedule() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms = 50_000
        for number in range(3):
            await stage.upsert(schedule_id=f"s{number}", trigger_id=f"t{number}")
        await stage.run_until("00:00:59")

        assert [call.time for call in stage.executor.calls] == ["00:00:00.000"] * 3

    play(scenario)


@clause("SERVICE-17")
def test_the_end_of_a_run_of_this_process_is_heard_from_the_executor() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.runs_ms = 2_000
        await stage.upsert()
        await stage.run_until("00:01:30")

        assert await stage.words() == ["00:00:00 SUCCESS", "00:01:00 SUCCESS"]
        assert stage.told("run.ended") == ["00:00:00 ", "00:01:00 "]

    play(scenario, detached=False)


@clause("SERVICE-17")
def test_a_run_that_takes_too_long_is_ended() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(max_duration="20s")
        await stage.run_until("00:00:50")

        assert [reason for _, reason in stage.executor.kills] == [Reason.TIMED_OUT]
        assert await stage.words() == ["00:00:00 FAILED timed_out"]
        assert stage.told("run.expectation_missed") == ["00:00:00 max_duration"]

    play(scenario, detached=False)


@clause("SERVICE-17")
def test_a_run_that_is_to_be_ended_while_it_is_launched_is_over() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms = 40_000
        await stage.upsert()
        running = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:00:05")
        [row] = await stage.rows()
        await stage.registrar.kill_run(ANNA, row.key)
        await stage.wait_until("00:00:07")
        words = await stage.words()
        await stage.worker.stop(0)
        await running

        assert words == ["00:00:00 FAILED killed"]

    play(scenario)


@clause("SERVICE-14")
def test_a_schedule_without_a_dag_is_refused_and_the_others_go_on() -> None:
    async def scenario(stage: Stage) -> None:
        from gnomon.core.schedule_record import read_schedule

        strange = read_schedule({"schedule_id": "strange", "every": "1h", "target": {"run": "x"}})
        await stage.ledger.save(strange, now_ms=START_MS)
        await stage.upsert()
        await stage.run_until("00:00:10")

        assert await stage.words("strange") == ["00:00:00 FAILED launch_failed"]
        assert await stage.words() == ["00:00:00 STARTED"]

    play(scenario)


@clause("SERVICE-19")
def test_decisions_are_counted_and_told() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(overlap_policy="skip")
        await stage.run_until("00:02:30")

        counts = stage.counters
        assert (counts.runs_emitted, counts.runs_skipped_overlap) == (1, 2)
        assert (counts.drift.count, counts.drift.total_ms) == (1, 0)
        assert stage.told("run.launched") == ["00:00:00 "]
        assert stage.told("run.skipped") == ["00:01:00 ", "00:02:00 "]
        [first, _] = [one for one in stage.events.after(0) if one.kind == "run.skipped"]
        assert (first.fields["reason"], first.user_id) == ("overlap", "anna")

    play(scenario)


@clause("SERVICE-19")
def test_every_decision_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.upsert(overlap_policy="skip")
        await stage.run_until("00:01:30")

    with caplog.at_level("INFO", "gnomon.runtime"):
        play(scenario)

    lines = [record.getMessage() for record in caplog.records]
    assert any("run.skipped" in line and "'overlap'" in line for line in lines)
    assert any(
        "run.launched" in line and period_key("nightly", START_MS // 1000) in line for line in lines
    )


@clause("SERVICE-16")
def test_the_answer_of_an_idempotent_executor_is_the_run_it_has() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.answers = [Unanswered("timed out"), Accepted("the first run")]
        await stage.upsert()
        await stage.run_until("00:00:30")

        [row] = await stage.rows()
        assert row.run_id == "the first run"

    play(scenario)


@clause("SERVICE-16", "SERVICE-50")
def test_a_worker_that_has_lost_a_run_does_not_end_it_for_the_one_that_has_it() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.takes_ms = 10_000
        await stage.upsert(cron_expr="0 0 * * *")
        running = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:00:01")
        await stage.ledger.recover(owner="worker-2", adopted=(), now_ms=stage.clock.now_ms())
        await stage.wait_until("00:00:50")
        await stage.worker.stop(0)
        await running

        assert stage.executor.kills == []
        assert len(stage.executor.effects) == 1

    play(scenario)


@clause("SERVICE-63")
def test_what_has_been_over_for_long_is_forgotten() -> None:
    async def scenario(stage: Stage) -> None:
        stage.executor.runs_ms = 10
        await stage.upsert(cron_expr="0 * * * *")
        await stage.run_until("04:30:00")

        assert [line[:5] for line in await stage.words()] == ["03:00", "04:00"]

    async def whole() -> None:
        await scenario(
            await Stage.open(detached=False, settings=Settings(keep="2h", tick_ms=30_000))
        )

    run_virtually(whole())
