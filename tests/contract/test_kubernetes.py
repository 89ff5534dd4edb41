"""What every API server keeps, asked of each of them: the operator's protocol rests on it."""

import pytest

from gnomon.ports.kubernetes import (
    Change,
    Create,
    Delete,
    Denial,
    Denied,
    Done,
    Get,
    JsonPatch,
    Kind,
    MergePatch,
    Propagation,
    PutStatus,
    Replace,
    Seen,
)
from tests.clauses import clause
from tests.contract.kubernetes_desk import KubernetesDesk, a_job, a_kronjob, meta, text_at

STATE = "gnomon.dev/state"


def release(desk: KubernetesDesk, uid: object, name: str = "report-1") -> JsonPatch:
    state = f"/metadata/annotations/{STATE.replace('/', '~1')}"
    return JsonPatch(
        Kind.JOB, desk.namespace, name,
        [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "test", "path": state, "value": "candidate"},
            {"op": "replace", "path": state, "value": "released"},
            {"op": "replace", "path": "/spec/suspend", "value": False},
        ],
    )  # fmt: skip


def put_status(desk: KubernetesDesk, one: object, **status: object) -> PutStatus:
    name, uid, version = (text_at(one, "metadata", key) for key in ("name", "uid",
                                                                    "resourceVersion"))  # fmt: skip
    return PutStatus(Kind.KRONJOB, desk.namespace, name, uid, version, status)


@clause("KUBE-1")
def test_a_name_is_taken_while_its_object_lives(cluster: KubernetesDesk) -> None:
    cluster.create(Kind.JOB, a_job())

    assert cluster.denied(Create(Kind.JOB, cluster.namespace, a_job())).why is Denial.EXISTS


@clause("KUBE-1")
def test_an_object_that_takes_the_name_of_another_has_another_uid(cluster: KubernetesDesk) -> None:
    first = cluster.create(Kind.KRONJOB, a_kronjob())
    cluster.done(Delete(Kind.KRONJOB, cluster.namespace, "report", str(meta(first)["uid"])))

    second = cluster.create(Kind.KRONJOB, a_kronjob())

    assert meta(first)["uid"] != meta(second)["uid"]


@clause("KUBE-1", "KUBE-4")
def test_a_name_is_taken_while_its_object_is_being_deleted(cluster: KubernetesDesk) -> None:
    job = cluster.create(Kind.JOB, a_job(suspend=False))
    uid = str(meta(job)["uid"])
    cluster.until(
        lambda: text_at(cluster.get(Kind.JOB, "report-1"), "status", "startTime") != "", "it starts"
    )

    cluster.done(Delete(Kind.JOB, cluster.namespace, "report-1", uid, Propagation.FOREGROUND))

    left = cluster.get(Kind.JOB, "report-1")
    if left is not None:  # its pods may have ended already
        assert "deletionTimestamp" in meta(left)
        again = cluster.send(Create(Kind.JOB, cluster.namespace, a_job()))
        assert isinstance(again, Done) or getattr(again, "why", None) is Denial.EXISTS
    cluster.until(lambda: not is_there(cluster, uid), "it goes")


def is_there(desk: KubernetesDesk, uid: str) -> bool:
    return any(meta(one)["uid"] == uid for one in desk.find(Kind.JOB).objects)


@clause("KUBE-2")
def test_a_status_is_written_to_the_version_that_was_read(cluster: KubernetesDesk) -> None:
    made = cluster.create(Kind.KRONJOB, a_kronjob())

    cluster.done(put_status(cluster, made, observedGeneration=1))

    found = cluster.get(Kind.KRONJOB, "report")
    assert text_at(found, "status", "observedGeneration") == "1"


