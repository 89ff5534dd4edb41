"""At the trigger, on virtual time: vectors A1 to A4, deadlines, concurrency, failures."""

import pytest

from gnomon.core.ledger.lifecycle import Outcome, Reason
from tests.apps.krond.stage import Execution, Stage, play
from tests.clauses import clause

BEFORE = "2026-03-01T02:32:00Z"
PRECISE = "20 32 2 * * *"  # with seconds: at 02:32:20


@clause("KROND-1", "KROND-9")
def test_a_period_runs_at_its_chosen_second() -> None:
    async def scenario() -> list[Execution]:
        stage = Stage(f"{PRECISE} name=a command=true", BEFORE)
        await stage.start()
        await stage.pass_s(60)
        return stage.outside.executed

    period = "2026-03-01T02:32:20Z"
    assert play(scenario()) == [Execution("a", period, period)]


@clause("KROND-9")
@pytest.mark.parametrize(
    ("deadline", "seen", "becomes"),
    [
        ("0s", "02:32:20.999", "executed"),
        ("0s", "02:32:21", "missed(deadline)"),  # vector A1
        ("30s", "02:32:50.999", "executed"),  # vector A2
        ("30s", "02:32:51", "missed(deadline)"),
    ],
)
def test_a_period_seen_late_follows_its_deadline(deadline: str, seen: str, becomes: str) -> None:
    async def scenario() -> list[str]:
        text = f"{PRECISE} @policy(deadline={deadline}) name=a command=true"
        stage = Stage(text, BEFORE)
        await stage.start()
        await stage.pass_s(1)
        await stage.kill()
        stage.set_clock(f"2026-03-01T{seen}Z")
        await stage.start()
        await stage.pass_s(0.5)
        return await stage.told_of("a")

    assert play(scenario()) == [f"02:32 {becomes}"]


@clause("KROND-8", "KROND-10")
@pytest.mark.parametrize(
    ("concurrency", "executed", "told"),
    [
        ("allow", ["00:00", "00:01"], ["00:00 executed", "00:01 executed"]),
        ("forbid", ["00:00"], ["00:00 executed", "00:01 skipped(overlap)"]),  # vector A3
        ("replace", ["00:00", "00:01"], ["00:00 executed(replaced)", "00:01 executed"]),
    ],
)
def test_concurrency_is_judged_at_the_trigger(
    concurrency: str, executed: list[str], told: list[str]
) -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        text = f'* * * * * @policy(concurrency={concurrency}) name=a command="sleep 90"'
        stage = Stage(text, "2026-02-28T23:59:50Z")
        await stage.start()
        await stage.pass_s(80)
        return stage.periods("a"), await stage.told_of("a")

    assert play(scenario()) == (executed, told)


@clause("KROND-10")
def test_what_cannot_be_ended_is_not_replaced_and_is_judged_again() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        text = "0 * * * * @policy(concurrency=replace,deadline=10s) name=a command=stubborn"
        stage = Stage(text, "2026-02-28T23:59:50Z")
        await stage.start()
        await stage.pass_until("2026-03-01T01:00:30Z")
        return stage.periods("a"), await stage.told_of("a")

    assert play(scenario()) == (["00:00"], ["00:00 executed", "01:00 missed(launch_failed)"])


@clause("KROND-2", "KROND-8")
def test_a_handled_period_does_nothing_again() -> None:
    async def scenario() -> list[str]:  # vector A4
        stage = Stage("* * * * * @policy(deadline=1h) name=a command=true", "2026-03-01T00:00:00Z")
        await stage.start()
        await stage.pass_s(30)
        for _ in range(3):
            await stage.kill()
            await stage.start()
            await stage.pass_s(1)
            stage.set_clock("2026-03-01T00:00:05Z")
        return stage.periods("a")

    assert play(scenario()) == ["00:00"]


@clause("KROND-12")
def test_a_failed_run_is_executed_and_not_tried_again() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage('0 * * * * @policy(deadline=1h) name=a command="sleep 600"',
                      "2026-02-28T23:59:59Z")  # fmt: skip
        await stage.start()
        await stage.pass_s(10)
        (key,) = stage.outside.running
        stage.outside.over(key, False, None)
        await stage.pass_s(600)
        return stage.periods("a"), await stage.told_of("a")

    assert play(scenario()) == (["00:00"], ["00:00 executed"])


@clause("KROND-11")
def test_what_cannot_be_started_is_tried_until_it_can_be() -> None:
    async def scenario() -> list[Execution]:
        stage = Stage("0 0 * * * @policy(deadline=5m) name=a command=missing",
                      "2026-02-28T23:59:50Z")  # fmt: skip
        stage.outside.broken.add("missing")
        await stage.start()
        await stage.pass_s(60)
        stage.outside.broken.clear()
        await stage.pass_s(100)
        return stage.outside.executed

    [(job, period, at)] = play(scenario())
    assert (job, period) == ("a", "2026-03-01T00:00:00Z")
    assert "2026-03-01T00:00:50Z" < at <= "2026-03-01T00:02:30Z"


@clause("KROND-11")
@pytest.mark.parametrize("deadline", ["0s", "30s"])
def test_what_cannot_be_started_by_its_deadline_is_missed_with_the_reason(deadline: str) -> None:
    async def scenario() -> Stage:
        stage = Stage(f"0 0 * * * @policy(deadline={deadline}) name=a command=missing",
                      "2026-02-28T23:59:50Z")  # fmt: skip
        stage.outside.broken.add("missing")
        await stage.start()
        await stage.pass_s(3600)
        (row,) = await stage.rows("a")
        assert (row.outcome, row.reason) == (Outcome.MISSED, Reason.LAUNCH_FAILED)
        assert row.detail == "missing is not there"
        assert row.chosen_ms == row.nominal * 1000
        return stage

    (happening,) = play(scenario()).told
    assert happening.detail == "missing is not there"
    assert happening.reason is Reason.LAUNCH_FAILED
    assert happening.chosen_ms == 1_772_323_200_000


@clause("KROND-7", "KROND-8")
def test_a_period_without_an_allowed_second_is_unschedulable_when_its_window_opens() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        text = "0 1,2 * * * @win(after,30m) @avoid(hours=2) name=a command=true"
        stage = Stage(text, "2026-03-01T00:59:00Z")
        await stage.start()
        await stage.pass_until("2026-03-01T01:59:59Z")
        before = await stage.told_of("a")
        await stage.pass_until("2026-03-01T02:00:01Z")
        return before, await stage.told_of("a")

    assert play(scenario()) == (
        ["01:00 executed"],
        ["01:00 executed", "02:00 unschedulable(constraints)"],
    )


@clause("KROND-15")
def test_an_idle_daemon_wakes_every_thirty_seconds() -> None:
    async def scenario() -> tuple[int, int]:
        stage = Stage("0 0 1 1 * name=a command=true", "2026-03-01T00:00:00Z")
        await stage.start()
        await stage.pass_s(60)
        assert stage.daemon is not None
        telemetry = stage.daemon.process.runtime.telemetry
        before = telemetry.turns
        await stage.pass_s(3600)
        return telemetry.turns - before, max(stage.clock.sleeps)

    assert play(scenario()) == (120, 30_000)
