"""Clocks that are set, days on which they change, suspensions, edits and restarts."""

import pytest

from tests.apps.krond.stage import Stage, play
from tests.clauses import clause

NOON = "2026-03-01T12:00:00Z"
EVERY_MINUTE = "* * * * * name=a command=true"


@clause("KROND-14", "KROND-5")
@pytest.mark.parametrize("by_s", [-1, -59, -60, -3600, -86_400])
def test_a_clock_that_is_set_back_makes_nothing_run_again(by_s: int) -> None:
    async def scenario() -> tuple[list[str], list[str], int]:
        stage = Stage("* * * * * @policy(deadline=1h) name=a command=true", NOON)
        await stage.start()
        await stage.pass_s(150)
        before = stage.periods("a")
        stage.clock.offset_ms += by_s * 1000
        await stage.pass_s(150 - by_s)
        assert stage.daemon is not None
        return before, stage.periods("a"), stage.daemon.process.runtime.telemetry.clock_jumps

    before, after, jumps = play(scenario())
    assert before == ["12:00", "12:01", "12:02"]
    assert len(after) == len(set(after))
    assert after[:5] == ["12:00", "12:01", "12:02", "12:03", "12:04"]
    assert jumps == (0 if by_s == -1 else 1)


@clause("KROND-14", "KROND-4")
@pytest.mark.parametrize(
    ("by_s", "deadline", "expected"),
    [
        (1, "0s", ["12:00", "12:01", "12:02", "12:03"]),
        (600, "0s", ["12:00", "12:01", "12:12", "12:13"]),
        (600, "3m", ["12:00", "12:01", "12:09", "12:10", "12:11", "12:12", "12:13"]),
        (86_400, "2m", ["12:00", "12:01", "12:00", "12:01", "12:02", "12:03"]),
    ],
)
def test_a_clock_that_is_set_forward_leaves_what_follows_to_the_deadline(
    by_s: int, deadline: str, expected: list[str]
) -> None:
    async def scenario() -> list[str]:
        policy = f"@policy(concurrency=allow,deadline={deadline})"
        stage = Stage(f"* * * * * {policy} name=a command=true", NOON)
        await stage.start()
        await stage.pass_s(90)
        stage.clock.offset_ms += by_s * 1000
        assert stage.daemon is not None
        stage.daemon.process.runtime.wake()
        await stage.pass_s(100)
        assert len({one.period for one in stage.outside.executed}) == len(stage.outside.executed)
        return stage.periods("a")

    assert play(scenario()) == expected


@clause("KROND-5")
@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-03-28", ["01:30", "01:00", "00:30"]),  # spring forward in Riga: 03:30 there is not
        ("2026-10-24", ["00:30", "00:30", "01:30"]),  # and back: 03:30 comes twice, one counts
    ],
)
def test_on_days_when_clocks_change_each_period_runs_once(day: str, expected: list[str]) -> None:
    async def scenario() -> list[str]:
        text = "30 3 * * * @tz(Europe/Riga) name=a command=true"
        stage = Stage(text, f"{day}T00:00:00Z")
        await stage.start()
        for _ in range(5):
            await stage.pass_s(86_400 / 2)
            await stage.kill()
            await stage.start()
        return stage.periods("a")

    assert play(scenario()) == expected


@clause("KROND-6")
def test_while_a_job_is_suspended_nothing_of_it_is_handled() -> None:
    suspended = "* * * * * @policy(deadline=2m,suspend=true,concurrency=allow) name=a command=true"

    async def scenario() -> tuple[list[str], list[str], list[str]]:
        stage = Stage(suspended.replace("suspend=true,", ""), "2026-03-01T11:59:30Z")
        await stage.start()
        await stage.pass_s(60)
        assert await stage.reload(suspended) is None
        await stage.pass_s(600)
        await stage.kill()
        await stage.start()
        await stage.pass_s(60)
        during = await stage.told_of("a")
        await stage.reload(suspended.replace("suspend=true,", ""))
        await stage.pass_s(1)
        return during, stage.periods("a"), await stage.told_of("a")

    during, executed, told = play(scenario())
    assert during == ["12:00 executed"]
    assert executed == ["12:00", "12:10", "12:11"]
    assert told == [
        "12:00 executed", "12:01..12:09 missed(deadline)", "12:10 executed", "12:11 executed",
    ]  # fmt: skip