@clause("KUBE-2")
def test_a_status_decided_from_an_older_version_is_refused(cluster: KubernetesDesk) -> None:
    made = cluster.create(Kind.KRONJOB, a_kronjob())
    cluster.done(put_status(cluster, made, observedGeneration=1))

    assert cluster.denied(put_status(cluster, made, observedGeneration=2)).why is Denial.CONFLICT
    found = cluster.get(Kind.KRONJOB, "report")
    assert text_at(found, "status", "observedGeneration") == "1"


@clause("KUBE-2")
def test_an_edit_of_the_spec_makes_an_older_status_a_conflict(cluster: KubernetesDesk) -> None:
    made = cluster.create(Kind.KRONJOB, a_kronjob())
    edit = {"spec": {"schedule": "0 4 * * *"}}
    cluster.done(MergePatch(Kind.KRONJOB, cluster.namespace, "report", edit))

    assert cluster.denied(put_status(cluster, made, observedGeneration=1)).why is Denial.CONFLICT


@clause("KUBE-2")
def test_a_status_of_a_kronjob_that_was_made_again_is_refused(cluster: KubernetesDesk) -> None:
    first = cluster.create(Kind.KRONJOB, a_kronjob())
    cluster.done(Delete(Kind.KRONJOB, cluster.namespace, "report", str(meta(first)["uid"])))
    cluster.create(Kind.KRONJOB, a_kronjob())

    assert cluster.denied(put_status(cluster, first, observedGeneration=1)).why is Denial.CONFLICT


@clause("KUBE-2")
def test_a_status_changes_no_spec_and_a_patch_no_status(cluster: KubernetesDesk) -> None:
    made = cluster.create(Kind.KRONJOB, a_kronjob())
    written = cluster.done(put_status(cluster, made, observedGeneration=1))
    patch = {"status": {"observedGeneration": 7}, "metadata": {"annotations": {"a/b": "c"}}}

    patched = cluster.done(MergePatch(Kind.KRONJOB, cluster.namespace, "report", patch))

    assert written["spec"] == made["spec"]
    assert text_at(patched, "status", "observedGeneration") == "1"
    assert text_at(patched, "metadata", "annotations", "a/b") == "c"
    assert text_at(patched, "metadata", "generation") == "1"


@clause("KUBE-2")
def test_what_is_written_again_unchanged_makes_no_version(cluster: KubernetesDesk) -> None:
    made = cluster.create(Kind.KRONJOB, a_kronjob())
    once = cluster.done(put_status(cluster, made, observedGeneration=1))

    again = cluster.done(put_status(cluster, once, observedGeneration=1))

    assert meta(once)["resourceVersion"] == meta(again)["resourceVersion"]


@clause("KUBE-3")
def test_a_release_names_one_uid_and_happens_once(cluster: KubernetesDesk) -> None:
    job = cluster.create(Kind.JOB, a_job(annotations={STATE: "candidate"}))

    released = cluster.done(release(cluster, meta(job)["uid"]))
    again = cluster.denied(release(cluster, meta(job)["uid"]))

    assert text_at(released, "spec", "suspend") == "False"
    assert again.why is Denial.INVALID


@clause("KUBE-3")
def test_a_release_of_a_job_that_was_made_again_changes_nothing(cluster: KubernetesDesk) -> None:
    first = cluster.create(Kind.JOB, a_job(annotations={STATE: "candidate"}))
    cluster.done(Delete(Kind.JOB, cluster.namespace, "report-1", str(meta(first)["uid"])))
    cluster.until(lambda: cluster.get(Kind.JOB, "report-1") is None, "it goes")
    cluster.create(Kind.JOB, a_job(annotations={STATE: "candidate"}))

    assert cluster.denied(release(cluster, meta(first)["uid"])).why is Denial.INVALID
    found = cluster.get(Kind.JOB, "report-1")
    assert text_at(found, "spec", "suspend") == "True"
    assert text_at(found, "metadata", "annotations", STATE) == "candidate"


@clause("KUBE-3")
def test_a_release_of_a_job_that_has_gone_finds_nothing(cluster: KubernetesDesk) -> None:
    assert cluster.denied(release(cluster, "u")).why is Denial.NOT_FOUND


