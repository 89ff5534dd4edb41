"""A cluster that knows the kind KronJob, as `gnomon operator crd` prints it."""

from gnomon.apps.operator.crd import custom_resource_definition
from tests.kube.cluster import Cluster
from tests.kube.process import until

__all__ = ["install_kronjobs", "until_kronjobs"]

_ESTABLISHED = 'jsonpath={.status.conditions[?(@.type=="Established")].status}'


def install_kronjobs(cluster: Cluster) -> None:
    """Come back when KronJobs can be made."""
    cluster.apply(custom_resource_definition())
    until_kronjobs(cluster)


def until_kronjobs(cluster: Cluster) -> None:
    """
    Wait until the server serves the kind.

    `kubectl wait --for=condition` fails on a definition that has no condition yet.
    """

    def complaint() -> str | None:
        said = cluster.kubectl("get", "crd/kronjobs.gnomon.dev", f"--output={_ESTABLISHED}")
        return None if said == "True" else f"the kind is not established: {said!r}"

    until(complaint, limit_s=60)
