"""What the test cluster is built from, and what a person is told when it cannot be built."""

from pathlib import Path

import pytest

from tests.kube.binaries import BUILDS, NAMES, MissingClusterError, cache, find_binaries, link_flags
from tests.kube.build import build, check_go, needed_go, staging

MODULE_FILE = """
module k8s.io/kubernetes

go 1.26.0

require (
	github.com/spf13/cobra v1.10.2
	k8s.io/api v0.0.0
	k8s.io/kube-openapi v0.0.0-20260312190000-4b8c2b6c0c5b
	k8s.io/kubectl v0.0.0 // indirect
)
"""


def test_only_what_kubernetes_carries_itself_gets_its_version() -> None:
    assert staging(MODULE_FILE) == ["k8s.io/api", "k8s.io/kubectl"]


def test_a_go_of_the_needed_version_or_a_later_one_will_do() -> None:
    assert needed_go(MODULE_FILE, "go version go1.26.8 linux/amd64") is None
    assert needed_go(MODULE_FILE, "go version go1.27.0 linux/amd64") is None


def test_an_older_go_is_refused_with_what_to_install() -> None:
    said = needed_go(MODULE_FILE, "go version go1.24.4 linux/amd64") or ""

    assert "needs Go 1.26 or later" in said
    assert "go1.24.4" in said


def test_without_go_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MissingClusterError, match=r"install Go 1\.26 or later"):
        check_go()


def test_programs_that_are_there_are_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    binaries = cache() / "bin"
    binaries.mkdir(parents=True)
    for name in NAMES:
        (binaries / name).touch()
    said: list[str] = []

    assert build(said.append) == binaries == find_binaries()
    assert said == [f"all {len(BUILDS)} programs are in {binaries}"]


def test_a_missing_program_is_named_with_the_command_that_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES[:-1]:
        (tmp_path / name).touch()
    monkeypatch.setenv("GNOMON_KUBE_BIN", str(tmp_path))

    with pytest.raises(MissingClusterError, match="lacks kwok: run `make kube`"):
        find_binaries()


def test_the_programs_are_told_their_version() -> None:
    assert "-X k8s.io/client-go/pkg/version.gitVersion=v1.36.3" in link_flags()
