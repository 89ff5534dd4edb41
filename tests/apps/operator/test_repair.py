"""A status that was wiped or edited by hand: noticed, repaired, and nothing runs twice."""

import pytest

from gnomon.apps.operator.notice import Told
from gnomon.ports.kubernetes import Create, Delete, Kind, MergePatch, Object, PutStatus
from gnomon.ports.kubernetes_object import mapping, text, things
from tests.apps.operator.lone_operator import Cluster, kronjob
from tests.clauses import clause


def put(cluster: Cluster, status: Object) -> None:
    """What a person does with `kubectl edit --subresource=status`."""
    metadata = mapping(cluster.kronjob, "metadata")
    uid, version = text(metadata, "uid"), text(metadata, "resourceVersion")
    cluster.server.send(PutStatus(Kind.KRONJOB, "prod", "report", uid, version, status))


def edited(cluster: Cluster) -> Object:
    status = dict(mapping(cluster.kronjob, "status"))
    return {**status, "cursor": "2026-03-01T00:00:00Z", "recent": [], "ahead": []}


@clause("OPERATOR-6")
@pytest.mark.parametrize("how", ["wiped", "edited"])
def test_what_ran_does_not_run_again_after_the_status_was_lost(how: str) -> None:
    cluster = Cluster(policy={"deadline": "1h"}, lasts_s=100)
    cluster.until("2026-03-01T00:10:30Z")

    put(cluster, {} if how == "wiped" else edited(cluster))
    cluster.until("2026-03-01T00:15:00Z")

    assert cluster.ran() == ["00:05", "00:10", "00:15"]
    assert cluster.outcomes()[:3] == [
        "00:15 executed", "00:10 executed Succeeded", "00:05 executed Succeeded",
    ]  # fmt: skip
    assert cluster.outcomes()[3].endswith("missed status_lost")
    assert [one.told for one in cluster.notices].count(Told.STATUS_REPAIRED) == 1


@clause("OPERATOR-6", "OPERATOR-9")
def test_a_repair_during_a_suspension_says_that_it_lasts() -> None:
    cluster = Cluster(policy={"suspend": True})
    cluster.until("2026-03-01T00:04:00Z")

    put(cluster, {})
    cluster.until("2026-03-01T00:06:00Z")

    conditions = {text(one, "type"): text(one, "reason") for one in
                  things(cluster.kronjob, "status", "conditions")}  # fmt: skip
    assert conditions == {
        "StatusRepaired": "StatusLost", "Suspended": "Suspended", "Ready": "Suspended",
    }  # fmt: skip
    assert cluster.jobs == []


@clause("OPERATOR-6")
def test_a_candidate_that_a_repair_finds_never_runs() -> None:
    cluster = Cluster(policy={"deadline": "1h"})
    cluster.until("2026-03-01T00:04:59Z")
    cluster.now_ms += 1000
    cluster.pass_over(questions=2)  # claimed, and not released
    assert cluster.outcomes() == ["00:05 executed"]

    put(cluster, {})
    cluster.until("2026-03-01T00:09:00Z")

    assert (cluster.ran(), cluster.jobs) == ([], [])


@clause("OPERATOR-6", "OPERATOR-5")
def test_a_run_that_a_repair_finds_is_seen_to_its_end() -> None:
    cluster = Cluster(lasts_s=60)
    cluster.until("2026-03-01T00:05:05Z")

    put(cluster, {})
    cluster.until("2026-03-01T00:06:10Z")

    assert cluster.outcomes()[0] == "00:05 executed Succeeded"
    assert cluster.status("active") == []


@clause("OPERATOR-6")
def test_a_status_of_another_object_is_no_status() -> None:
    """A backup puts an object back with its annotations, and with the status of its former life."""
    cluster = Cluster()
    cluster.until("2026-03-01T00:06:00Z")
    former = cluster.kronjob
    cluster.server.send(Delete(Kind.KRONJOB, "prod", "report", text(former, "metadata", "uid")))
    annotations = mapping(former, "metadata", "annotations")
    metadata = {"name": "report", "annotations": annotations}
    cluster.done(Create(Kind.KRONJOB, "prod", {**kronjob(), "metadata": metadata}))
    put(cluster, mapping(former, "status"))

    cluster.until("2026-03-01T00:10:00Z")

    assert cluster.ran() == ["00:05", "00:10"]
    assert cluster.outcomes() == ["00:10 executed"]


@clause("OPERATOR-6")
def test_a_wiped_status_of_a_spec_that_is_wrong_is_repaired_when_the_spec_is_mended() -> None:
    cluster = Cluster(policy={"deadline": "1h"})
    cluster.until("2026-03-01T00:06:00Z")
    cluster.edit(seed="hourly")
    put(cluster, {})
    cluster.until("2026-03-01T00:07:00Z")

    cluster.edit(seed="stable")
    cluster.until("2026-03-01T00:10:00Z")

    assert cluster.ran() == ["00:05", "00:10"]


@clause("OPERATOR-6")
def test_labels_that_were_taken_off_a_job_do_not_hide_it() -> None:
    cluster = Cluster(lasts_s=200, policy={"deadline": "1h", "concurrency": "forbid"})
    cluster.until("2026-03-01T00:05:05Z")
    (job,) = cluster.jobs
    patch = {"metadata": {"labels": dict.fromkeys(mapping(job, "metadata", "labels"))}}
    name = text(job, "metadata", "name")
    cluster.done(MergePatch(Kind.JOB, "prod", name, patch))
    put(cluster, {})

    cluster.until("2026-03-01T00:05:10Z")

    assert cluster.status("activeCount") == 1
