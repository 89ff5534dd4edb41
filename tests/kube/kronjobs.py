"""A cluster that knows the kind KronJob, as `gnomon operator crd` prints it."""

import json

from gnomon.apps.operator.crd import custom_resource_definition
from tests.kube.cluster import Cluster
from tests.kube.process import until

__all__ = ["install_kronjobs", "until_kronjobs"]


def install_kronjobs(cluster: Cluster) -> None:
    """Come back when KronJobs can be made."""
    cluster.apply(custom_resource_definition())
    until_kronjobs(cluster)


def until_kronjobs(cluster: Cluster) -> None:
    """
    Wait until the server serves the kind.

    `kubectl wait --for=condition` fails on a definition that has no condition yet, and so does a
    path of `kubectl get` that looks for one.
    """

    def complaint() -> str | None:
        found = json.loads(cluster.kubectl("get", "crd/kronjobs.gnomon.dev", "--output=json"))
        conditions = found.get("status", {}).get("conditions") or ()
        if any(one["type"] == "Established" and one["status"] == "True" for one in conditions):
            return None
        return f"the kind is not established: {conditions}"

    until(complaint, limit_s=60)
