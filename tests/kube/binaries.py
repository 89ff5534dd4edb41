"""
Which programs make the cluster of the tests, in which versions, and where are they kept?

They are built once for each user, from the sources that Go's module proxy hands out, into a cache
whose folder is named after the versions and the flags. `GNOMON_KUBE_BIN` names a folder with other
ones. Nothing here builds or starts anything.
"""

import hashlib
import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "BUILDS",
    "KUBERNETES",
    "KWOK",
    "NAMES",
    "Build",
    "MissingClusterError",
    "cache",
    "find_binaries",
]

KUBERNETES = "v1.36.3"
KWOK = "v0.8.0"
VARIABLE = "GNOMON_KUBE_BIN"

_VERSIONS = (
    "k8s.io/component-base/version.gitVersion={version}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
    "k8s.io/component-base/version.gitTreeState=clean",
    "k8s.io/client-go/pkg/version.gitVersion={version}",
    "k8s.io/client-go/pkg/version.gitMajor={major}",
    "k8s.io/client-go/pkg/version.gitMinor={minor}",
)


class MissingClusterError(Exception):
    """The cluster's programs are not there, and cannot be made; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One program: the Go package with its `main`, and how long two cores take for it, cold."""

    name: str
    module: str
    package: str
    cold_s: int


BUILDS = (
    Build(name="etcd", module="kubernetes", package="go.etcd.io/etcd/server/v3", cold_s=15),
    Build(
        name="kube-apiserver",
        module="kubernetes",
        package="k8s.io/kubernetes/cmd/kube-apiserver",
        cold_s=375,
    ),
    Build(
        name="kube-controller-manager",
        module="kubernetes",
        package="k8s.io/kubernetes/cmd/kube-controller-manager",
        cold_s=115,
    ),
    Build(
        name="kube-scheduler",
        module="kubernetes",
        package="k8s.io/kubernetes/cmd/kube-scheduler",
        cold_s=10,
    ),
    Build(name="kubectl", module="kubernetes", package="k8s.io/kubernetes/cmd/kubectl", cold_s=30),
    Build(name="kwok", module="kwok", package="sigs.k8s.io/kwok/cmd/kwok", cold_s=80),
)
NAMES = tuple(build.name for build in BUILDS)


def link_flags() -> str:
    """What the linker is told: no tables for debuggers, and the version, which kubectl asks for."""
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    said = [one.format(version=KUBERNETES, major=major, minor=minor) for one in _VERSIONS]
    return " ".join(["-s", "-w", *(f"-X {one}" for one in said)])


def cache() -> Path:
    """The folder of this user for programs of these versions, made with these flags."""
    home = os.environ.get("XDG_CACHE_HOME")
    root = Path(home) if home else Path.home() / ".cache"
    parts = [[build.name, build.package] for build in BUILDS]
    text = json.dumps([parts, link_flags(), platform.system(), platform.machine()])
    key = hashlib.sha256(text.encode()).hexdigest()[:10]
    return root / "gnomon" / "kube" / f"kubernetes-{KUBERNETES}-kwok-{KWOK}-{key}"


def find_binaries() -> Path:
    """The folder that holds all the programs; raises with what to do when one is missing."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else cache() / "bin"
    if missing := [name for name in NAMES if not (folder / name).is_file()]:
        what = f"{VARIABLE} names {folder}, which lacks" if named else "the test cluster lacks"
        raise MissingClusterError(f"{what} {', '.join(missing)}: run `make kube` to build them")
    return folder
