"""
What a service on plain timers would do wrong about time: catching up, jitter, bounds and edits.

Each test is one such case. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

import asyncio

import pytest

from gnomon.apps.service.schedule_input import read_input
from gnomon.apps.service.settings import Settings
from gnomon.core.ledger.period import Kind, period_key
from gnomon.errors import DefinitionError
from tests.apps.service.hand import Hand, Play
from tests.apps.service.stage import ANNA, REPORT, Stage, at
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually


@clause("SERVICE-68")
def test_what_one_look_leaves_over_is_not_forgotten(play: Play) -> None:
    # The last instant enumerated is not the last one processed.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="fire_immediately", overlap_policy="allow")
        await hand.look("00:09:30")
        first = sorted(hand.starts)
        for second in range(31, 34):
            await hand.look(f"00:09:{second}")

        assert first == [f"00:0{minute}:00" for minute in range(3)]
        assert sorted(hand.starts) == [f"00:0{minute}:00" for minute in range(10)]

    play(scenario, settings=Settings(max_catchup_per_tick=3))


@clause("SERVICE-51")
@pytest.mark.parametrize("late", ["00:00:01", "00:00:30", "00:00:59"])
def test_a_period_that_is_seen_late_still_runs(play: Play, late: str) -> None:
    # What became due since the last look is not "missed during downtime".
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="none")
        await hand.look(late)
        assert hand.starts == ["00:00:00"]

    play(scenario)


@clause("SERVICE-51")
def test_what_was_missed_is_recorded(play: Play) -> None:
    # Ignored instants would leave no trace, and `explain` could not say why.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="none", cron_expr="*/10 * * * *")
        await hand.look("00:35:00")
        assert hand.starts == []
        assert await hand.words() == [f"00:{minute}0:00 SKIPPED outage" for minute in range(4)]
        why = await hand.registrar.explain(ANNA, "nightly", "2026-03-01T00:10:00Z")
        assert why.run is not None
        assert (why.run.reason, bool(why.sentences)) == ("outage", True)

    play(scenario)


@clause("SERVICE-51")
def test_years_of_missed_periods_take_few_rows(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="none")
        await hand.look("2028-03-01T00:00:30+00:00")

        rows = await hand.rows()
        assert len(rows) < 100
        assert sum(row.periods for row in rows) == 731 * 1440 + 1
        assert rows[-1].status == "STARTED"

    play(scenario)


@clause("SERVICE-68")
def test_years_of_minutes_do_not_all_start_at_once(play: Play) -> None:
    # Enumerated without a bound before any cap.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="fire_immediately", overlap_policy="allow")
        hand.move_to("2028-03-01T00:00:30+00:00")
        await hand.worker.runtime.turn()

        rows = await hand.rows()
        assert (len(rows), sum(row.launches for row in rows)) == (200, 100)
        row = await hand.ledger.get("nightly")
        assert row is not None
        assert row.cursor == at("03:19:00") // 1000

    play(scenario)


@clause("SERVICE-53")
def test_spreading_keeps_the_keys_and_happens_once(play: Play) -> None:
    # Moving the planned instant gives a new key each time it is spread.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="spread", overlap_policy="allow")
        await hand.look("00:05:30")
        first = {row.key: row.fire_ms for row in await hand.rows()}
        hand.drop()
        await hand.look("00:05:31")
        again = {row.key: row.fire_ms for row in await hand.rows()}

        assert list(first) == [period_key("nightly", at(f"00:0{m}:00") // 1000) for m in range(6)]
        assert again == first
        gaps = [fire_ms - at("00:05:30") for fire_ms in first.values()]
        assert gaps == [0, 10_000, 20_000, 30_000, 40_000, 50_000]
        await hand.go_to("00:06:20")
        assert sorted(hand.starts) == [f"00:0{minute}:00" for minute in range(7)]

    play(scenario)


@clause("SERVICE-54")
def test_the_latest_of_the_missed_runs_however_old(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="latest", cron_expr="0 */6 * * *")
        await hand.look("17:00:00")

        assert hand.starts == ["12:00:00"]

    play(scenario)


@clause("SERVICE-55")
def test_jitter_is_drawn_once_and_not_before_the_start(play: Play) -> None:
    # Drawn afresh at each look, before the planned instant and before start_at.
    async def scenario(hand: Hand) -> None:
        more = {"jitter_ms": 40_000, "start_at": "2026-03-01T00:10:00Z", "overlap_policy": "allow"}
        await hand.upsert(**more)
        await hand.look("00:09:25")
        drawn = {row.key: row.fire_ms for row in await hand.rows()}
        hand.drop()
        for second in range(30, 60):
            await hand.look(f"00:09:{second}")
        assert hand.starts == []
        kept = {row.key: row.fire_ms for row in await hand.rows()}
        assert {key: kept[key] for key in drawn} == drawn
        assert min(kept.values()) >= at("00:10:00")
        await hand.look("00:11:00")
        assert hand.starts[0] in ("00:10:00", "00:11:00")

    play(scenario)


@clause("SERVICE-55")
def test_a_jitter_longer_than_the_interval_changes_only_the_order(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(jitter_ms=300_000, overlap_policy="allow", end_at="2026-03-01T00:20:00Z")
        await hand.go_to("00:30:00")

        assert sorted(hand.starts) == [f"00:{minute:02d}:00" for minute in range(21)]
        assert hand.starts != sorted(hand.starts)
        assert len(set(hand.keys)) == 21

    play(scenario)


@clause("SERVICE-56")
def test_what_was_due_before_the_end_runs_after_it(play: Play) -> None:
    # A query for schedules that have not ended hides what is owed.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(end_at="2026-03-01T00:05:00Z", catchup_policy="fire_immediately",
                          overlap_policy="allow")  # fmt: skip
        await hand.look("00:30:00")

        assert sorted(hand.starts) == [f"00:0{minute}:00" for minute in range(6)]
        view = await hand.registrar.get_schedule(ANNA, "nightly")
        assert (view.next_run_at, view.preview) == (None, [])

    play(scenario)


@clause("SERVICE-56")
def test_a_period_exactly_at_the_start_is_not_lost(play: Play) -> None:
    # The next instant after the start is later than the start.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(start_at="2026-03-01T00:05:00Z")
        for time in ("00:04:00", "00:05:00"):
            await hand.look(time)
        assert hand.starts == ["00:05:00"]

    play(scenario)


@clause("SERVICE-60")
def test_one_instant_is_one_run_whatever_is_edited(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="allow")
        await hand.look("00:01:00")
        started = list(hand.starts)
        for cron_expr in ("*/1 * * * *", "1 * * * *", "* * * * *"):
            await hand.upsert(overlap_policy="allow", cron_expr=cron_expr)
            await hand.look("00:01:00.500")

        assert hand.starts == started == ["00:01:00"]

    play(scenario)


@clause("SERVICE-59")
def test_an_upsert_keeps_the_pause_and_what_waits(play: Play) -> None:
    # Every deploy would set paused to false, and forget what is owed.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="queue")
        await hand.look("00:00:00")
        await hand.look("00:01:00")
        await hand.upsert(overlap_policy="queue", deadline="5m")
        await hand.end()
        await hand.look("00:01:10")
        assert hand.starts == ["00:00:00", "00:01:00"]
        await hand.registrar.pause_schedule(ANNA, "nightly", True)
        await hand.upsert(overlap_policy="queue")
        assert (await hand.registrar.get_schedule(ANNA, "nightly")).paused
        await hand.look("00:05:00")
        assert len(hand.starts) == 2

    play(scenario)


@clause("SERVICE-59")
@pytest.mark.parametrize("act", ["pause", "delete"])
def test_what_was_planned_does_not_run_after_a_pause_or_a_deletion(play: Play, act: str) -> None:
    # A timer that was set fires, whatever has become of its schedule.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 * * * *", window="after,30m")
        await hand.look("00:00:01")
        if act == "pause":
            await hand.registrar.pause_schedule(ANNA, "nightly", True)
        else:
            await hand.registrar.delete_schedule(ANNA, "nightly")
        await hand.look("00:45:00")

        assert hand.starts == []

    play(scenario)


@clause("SERVICE-59")
def test_a_worker_does_not_overwrite_an_edit_made_meanwhile(play: Play) -> None:
    # The cursor is written back without looking whether the row has changed.
    async def scenario(hand: Hand) -> None:
        from gnomon.core.engine import plan

        await hand.upsert()
        now_ms = at("00:00:00")
        changes = plan(await hand.ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
        await hand.upsert(cron_expr="30 12 * * *")
        held = await hand.ledger.commit(changes, owner="x", confirmed=False, now_ms=now_ms)

        assert (held.changes, held.claims) == ([], [])
        view = await hand.registrar.get_schedule(ANNA, "nightly")
        assert view.next_run_at == "2026-03-01T12:30:00Z"

    play(scenario)


@clause("SERVICE-59")
def test_what_fell_into_a_pause_is_not_replayed(play: Play) -> None:
    # Every instant of the pause would count as missed, and fire at once.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(catchup_policy="fire_immediately", overlap_policy="allow")
        await hand.look("00:00:00")
        await hand.registrar.pause_schedule(ANNA, "nightly", True)
        await hand.look("00:10:00")
        hand.move_to("00:30:30")
        await hand.registrar.pause_schedule(ANNA, "nightly", False)
        await hand.look("00:30:31")
        await hand.look("00:31:00")

        assert hand.starts == ["00:00:00", "00:31:00"]
        assert (await hand.words())[1] == "00:01:00 SKIPPED paused x30"

    play(scenario)


@clause("SERVICE-59")
def test_deleting_keeps_the_history(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert()
        await hand.look("00:00:00")
        await hand.registrar.delete_schedule(ANNA, "nightly")
        await hand.end()
        await hand.look("00:05:00")

        assert await hand.words() == ["00:00:00 SUCCESS"]

    play(scenario)


@clause("SERVICE-60")
def test_deploying_again_without_an_id_makes_no_second_schedule(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        for version in (1, 2, 3):
            given = read_input(REPORT | {"version": version})
            await hand.registrar.upsert_schedule(ANNA, given)

        rows = await hand.ledger.schedules()
        assert [row.revision for row in rows] == [3]

    play(scenario)


@clause("SERVICE-61")
@pytest.mark.parametrize(("dst", "count"), [(None, 1), ("strict", 1), ("civil", 2)])
def test_a_repeated_hour_runs_as_the_schedule_says(play: Play, dst: str | None, count: int) -> None:
    # Clocks in Riga go from 04:00 back to 03:00 on 2026-10-25, at 01:00 UTC.
    async def scenario(hand: Hand) -> None:
        hand.move_to("2026-10-24T22:00:00+00:00")
        more = {} if dst is None else {"dst": dst}
        await hand.upsert(cron_expr="30 3 * * *", timezone="Europe/Riga",
                          overlap_policy="allow", **more)  # fmt: skip
        for time in ("00:30", "01:30", "02:30"):
            await hand.look(f"2026-10-25T{time}:00+00:00")

        assert hand.starts == ["00:30:00", "01:30:00"][:count]
        assert len(set(hand.keys)) == count

    play(scenario)


@clause("SERVICE-61")
def test_six_fields_have_seconds_first(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="15 30 3 * * *")
        view = await hand.registrar.get_schedule(ANNA, "nightly")
        assert view.next_run_at == "2026-03-01T03:30:15Z"

    play(scenario)


@clause("SERVICE-31", "SERVICE-55")
def test_a_run_that_begins_early_is_not_counted_as_late(play: Play) -> None:
    # An absolute difference hides which way it was.
    async def scenario(hand: Hand) -> None:
        await hand.upsert(cron_expr="0 1 * * *", window="before,30m")
        await hand.go_to("00:59:59")
        drift = hand.counters.drift
        assert drift.count == 1
        assert drift.total_ms < 0

    play(scenario)


@clause("SERVICE-62")
def test_ticks_do_not_drift_whatever_the_work_takes() -> None:
    # To sleep for a tick after the work adds the work to every tick.
    async def scenario() -> list[str]:
        stage = await Stage.open(settings=Settings(tick_ms=700))
        stage.executor.takes_ms = 333
        await stage.upsert(overlap_policy="allow")
        running = asyncio.create_task(stage.worker.run())
        await stage.wait_until("00:10:30")
        await stage.worker.stop(0)
        await running
        return [call.time for call in stage.executor.calls]

    assert run_virtually(scenario()) == [f"00:{minute:02d}:00.000" for minute in range(11)]


@clause("SERVICE-3")
@pytest.mark.parametrize("name", ["a:1772323200", "a b", "", "ä"])
def test_an_id_cannot_be_taken_for_an_id_and_an_instant(name: str) -> None:
    async def scenario() -> None:
        stage = await Stage.open()
        with pytest.raises(DefinitionError):
            await stage.upsert(schedule_id=name)

    run_virtually(scenario())


@clause("SERVICE-60", "ASK-1")
def test_a_run_by_hand_takes_no_period_away(play: Play) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.upsert(overlap_policy="allow")
        await hand.registrar.trigger(ANNA, "nightly")
        await hand.look("00:00:00")

        kinds = sorted(row.kind for row in await hand.rows())
        assert kinds == [Kind.MANUAL, Kind.PERIOD]

    play(scenario)
