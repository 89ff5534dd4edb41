"""`gnomon operator run` on a real cluster, installed with its own manifests and its own rights."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
import yaml

from gnomon import Decision, recompute
from gnomon.apps.operator.manifests import ACCOUNT
from tests.clauses import clause
from tests.kube.cluster import Cluster
from tests.kube.kronjobs import until_kronjobs
from tests.kube.operator_process import OperatorProcess, operating
from tests.kube.packaging import FOLDER
from tests.kube.process import until

_LIMIT_S = 40.0
Object = dict[str, object]


@pytest.fixture(scope="module")
def operator(kube: Cluster) -> Iterator[OperatorProcess]:
    """The operator of the whole cluster, installed as the tutorial says."""
    kube.kubectl("apply", f"--filename={FOLDER / 'install.yaml'}")
    until_kronjobs(kube)
    with operating(kube, "whole") as one:
        one.until_ready()
        one.until("leading")
        yield one


def sample(**spec: object) -> Object:
    """The sample of the packaging, with other timing."""
    one = yaml.safe_load((FOLDER / "sample.yaml").read_text())
    one["spec"] |= {"schedule": "*/5 * * * * *", "window": {"duration": "0s"}, **spec}
    assert isinstance(one, dict)
    return one


def apply(cluster: Cluster, namespace: str, one: Object) -> None:
    cluster.kubectl(f"--namespace={namespace}", "apply", "--filename=-", stdin=json.dumps(one))


def status(cluster: Cluster, namespace: str) -> Object:
    said = cluster.kubectl(f"--namespace={namespace}", "get", "kj", "hello", "--output=json")
    found = json.loads(said).get("status", {})
    assert isinstance(found, dict)
    return found


def until_status(
    cluster: Cluster, namespace: str, holds: Callable[[Object], object], what: str
) -> Object:
    def complaint() -> str | None:
        found = status(cluster, namespace)
        return None if holds(found) else f"never {what}: {json.dumps(found)[:800]}"

    until(complaint, limit_s=_LIMIT_S)
    return status(cluster, namespace)


def _soon() -> str:
    """Once in an hour: as soon as a KronJob owes it that is made within 3 s."""
    soon = time.gmtime(time.time() + 6)
    return f"{soon.tm_sec} {soon.tm_min} * * * *"


def outcomes(found: Object) -> list[tuple[object, ...]]:
    recent = found.get("recent", [])
    assert isinstance(recent, list)
    return [(one["outcome"], one.get("reason"), one.get("result")) for one in recent]


def conditions(found: Object) -> dict[str, str]:
    listed = found.get("conditions", [])
    assert isinstance(listed, list)
    return {one["type"]: one["message"] for one in listed if one["status"] == "True"}


@clause("OPERATOR-29", "OPERATOR-30", "OPERATOR-31", "OPERATOR-37")
def test_the_sample_runs_in_its_second_is_told_of_and_goes_without_a_rest(
    kube: Cluster, kube_namespace: str, operator: OperatorProcess
) -> None:
    apply(kube, kube_namespace, sample())
    until_status(kube, kube_namespace, lambda one: "next" in one, "planned")
    until_status(
        kube, kube_namespace, lambda one: outcomes(one)[-1:] == [("executed", None, "Succeeded")],
        "succeeded",
    )  # fmt: skip

    in_it = f"--namespace={kube_namespace}"
    jobs = json.loads(kube.kubectl(in_it, "get", "jobs", "--output=json"))["items"]
    metadata = jobs[0]["metadata"]
    chosen = metadata["annotations"]["gnomon.dev/chosen"]
    assert metadata["creationTimestamp"] == chosen
    assert jobs[0]["status"]["startTime"] == chosen
    found = recompute(json.loads(metadata["annotations"]["gnomon.dev/decision"]))
    assert isinstance(found, Decision)
    assert found.chosen_at == datetime.fromisoformat(chosen)

    head, line = kube.kubectl(in_it, "get", "kronjobs").splitlines()
    row = dict(zip(head.split(), line.replace("*/5 * * * * *", "schedule").split(), strict=True))
    assert row["NEXT"] > row["LAST"] >= chosen
    assert row["OUTCOME"] == "executed"
    told = kube.kubectl(in_it, "describe", "kronjob", "hello").partition("Events:")[2]
    assert "Started    " in told
    assert f"released {metadata['name']} for the period {chosen}" in told
    assert f"{metadata['name']} for the period {chosen}: Succeeded" in told

    kube.kubectl(in_it, "delete", "kronjob", "hello")
    kube.kubectl(in_it, "wait", "--for=delete", "jobs,pods", "--all", "--timeout=40s")


@clause("OPERATOR-39")
def test_with_the_guard_only_the_operator_resumes_a_candidate(
    kube: Cluster, kube_namespace: str
) -> None:
    made = list(yaml.safe_load_all((FOLDER / "guard.yaml").read_text()))
    kube.kubectl("apply", f"--filename={FOLDER / 'install.yaml'}")
    kube.apply(*made)
    state = {"annotations": {"gnomon.dev/state": "candidate"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hello-1", **state}}
    spec = sample()["spec"]["jobTemplate"]["spec"]  # type: ignore[index]
    apply(kube, kube_namespace, {**job, "spec": {**spec, "suspend": True}})
    patch = ("patch", "job", "hello-1", f"--namespace={kube_namespace}", "--type=merge")

    def complaint() -> str | None:  # a policy is in force a moment after it was made
        resume = '--patch={"spec":{"suspend":false}}'
        done = kube.try_kubectl(*patch, resume, "--dry-run=server")
        return None if "only the operator releases it" in done.stderr else done.stdout

    try:
        until(complaint, limit_s=_LIMIT_S)
        for wrong in (
            '{"metadata":{"annotations":{"gnomon.dev/state":"released"}}}',
            '{"metadata":{"annotations":null}}',
        ):
            assert "only the operator" in kube.try_kubectl(*patch, f"--patch={wrong}").stderr
        kube.kubectl(*patch, '--patch={"metadata":{"labels":{"a":"b"}}}')
        release = (
            '{"metadata":{"annotations":{"gnomon.dev/state":"released"}},"spec":{"suspend":false}}'
        )
        account = "--as=system:serviceaccount:gnomon-system:gnomon-operator"
        kube.kubectl(*patch, f"--patch={release}", account)
        kube.kubectl(
            "wait", "--for=condition=Complete", "job/hello-1", f"--namespace={kube_namespace}",
            "--timeout=60s",
        )  # fmt: skip
    finally:
        kube.kubectl("delete", f"--filename={FOLDER / 'guard.yaml'}")


@clause("OPERATOR-26", "OPERATOR-31")
def test_a_quota_and_a_wrong_template_are_said_and_hold_up_nothing_else(
    kube: Cluster, kube_namespace: str, operator: OperatorProcess
) -> None:
    other = f"{kube_namespace}-wrong"
    kube.kubectl("create", "namespace", other)
    quota = ("quota", "none", f"--namespace={kube_namespace}")
    kube.kubectl("create", *quota, "--hard=count/jobs.batch=0")
    kube.kubectl("wait", "--for=jsonpath={.status.hard}", *quota)
    wrong = sample(policy={"deadline": "3s"})
    (container,) = wrong["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]  # type: ignore[index]
    container["imagePullPolicy"] = "Sometimes"
    apply(kube, other, wrong)
    apply(kube, kube_namespace, sample(schedule=_soon()))

    held = until_status(
        kube, kube_namespace, lambda one: "LaunchFailing" in conditions(one), "in trouble"
    )
    assert "exceeded quota: none" in conditions(held)["LaunchFailing"]
    missed = until_status(kube, other, lambda one: outcomes(one)[:1], "missed")
    assert outcomes(missed)[-1] == ("missed", "launch_failed", None)
    assert "spec.template.spec.containers[0].imagePullPolicy" in conditions(missed)["LaunchFailing"]
    told = kube.kubectl(f"--namespace={other}", "events", "--for=kronjob/hello")
    assert "LaunchFailed" in told
    assert "Missed" in told

    kube.kubectl("delete", *quota)
    ran = until_status(
        kube, kube_namespace, lambda one: outcomes(one) == [("executed", None, "Succeeded")], "ran"
    )
    assert "LaunchFailing" not in conditions(ran)
    kube.kubectl("delete", "namespace", kube_namespace, other, "--wait=false")


@clause("OPERATOR-26", "OPERATOR-31")
def test_a_right_that_is_taken_away_is_said_and_costs_no_period_when_it_is_given_back(
    kube: Cluster, kube_namespace: str, operator: OperatorProcess
) -> None:
    whole = json.loads(kube.kubectl("get", "clusterrole", ACCOUNT, "--output=json"))
    less = json.loads(json.dumps(whole).replace('"create", "patch", "delete"', '"patch", "delete"'))
    assert less != whole
    rules = ("patch", "clusterrole", ACCOUNT, "--type=merge")
    kube.kubectl(*rules, f"--patch={json.dumps({'rules': less['rules']})}")
    try:
        apply(kube, kube_namespace, sample(schedule=_soon()))
        held = until_status(
            kube, kube_namespace, lambda one: "LaunchFailing" in conditions(one), "in trouble"
        )
    finally:
        kube.kubectl(*rules, f"--patch={json.dumps({'rules': whole['rules']})}")

    assert "forbidden: User" in conditions(held)["LaunchFailing"]
    assert 'cannot create resource "jobs"' in conditions(held)["LaunchFailing"]
    assert operator.process.runs
    ran = until_status(
        kube, kube_namespace, lambda one: outcomes(one) == [("executed", None, "Succeeded")], "ran"
    )
    assert "LaunchFailing" not in conditions(ran)
    told = kube.kubectl(f"--namespace={kube_namespace}", "events", "--for=kronjob/hello")
    assert "LaunchFailed" in told


@clause("OPERATOR-36", "OPERATOR-38")
def test_an_operator_without_rights_says_what_it_lacks_and_goes_on_when_it_is_granted(
    kube: Cluster, kube_namespace: str, operator: OperatorProcess
) -> None:
    within = f"--namespace={kube_namespace}"
    with operating(kube, "lone", within, home=kube_namespace) as one:
        one.until("no sight of kronjobs")
        code, said = one.ask("/readyz")
        assert code == 503
        assert "cannot list resource" in said
        assert "grant the rights of gnomon operator manifests" in said
        assert one.ask("/livez") == (200, "ok\n")

        text = (FOLDER / "namespaced" / "operator.yaml").read_text()
        kube.kubectl(
            "apply", "--filename=-", stdin=text.replace('"default"', f'"{kube_namespace}"')
        )
        one.until_ready()
        one.until("leading")
        assert "gnomon_operator_leader 1.0\n" in one.ask("/metrics")[1]


@clause("OPERATOR-33", "OPERATOR-34")
def test_an_operator_that_is_stopped_hands_over_to_another(
    kube: Cluster, kube_namespace: str, operator: OperatorProcess
) -> None:
    text = (FOLDER / "namespaced" / "operator.yaml").read_text()
    kube.kubectl("apply", "--filename=-", stdin=text.replace('"default"', f'"{kube_namespace}"'))
    within = f"--namespace={kube_namespace}"
    with operating(kube, "first", within, home=kube_namespace) as first:
        first.until("leading")
        with operating(kube, "second", within, home=kube_namespace) as second:
            second.until_ready()
            assert "gnomon_operator_leader 0.0\n" in second.ask("/metrics")[1]

            first.process.stop(grace_s=15)

            second.until("leading")
            assert first.process.code == 0
