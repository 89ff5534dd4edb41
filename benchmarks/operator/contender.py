"""The controllers that are compared: how each is started, and what shows that it ran a job."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.error import URLError
from urllib.request import urlopen

from gnomon.apps.operator.manifests import ACCOUNT, SYSTEM
from gnomon.simulation.operator.duty import at, text
from tests.kube.cluster import COUNTED, Cluster
from tests.kube.kronjobs import until_kronjobs
from tests.kube.packaging import FOLDER
from tests.kube.process import Process

__all__ = ["CONTENDERS", "Contender", "CronJobs", "KronJobs", "Start", "instant"]

Object = Mapping[str, object]
_ROOT = Path(__file__).resolve().parents[2]
_LOG = "operator.log"
_PORT = 18_090
_CRONJOB_DUE = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_TEMPLATE = {
    "spec": {
        "backoffLimit": 0,
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
        },
    }
}


@dataclass(frozen=True, slots=True)
class Start:
    """A Job that may run from now on."""

    owner: str
    due: float
    started: float

    @property
    def late_s(self) -> float:
        return self.started - self.due


class Contender(Protocol):
    """One controller; the cluster is there and has none of its objects yet."""

    name: str
    kind: str
    path: str
    version: str
    user: str
    """Whose requests are counted."""
    controller_options: tuple[str, ...]
    """For kube-controller-manager."""

    def prepare(self, cluster: Cluster) -> None:
        """Have the cluster take the kind, with no controller at work on it."""

    def start(self, cluster: Cluster) -> Process:
        """The process that does the work, just begun."""

    def complaint(self, cluster: Cluster) -> str | None:
        """Why it is not at work yet."""

    def spec(self, schedule: str) -> dict[str, object]:
        """What an object asks for that runs so."""

    def start_of(self, event: Object) -> Start | None:
        """What an answered request of the audit log let run, if it did."""


class KronJobs:
    """`gnomon operator run` with a leader, as it is installed."""

    kind, path, version = "KronJob", "/apis/gnomon.dev/v1alpha1/namespaces/default/kronjobs", (
        "gnomon.dev/v1alpha1"
    )  # fmt: skip
    user = f"system:serviceaccount:{SYSTEM}:{ACCOUNT}"
    controller_options: tuple[str, ...] = ()

    def __init__(self, name: str, *, window: str) -> None:
        self.name, self._window = name, window

    def prepare(self, cluster: Cluster) -> None:
        cluster.kubectl("apply", f"--filename={FOLDER / 'install.yaml'}")
        until_kronjobs(cluster)

    def start(self, cluster: Cluster) -> Process:
        kubeconfig = cluster.kubeconfig(self.user, (COUNTED,))
        operator = Process(
            [sys.executable, "-m", "gnomon", "operator", "run", f"--listen={_PORT}", "--json-log",
             f"--kubeconfig={kubeconfig}", f"--lease-namespace={SYSTEM}"],
            cluster.folder / _LOG, folder=_ROOT,
        )  # fmt: skip
        operator.start()
        return operator

    def complaint(self, cluster: Cluster) -> str | None:
        with suppress(URLError, OSError), urlopen(f"http://127.0.0.1:{_PORT}/readyz", timeout=5):
            return None
        return "the operator is not ready"

    def spec(self, schedule: str) -> dict[str, object]:
        spec: dict[str, object] = {"schedule": schedule, "timezone": "Etc/UTC"}
        if self._window:
            spec["window"] = {"mode": "after", "duration": self._window}
        return spec | {"jobTemplate": _TEMPLATE}

    def start_of(self, event: Object) -> Start | None:
        one = at(event, "responseObject")
        annotations = at(one, "metadata", "annotations")
        chosen = text(annotations, "gnomon.dev/chosen")
        if text(event, "verb") != "patch" or not chosen or at(one, "spec", "suspend"):
            return None
        return _start(event, one, instant(chosen))


class CronJobs:
    """The CronJob controller within kube-controller-manager."""

    kind, path, version = "CronJob", "/apis/batch/v1/namespaces/default/cronjobs", "batch/v1"
    user = "system:serviceaccount:kube-system:cronjob-controller"

    def __init__(self, name: str, *options: str) -> None:
        self.name, self.controller_options = name, options

    def prepare(self, cluster: Cluster) -> None:
        cluster.stop("kube-controller-manager")

    def start(self, cluster: Cluster) -> Process:
        cluster.part("kube-controller-manager").log.write_bytes(b"")
        cluster.start("kube-controller-manager")
        return cluster.part("kube-controller-manager")

    def complaint(self, cluster: Cluster) -> str | None:
        log = cluster.part("kube-controller-manager").log.read_text(errors="replace")
        _, began, after = log.partition("Starting cronjob controller")
        if began and "Caches are synced" in after:
            return None
        return "the CronJob controller has not said that its caches are there"

    def spec(self, schedule: str) -> dict[str, object]:
        return {"schedule": schedule, "timeZone": "Etc/UTC", "jobTemplate": _TEMPLATE}

    def start_of(self, event: Object) -> Start | None:
        one = at(event, "responseObject")
        if text(event, "verb") != "create":
            return None
        due = text(
            one, "metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp"
        )
        return _start(event, one, instant(due))


CONTENDERS = (
    KronJobs("KronJob", window=""),
    KronJobs("KronJob, window 1m", window="1m"),
    CronJobs("CronJob"),
    CronJobs("CronJob, no limit of requests", "--kube-api-qps=2000", "--kube-api-burst=2000"),
)


def instant(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def _start(event: Object, job: object, due: float) -> Start:
    owners = at(job, "metadata", "ownerReferences")
    assert isinstance(owners, list)
    return Start(text(owners[0], "name"), due, instant(text(event, "stageTimestamp")))