@clause("KUBE-3")
def test_a_merge_patch_of_another_version_or_uid_is_refused(cluster: KubernetesDesk) -> None:
    first = cluster.create(Kind.KRONJOB, a_kronjob())
    named = {"uid": meta(first)["uid"], "resourceVersion": meta(first)["resourceVersion"]}
    patch = {"metadata": {**named, "annotations": {"a/b": "c"}}}
    mark = MergePatch(Kind.KRONJOB, cluster.namespace, "report", patch)
    cluster.done(Delete(Kind.KRONJOB, cluster.namespace, "report", str(meta(first)["uid"])))
    second = cluster.create(Kind.KRONJOB, a_kronjob())

    assert cluster.denied(mark).why is Denial.CONFLICT
    assert cluster.get(Kind.KRONJOB, "report") == second


@clause("KUBE-3")
def test_a_merge_patch_takes_away_what_it_gives_as_none(cluster: KubernetesDesk) -> None:
    cluster.create(Kind.JOB, a_job(annotations={"a/b": "c", "d/e": "f"}))

    patch = {"metadata": {"annotations": {"a/b": None}}}
    patched = cluster.done(MergePatch(Kind.JOB, cluster.namespace, "report-1", patch))

    assert text_at(patched, "metadata", "annotations", "a/b") == ""
    assert text_at(patched, "metadata", "annotations", "d/e") == "f"


@clause("KUBE-4")
def test_a_deletion_of_another_uid_is_refused(cluster: KubernetesDesk) -> None:
    cluster.create(Kind.JOB, a_job())
    other = "00000000-0000-0000-0000-000000000000"

    assert (
        cluster.denied(
            Delete(Kind.JOB, cluster.namespace, "report-1", other, Propagation.FOREGROUND)
        ).why
        is Denial.CONFLICT
    )
    assert cluster.get(Kind.JOB, "report-1") is not None


@clause("KUBE-4")
def test_a_suspended_job_that_is_deleted_goes(cluster: KubernetesDesk) -> None:
    job = cluster.create(Kind.JOB, a_job())
    uid = str(meta(job)["uid"])

    cluster.done(Delete(Kind.JOB, cluster.namespace, "report-1", uid, Propagation.FOREGROUND))

    cluster.until(lambda: cluster.get(Kind.JOB, "report-1") is None, "it goes")


@clause("KUBE-5")
def test_a_watch_tells_each_change_after_a_version_in_order(cluster: KubernetesDesk) -> None:
    cluster.create(Kind.KRONJOB, a_kronjob("before"))
    since = cluster.find(Kind.KRONJOB).resource_version
    made = cluster.create(Kind.KRONJOB, a_kronjob())
    cluster.done(put_status(cluster, made, observedGeneration=1))
    cluster.done(Delete(Kind.KRONJOB, cluster.namespace, "report", str(meta(made)["uid"])))

    seen = cluster.watch(Kind.KRONJOB, since, 3)

    assert [one[0] for one in seen] == [Seen.ADDED, Seen.MODIFIED, Seen.DELETED]


@clause("KUBE-5")
def test_a_watch_ends_at_its_time(cluster: KubernetesDesk) -> None:
    since = cluster.find(Kind.KRONJOB).resource_version

    assert cluster.watch(Kind.KRONJOB, since, 1) == []


@clause("KUBE-5")
def test_a_watch_from_a_forgotten_version_is_expired(cluster: KubernetesDesk) -> None:
    version = cluster.forgotten_version()
    if version is None:
        pytest.skip("this server cannot be made to forget")

    (denied,) = cluster.watch(Kind.KRONJOB, version, 1)

    assert isinstance(denied, Denied)
    assert denied.why is Denial.EXPIRED


