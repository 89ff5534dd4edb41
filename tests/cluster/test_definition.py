"""The kind KronJob on a real API server: taken, explained, shown, strict about what is wrong."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence

import pytest

from gnomon.apps.operator.crd import custom_resource_definition
from tests.apps.operator.wrong_specs import CONTAINERS_MISSING, DURATIONS
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

RICH = {
    "metadata": {"labels": {"app": "report"}},
    "spec": {
        "backoffLimit": 0, "ttlSecondsAfterFinished": 60, "podFailurePolicy": {"rules": []},
        "template": {
            "metadata": {"annotations": {"a": "b"}},
            "spec": {
                "restartPolicy": "OnFailure", "nodeSelector": {"kind": "large"},
                "initContainers": [{"name": "first", "image": "none", "restartPolicy": "Always"}],
                "containers": [
                    {
                        "name": "main", "image": "none", "args": ["a"], "resources": {},
                        "env": [{"name": "A", "value": "b"}], "ports": [{"containerPort": 80}],
                        "securityContext": {"runAsUser": 1}, "volumeMounts": [],
                    },
                    {"name": "beside", "image": "none", "fieldOfTomorrow": {"a": [1, "b"]}},
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        },
    },
}  # fmt: skip
"""A template with much that no schema of Gnomon names."""


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


WRONG: tuple[tuple[Mapping[str, object], str], ...] = (
    (
        {"schedule": "x"},
        'spec.schedule: Invalid value: "x": must have 5 fields, or 6 with seconds first, or be one '
        "of @hourly, @daily, @weekly, @monthly, @yearly, @midnight, @annually; write e.g. "
        "30 9 * * mon-fri for 09:30 on weekdays",
    ),
    ({"schedule": ""}, 'spec.schedule: Invalid value: "": must have 5 fields'),
    ({"schedule": "@dayly"}, 'spec.schedule: Invalid value: "@dayly": must have 5 fields'),
    (
        {"timezone": "Mars/Phobos"},
        "unknown time zone Mars/Phobos evaluating rule: must be a zone of the IANA database; "
        "write e.g. Europe/Berlin, or UTC",
    ),
    ({"timezone": "Mars/Phobos"}, "spec.timezone: "),
    ({"timezone": "+02:00"}, 'spec.timezone: Invalid value: "+02:00": must be a zone of the IANA'),
    ({"timezone": "Local"}, 'spec.timezone: Invalid value: "Local": must be a zone of the IANA'),
    (
        {"constraints": {"only": "hour=9"}},
        'spec.constraints.only: Invalid value: "hour=9": must be clauses kind=value with a '
        "semicolon between two, of the kinds hours, dow, dom, months, between, date and dates; "
        "write e.g. hours=9-17;dow=mon-fri, or leave it out",
    ),
    ({"constraints": {"avoid": ""}}, 'spec.constraints.avoid: Invalid value: "": must be clauses'),
    ({"constraints": {"only": ";"}}, 'spec.constraints.only: Invalid value: ";": must be clauses'),
    (
        {"distribution": {"name": "uniform", "mu": "mid"}},
        "spec.distribution.mu: Invalid value: is a parameter of normal only; leave it out, or "
        "write name: normal",
    ),
    (
        {"distribution": {"name": "normal", "sigma": "0s"}},
        'spec.distribution.sigma: Invalid value: "0s": must be above zero and at most 366 days; '
        "write e.g. 10m, or leave it out",
    ),
    (
        {"distribution": {"name": "skewEarly", "shape": 0}},
        "spec.distribution.shape: Invalid value: 0: must be from 0.001 to 1000; write e.g. 2",
    ),
    (
        {"recordsLimit": 0},
        "spec.recordsLimit: Invalid value: 0: must be a whole number from 1 to 100; leave it out "
        "for 20",
    ),
    (
        {"failedJobsHistoryLimit": -1},
        "spec.failedJobsHistoryLimit: Invalid value: -1: must be a whole number from 0 to 1000; "
        "leave it out for 1",
    ),
    ({"policy": {"concurrency": "Forbid"}}, 'supported values: "allow", "forbid", "replace"'),
    ({"dst": "never"}, 'spec.dst: Unsupported value: "never": supported values: "strict", "vixie"'),
    ({"distribution": {"name": "gauss"}}, 'spec.distribution.name: Unsupported value: "gauss"'),
    ({"window": {"mode": "beside"}}, 'supported values: "after", "around", "before"'),
    ({"jobTemplate": {"spec": {}}}, "spec.jobTemplate.spec.template: Required value"),
    (
        {"jobTemplate": {"spec": {"template": {"spec": {"containers": []}}}}},
        "spec.jobTemplate.spec.template.spec.restartPolicy: Invalid value: must be Never or "
        "OnFailure, as the pod of a Job ends; write Never",
    ),
    *(
        (
            {"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", **pod}}}}},
            f"spec.jobTemplate.spec.template.spec.{field}: Invalid value: is missing; write at "
            "least one with name and image",
        )
        for pod, field in CONTAINERS_MISSING
    ),
)  # fmt: skip


def said_of(cluster: Cluster, namespace: str, specs: Sequence[Mapping[str, object]]) -> list[str]:
    """What the server says of each spec, in one request of kubectl; empty where it takes it."""
    names = [f"case-{number}-" for number in range(len(specs))]
    items = [
        kronjob(namespace, **spec) | {"metadata": {"name": f"{name}x", "namespace": namespace}}
        for name, spec in zip(names, specs, strict=True)
    ]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    done = cluster.try_kubectl("create", "--dry-run=server", "--filename=-", stdin=listed)
    told = re.split("^(?=The KronJob |Error from server )", done.stderr, flags=re.MULTILINE)
    return ["".join(one for one in told if name in one) for name in names]


@clause("OPERATOR-27")
def test_what_is_wrong_is_refused_with_the_field_the_value_and_what_to_write(
    installed: Cluster, kube_namespace: str
) -> None:
    told = said_of(installed, kube_namespace, [spec for spec, _ in WRONG])

    assert 'unknown field "spec.schedul"' in create(installed, kube_namespace, schedul="x").stderr
    assert [
        (said, line) for (_, said), line in zip(WRONG, told, strict=True) if said not in line
    ] == []


@clause("OPERATOR-27", "TIME-4")
def test_a_duration_reads_the_same_for_the_server_and_for_the_operator(
    installed: Cluster, kube_namespace: str
) -> None:
    found = []
    for field in ("window", "deadline"):
        specs = [
            {"window": {"duration": one.text}}
            if field == "window"
            else {"policy": {"deadline": one.text}}
            for one in DURATIONS
        ]
        for one, line in zip(DURATIONS, said_of(installed, kube_namespace, specs), strict=True):
            wanted = one.window if field == "window" else one.deadline
            if bool(line) != bool(wanted) or f'"{one.text}": {wanted}' * bool(wanted) not in line:
                found.append((field, one.text, line))

    assert found == []


@clause("OPERATOR-27")
@pytest.mark.parametrize(
    "spec",
    [
        {"schedule": "@daily"}, {"schedule": "0 30 9 * * MON-FRI"}, {"schedule": "0 0 LW * *"},
        {"window": {}}, {"window": {"mode": "around"}}, {"window": {"duration": "1h30m"}},
        {"policy": {"suspend": True}}, {"timezone": "America/New_York"},
        {"distribution": {"name": "normal", "mu": "mid", "sigma": "10m"}},
        {"constraints": {"only": "hours=9-17;dow=mon-fri"}}, {"jobTemplate": RICH},
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
def test_a_template_is_kept_as_it_was_written(installed: Cluster, kube_namespace: str) -> None:
    installed.apply(kronjob(kube_namespace, jobTemplate=RICH))

    said = installed.kubectl("get", "kj", "report", f"--namespace={kube_namespace}", "-o=json")

    assert json.loads(said)["spec"]["jobTemplate"] == RICH


@clause("OPERATOR-29")
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
    wide = installed.kubectl("get", "kronjobs", f"--namespace={kube_namespace}", "--output=wide")
    assert wide.split()[:14] == [
        "NAME", "SCHEDULE", "ZONE", "NEXT", "LAST", "OUTCOME", "RESULT", "REASON", "ACTIVE",
        "SUSPEND", "READY", "STATE", "AGE", "report",
    ]  # fmt: skip


@clause("OPERATOR-27")
@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_is_explained(installed: Cluster, part: str) -> None:
    (version,) = custom_resource_definition()["spec"]["versions"]  # type: ignore[index]
    whole = version["schema"]["openAPIV3Schema"]["properties"][part]

    for name in field_names(whole):
        said = installed.kubectl("explain", f"kronjobs.{part}.{name}")
        assert "DESCRIPTION:" in said
        assert "<empty>" not in said, name
