"""A clock that was ahead, on virtual time: what it silences is said, and can be planned again."""

import logging

import pytest

from gnomon.shell.observe.log import LOGGER
from tests.apps.krond.stage import Stage, play
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually

SAID = "the clock was ahead"


async def set_ahead(stage: Stage) -> None:
    """The clock is set forward by an hour for four seconds, and back."""
    await stage.start()
    assert stage.daemon is not None
    await stage.pass_until("2026-03-01T10:00:30Z")
    stage.clock.offset_ms += 3_600_000
    stage.daemon.process.runtime.wake()
    await stage.pass_s(4)
    stage.clock.offset_ms -= 3_600_000
    stage.daemon.process.runtime.wake()
    await stage.pass_s(1)


@clause("RUN-36", "KROND-14")
def test_a_clock_that_was_ahead_is_said_when_it_is_set_back_and_at_the_next_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> list[str]:
        stage = Stage("*/5 * * * * name=a command=true", "2026-03-01T10:00:00Z")
        await set_ahead(stage)
        await stage.kill()
        await stage.start()
        await stage.pass_until("2026-03-01T11:06:00Z")
        await stage.kill()
        await stage.start()
        await stage.pass_s(1)
        return stage.periods("a")

    with caplog.at_level(logging.WARNING, LOGGER.name):
        assert run_virtually(scenario()) == ["10:00", "11:05"]
    found = [vars(record)["fields"] for record in caplog.records]
    said = [fields for fields in found if fields["event"] == SAID]
    assert [(one["handled_up_to"], one["schedules"]) for one in said] == [
        ("2026-03-01T11:00:00Z", 1)
    ] * 2
    assert "gnomon krond replan" in said[0]["hint"]


@clause("KROND-38", "KROND-2")
def test_what_lies_ahead_and_was_judged_can_be_planned_again() -> None:
    async def scenario() -> tuple[tuple[int, int, bool], dict[str, list[str]]]:
        text = (
            "*/5 * * * * name=plain command=true\n"
            "*/5 * * * * @policy(deadline=6m,concurrency=allow) name=patient command=true\n"
            "0 * * * * @win(after,4m) name=window command=true\n"
        )
        stage = Stage(text, "2026-03-01T09:59:00Z")
        await set_ahead(stage)
        assert stage.daemon is not None
        replanned = await stage.daemon.replan()
        await stage.pass_until("2026-03-01T11:06:00Z")
        names = ("plain", "patient", "window")
        return replanned, {name: stage.periods(name) for name in names}

    replanned, ran = play(scenario())
    hour = [f"10:{minute:02}" for minute in range(5, 60, 5)]
    assert ran["plain"] == ["10:00", *hour, "11:00", "11:05"]
    # 10:55 and 11:00 were within their deadline by the wrong clock: they ran, and do not again.
    assert ran["patient"] == ["10:00", "10:55", "11:00", *hour[:-1], "11:05"]
    assert ran["window"] == ["10:00", "11:00"]
    assert replanned == (3, 12 + 10 + 1, True)


@clause("KROND-38")
def test_what_is_planned_again_has_its_chosen_second() -> None:
    async def scenario() -> tuple[int, int]:
        stage = Stage("0 * * * * @win(after,40m) name=a command=true", "2026-03-01T10:00:00Z")
        await set_ahead(stage)
        before = (await stage.rows("a"))[0]
        assert stage.daemon is not None
        await stage.daemon.replan()
        after = (await stage.rows("a"))[0]
        assert (before.outcome, after.state) == ("missed", "planned")
        return before.chosen_ms, after.chosen_ms

    before, after = play(scenario())
    assert before == after


@clause("RUN-36", "KROND-38")
def test_what_was_planned_again_is_not_said_to_be_silent(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> int:
        stage = Stage("* * * * * name=a command=true", "2026-03-01T10:00:00Z")
        await set_ahead(stage)
        before = said()
        assert stage.daemon is not None
        await stage.daemon.replan()
        for minute in ("10:03", "10:58"):
            await stage.pass_until(f"2026-03-01T{minute}:30Z")
            await stage.kill()
            await stage.start()
            await stage.pass_s(1)
        assert len(stage.periods("a")) == 59
        return said() - before

    def said() -> int:
        return sum(vars(one)["fields"]["event"] == SAID for one in caplog.records)

    with caplog.at_level(logging.WARNING, LOGGER.name):
        assert run_virtually(scenario()) == 0


@clause("RUN-36")
def test_a_period_that_waits_at_the_end_of_the_silence_does_not_hide_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> list[str]:
        stage = Stage("*/5 * * * * @win(after,20m) name=a command=true", "2026-03-01T10:00:00Z")
        await set_ahead(stage)
        return [row.state for row in await stage.rows("a")]

    with caplog.at_level(logging.WARNING, LOGGER.name):
        assert "planned" in run_virtually(scenario())
    assert SAID in [vars(one)["fields"]["event"] for one in caplog.records]