@clause("KUBE-5")
def test_objects_are_found_by_their_labels(cluster: KubernetesDesk) -> None:
    cluster.create(Kind.JOB, a_job("a-1", labels={"of": "a"}))
    cluster.create(Kind.JOB, a_job("b-1", labels={"of": "b"}))

    assert [meta(one)["name"] for one in cluster.find(Kind.JOB, {"of": "b"}).objects] == ["b-1"]
    found = cluster.find(Kind.JOB, {"of": None}).objects
    assert [meta(one)["name"] for one in found] == ["a-1", "b-1"]


@clause("KUBE-5")
def test_a_watch_of_labels_tells_who_comes_to_have_them_and_who_loses_them(
    cluster: KubernetesDesk,
) -> None:
    cluster.create(Kind.JOB, a_job("a-1", labels={"of": "a"}))
    cluster.create(Kind.JOB, a_job("b-1"))
    begin = cluster.find(Kind.JOB).resource_version
    for name, value in (("a-1", None), ("b-1", "b")):
        patch = {"metadata": {"labels": {"of": value}}}
        cluster.done(MergePatch(Kind.JOB, cluster.namespace, name, patch))

    told = cluster.watch(Kind.JOB, begin, 2, {"of": None})

    said = [(one.seen, meta(one.object)["name"]) for one in told if isinstance(one, Change)]
    assert said == [("DELETED", "a-1"), ("ADDED", "b-1")]


@clause("KUBE-6")
def test_every_answer_carries_the_time_of_the_server(cluster: KubernetesDesk) -> None:
    made = cluster.send(Create(Kind.JOB, cluster.namespace, a_job()))
    missing = cluster.denied(Get(Kind.JOB, cluster.namespace, "other"))

    assert isinstance(made, Done)
    assert made.at is not None
    assert missing.at is not None
    assert 0 <= missing.at - made.at < 60
    assert missing.why is Denial.NOT_FOUND


@clause("KUBE-6")
def test_a_replacement_without_or_of_another_version_is_refused(cluster: KubernetesDesk) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "lead"},
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15},
    }  # fmt: skip
    made = cluster.create(Kind.LEASE, lease)
    taken = {**made, "spec": {"holderIdentity": "b", "leaseDurationSeconds": 15}}
    cluster.done(Replace(Kind.LEASE, cluster.namespace, taken))

    assert cluster.denied(Replace(Kind.LEASE, cluster.namespace, taken)).why is Denial.CONFLICT
    assert cluster.denied(Replace(Kind.LEASE, cluster.namespace, lease)).why is Denial.INVALID


@clause("KUBE-6")
def test_nothing_is_made_in_a_namespace_that_is_not_there(cluster: KubernetesDesk) -> None:
    denied = cluster.denied(Create(Kind.JOB, "no-such-namespace", a_job()))

    assert denied.why is Denial.NOT_FOUND


@clause("KUBE-7")
def test_a_suspended_job_runs_nothing_until_it_is_released(cluster: KubernetesDesk) -> None:
    job = cluster.create(Kind.JOB, a_job(annotations={STATE: "candidate"}))
    cluster.until(
        lambda: "Suspended" in text_at(cluster.get(Kind.JOB, "report-1"), "status", "conditions"),
        "its status says that it is suspended",
    )
    assert text_at(cluster.get(Kind.JOB, "report-1"), "status", "startTime") == ""

    cluster.done(release(cluster, meta(job)["uid"]))

    cluster.until(
        lambda: text_at(cluster.get(Kind.JOB, "report-1"), "status", "completionTime") != "",
        "it is complete",
    )


@clause("KUBE-7")
def test_a_job_whose_owner_has_gone_is_collected(cluster: KubernetesDesk) -> None:
    owner = cluster.create(Kind.KRONJOB, a_kronjob())
    cluster.create(Kind.JOB, a_job(owner=owner))

    cluster.done(Delete(Kind.KRONJOB, cluster.namespace, "report", str(meta(owner)["uid"])))

    cluster.until(lambda: cluster.get(Kind.JOB, "report-1") is None, "it is collected")
