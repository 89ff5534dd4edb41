"""
A Kubernetes of our own: the real etcd, API server, controllers and scheduler, and kwok for pods.

It listens on this machine alone, keeps everything in one folder and is gone with it. Any part can
be stopped, killed and started again, on the same port and with the same data. The API server has
RBAC on and writes an audit log, which judges read; `system:masters` may do everything.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from urllib.request import urlopen

from tests.kube.binaries import find_binaries
from tests.kube.certificates import Authority
from tests.kube.process import ClusterError, Process, free_port, until

__all__ = ["ADMIN", "COUNTED", "Cluster"]

ADMIN = "admin"
COUNTED = "gnomon:counted"
"""The group whose every request is in the audit log."""

_MASTERS = "system:masters"
_ADDRESS = "127.0.0.1"
_ATTEMPTS = 3
_READY_S = 180.0
_HERE = Path(__file__).parent
_GROUPS = {ADMIN: (_MASTERS,), "kwok": (_MASTERS,)}
_CONTROLLERS = (
    "serviceaccount-token-controller", "serviceaccount-controller", "namespace-controller",
    "garbage-collector-controller", "job-controller", "cronjob-controller",
    "ttl-after-finished-controller", "pod-garbage-collector-controller",
    "resourcequota-controller", "clusterrole-aggregation-controller",
    "root-ca-certificate-publisher-controller", "validatingadmissionpolicy-status-controller",
)  # fmt: skip
_NODE = {
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "node", "labels": {"kubernetes.io/hostname": "node"}},
}  # fmt: skip


class Cluster:
    """A cluster in a folder; `with Cluster() as cluster` starts and removes it."""

    def __init__(
        self, folder: Path | None = None, *, controller_options: tuple[str, ...] = ()
    ) -> None:
        """The options are handed to kube-controller-manager, after those that it has here."""
        self._controller_options = controller_options
        self.folder = folder or Path(tempfile.mkdtemp(prefix="gnomon-kube-"))
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._binaries = find_binaries()
        self._authority = Authority(self.folder / "pki")
        self._parts: dict[str, Process] = {}
        self._complaints = {
            "etcd": self._etcd_complaint, "kube-apiserver": self._apiserver_complaint,
        }  # fmt: skip
        self.port = self._etcd_port = 0

    def __enter__(self) -> "Cluster":
        try:
            self.up()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def up(self) -> None:
        """Start everything, and come back when a Job could run."""
        for attempt in range(_ATTEMPTS):
            self._etcd_port, peer, self.port = self._free_ports(attempt)
            self._plan(peer)
            try:
                self.start("etcd")
                self.start("kube-apiserver")
                break
            except ClusterError as error:
                self.kill("kube-apiserver", "etcd")
                if attempt == _ATTEMPTS - 1 or "address already in use" not in str(error):
                    raise
        self.start("kube-controller-manager", "kube-scheduler", "kwok")
        self.apply(_NODE)
        # No controller here looks after nodes, so that none has to be kept alive by heartbeats.
        self.kubectl("taint", "node", "node", "node.kubernetes.io/not-ready-")
        until(self._lacks, limit_s=_READY_S)

    def start(self, *names: str) -> None:
        """Start parts that do not run; etcd and the API server answer when this returns."""
        for name in names:
            part = self._parts[name]
            if not part.runs:
                part.start()
            if complaint := self._complaints.get(name):
                part.wait_until(complaint, limit_s=_READY_S)

    def stop(self, *names: str, grace_s: float = 5.0) -> None:
        """Ask parts to end; an API server would drain for longer than the grace, and is killed."""
        for name in names:
            self._parts[name].stop(grace_s=grace_s)

    def kill(self, *names: str) -> None:
        for name in names:
            self._parts[name].kill()

    def part(self, name: str) -> Process:
        return self._parts[name]

    def remove(self) -> None:
        """Stop everything and leave nothing behind."""
        for name in reversed(self._parts):
            self._parts[name].kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kubeconfig(
        self, user: str = ADMIN, groups: tuple[str, ...] = (), *, port: int | None = None
    ) -> Path:
        """A configuration file for a user; through another port when a proxy stands between."""
        certificate, key = self._authority.client(user, _GROUPS.get(user, groups))
        cluster = {
            "server": f"https://{_ADDRESS}:{port or self.port}",
            "certificate-authority": str(self._authority.file),
        }
        text = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {
                "client-certificate": str(certificate), "client-key": str(key),
            }}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        }  # fmt: skip
        stem = f"{user.replace(':', '-')}{f'-{port}' if port else ''}"
        path = self.folder / f"{stem}.kubeconfig"
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(text, indent=2))
        os.replace(part, path)
        return path

    def kubectl(self, *arguments: str, user: str = ADMIN, stdin: str | None = None) -> str:
        """What kubectl prints; an error of kubectl is an error here."""
        done = self.try_kubectl(*arguments, user=user, stdin=stdin)
        if done.returncode:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def try_kubectl(
        self, *arguments: str, user: str = ADMIN, stdin: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        command = [
            str(self._binaries / "kubectl"), f"--kubeconfig={self.kubeconfig(user)}",
            f"--cache-dir={self.folder / 'cache'}", *arguments,
        ]  # fmt: skip
        return subprocess.run(
            command, input=stdin or "", capture_output=True, text=True, check=False
        )

    def apply(self, *objects: object) -> None:
        """Create objects, or change them to these."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(items))

    def audit(self) -> Iterator[dict[str, object]]:
        """Every event that the API server has written so far, in order of its files."""
        for path in sorted(
            self.folder.glob("audit*.log"), key=lambda one: (one.stem == "audit", one)
        ):
            with path.open(encoding="utf-8") as file:
                for line in file:
                    with suppress(json.JSONDecodeError):  # cut short when the server was killed
                        yield json.loads(line)

    def _free_ports(self, attempt: int) -> tuple[int, int, int]:
        start = (os.getpid() * 37 + attempt * 1_009) % 10_000
        first = free_port(start)
        second = free_port(start + 100)
        return first, second, free_port(start + 200)

    def _plan(self, peer: int) -> None:
        """The command of every part."""
        commands = [
            ["etcd", *_etcd(self._etcd_port, peer), f"--data-dir={self.folder / 'etcd'}"],
            ["kube-apiserver", *self._apiserver()],
            ["kube-controller-manager", *self._controller_manager()],
            ["kube-scheduler", "--leader-elect=false", "--secure-port=0",
             f"--kubeconfig={self.kubeconfig('system:kube-scheduler')}"],
            ["kwok", "--manage-all-nodes=true", f"--config={_HERE / 'stages.yaml'}",
             f"--kubeconfig={self.kubeconfig('kwok')}"],
        ]  # fmt: skip
        self._parts = {
            name: Process([str(self._binaries / name), *arguments], self.folder / f"{name}.log")
            for name, *arguments in commands
        }

    def _apiserver(self) -> list[str]:
        certificate, key = self._authority.server(_ADDRESS)
        tokens = self._authority.key("tokens")
        return [
            f"--etcd-servers=http://{_ADDRESS}:{self._etcd_port}",
            f"--bind-address={_ADDRESS}", f"--secure-port={self.port}",
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
            f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}",
            f"--client-ca-file={self._authority.file}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={tokens}",
            f"--service-account-signing-key-file={tokens}",
            f"--audit-policy-file={_HERE / 'audit.yaml'}",
            f"--audit-log-path={self.folder / 'audit.log'}",
            "--audit-log-mode=blocking", "--audit-log-maxsize=4000",
        ]  # fmt: skip

    def _controller_manager(self) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig('system:kube-controller-manager')}",
            "--leader-elect=false", "--secure-port=0", "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self._authority.key('tokens')}",
            f"--root-ca-file={self._authority.file}",
            f"--controllers={','.join(_CONTROLLERS)}", *self._controller_options,
        ]  # fmt: skip

    def _etcd_complaint(self) -> str | None:
        """Why etcd cannot be asked yet; it is healthy when it could write."""
        try:
            with urlopen(f"http://{_ADDRESS}:{self._etcd_port}/health", timeout=5) as answer:
                said = json.load(answer)
        except (OSError, ValueError) as error:
            return str(error)
        return None if said.get("health") == "true" else str(said)

    def _apiserver_complaint(self) -> str | None:
        done = self.try_kubectl("get", "--raw", "/readyz")
        return None if done.returncode == 0 else done.stderr.strip() or "no answer"

    def _lacks(self) -> str | None:
        """What a Job would still wait for."""
        for part in self._parts.values():
            if not part.runs:
                raise ClusterError(f"{part.name} ended: {part.tail()}")
        done = self.try_kubectl("get", "serviceaccount", "default", "--namespace=default")
        if done.returncode:
            return done.stderr.strip()
        said = self.kubectl("get", "node", "node", "--output=jsonpath={.status.phase}")
        return None if said == "Running" else "kwok has not taken the node up"


def _etcd(port: int, peer: int) -> list[str]:
    client, peers = f"http://{_ADDRESS}:{port}", f"http://{_ADDRESS}:{peer}"
    return [
        f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}", "--unsafe-no-fsync", "--log-level=warn",
    ]  # fmt: skip
