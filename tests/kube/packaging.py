"""
The files under packaging/kubernetes: `python -m tests.kube.packaging` writes them anew.

They are what `gnomon operator` prints; a test compares them.
"""

from collections.abc import Mapping
from pathlib import Path

from gnomon.apps.operator.crd import custom_resource_definition
from gnomon.apps.operator.manifests import (
    guard_manifests,
    install_manifests,
    operator_manifests,
)
from gnomon.cli.kronjob_view import as_yaml

__all__ = ["FOLDER", "packaged"]

FOLDER = Path(__file__).resolve().parents[2] / "packaging" / "kubernetes"


def packaged() -> Mapping[str, str]:
    """The files that are made, by their paths below `FOLDER`."""
    return {
        "install.yaml": as_yaml(*install_manifests(namespace=None)),
        "guard.yaml": as_yaml(*guard_manifests(namespace=None)),
        "crd/kronjobs.yaml": as_yaml(custom_resource_definition()),
        "cluster/operator.yaml": as_yaml(*operator_manifests(namespace=None)),
        "namespaced/operator.yaml": as_yaml(*operator_manifests(namespace="default")),
    }


if __name__ == "__main__":
    for name, text in packaged().items():
        (FOLDER / name).write_text(text)
