"""How nodes that are Jobs end: by themselves, with their run, or by a person."""

from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.executor import Accepted, FeedbackStatus
from gnomon.ports.kubernetes import (
    Create,
    Get,
    Kind,
)
from gnomon.ports.kubernetes_object import text
from tests.clauses import clause
from tests.shell.executor.jobs_stage import (
    JOB,
    JobsStage,
    Play,
    player,
)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return player(tmp_path)


@clause("EXEC-44")
@pytest.mark.parametrize("reason", [Reason.KILLED, Reason.REPLACED, Reason.TIMED_OUT])
def test_a_run_that_is_ended_ends_its_job(play: Play, reason: Reason) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.lasts_s = 1000
        worker = stage.worker()
        await worker.start(JOB)
        await stage.until_released()
        over = await worker.executor.kill("key", reason)
        end = await worker.end_of()
        again = await stage.worker().run(JOB, fence=2)

        assert over is True
        assert stage.jobs() == []
        assert (end.status, end.reason) == (FeedbackStatus.FAILED, reason)
        assert again.status is FeedbackStatus.FAILED
        assert len(stage.released()) == 1

    play(scenario)


@clause("EXEC-44")
def test_a_run_that_is_ended_as_soon_as_it_is_taken_up_ends_the_job_of_before(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.lasts_s = 1000
        first, second = stage.worker(), stage.worker()
        await first.start(JOB)
        await stage.until_released()
        await first.executor.close()
        assert isinstance(await second.start(JOB, fence=2), Accepted)
        over = await second.executor.kill("key", Reason.KILLED)

        assert over is True
        assert stage.jobs() == []

    play(scenario)


@clause("EXEC-45")
@pytest.mark.parametrize("watched", [True, False])
def test_a_job_that_a_person_deletes_fails_the_run_and_is_not_made_again(
    play: Play, watched: bool
) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.lasts_s = 1000
        worker = stage.worker()
        await worker.start(JOB)
        await stage.until_released()
        if not watched:
            await worker.executor.close()
        for job in stage.jobs():
            stage.delete(job)
        if not watched:
            worker = stage.worker()
            await worker.start(JOB, fence=2)
        end = await worker.end_of()
        again = await stage.worker().run(JOB, fence=3)

        assert end.status is FeedbackStatus.FAILED
        assert end.detail.endswith("was deleted, its end was not seen")
        assert again.detail == end.detail
        assert len(stage.released()) == 1

    play(scenario)


@clause("EXEC-45")
def test_a_job_that_fails_fails_the_run(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.fails = True
        end = await stage.worker().run(JOB)

        assert end.status is FeedbackStatus.FAILED

    play(scenario)


@clause("EXEC-44")
def test_a_run_that_is_ended_before_its_job_is_known_leaves_none(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.api.lose = lambda call: isinstance(call, Create | Get)
        worker = stage.worker()
        await worker.start(JOB)
        await stage.clock.sleep_ms(500)
        assert len(stage.jobs()) == 1
        stage.api.lose = lambda call: False
        over = await worker.executor.kill("key", Reason.KILLED)

        assert over is True
        assert stage.jobs() == []
        assert stage.released() == []

    play(scenario)


@clause("EXEC-45")
def test_a_job_that_a_person_made_in_the_place_of_ours_is_not_ours(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.lasts_s = 1000
        worker = stage.worker()
        await worker.start(JOB)
        await stage.until_released()
        (job,) = stage.jobs()
        stage.delete(job)
        name = text(job, "metadata", "name")
        other = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}}
        await stage.api.send(Create(Kind.JOB, "prod", {**other, "spec": {"suspend": True}}))
        end = await worker.end_of()

        assert end.detail == f"work: the Job {name} was deleted, its end was not seen"

    play(scenario)
