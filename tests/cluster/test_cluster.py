"""The cluster of the tests is a real one: Jobs run, rights count, and parts may die."""

import pytest

from tests.kube.cluster import Cluster
from tests.kube.process import ClusterError


def job(namespace: str, name: str, **annotations: str) -> dict[str, object]:
    marks = {f"gnomon.test/{key}": value for key, value in annotations.items()}
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "backoffLimit": 0,
            "template": {"metadata": {"annotations": marks}, "spec": pod},
        },
    }  # fmt: skip


def wait_for(cluster: Cluster, namespace: str, condition: str, name: str) -> None:
    cluster.kubectl(
        "wait", f"--for=condition={condition}", f"job/{name}", "--namespace", namespace,
        "--timeout=120s",
    )  # fmt: skip


def test_the_pod_of_a_job_is_completed(kube: Cluster, kube_namespace: str) -> None:
    kube.apply(job(kube_namespace, "good"))
    wait_for(kube, kube_namespace, "Complete", "good")

    phases = kube.kubectl(
        "get", "pods", "--namespace", kube_namespace, "--output=jsonpath={.items[*].status.phase}"
    )
    assert phases == "Succeeded"


def test_a_pod_can_be_told_to_fail_and_when(kube: Cluster, kube_namespace: str) -> None:
    kube.apply(job(kube_namespace, "bad", exit="3", seconds="1s"))
    wait_for(kube, kube_namespace, "Failed", "bad")

    code = kube.kubectl(
        "get", "pods", "--namespace", kube_namespace,
        "--output=jsonpath={.items[*].status.containerStatuses[0].state.terminated.exitCode}",
    )  # fmt: skip
    assert code == "3"


def test_a_user_without_rights_is_refused(kube: Cluster, kube_namespace: str) -> None:
    done = kube.try_kubectl("get", "jobs", "--namespace", kube_namespace, user="stranger")

    assert done.returncode != 0
    assert 'User "stranger" cannot list resource "jobs"' in done.stderr


def test_an_error_of_kubectl_is_an_error_of_the_test(kube: Cluster) -> None:
    with pytest.raises(ClusterError, match="not found"):
        kube.kubectl("get", "namespace", "never-made")


def test_what_was_written_is_there_after_a_crash_of_etcd_and_of_the_server(
    own_cluster: Cluster,
) -> None:
    own_cluster.apply(job("default", "first"))
    own_cluster.kill("kube-apiserver", "etcd")
    own_cluster.start("etcd", "kube-apiserver")
    own_cluster.apply(job("default", "second"))

    wait_for(own_cluster, "default", "Complete", "first")
    wait_for(own_cluster, "default", "Complete", "second")


def test_the_audit_log_tells_who_made_a_job_and_who_gave_it_a_pod(
    kube: Cluster, kube_namespace: str
) -> None:
    kube.apply(job(kube_namespace, "told"))
    wait_for(kube, kube_namespace, "Complete", "told")

    told = set()
    for event in kube.audit():
        what, who = event["objectRef"], event["user"]
        assert isinstance(what, dict)
        assert isinstance(who, dict)
        if event["verb"] == "create" and what["namespace"] == kube_namespace:
            told.add((what["resource"], who["username"]))
    controller = "system:serviceaccount:kube-system:job-controller"
    assert told == {("jobs", "admin"), ("pods", controller)}
