"""What one pass does: claim, release, tend, sweep, and say what stands in the way."""

import pytest

from gnomon.apps.operator.definition import RESERVED
from gnomon.apps.operator.notice import Told
from gnomon.ports.kubernetes import (
    Create,
    Delete,
    Denial,
    Denied,
    JsonPatch,
    Kind,
    MergePatch,
    NoAnswer,
    PutStatus,
)
from gnomon.ports.kubernetes_object import at, mapping, text
from tests.apps.operator.lone_operator import POD, Cluster
from tests.clauses import clause

FIVE = "2026-03-01T00:05:00Z"


def conditions(cluster: Cluster) -> dict[str, str]:
    found = cluster.status("conditions")
    assert isinstance(found, list)
    return {one["type"]: f"{one['status']}: {one['message']}" for one in found}


@clause("OPERATOR-13")
def test_a_job_is_made_suspended_claimed_and_then_released() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:04:59Z")
    cluster.asked.clear()

    cluster.until(FIVE)

    create, claim, release = cluster.asked
    assert isinstance(create, Create)
    assert at(create.object, "spec", "suspend") is True
    (job,) = cluster.jobs
    uid = text(job, "metadata", "uid")
    assert isinstance(claim, PutStatus)
    assert [text(one, "uid") for one in at(claim.status, "active")] == [uid]  # type: ignore[attr-defined]
    assert isinstance(release, JsonPatch)
    assert {"op": "test", "path": "/metadata/uid", "value": uid} in release.operations
    assert at(job, "spec", "suspend") is False


@clause("OPERATOR-13", "OPERATOR-17", "OPERATOR-22")
@pytest.mark.parametrize("questions", range(12))
def test_a_pass_that_was_cut_off_anywhere_is_finished_by_the_next(questions: int) -> None:
    cluster = Cluster()
    cluster.now_ms += 1000
    cluster.pass_over(questions=questions)
    cluster.until("2026-03-01T00:04:59Z")
    cluster.now_ms += 1000

    cluster.pass_over(questions=questions)
    cluster.pass_over()

    assert cluster.ran() == ["00:05"]
    assert cluster.outcomes() == ["00:05 executed"]
    assert len(cluster.jobs) == 1


@clause("OPERATOR-17")
@pytest.mark.parametrize("number", range(1, 4))
def test_a_call_without_an_answer_is_neither_lost_nor_doubled(number: int) -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:04:59Z")
    cluster.broken[len(cluster.asked) + number] = NoAnswer("cut off")

    cluster.until("2026-03-01T00:05:03Z")

    assert cluster.ran() == ["00:05"]
    assert cluster.outcomes() == ["00:05 executed"]


@clause("OPERATOR-17")
def test_what_is_decided_from_an_old_view_is_refused_and_decided_anew() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:04:00Z")
    old = cluster.kronjob
    cluster.until("2026-03-01T00:05:10Z")

    cluster.pass_over(seeing=old, jobs=[])

    assert cluster.ran() == ["00:05"]
    assert cluster.outcomes() == ["00:05 executed"]


@clause("OPERATOR-26", "OPERATOR-30")
@pytest.mark.parametrize(
    "why", [Denial.QUOTA, Denial.FORBIDDEN, Denial.INVALID, Denial.TERMINATING]
)
def test_where_no_job_can_be_made_it_is_said_and_tried_again_until_the_deadline(
    why: Denial,
) -> None:
    cluster = Cluster(policy={"deadline": "10s"})
    cluster.until("2026-03-01T00:04:59Z")
    denied = Denied(why, "no room", cluster.server.at)
    cluster.deny = lambda question: denied if isinstance(question, Create) else None

    cluster.until("2026-03-01T00:05:05Z")
    assert "no room" in conditions(cluster)["LaunchFailing"]
    assert conditions(cluster)["Ready"].startswith("False: ")
    assert [one.told for one in cluster.notices] == [Told.LAUNCH_FAILED]

    cluster.until("2026-03-01T00:05:11Z")
    assert cluster.outcomes() == ["00:05 missed launch_failed"]
    cluster.deny = lambda question: None
    cluster.until("2026-03-01T00:10:00Z")
    assert cluster.outcomes()[0] == "00:10 executed"
    assert conditions(cluster)["Ready"].startswith("True: ")


@clause("OPERATOR-15")
def test_a_name_that_something_else_has_taken_costs_another_try() -> None:
    probe = Cluster()
    probe.until(FIVE)
    taken = text(probe.jobs[0], "metadata", "name")
    cluster = Cluster()
    other = {"metadata": {"name": taken}, "spec": {"suspend": True}}
    cluster.server.send(Create(Kind.JOB, "prod", other))

    cluster.until(FIVE)

    names = {text(job, "metadata", "name") for job in cluster.jobs}
    assert len(names) == 2
    assert max(map(len, names)) <= 57
    assert cluster.ran() == ["00:05"]


