"""
What a service on plain timers would do wrong when it starts runs: lose them, or start them twice.

Each test is one such case, and fails on a worker that keeps timers in memory, looks before it
starts and writes afterwards. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

import asyncio

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import period_key
from gnomon.ports import Ended, Launched, Report
from gnomon.ports.executor import Refused
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, at
from tests.clauses import clause


@clause("SERVICE-50")
def test_a_crash_before_the_instant_loses_no_run(play: Play) -> None:
    # A timer in memory is gone with its process, and the cursor has passed it.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 * * * *", window="after,30m")
        await hand.look("00:00:01")
        [row] = await hand.rows()
        assert row.state is State.PLANNED

        hand.drop()
        await hand.go_to("00:30:00")
        assert hand.starts == ["00:00:00"]

    play(scenario)


@clause("SERVICE-50")
def test_an_upsert_and_a_second_worker_before_the_instant_start_no_second_run(play: Play) -> None:
    # A row that is written when the timer fires does not keep others from setting the same timer.
    async def scenario(hand: Hand) -> None:
        other = hand.another("worker-2")
        await hand.upsert(cron_expr="0 * * * *", window="after,30m")
        await hand.look("00:00:01")
        await hand.upsert(cron_expr="0 * * * *", window="after,30m", deadline="1h")
        await hand.look("00:00:02", worker=other)
        next_ms = await hand.ledger.next_wake_ms()
        assert next_ms is not None
        hand.hands.move_to(next_ms)
        await asyncio.gather(hand.look(), hand.look(worker=other))

        assert hand.starts == ["00:00:00"]
        assert len(await hand.rows()) == 1

    play(scenario)


@clause("SERVICE-50")
def test_a_crash_between_start_and_record_has_one_effect(play: Play) -> None:
    # Started, and then killed before anything was written: started again, as something new.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="allow", cron_expr="0 0 * * *")
        await hand.worker.runtime.turn()
        await hand.launched()
        assert (await hand.rows())[0].status == "ENQUEUED"

        hand.drop()
        await hand.look("00:01:00.001")
        assert hand.starts == ["00:00:00", "00:00:00"]
        assert hand.executor.effects == [period_key("nightly", at("00:00:00") // 1000)]
        assert (await hand.rows())[0].status == "STARTED"

    play(scenario)


@clause("SERVICE-50")
def test_a_start_that_is_repeated_says_so_and_keeps_its_key(play: Play) -> None:
    # Once is impossible across a crash without a key that the launcher knows.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 0 * * *")
        await hand.worker.runtime.turn()
        await hand.launched()
        hand.drop()
        await hand.look("00:01:00.001")

        first, second = (call.meta for call in hand.executor.calls)
        assert first.idempotency_key == second.idempotency_key
        assert (first.attempt, second.attempt) == (1, 2)
        assert second.fence > first.fence

    play(scenario)


@clause("SERVICE-50")
def test_two_workers_that_look_at_once_start_one_run(play: Play) -> None:
    # To look whether something is in flight and to insert are two steps, and both see nothing.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="skip")
        now_ms = at("00:00:00")
        dues = await hand.ledger.load(now_ms=now_ms, limit=10)
        changes = plan(dues, now_ms=now_ms, limits=hand.settings.limits)
        ledger = hand.ledger
        won = [
            await ledger.commit(changes, owner=owner, confirmed=False, now_ms=now_ms)
            for owner in ("worker-1", "worker-2")
        ]

        assert [len(held.claims) for held in won] == [1, 0]
        assert len(await hand.rows()) == 1

    play(scenario)


@clause("SERVICE-50")
def test_a_worker_that_was_thought_dead_writes_nothing(play: Play) -> None:
    # A leader whose lock is lost in the middle of its loop goes on; here its number is old.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 0 * * *")
        now_ms = at("00:00:00")
        dues = await hand.ledger.load(now_ms=now_ms, limit=10)
        changes = plan(dues, now_ms=now_ms, limits=hand.settings.limits)
        held = await hand.ledger.commit(changes, owner="dead", confirmed=False, now_ms=now_ms)
        [old] = held.claims
        await hand.look("00:01:00.001")
        reports: list[Report] = [
            Launched(old.key, old.fence, "late"), Ended(old.key, old.fence, False, "late"),
        ]  # fmt: skip

        assert await hand.ledger.report(reports, now_ms=at("00:01:01")) == [False, False]
        [row] = await hand.rows()
        assert (row.status, row.run_id) == ("STARTED", f"run:{old.key[:8]}")

    play(scenario)


@clause("SERVICE-50")
def test_a_single_worker_needs_no_lock(play: Play) -> None:
    # Without a lock service the leader is null, and nothing ever runs.
    async def scenario(hand: Hand) -> None:
        await hand.upsert()
        await hand.look("00:00:00")
        assert hand.starts == ["00:00:00"]

    play(scenario)


@clause("SERVICE-15")
def test_a_launch_that_fails_is_not_final_and_blocks_no_other_schedule(play: Play) -> None:
    # FAILED under the key would keep every retry out, and waiting in the loop holds up the others.
    async def scenario(hand: Hand) -> None:
        hand.executor.answers = [Refused("busy", permanent=False)]
        await hand.upsert(cron_expr="0 0 * * *", launch_backoff="30s")
        await hand.look("00:00:00")
        await hand.upsert(schedule_id="other", trigger_id="other")
        await hand.look("00:01:00")

        names = sorted(call.meta.schedule_id for call in hand.executor.calls)
        assert names == ["nightly", "nightly", "other"]
        [row] = await hand.rows()
        assert (row.status, row.launches) == ("STARTED", 2)

    play(scenario)


@clause("SERVICE-15", "SERVICE-16")
@pytest.mark.parametrize(("version", "launches"), [(9, 1), (1, 3)])
def test_what_cannot_help_is_not_tried_again_and_no_error_escapes(
    play: Play, version: int, launches: int
) -> None:
    # A missing DAG would be retried as if it came back; an executor that raises ends the loop.
    async def scenario(hand: Hand) -> None:
        hand.executor.answers = [RuntimeError("broken")] * 3
        await hand.upsert(cron_expr="0 0 * * *", version=version, launches_max=3)
        for time in ("00:00:00", "00:00:10", "00:00:20", "00:00:30"):
            await hand.look(time)

        [row] = await hand.rows()
        assert (row.status, row.launches) == ("FAILED", launches)

    play(scenario)


@clause("SERVICE-58")
@pytest.mark.parametrize(("limit", "until"), [({}, "01:00"), ({"max_duration": "10m"}, "00:10")])
def test_a_run_without_feedback_does_not_block_for_ever(
    play: Play, limit: dict[str, str], until: str
) -> None:
    # Without feedback the first run stays in flight, and with skip it is the last one.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="*/10 * * * *", **limit)
        await hand.look("00:00:00")
        await hand.look(f"{until}:00")
        assert hand.starts == ["00:00:00"]
        await hand.look(f"{until}:30")
        hours, minutes = until.split(":")
        following = f"{hours}:{int(minutes) + 10:02d}:00"
        await hand.look(following)

        assert hand.starts == ["00:00:00", following]
        assert (await hand.words())[0] == "00:00:00 FAILED uncertain"

    play(scenario)


@clause("SERVICE-57")
def test_overlap_is_judged_when_a_run_is_to_start(play: Play) -> None:
    # Judged a minute ahead, a run that is over by then still counts.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 1 * * *", window="before,30m", overlap_policy="skip")
        await hand.registrar.trigger(ANNA, "nightly", token="one")
        await hand.look("00:00:01")
        await hand.look("00:30:00")
        assert [row.state for row in await hand.rows()].count(State.PLANNED) == 1

        await hand.say("manual:nightly:one", "SUCCESS")
        await hand.go_to("01:00:00")
        assert hand.starts == ["00:00:00", "01:00:00"]

    play(scenario)


@clause("SERVICE-57")
def test_one_run_does_not_skip_those_minutes_after_it(play: Play) -> None:
    # Several instants enumerated in one tick: the first would block the others.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="skip")
        for time in ("00:00:00", "00:01:00", "00:02:00"):
            await hand.look(time)
            await hand.end()

        assert hand.starts == ["00:00:00", "00:01:00", "00:02:00"]
        assert {row.status for row in await hand.rows()} == {"SUCCESS"}

    play(scenario)


@clause("SERVICE-57")
def test_a_queue_keeps_what_waits_and_runs_it_in_order(play: Play) -> None:
    # To break off and move the cursor on forgets what was deferred.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="queue")
        for time in ("00:00:00", "00:01:00", "00:02:00", "00:03:00"):
            await hand.look(time)
        assert hand.starts == ["00:00:00"]
        for second in range(1, 4):
            await hand.end()
            await hand.look(f"00:03:0{second}")

        assert hand.starts == ["00:00:00", "00:01:00", "00:02:00", "00:03:00"]

    play(scenario)


@clause("SERVICE-57")
def test_a_newer_run_replaces_one_in_flight(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="replace")
        await hand.look("00:00:00")
        await hand.look("00:01:00")

        assert hand.starts == ["00:00:00", "00:01:00"]
        assert await hand.words() == ["00:00:00 FAILED replaced", "00:01:00 STARTED"]

    play(scenario)
