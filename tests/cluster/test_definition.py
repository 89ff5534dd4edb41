"""The kind KronJob on a real API server: taken, explained, shown, strict about what is wrong."""

import json
import subprocess
from collections.abc import Mapping

import pytest

from gnomon.apps.operator.crd import custom_resource_definition
from tests.clauses import clause
from tests.kube.cluster import Cluster
from tests.kube.kronjobs import install_kronjobs

NAME = "kronjobs.gnomon.dev"
TEMPLATE = {
    "spec": {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
        }
    }
}


@pytest.fixture(scope="session")
def installed(kube: Cluster) -> Cluster:
    """The shared cluster, which knows the kind."""
    install_kronjobs(kube)
    return kube


def kronjob(namespace: str, **spec: object) -> dict[str, object]:
    return {
        "apiVersion": "gnomon.dev/v1alpha1", "kind": "KronJob",
        "metadata": {"name": "report", "namespace": namespace},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": TEMPLATE, **spec},
    }  # fmt: skip


def create(cluster: Cluster, namespace: str, **spec: object) -> "subprocess.CompletedProcess[str]":
    return cluster.try_kubectl(
        "create", "--filename=-", stdin=json.dumps(kronjob(namespace, **spec))
    )


def field_names(schema: Mapping[str, object]) -> list[str]:
    properties = schema.get("properties", {})
    assert isinstance(properties, Mapping)
    return list(properties)


@clause("OPERATOR-27")
def test_the_server_takes_the_definition_whole(installed: Cluster) -> None:
    said = json.loads(installed.kubectl("get", "crd", NAME, "--output=json"))

    assert {one["type"]: one["status"] for one in said["status"]["conditions"]} == {
        "NamesAccepted": "True", "Established": "True",
    }  # fmt: skip


@clause("OPERATOR-3")
def test_what_is_left_out_is_filled_in(installed: Cluster, kube_namespace: str) -> None:
    installed.apply(kronjob(kube_namespace))

    said = json.loads(
        installed.kubectl("get", "kj", "report", "--namespace", kube_namespace, "--output=json")
    )
    spec = said["spec"]
    assert (spec["timezone"], spec["dst"], spec["seed"]) == ("UTC", "vixie", "stable")
    assert spec["policy"] == {"concurrency": "forbid", "deadline": "1m", "suspend": False}
    assert spec["window"] == {"mode": "after", "duration": "0s"}
    assert spec["distribution"] == {"name": "uniform"}


@clause("OPERATOR-27")
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"timezone": "Mars/Phobos"}, "the zone is not one of the IANA database"),
        ({"schedule": "x"}, "spec.schedule"),
        ({"window": {"duration": "9999h"}}, "a window has at most 366 days"),
        ({"window": {"duration": "1x"}}, "spec.window.duration"),
        ({"policy": {"deadline": "1.5s"}}, "spec.policy.deadline"),
        ({"policy": {"deadline": "9999h"}}, "a deadline has at most 366 days"),
        ({"policy": {"concurrency": "Forbid"}}, '"allow", "forbid", "replace"'),
        ({"dst": "never"}, '"strict", "vixie", "civil"'),
        ({"distribution": {"name": "uniform", "mu": "mid"}}, "spec.distribution.mu"),
        ({"distribution": {"name": "gauss"}}, "spec.distribution.name"),
        ({"constraints": {"only": ""}}, "spec.constraints.only"),
        ({"recordsLimit": 0}, "spec.recordsLimit"),
        ({"jobTemplate": {"spec": {}}}, "spec.jobTemplate.spec.template"),
        ({"schedul": "@daily"}, 'unknown field "spec.schedul"'),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_and_the_field_is_named(
    installed: Cluster, kube_namespace: str, spec: dict[str, object], said: str
) -> None:
    done = create(installed, kube_namespace, **spec)

    assert done.returncode == 1
    assert said in done.stderr


@clause("OPERATOR-27")
@pytest.mark.parametrize(
    "spec",
    [
        {"schedule": "@daily"}, {"schedule": "0 30 9 * * MON-FRI"}, {"schedule": "0 0 LW * *"},
        {"window": {}}, {"window": {"mode": "around"}}, {"window": {"duration": "1h30m"}},
        {"policy": {"suspend": True}}, {"timezone": "America/New_York"},
        {"distribution": {"name": "normal", "mu": "mid", "sigma": "10m"}},
        {"constraints": {"only": "hours=9-17;dow=mon-fri"}},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_right_is_taken(
    installed: Cluster, kube_namespace: str, spec: dict[str, object]
) -> None:
    done = create(installed, kube_namespace, **spec)

    assert done.stderr == ""
    assert done.stdout == "kronjob.gnomon.dev/report created\n"


@clause("OPERATOR-27")
def test_a_list_shows_when_next_and_what_became_of_the_last(
    installed: Cluster, kube_namespace: str
) -> None:
    installed.apply(kronjob(kube_namespace))

    head, line = installed.kubectl("get", "kronjobs", "--namespace", kube_namespace).splitlines()

    assert head.split() == [
        "NAME", "SCHEDULE", "NEXT", "LAST", "OUTCOME", "RESULT", "ACTIVE", "SUSPEND", "READY",
        "AGE",
    ]  # fmt: skip
    assert line.startswith("report   */5 * * * *")


@clause("OPERATOR-27")
@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_is_explained(installed: Cluster, part: str) -> None:
    (version,) = custom_resource_definition()["spec"]["versions"]  # type: ignore[index]
    whole = version["schema"]["openAPIV3Schema"]["properties"][part]

    for name in field_names(whole):
        said = installed.kubectl("explain", f"kronjobs.{part}.{name}")
        assert "DESCRIPTION:" in said
        assert "<empty>" not in said, name
