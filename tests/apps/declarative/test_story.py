"""Longer stories: exactly so many runs over days, with failures, restarts and an outage."""

from collections import Counter
from datetime import timedelta

from gnomon.apps.declarative.callback import RunContext
from tests.apps.declarative.stage import Registrations, Stage, on_stage
from tests.clauses import clause

CRONS = {
    "hourly": "0 * * * *",
    "ten": "0,10,20,30,40,50 * * * *",
    "weekdays": "30 9 * * 1-5",
    "third": "0 12 3 * *",
    "sunday": "15 3 * * 0",
}


def registrations(stage: Stage) -> Registrations:
    async def callback(context: RunContext) -> None:
        stage.contexts.append(context)
        if context.task == "ten" and context.nominal % 3600 == 0 and context.attempt < 3:
            raise ValueError("fails twice at each full hour")

    return [(name, cron, callback, timedelta(minutes=1)) for name, cron in CRONS.items()]


def runs(stage: Stage) -> dict[str, int]:
    """How often each task succeeded."""
    done = {(one.task, one.nominal) for one in stage.contexts}
    assert len(stage.contexts) - len(done) == 2 * sum(
        name == "ten" and nominal % 3600 == 0 for name, nominal in done
    )
    return dict(Counter(name for name, _ in done))


@clause("TASK-2", "RETRY-1", "CALL-5")
def test_two_days_have_exactly_their_runs() -> None:
    async def scenario(stage: Stage) -> dict[str, int]:
        scheduler = stage.scheduler()
        await scheduler.initialize(registrations(stage))
        await stage.until("2026-03-04T00:05:00")
        await scheduler.stop()
        return runs(stage)

    assert on_stage(scenario, begin="2026-03-02T00:01:30") == {
        "hourly": 48, "ten": 288, "weekdays": 2, "third": 1,
    }  # fmt: skip


@clause("INIT-3", "TASK-2")
def test_an_outage_costs_what_lies_in_it_and_one_run_makes_up_for_all() -> None:
    async def scenario(stage: Stage) -> dict[str, int]:
        scheduler = stage.scheduler()
        await scheduler.initialize(registrations(stage))
        await stage.until("2026-03-02T13:37:00")
        await scheduler.stop()  # for an instant only
        await scheduler.initialize(registrations(stage))
        await stage.until("2026-03-03T05:05:00")
        await stage.crash()
        await stage.until("2026-03-03T08:25:00")
        second = stage.scheduler()
        await second.initialize(registrations(stage))
        await stage.until("2026-03-04T00:05:00")
        await second.stop()
        return runs(stage)

    # 06:00, 07:00 and 08:00 become one run, and so do the twenty from 05:10 to 08:20.
    assert on_stage(scenario, begin="2026-03-02T00:01:30") == {
        "hourly": 48 - 3 + 1, "ten": 288 - 20 + 1, "weekdays": 2, "third": 1,
    }  # fmt: skip
