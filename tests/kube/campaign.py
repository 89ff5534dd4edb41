"""
Two operators without a leader, a real cluster, and everything that happens to them.

Operators die at each step, stall, and are cut off; the API server and etcd are killed and started
again; people delete Jobs, edit, suspend and make again. What comes of it is judged from the audit
log (`judge`). Which fault comes when is drawn from a seed; what it meets is not.
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.kube.cluster import COUNTED, Cluster
from tests.kube.judge import Judge
from tests.kube.kronjobs import install_kronjobs
from tests.kube.process import ClusterError, Process
from tests.kube.proxy import Proxy

__all__ = ["DEADLINE_S", "KINDS", "NAMESPACE", "Report", "run_campaign"]

OPERATORS = ("operator-a", "operator-b")
DEADLINE_S = 60
KRONJOBS = 8
NAMESPACE = "campaign"
_ROOT = Path(__file__).resolve().parents[2]
_POINTS_MAX = 80
_PAUSE_S = (0.3, 2.5)
_VANDAL = "vandal"
_DYING = "killed at a step"

KINDS = {
    _DYING: 12, "killed": 2, "stalled": 3, "cut off": 4, "silenced": 2, "delayed": 2,
    "API server killed": 1, "API server stalled": 1, "etcd killed": 1, "Job deleted": 4,
    "labels edited": 3, "template edited": 2, "suspended and resumed": 1, "made again": 1,
}  # fmt: skip
"""Every kind of fault, and how often it comes beside the others."""


@dataclass(slots=True, kw_only=True)
class Report:
    """What was done, and what the judge says."""

    seed: str
    faults: Counter[str] = field(default_factory=Counter)
    kronjobs: int = 0
    due: int = 0
    executions: int = 0
    candidates: int = 0
    """Jobs that were made and never released."""
    requests: int = 0
    lateness_ms: list[int] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


class _Operator:
    """One operator, its way to the server, and its lives."""

    def __init__(self, cluster: Cluster, user: str, proxy: Proxy, dice: random.Random) -> None:
        self.proxy = proxy
        self.lives = 0
        self._cluster, self._user, self._dice = cluster, user, dice
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        assert self._process is not None, "begun"
        return self._process

    @property
    def is_dead(self) -> bool:
        return not self.process.runs

    def begin(self, points: int) -> None:
        """The next life, which ends at a point, or never by itself."""
        self.lives += 1
        kubeconfig = self._cluster.kubeconfig(self._user, (COUNTED,), port=self.proxy.port)
        command = [
            sys.executable, "-m", "tests.kube.dying_operator", str(kubeconfig), str(points),
            f"{self._user} {self.lives}",
        ]  # fmt: skip
        log = self._cluster.folder / f"{self._user}.log"
        self._process = Process(command, log, folder=_ROOT)
        self._process.start()

    def check(self) -> None:
        """An operator may be killed, and never end by itself."""
        code = self.process.code
        if code not in (None, -9):
            raise ClusterError(f"{self._user} ended with {code}: {self.process.tail()}")


class _Campaign:
    def __init__(self, cluster: Cluster, dice: random.Random, report: Report) -> None:
        self._cluster, self._dice, self._report = cluster, dice, report
        self._operators: list[_Operator] = []
        self._versions = 0
        self._acts: dict[str, Callable[[], Awaitable[None]]] = {
            "killed": self._kill, "stalled": self._stall, "cut off": self._cut,
            "silenced": self._silence, "delayed": self._delay,
            "API server killed": lambda: self._restart("kube-apiserver"),
            "API server stalled": self._stall_server,
            "etcd killed": lambda: self._restart("etcd"), "Job deleted": self._delete_job,
            "labels edited": lambda: self._edit({"metadata": {"labels": {"edit": self._next()}}}),
            "template edited": self._edit_template, "suspended and resumed": self._suspend,
            "made again": self._make_again,
        }  # fmt: skip

    async def run(self, faults: int) -> None:
        """Strike so many times, then let the operators go on in peace until nothing is due."""
        async with AsyncExitStack() as stack:
            for user in OPERATORS:
                proxy = await stack.enter_async_context(Proxy(self._cluster.port).serving())
                operator = _Operator(self._cluster, user, proxy, self._dice)
                stack.callback(lambda operator=operator: operator.process.kill())  # type: ignore[misc]
                operator.begin(self._points())
                self._operators.append(operator)
            while self._report.faults.total() < faults:
                await asyncio.sleep(self._dice.uniform(*_PAUSE_S))
                self._revive()
                kinds = [kind for kind in KINDS if kind != _DYING]
                (kind,) = self._dice.choices(kinds, [KINDS[kind] for kind in kinds])
                await self._acts[kind]()
                self._report.faults[kind] += 1
            for operator in self._operators:
                operator.proxy.go_on()
                operator.proxy.lag_s = 0.0
                operator.process.kill()
                operator.begin(0)
            await asyncio.sleep(DEADLINE_S + 10)
            for operator in self._operators:
                operator.check()

    def _revive(self) -> None:
        for operator in self._operators:
            operator.check()
            if operator.is_dead:
                self._report.faults[_DYING] += 1
                operator.begin(self._points())

    def _points(self) -> int:
        return self._dice.randint(1, _POINTS_MAX)

    def _one(self) -> _Operator:
        return self._dice.choice(self._operators)

    def _next(self) -> str:
        self._versions += 1
        return str(self._versions)

    async def _kill(self) -> None:
        operator = self._one()
        operator.process.kill()
        operator.begin(self._points())

    async def _stall(self) -> None:
        operator = self._one()
        if operator.process.runs:
            operator.process.pause()
            await asyncio.sleep(self._dice.uniform(1, 6))
            operator.process.go_on()

    async def _cut(self) -> None:
        self._one().proxy.cut()

    async def _silence(self) -> None:
        proxy = self._one().proxy
        proxy.fall_silent()
        await asyncio.sleep(self._dice.uniform(1, 6))
        proxy.go_on()

    async def _delay(self) -> None:
        proxy = self._one().proxy
        proxy.lag_s = self._dice.uniform(0.2, 1.5)
        await asyncio.sleep(self._dice.uniform(1, 5))
        proxy.lag_s = 0.0

    async def _restart(self, name: str) -> None:
        self._cluster.kill(name)
        await asyncio.to_thread(self._cluster.start, name)

    async def _stall_server(self) -> None:
        part = self._cluster.part("kube-apiserver")
        part.pause()
        await asyncio.sleep(self._dice.uniform(0.5, 3))
        part.go_on()

    async def _delete_job(self) -> None:
        names = (await self._kubectl("get", "jobs", "--output=name")).split()
        if names:
            name = self._dice.choice(names)
            await self._kubectl("delete", name, "--wait=false", "--ignore-not-found")

    async def _edit(self, patch: object) -> None:
        name = self._dice.choice(_names())
        await self._kubectl(
            "patch", "kronjob", name, "--type=merge", f"--patch={json.dumps(patch)}"
        )

    async def _edit_template(self) -> None:
        labels = {"metadata": {"labels": {"edit": self._next()}}}
        await self._edit({"spec": {"jobTemplate": labels}})

    async def _suspend(self) -> None:
        name = self._dice.choice(_names())
        for held in ("true", "false"):
            patch = f'{{"spec":{{"policy":{{"suspend":{held}}}}}}}'
            await self._kubectl("patch", "kronjob", name, "--type=merge", f"--patch={patch}")
            await asyncio.sleep(self._dice.uniform(0, 4))

    async def _make_again(self) -> None:
        number = self._dice.randrange(KRONJOBS)
        await self._kubectl("delete", "kronjob", _names()[number])
        text = json.dumps(_kronjob(number, self._dice))
        await self._kubectl("create", "--filename=-", stdin=text)

    async def _kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        return await asyncio.to_thread(
            self._cluster.kubectl, f"--namespace={NAMESPACE}", *arguments, user=_VANDAL,
            stdin=stdin,
        )  # fmt: skip


def run_campaign(seed: str, faults: int) -> Report:
    """A cluster, at least so many faults, and the judgement."""
    dice = random.Random(seed)
    report = Report(seed=seed)
    with Cluster() as cluster:
        install_kronjobs(cluster)
        cluster.kubectl("create", "namespace", NAMESPACE)
        cluster.kubectl(
            "create", "clusterrolebinding", "campaign", "--clusterrole=cluster-admin",
            *(f"--user={user}" for user in (*OPERATORS, _VANDAL)),
        )  # fmt: skip
        cluster.apply(*(_kronjob(number, dice) for number in range(KRONJOBS)))
        asyncio.run(_Campaign(cluster, dice, report).run(faults))
        _judge(cluster, report)
    return report


def _judge(cluster: Cluster, report: Report) -> None:
    judge = Judge(OPERATORS)
    for event in cluster.audit():
        judge.see(event)
    now = time.time()
    for kind in ("jobs.batch", "kronjobs.gnomon.dev"):
        said = cluster.kubectl("get", kind, "--all-namespaces", "--output=json")
        judge.see_now(json.loads(said)["items"], now)
    report.kronjobs = len(judge.kronjobs)
    report.due = sum(1 for one in judge.kronjobs.values() for _ in judge.due(one, until=now))
    report.executions = sum(job.is_execution for job in judge.jobs.values())
    report.candidates = len(judge.jobs) - report.executions
    report.requests = judge.requests
    report.lateness_ms = judge.lateness_ms()
    report.complaints = [
        *judge.twice(), *judge.lost(until=now), *judge.lies(),
    ]  # fmt: skip


def _names() -> list[str]:
    return [f"report-{number}" for number in range(KRONJOBS)]


def _kronjob(number: int, dice: random.Random) -> dict[str, object]:
    first = dice.randrange(20)
    lasts_s = dice.choice([0, 0, 1, 5, 15, 30])
    pod = {
        "metadata": {"annotations": {"gnomon.test/seconds": f"{lasts_s}s"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]},
    }
    return {
        "apiVersion": "gnomon.dev/v1alpha1", "kind": "KronJob",
        "metadata": {"name": _names()[number], "namespace": NAMESPACE},
        "spec": {
            "schedule": f"{first},{first + 20},{first + 40} * * * * *",
            "policy": {
                "concurrency": ["allow", "forbid", "replace", "allow"][number % 4],
                "deadline": f"{DEADLINE_S}s",
            },
            "recordsLimit": 50,
            "jobTemplate": {"spec": {"backoffLimit": 0, "template": pod}},
        },
    }  # fmt: skip