@clause("KROND-4")
def test_a_return_after_a_year_is_bounded() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        text = "* * * * * @policy(concurrency=allow,deadline=1h) name=a command=true"
        stage = Stage(text, NOON)
        await stage.start()
        await stage.pass_s(10)
        await stage.kill()
        stage.set_clock("2027-03-01T12:00:30Z")
        await stage.start()
        await stage.pass_s(1)
        return stage.periods("a"), await stage.told_of("a")

    executed, told = play(scenario())
    assert len(executed) == 1 + 32
    assert executed[1] == "11:29"
    assert executed[-1] == "12:00"
    assert told[:3] == [
        "12:00 executed", "12:01..11:00 missed(deadline)", "11:01..11:28 skipped(catchup_limit)",
    ]  # fmt: skip
    assert len(told) == 3 + 32


@clause("KROND-13")
def test_an_edit_counts_from_its_loading_and_starts_nothing() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage("0 * * * * @policy(deadline=24h) name=a command=true", NOON)
        await stage.start()
        await stage.pass_s(10)
        await stage.kill()
        stage.set_clock("2026-03-01T15:10:00Z")
        stage.text = "30 * * * * @policy(deadline=24h) name=a command=true"
        await stage.start()
        await stage.pass_s(600)
        before = stage.periods("a")
        await stage.pass_s(900)
        return before, await stage.told_of("a")

    before, told = play(scenario())
    assert before == ["12:00"]
    assert told == ["12:00 executed", "13:00..15:00 skipped(withdrawn)", "15:30 executed"]


@clause("KROND-3")
def test_a_restart_and_another_jobs_edit_do_not_move_the_chosen_instant() -> None:
    window = "0 13 * * * @win(after,30m) name=a command=true"

    async def scenario(disturbed: bool) -> str:
        stage = Stage(f"{window}\n{EVERY_MINUTE.replace('name=a', 'name=b')}", NOON)
        await stage.start()
        for minute in range(50, 90, 3):
            await stage.pass_until(f"2026-03-01T{12 + minute // 60}:{minute % 60:02}:10Z")
            if disturbed:
                await stage.reload(f"{window}\n{minute % 60} * * * * name=b command=true")
                await stage.kill()
                await stage.start()
        return next(one.at for one in stage.outside.executed if one.job == "a")

    assert play(scenario(True)) == play(scenario(False))


@clause("KROND-18")
def test_a_file_that_is_wrong_at_a_reload_leaves_the_jobs_as_they_are() -> None:
    async def scenario() -> tuple[str | None, str | None, list[str]]:
        stage = Stage(EVERY_MINUTE, NOON)
        await stage.start()
        problem = await stage.reload("* * * * name=a command=true")
        await stage.pass_s(90)
        return problem, await stage.reload(EVERY_MINUTE), stage.periods("a")

    problem, after, executed = play(scenario())
    assert problem is not None
    assert problem.startswith("/etc/krond.d/jobs:1:")
    assert after is None
    assert executed == ["12:00", "12:01"]


@clause("KROND-19")
def test_a_job_that_is_gone_is_forgotten_and_its_history_kept() -> None:
    async def scenario() -> tuple[list[str], list[str], list[str]]:
        both = f"{EVERY_MINUTE}\n{EVERY_MINUTE.replace('name=a', 'name=b')}"
        stage = Stage(both, NOON)
        await stage.start()
        await stage.pass_s(10)
        await stage.reload(EVERY_MINUTE)
        await stage.pass_s(180)
        alone = stage.periods("b")
        kept = await stage.told_of("b")
        await stage.reload(both)
        await stage.pass_s(60)
        return alone, kept, stage.periods("b")

    assert play(scenario()) == (["12:00"], ["12:00 executed"], ["12:00", "12:04"])


@clause("KROND-20")
def test_a_run_that_outlived_its_daemon_is_still_active() -> None:
    async def scenario() -> list[str]:
        stage = Stage('* * * * * name=a command="sleep 100"', NOON)
        await stage.start()
        await stage.pass_s(10)
        await stage.kill()
        await stage.start()
        await stage.pass_s(60)
        return await stage.told_of("a")

    assert play(scenario()) == ["12:00 executed", "12:01 skipped(overlap)"]


@clause("KROND-20")
def test_a_run_that_ended_meanwhile_was_executed() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage('0 * * * * @policy(deadline=1h) name=a command="sleep 100"', NOON)
        await stage.start()
        await stage.pass_s(10)
        await stage.kill()
        await stage.pass_s(200)
        await stage.start()
        await stage.pass_s(60)
        return stage.periods("a"), await stage.told_of("a")

    assert play(scenario()) == (["12:00"], ["12:00 executed(uncertain)"])
