"""`gnomon operator run` as a process beside a cluster, with the rights of its account."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from gnomon.apps.operator.manifests import ACCOUNT, SYSTEM
from tests.kube.cluster import Cluster
from tests.kube.process import Process, until

__all__ = ["OperatorProcess", "operating"]

_READY_S = 30.0
_ROOT = Path(__file__).resolve().parents[2]


class OperatorProcess:
    """One operator and what it logs."""

    def __init__(self, cluster: Cluster, name: str, arguments: tuple[str, ...], home: str) -> None:
        kubeconfig = cluster.kubeconfig(f"system:serviceaccount:{home}:{ACCOUNT}")
        self._log = cluster.folder / f"operator-{name}.log"
        self.process = Process(
            [sys.executable, "-m", "gnomon", "operator", "run", "--listen=0", "--json-log",
             f"--kubeconfig={kubeconfig}", f"--lease-namespace={home}", *arguments],
            self._log, folder=_ROOT,
        )  # fmt: skip

    def lines(self) -> list[dict[str, object]]:
        text = self._log.read_text() if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def until(self, event: str) -> dict[str, object]:
        """Wait until it has logged that."""
        self.process.wait_until(
            lambda: None if self._find(event) else f"never logged {event!r}", limit_s=_READY_S
        )
        return self._find(event)[0]

    def ask(self, path: str) -> tuple[int, str]:
        try:
            with urlopen(f"{self.until('listening')['url']}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def until_ready(self) -> None:
        until(lambda: self.ask("/readyz")[1] if self.ask("/readyz")[0] != 200 else None,
              limit_s=_READY_S)  # fmt: skip

    def _find(self, event: str) -> list[dict[str, object]]:
        return [line for line in self.lines() if line["event"] == event]


@contextmanager
def operating(
    cluster: Cluster, name: str, *arguments: str, home: str = SYSTEM
) -> Iterator[OperatorProcess]:
    """An operator inside the block; it is stopped at its end, and must end well."""
    one = OperatorProcess(cluster, name, arguments, home)
    one.process.start()
    try:
        yield one
        one.process.stop(grace_s=15)
        assert one.process.code == 0, one.process.tail()
    finally:
        one.process.kill()
