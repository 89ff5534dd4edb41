"""A cluster that knows the kind KronJob, as `gnomon operator crd` prints it."""

from gnomon.apps.operator.crd import custom_resource_definition
from tests.kube.cluster import Cluster

__all__ = ["install_kronjobs"]


def install_kronjobs(cluster: Cluster) -> None:
    """Come back when KronJobs can be made."""
    cluster.apply(custom_resource_definition())
    cluster.kubectl(
        "wait", "--for=condition=Established", "crd/kronjobs.gnomon.dev", "--timeout=60s"
    )
