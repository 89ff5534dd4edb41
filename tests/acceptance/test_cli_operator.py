"""`gnomon operator`: what it prints for a cluster, and what it says when it cannot begin."""

import json
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gnomon.apps.operator.definition import read_definition
from gnomon.cli import app
from tests.acceptance.command_line import commands_of, gnomon, gnomon_process
from tests.clauses import clause
from tests.kube.packaging import FOLDER, packaged

NO_CLUSTER = {"KUBECONFIG": "/nowhere/config", "KUBERNETES_SERVICE_HOST": ""}


def documents(*arguments: str) -> list[dict[str, object]]:
    done = gnomon("operator", "manifests", *arguments)
    assert (done.code, done.err) == (0, "")
    return list(yaml.safe_load_all(done.out))


@clause("OPERATOR-37")
def test_the_files_of_the_packaging_are_what_the_command_prints() -> None:
    for name, text in packaged().items():
        said = (FOLDER / name).read_text()
        assert said == text, f"{name} is old: run python -m tests.kube.packaging"
    assert gnomon("operator", "manifests").out == packaged()["install.yaml"]


@clause("OPERATOR-37")
def test_an_operator_of_one_namespace_has_no_rights_beyond_it() -> None:
    for one in documents("--namespace", "team-a")[1:]:
        metadata = one["metadata"]
        assert isinstance(metadata, dict)
        assert not str(one["kind"]).startswith("Cluster")
        assert metadata["namespace"] == "team-a"


@clause("OPERATOR-37")
def test_the_rights_are_those_that_are_used() -> None:
    rights = {
        (group, resource, verb)
        for one in documents()
        if one["kind"] in ("Role", "ClusterRole")
        and str(one["metadata"]["name"]).startswith("gnomon-operator")  # type: ignore[index]
        for rule in one["rules"]  # type: ignore[attr-defined]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

    reading = {"get", "list", "watch"}
    assert rights == {
        *(("gnomon.dev", "kronjobs", verb) for verb in (*reading, "patch")),
        ("gnomon.dev", "kronjobs/status", "update"),
        ("gnomon.dev", "kronjobs/finalizers", "update"),
        *(("batch", "jobs", verb) for verb in (*reading, "create", "patch", "delete")),
        ("", "events", "create"),
        *(("coordination.k8s.io", "leases", verb) for verb in ("create", "get", "update")),
    }


@clause("OPERATOR-37")
def test_the_image_can_be_named_and_its_command_is_one_that_there_is() -> None:
    (deployment,) = [
        one for one in documents("--image", "place/operator:1") if one["kind"] == "Deployment"
    ]
    container = deployment["spec"]["template"]["spec"]["containers"][0]  # type: ignore[index]
    assert container["image"] == "place/operator:1"
    operator = commands_of(commands_of(app)["operator"])
    door, name, *arguments = container["args"]
    assert door == "operator"
    with operator[name].make_context(name, list(arguments)) as context:
        assert context.args == []


@clause("OPERATOR-37")
def test_the_recipe_of_the_image_starts_the_operator() -> None:
    lines = (FOLDER.parent / "operator.Containerfile").read_text().splitlines()
    (command,) = [line for line in lines if line.startswith("CMD ")]

    words = json.loads(command.removeprefix("CMD "))
    assert words[:2] == ["operator", "run"]
    assert any("'.[kubernetes]'" in line for line in lines)


def test_the_sample_is_one_that_can_be_meant() -> None:
    one = yaml.safe_load((FOLDER / "sample.yaml").read_text())

    assert read_definition("default/hello", one["spec"]).timing["timezone"] == "Europe/Berlin"


@clause("OPERATOR-38")
def test_without_access_it_says_what_is_missing() -> None:
    done = gnomon_process("operator", "run", environment=NO_CLUSTER)

    assert done.code == 1
    assert "/nowhere/config" in done.err
    assert "name one with KUBECONFIG, or run inside a pod" in done.err


@clause("OPERATOR-38")
def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "from gnomon.cli import main; sys.exit(main(['operator', *sys.argv[1:]]))"
    )
    done = {
        name: subprocess.run(
            [sys.executable, "-c", code, *shlex.split(name)], capture_output=True, text=True,
            check=False, cwd=tmp_path,
        )
        for name in ("run", "crd", "manifests")
    }  # fmt: skip

    assert (done["crd"].returncode, done["manifests"].returncode) == (0, 0)
    assert done["run"].returncode == 2
    assert "gnomon[kubernetes]" in done["run"].stderr
    assert "Traceback" not in done["run"].stderr


@clause("OPERATOR-38")
def test_a_port_that_is_taken_is_an_error_before_anything_is_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = gnomon_process("operator", "run", "--listen", str(port), environment=NO_CLUSTER)

    assert done.code == 2
    assert str(port) in done.err


@clause("OPERATOR-38")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--listen", "x"), "listen"), (("--grace", "x"), "grace"), (("--surprise",), "--surprise")],
)
def test_an_option_that_is_wrong_is_named(arguments: tuple[str, ...], said: str) -> None:
    done = gnomon("operator", "run", *arguments)

    assert done.code == 1
    assert said in done.err


@clause("OPERATOR-39")
def test_the_guard_comes_when_it_is_asked_for() -> None:
    kinds = [one["kind"] for one in documents("--guard")]
    assert kinds[-2:] == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]
    assert "ValidatingAdmissionPolicy" not in [one["kind"] for one in documents()]

    policy = documents("--guard", "--namespace", "team-a")[-2]
    written = json.dumps(policy["spec"])
    assert "system:serviceaccount:team-a:gnomon-operator" in written
    assert '{"kubernetes.io/metadata.name": "team-a"}' in written