@clause("OPERATOR-14")
def test_a_job_tells_from_what_its_second_was_chosen() -> None:
    import json

    from gnomon import recompute

    cluster = Cluster(window={"duration": "3m"}, seed="daily", salt="x")
    cluster.until("2026-03-01T00:09:00Z")

    annotations = mapping(cluster.jobs[0], "metadata", "annotations")
    decision = recompute(json.loads(text(annotations, f"{RESERVED}decision")))

    assert decision.to_json()["chosenTime"] == annotations[f"{RESERVED}chosen"]
    assert decision.seed_hash == annotations[f"{RESERVED}seed-hash"]


@clause("OPERATOR-16")
def test_a_queue_is_named_only_in_the_release_and_admits_the_job_itself() -> None:
    queue = "kueue.x-k8s.io/queue-name"
    template = {"metadata": {"labels": {queue: "users"}}, "spec": {"template": {"spec": POD}}}
    cluster = Cluster(jobTemplate=template)

    cluster.until(FIVE)

    created = next(one for one in cluster.asked if isinstance(one, Create))
    assert text(created.object, "metadata", "labels", queue) == ""
    (job,) = cluster.jobs
    assert text(job, "metadata", "labels", queue) == "users"
    assert text(job, "metadata", "annotations", f"{RESERVED}state") == "released"
    assert at(job, "spec", "suspend") is True


@clause("OPERATOR-16")
def test_a_template_that_is_suspended_is_released_by_its_state() -> None:
    cluster = Cluster(jobTemplate={"spec": {"suspend": True, "template": {"spec": POD}}})

    cluster.until(FIVE)

    (job,) = cluster.jobs
    assert text(job, "metadata", "annotations", f"{RESERVED}state") == "released"
    assert at(job, "spec", "suspend") is True


@clause("OPERATOR-18")
@pytest.mark.parametrize("skew_s", [-3600, 3600])
def test_no_outcome_is_written_while_the_clocks_differ(skew_s: int) -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:04:00Z")
    cluster.skew_s = skew_s

    cluster.until("2026-03-01T00:05:20Z")
    assert cluster.outcomes() == []
    if skew_s > 0:
        assert "differ" in conditions(cluster)["ClockSkew"]

    cluster.skew_s = 0
    cluster.until("2026-03-01T00:05:22Z")
    assert cluster.outcomes() == ["00:05 executed"]
    assert "ClockSkew" not in conditions(cluster)


@clause("OPERATOR-2", "OPERATOR-30")
def test_a_spec_that_cannot_be_meant_is_said_and_waits_for_its_author() -> None:
    cluster = Cluster(timezone="Europe/Pariss")
    cluster.until("2026-03-01T00:06:00Z")

    assert "Europe/Paris" in conditions(cluster)["InvalidSpec"]
    assert [one.told for one in cluster.notices] == [Told.INVALID_SPEC]
    assert sum(isinstance(one, PutStatus) for one in cluster.asked) == 1

    cluster.edit(timezone="Europe/Paris")
    cluster.until("2026-03-01T00:10:00Z")
    assert cluster.outcomes() == ["00:10 executed"]
    assert set(conditions(cluster)) == {"Ready"}


@clause("OPERATOR-2")
def test_a_spec_that_becomes_wrong_leaves_what_runs_alone() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:05:05Z")

    cluster.edit(window={"duration": "long"})
    cluster.until("2026-03-01T00:05:50Z")
    assert "spec.window" in conditions(cluster)["InvalidSpec"]
    assert len(cluster.jobs) == 1

    cluster.edit(window={"duration": "0s"})
    cluster.until("2026-03-01T00:10:00Z")
    assert cluster.outcomes() == ["00:10 executed", "00:05 executed Succeeded"]


@clause("OPERATOR-4")
def test_a_kronjob_that_is_being_deleted_is_left_alone() -> None:
    cluster = Cluster()
    patch = {"metadata": {"finalizers": ["a/b"]}}
    cluster.done(MergePatch(Kind.KRONJOB, "prod", "report", patch))
    cluster.until("2026-03-01T00:01:00Z")
    uid = text(cluster.kronjob, "metadata", "uid")
    cluster.server.send(Delete(Kind.KRONJOB, "prod", "report", uid))

    cluster.until("2026-03-01T00:06:00Z")

    assert cluster.jobs == []


@clause("OPERATOR-4")
def test_a_status_that_the_server_finds_too_large_is_shortened() -> None:
    cluster = Cluster(schedule="* * * * *")
    cluster.until("2026-03-01T00:10:59Z")
    denied = Denied(Denial.TOO_LARGE, "etcdserver: request is too large", cluster.server.at)
    cluster.broken[len(cluster.asked) + 2] = denied

    cluster.until("2026-03-01T00:11:00Z")

    assert len(cluster.outcomes()) == 5
    assert cluster.outcomes()[0] == "00:11 executed"


@clause("OPERATOR-2")
def test_a_condition_says_which_edit_it_is_about() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:00:10Z")
    found = []
    for schedule in ("0 25 * * *", "0 25 * * *  ", "0 3 * * *"):
        cluster.edit(schedule=schedule)
        cluster.pass_over()
        listed = cluster.status("conditions")
        assert isinstance(listed, list)
        generation = at(cluster.kronjob, "metadata", "generation")
        found.append({one["type"] for one in listed if one["observedGeneration"] == generation})

    assert found == [{"InvalidSpec", "Ready"}, {"InvalidSpec", "Ready"}, {"Ready"}]
