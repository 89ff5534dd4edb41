"""What every executor keeps: embedded, with Jobs, at a URL, and the one that does nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.executor import Accepted, Executor, Feedback, FeedbackStatus
from gnomon.shell.clock import SystemClock
from gnomon.shell.executor.callback import read_callback
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.http import HttpExecutor
from gnomon.shell.executor.job_node import JobNodes, JobTemplates
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.executor.signature import Keyring, Purpose, signed
from gnomon.shell.http.address_rule import read_rule
from gnomon.shell.http.outgoing import Outgoing
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from gnomon.shell.kubernetes.jobs import Jobs
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.core.dag.dags import a_node, dag_text
from tests.kube.cluster import Cluster
from tests.shell.executor.embedded_stage import a_meta, open_stage
from tests.shell.executor.jobs_stage import JobsStage, open_jobs, write_template
from tests.shell.http.local_server import Asked, answer, serve
from tests.shell.virtual_time import run_virtually
from tests.stand_ins.noop_executor import NoopExecutor

KEYRING = Keyring(current="k", secrets={"k": b"s" * 32})
DAG = dag_text(nodes=[a_node("first", shell="echo x >> effects.txt")])


class Kind(Protocol):
    """An executor of one kind, and what is to be seen of it from outside."""

    @property
    def executor(self) -> Executor: ...

    @property
    def dag(self) -> str:
        """A DAG that it can carry out."""
        ...

    def effects(self) -> int | None:
        """How often the DAG has been carried out; None where it leaves no trace."""

    async def said(self) -> Sequence[Feedback]:
        """Wait for what the executor says next."""


class Here:
    """An executor of this process."""

    dag = DAG

    def __init__(self, executor: Executor, effects: Path | None) -> None:
        self.executor = executor
        self._effects = effects

    def effects(self) -> int | None:
        return None if self._effects is None else len(self._effects.read_text().split())

    async def said(self) -> Sequence[Feedback]:
        return await self.executor.feedback()


class OnCluster:
    """An executor of this process whose nodes are Jobs."""

    dag = dag_text(nodes=[{"id": "first", "type": "action", "uses": "report"}])

    def __init__(self, stage: JobsStage) -> None:
        self.executor = stage.worker().executor
        self._stage = stage

    def effects(self) -> int:
        return len(self._stage.released())

    async def said(self) -> Sequence[Feedback]:
        return await self.executor.feedback()


class OnRealCluster:
    """The same on a real Kubernetes."""

    dag = OnCluster.dag

    def __init__(self, executor: Executor, cluster: Cluster, namespace: str) -> None:
        self.executor = executor
        self._cluster, self._namespace = cluster, namespace

    def effects(self) -> int:
        said = self._cluster.kubectl(
            "get", "jobs", "--namespace", self._namespace,
            "--output=jsonpath={.items[?(@.spec.suspend==false)].metadata.uid}",
        )  # fmt: skip
        return len(said.split())

    async def said(self) -> Sequence[Feedback]:
        return await self.executor.feedback()


class Elsewhere:
    """An executor at a URL that knows keys, and calls back what it has done."""

    dag = DAG

    def __init__(self, executor: HttpExecutor) -> None:
        self.executor = executor
        self.known: dict[str, int] = {}
        self._heard: asyncio.Queue[Feedback] = asyncio.Queue()

    def effects(self) -> int:
        return sum(self.known.values())

    async def said(self) -> Sequence[Feedback]:
        return [await self._heard.get()]

    async def take_on(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        key = asked.headers["idempotency-key"]
        if asked.method == "POST":
            self.known.setdefault(key, 1)
            for status in ("STARTED", "SUCCESS"):
                self._call_back(key, status)
        await answer("202 Accepted", b'{"run_id": "r-7"}')(asked, writer)

    def _call_back(self, key: str, status: str) -> None:
        body = json.dumps({"idempotency_key": key, "status": status, "run_id": "r-7"}).encode()
        now_ms = SystemClock().now_ms()
        headers = signed(KEYRING, Purpose.CALLBACK, body, now_ms=now_ms)
        heard = read_callback(headers, body, KEYRING, now_ms=now_ms)
        assert isinstance(heard, Feedback)
        self._heard.put_nowait(heard)


@asynccontextmanager
async def open_kind(
    name: str, folder: Path, kube: tuple[Cluster, str] | None
) -> AsyncIterator[Kind]:
    clock = SystemClock()
    if name == "embedded":
        async with open_stage(folder) as stage:
            yield Here(stage.executor, folder / "effects.txt")
    elif name == "jobs":
        async with open_jobs(folder) as jobs:
            yield OnCluster(jobs)
    elif kube is not None:
        async with open_on(*kube, folder) as executor:
            yield OnRealCluster(executor, *kube)
    elif name == "noop":
        yield Here(NoopExecutor(clock), None)
    else:
        outgoing = Outgoing(clock, rule=read_rule(networks=["127.0.0.0/8"]))
        kind: list[Elsewhere] = []

        async def take_on(asked: Asked, writer: asyncio.StreamWriter) -> None:
            await kind[0].take_on(asked, writer)

        async with serve(take_on) as server:
            kind.append(Elsewhere(HttpExecutor(server.url(), KEYRING, outgoing, clock)))
            yield kind[0]
            await outgoing.close()


@asynccontextmanager
async def open_on(cluster: Cluster, namespace: str, folder: Path) -> AsyncIterator[Executor]:
    write_template(folder)
    clock, ledger = SystemClock(), SqliteLedger.open(folder / "ledger.sqlite3")
    async with KubernetesServer(load_of({}, kubeconfig=str(cluster.kubeconfig()))) as api:
        nodes = JobNodes(Jobs(api, clock, namespace), JobTemplates(folder, json.loads))
        executor = EmbeddedExecutor(SqliteDagRuns(ledger.database), clock, NodeRunners(jobs=nodes))
        yield executor
        await executor.close()
    await ledger.close()


Play = Callable[[Callable[[Kind], Awaitable[None]]], None]


@pytest.fixture(
    params=[
        "embedded", "jobs", pytest.param("real jobs", marks=pytest.mark.cluster), "http", "noop",
    ]
)  # fmt: skip
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    kube: tuple[Cluster, str] | None = None
    if request.param == "real jobs":
        kube = request.getfixturevalue("kube"), request.getfixturevalue("kube_namespace")

    def play_it(scenario: Callable[[Kind], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with open_kind(request.param, tmp_path, kube) as kind:
                await scenario(kind)

        run = run_virtually if request.param == "jobs" else asyncio.run
        run(whole())

    return play_it


async def end_of(kind: Kind, key: str = "key") -> Feedback:
    while True:
        for feedback in await kind.said():
            if feedback.key == key and feedback.is_end:
                return feedback


@clause("EXEC-1")
def test_a_run_is_taken_on_and_its_end_is_said(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        answered = await kind.executor.run(kind.dag, a_meta())

        assert isinstance(answered, Accepted)
        end = await end_of(kind)
        assert (end.status, end.run_id) == (FeedbackStatus.SUCCESS, answered.run_id)
        assert kind.effects() in (1, None)

    play(scenario)


@clause("EXEC-1")
def test_who_asks_again_under_one_key_starts_one_run(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        answers = await asyncio.gather(*(kind.executor.run(kind.dag, a_meta()) for _ in range(4)))
        await end_of(kind)
        again = await kind.executor.run(kind.dag, a_meta(fence=2, attempt=2))

        assert {*answers, again} == {answers[0]}
        assert kind.effects() in (1, None)

    play(scenario)


@clause("EXEC-2")
def test_the_end_is_said_again_to_who_asks_after_it(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        await kind.executor.run(kind.dag, a_meta())
        first = await end_of(kind)
        await kind.executor.run(kind.dag, a_meta(fence=2))
        second = await end_of(kind)

        assert (first.status, second.status) == (FeedbackStatus.SUCCESS, FeedbackStatus.SUCCESS)
        assert second.fence in (2, None)

    play(scenario)


@clause("EXEC-2")
def test_giving_up_waiting_loses_nothing_that_is_said(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        waiting = asyncio.ensure_future(kind.said())
        await asyncio.sleep(0)
        waiting.cancel()
        await kind.executor.run(kind.dag, a_meta())

        assert (await end_of(kind)).status is FeedbackStatus.SUCCESS

    play(scenario)


@clause("EXEC-4", "ASK-18")
def test_a_run_that_is_not_there_is_over_if_the_executor_can_know(play: Play) -> None:
    async def scenario(kind: Kind) -> None:
        over = await kind.executor.kill("nobody", Reason.REPLACED)
        assert over is (None if isinstance(kind.executor, EmbeddedExecutor) else True)
        await kind.executor.drain(grace_ms=0)

    play(scenario)
