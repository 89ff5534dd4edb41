"""Who we are to an API server, from every place that can say it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.kubernetes.access import Access, kubeconfig_access, load_of, pod_access
from tests.kube.certificates import Authority

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def written(
    path: Path, cluster: Mapping[str, object], user: Mapping[str, object], **more: str
) -> str:
    context = {"cluster": "here", "user": "me", **more}
    said = {
        "apiVersion": "v1", "kind": "Config", "current-context": "now",
        "clusters": [
            {"name": "here", "cluster": cluster}, {"name": "far", "cluster": {"server": "http://f"}}
        ],
        "users": [{"name": "me", "user": user}],
        "contexts": [
            {"name": "now", "context": context}, {"name": "far", "context": {"cluster": "far"}},
        ],
    }  # fmt: skip
    path.write_text(json.dumps(said))
    return str(path)


def read(path: str, context: str | None = None) -> Access:
    return asyncio.run(kubeconfig_access(path, context=context))


def test_a_certificate_of_a_file_says_who_we_are(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    certificate, key = authority.client("me")
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    cluster = {"server": "https://10.0.0.1:6443/", "certificate-authority": str(authority.file)}

    access = read(written(tmp_path / "config", cluster, user, namespace="prod"))

    assert access.link.host == "https://10.0.0.1:6443"
    assert access.link.certificate == str(certificate)
    assert access.link.tls().get_ca_certs()
    assert access.authorization == ""
    assert access.namespace == "prod"


def test_connections_are_made_anew_when_a_certificate_was_renewed(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    certificate, key = authority.client("me")
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    path = written(tmp_path / "config", {"server": "https://10.0.0.1"}, user)
    before, same = read(path), read(path)

    certificate.write_bytes(certificate.read_bytes())

    assert before == same
    assert read(path).link != before.link


@pytest.mark.parametrize("text", ["secret", "secret\n"])
def test_a_token_of_a_file_is_read_without_its_end_of_line(tmp_path: Path, text: str) -> None:
    token = tmp_path / "token"
    token.write_text(text)

    path = written(tmp_path / "config", {"server": "http://a"}, {"tokenFile": str(token)})

    assert read(path).authorization == "Bearer secret"


def test_a_command_may_print_the_token(tmp_path: Path) -> None:
    command = tmp_path / "login"
    said = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": {"token": "printed"}}  # fmt: skip
    command.write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n")
    command.chmod(0o755)
    user = {"exec": {"apiVersion": said["apiVersion"], "command": str(command)}}

    assert read(written(tmp_path / "config", {"server": "http://a"}, user)).authorization == (
        "Bearer printed"
    )


def test_another_context_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path / "config", {"server": "http://a"}, {})

    assert read(path, "far").link.host == "http://f"


def test_the_account_of_a_pod_says_who_we_are(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    token = tmp_path / "token"
    token.write_text("of-the-pod")
    (tmp_path / "namespace").write_text("prod\n")

    access = asyncio.run(pod_access(POD, token=str(token), authority=str(authority.file)))

    assert access.link.host == "https://10.0.0.1:443"
    assert access.authorization == "Bearer of-the-pod"
    assert access.namespace == "prod"


def test_a_pod_without_an_account_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="automountServiceAccountToken"):
        asyncio.run(pod_access(POD, token=str(tmp_path / "token")))


def test_a_file_that_is_named_comes_before_the_account_of_the_pod(tmp_path: Path) -> None:
    path = written(tmp_path / "config", {"server": "http://a"}, {})

    assert asyncio.run(_load(POD, kubeconfig=path)).link.host == "http://a"
    assert asyncio.run(_load({"KUBECONFIG": path})).link.host == "http://a"


async def _load(environment: dict[str, str], kubeconfig: str | None = None) -> Access:
    return await load_of(environment, kubeconfig=kubeconfig)()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"there is no such file.*name one with KUBECONFIG"):
        read(str(tmp_path / "none"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "kind: Config", '{"current-context": "now", "contexts": []}']
)
def test_a_file_that_gives_no_access_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)

    with pytest.raises(DefinitionError, match=r"(?s)it gives no access.*kubectl cluster-info"):
        read(str(path))
