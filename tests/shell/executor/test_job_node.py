"""Nodes that are Jobs: one for each key, found again by the next worker."""

import json
from pathlib import Path

import pytest

from gnomon.core.dag.value import Json
from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.dag import NodeState
from gnomon.ports.executor import FeedbackStatus, Refused
from gnomon.ports.kubernetes import (
    Call,
    Create,
    Delete,
    Denial,
    Denied,
    Get,
    JsonPatch,
    Kind,
    NoAnswer,
    Propagation,
)
from gnomon.ports.kubernetes_object import at, mapping, text, things
from tests.clauses import clause
from tests.shell.executor.jobs_stage import (
    JOB,
    TEMPLATE,
    JobsStage,
    Play,
    player,
    state_of,
    write_template,
)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return player(tmp_path)


@clause("EXEC-40")
def test_an_action_is_a_job_of_its_template_that_is_told_what_it_runs_for(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        node: dict[str, Json] = {**JOB, "with": {"day": 3}, "timeout": "90s"}
        end = await stage.worker().run(node, params='{"a":1}')
        (job,) = stage.jobs()
        (container,) = things(job, "spec", "template", "spec", "containers")
        told = {text(one, "name"): text(one, "value") for one in things(container, "env")}

        assert (end.status, end.detail) == (FeedbackStatus.SUCCESS, "1 node")
        assert text(container, "image") == "report:1"
        assert told == {
            "GNOMON_SCHEDULE": "report.main",
            "GNOMON_PERIOD": "2026-03-01T00:00:00Z",
            "GNOMON_WORKFLOW": "report",
            "GNOMON_VERSION": "1",
            "GNOMON_USER": "anna",
            "GNOMON_NODE": "work",
            "GNOMON_KEY": "key:work",
            "GNOMON_PARAMS": '{"a":1}',
            "GNOMON_WITH": '{"day": 3}',
        }
        assert at(job, "spec", "activeDeadlineSeconds") == 90
        assert at(job, "spec", "ttlSecondsAfterFinished") == 86_400

    play(scenario)


@clause("EXEC-41")
def test_a_job_is_made_suspended_and_written_down_before_it_runs(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        seen: list[tuple[str, str | None]] = []
        stage.api.deny = lambda call: Denied(Denial.TOO_MANY, "busy", 0) if held(call) else None

        def held(call: Call) -> bool:
            return isinstance(call, JsonPatch) and not seen

        worker = stage.worker()
        await worker.start(JOB)
        await stage.until_made()
        (job,) = stage.jobs()
        await stage.clock.sleep_ms(0)
        (row,) = (await worker.get()).nodes
        seen.append((state_of(job), row.process))
        await worker.end_of()

        named = [text(job, "metadata", "name"), text(job, "metadata", "uid")]
        assert named[0] == "gnomon-fca47e504c3719f904a71daf783060c7"
        assert seen == [("candidate", json.dumps(named))]
        assert stage.released() == [named[1]]

    play(scenario)


@clause("EXEC-42")
@pytest.mark.parametrize("lost", [Create, JsonPatch])
def test_a_question_whose_answer_is_lost_makes_no_second_job(play: Play, lost: type) -> None:
    async def scenario(stage: JobsStage) -> None:
        left = [2]

        def lose(call: Call) -> bool:
            left[0] -= isinstance(call, lost)
            return isinstance(call, lost) and left[0] >= 0

        stage.api.lose = lose
        end = await stage.worker().run(JOB)

        assert end.status is FeedbackStatus.SUCCESS
        assert len(stage.released()) == 1

    play(scenario)


@clause("EXEC-42")
def test_a_name_that_another_job_has_fails_the_node(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        worker = stage.worker()
        await worker.run(JOB, key="other")
        (job,) = stage.jobs()
        taken = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "gnomon-fca47e504c3719f904a71daf783060c7"},
            "spec": mapping(job, "spec"),
        }
        await stage.api.send(Create(Kind.JOB, "prod", taken))
        end = await worker.run(JOB)

        assert end.status is FeedbackStatus.FAILED
        assert end.detail == (
            "work: the name gnomon-fca47e504c3719f904a71daf783060c7 is taken by another Job"
        )

    play(scenario)


@clause("EXEC-43")
@pytest.mark.parametrize(
    ("lost", "attempts"), [((Create, Get), 2), ((JsonPatch,), 1), ((), 1)],
    ids=["its uid was not known", "it was not released", "it ran"],
)  # fmt: skip
def test_the_next_worker_finds_the_job_again(
    play: Play, lost: tuple[type, ...], attempts: int
) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.api.lose = lambda call: isinstance(call, lost)
        stage.api.deny = lambda call: (
            NoAnswer("cut off") if isinstance(call, JsonPatch) and JsonPatch in lost else None
        )
        first = stage.worker()
        await first.start(JOB)
        await stage.clock.sleep_ms(500)
        await first.executor.close()
        assert len(stage.jobs()) == 1
        assert len(stage.released()) == (not lost)
        stage.api.lose, stage.api.deny = (lambda call: False), (lambda call: None)
        second = stage.worker()
        end = await second.run(JOB, fence=2)

        assert (end.status, end.fence) == (FeedbackStatus.SUCCESS, 2)
        assert len(stage.released()) == 1
        assert [row.attempt for row in (await second.get()).nodes] == [attempts]

    play(scenario)


@clause("EXEC-43")
def test_two_workers_that_both_think_they_have_the_run_let_one_job_run(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        first, second = stage.worker(), stage.worker()
        await first.start(JOB)
        await second.start(JOB, fence=2)
        ends = [await first.end_of(), await second.end_of()]

        assert ends[0].detail == "taken over by another worker"
        assert ends[1].status is FeedbackStatus.SUCCESS
        assert len(stage.released()) == 1

    play(scenario)


@clause("EXEC-43")
@pytest.mark.parametrize("reason", [Reason.STOPPED, Reason.UNCERTAIN])
def test_a_worker_that_stops_or_loses_a_run_leaves_its_job_alone(
    play: Play, reason: Reason
) -> None:
    async def scenario(stage: JobsStage) -> None:
        first = stage.worker()
        await first.start(JOB)
        await stage.until_released()
        if reason is Reason.STOPPED:
            await first.executor.drain(grace_ms=0)
        else:
            assert await first.executor.kill("key", reason) is True
        kept, said = await first.get(), await first.executor.feedback()
        end = await stage.worker().run(JOB, fence=2)

        assert kept.ended_ms is None
        assert [one.status for one in said] == [FeedbackStatus.STARTED]
        assert [row.state for row in kept.nodes] == [NodeState.RUNNING]
        assert end.status is FeedbackStatus.SUCCESS
        assert len(stage.released()) == 1

    play(scenario)


@clause("EXEC-46")
def test_a_server_that_refuses_for_good_fails_the_node_and_one_that_is_busy_does_not(
    play: Play,
) -> None:
    async def scenario(stage: JobsStage) -> None:
        said = [Denied(Denial.QUOTA, "full", 0), Denied(Denial.FORBIDDEN, "no rights", 0)]
        stage.api.deny = lambda call: said.pop(0) if isinstance(call, Create) and said else None
        first = await stage.worker().run(JOB)
        second = await stage.worker().run(JOB, key="other")

        assert first.detail == "work: no Job can be made: forbidden: no rights"
        assert second.status is FeedbackStatus.SUCCESS

    play(scenario)


@clause("EXEC-5", "EXEC-40")
def test_an_action_without_a_template_is_refused(play: Play, tmp_path: Path) -> None:
    async def scenario(stage: JobsStage) -> None:
        unknown = await stage.worker().start({**JOB, "uses": "other"})
        outside = await stage.worker().start({**JOB, "uses": "../report"})
        (tmp_path / "report.json").write_text("{")
        broken = await stage.worker().start(JOB)
        write_template(tmp_path, {"spec": {}})
        empty = await stage.worker().start(JOB)

        assert unknown == Refused(
            "node work: there is no template of a Job for the action other", permanent=True
        )
        assert outside == Refused(
            "node work: the action ../report cannot be the name of a template", permanent=True
        )
        assert isinstance(broken, Refused)
        assert broken.message.startswith("node work: the template report.json cannot be read")
        assert empty == Refused(
            "node work: the template report.json has no spec.template.spec.containers",
            permanent=True,
        )

    play(scenario)


@clause("EXEC-41")
def test_a_template_that_waits_for_a_queue_gets_its_label_when_it_is_released(
    play: Play, tmp_path: Path
) -> None:
    async def scenario(stage: JobsStage) -> None:
        label = "kueue.x-k8s.io/queue-name"
        write_template(tmp_path, {**TEMPLATE, "metadata": {"labels": {label: "night"}}})
        await stage.worker().start(JOB)
        await stage.until_made()
        before = [at(job, "metadata", "labels", label) for job in stage.jobs()]
        await stage.clock.sleep_ms(1000)
        (job,) = stage.jobs()

        assert before in ([None], ["night"])
        assert at(job, "metadata", "labels", label) == "night"
        assert at(job, "spec", "suspend") is True
        assert state_of(job) == "released"

    play(scenario)


@clause("EXEC-42")
def test_a_job_that_is_deleted_before_it_ran_is_made_again(play: Play) -> None:
    async def scenario(stage: JobsStage) -> None:
        stage.api.lose = lambda call: isinstance(call, Create | Get)
        first = stage.worker()
        await first.start(JOB)
        await stage.clock.sleep_ms(500)
        await first.executor.close()
        (job,) = stage.jobs()
        name, uid = (text(job, "metadata", key) for key in ("name", "uid"))
        await stage.api.send(Delete(Kind.JOB, "prod", name, uid, Propagation.FOREGROUND))
        stage.api.lose = lambda call: False
        end = await stage.worker().run(JOB, fence=2)

        assert end.status is FeedbackStatus.SUCCESS
        assert len(stage.released()) == 1
        assert uid not in stage.released()

    play(scenario)
