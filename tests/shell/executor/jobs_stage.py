"""A stage for nodes that are Jobs: an executor, or several, on a cluster in memory."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.core.dag.value import Json
from gnomon.ports import Clock
from gnomon.ports.dag import DagRuns
from gnomon.ports.kubernetes import (
    Answer,
    ApiServer,
    Call,
    Delete,
    Denied,
    Kind,
    NoAnswer,
    Object,
)
from gnomon.ports.kubernetes_object import at, text
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.job_node import JobNodes, JobTemplates
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.kubernetes.jobs import STATE, Jobs
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.simulation.kubernetes.api import SimulatedApi
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import SimulatedServer
from tests.shell.executor.embedded_stage import Stage
from tests.shell.virtual_time import VirtualClock, run_virtually

__all__ = [
    "JOB",
    "TEMPLATE",
    "JobsStage",
    "Play",
    "open_jobs",
    "player",
    "state_of",
    "write_template",
]

JOB: dict[str, Json] = {"id": "work", "type": "action", "uses": "report"}
"""A node that is a Job."""
TEMPLATE: Mapping[str, object] = {
    "spec": {
        "backoffLimit": 0,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "report:1"}],
            }
        },
    }
}
_NAMESPACE = "prod"


class LosingApi(SimulatedApi):
    """Some questions happen and are never answered."""

    def __init__(self, server: SimulatedServer) -> None:
        super().__init__(server)
        self.lose: Callable[[Call], bool] = lambda call: False

    async def send(self, call: Call) -> Answer:
        answer = await super().send(call)
        return NoAnswer("cut off") if self.lose(call) else answer


class JobsStage:
    """A cluster, a record of DAG runs, and workers that come and go."""

    def __init__(self, folder: Path, clock: Clock, dag_runs: DagRuns) -> None:
        self.clock = clock
        self.dag_runs = dag_runs
        self.server = SimulatedServer(clock.now_ms)
        self.api = LosingApi(self.server)
        self.lasts_s, self.fails = 3, False
        self._folder = folder
        self._opened: list[EmbeddedExecutor] = []

    def worker(self, api: ApiServer | None = None) -> Stage:
        """Another worker on the same record and cluster."""
        jobs = Jobs(api or self.api, self.clock, _NAMESPACE)
        nodes = JobNodes(jobs, JobTemplates(self._folder, json.loads))
        executor = EmbeddedExecutor(self.dag_runs, self.clock, NodeRunners(jobs=nodes))
        self._opened.append(executor)
        return Stage(executor, self.dag_runs)

    def jobs(self) -> Sequence[Object]:
        """The Jobs that are there."""
        return self.server.objects_of(Kind.JOB)

    def released(self) -> Sequence[str]:
        """The uid of every Job that was ever seen unsuspended."""
        uids = {
            text(one.object, "metadata", "uid"): None
            for one in self.server.history
            if one.kind is Kind.JOB and at(one.object, "spec", "suspend") is False
        }
        return list(uids)

    async def until_released(self, count: int = 1) -> None:
        while len(self.released()) < count:
            await self.clock.sleep_ms(10)

    async def until_made(self) -> None:
        while not self.jobs():
            await self.clock.sleep_ms(10)

    def delete(self, job: Object) -> None:
        """A person deletes a Job."""
        name, uid = (text(job, "metadata", key) for key in ("name", "uid"))
        assert not isinstance(self.server.send(Delete(Kind.JOB, _NAMESPACE, name, uid)), Denied)

    async def control(self) -> None:
        """The controllers of the cluster."""
        while True:
            run_jobs(self.server, lambda job: self.lasts_s, fails=lambda job: self.fails)
            collect_garbage(self.server)
            await self.clock.sleep_ms(100)

    async def close(self) -> None:
        for one in self._opened:
            await one.close()


def state_of(job: Object) -> str:
    return text(job, "metadata", "annotations", STATE)


def write_template(folder: Path, template: Mapping[str, object] = TEMPLATE) -> None:
    (folder / "report.json").write_text(json.dumps(template))


@asynccontextmanager
async def open_jobs(folder: Path) -> AsyncIterator[JobsStage]:
    write_template(folder)
    ledger = SqliteLedger.open(folder / "ledger.sqlite3")
    stage = JobsStage(folder, VirtualClock(), SqliteDagRuns(ledger.database))
    controllers = asyncio.create_task(stage.control())
    try:
        yield stage
    finally:
        await stage.close()
        controllers.cancel()
        await asyncio.gather(controllers, return_exceptions=True)
        await ledger.close()


Play = Callable[[Callable[[JobsStage], Awaitable[None]]], None]


def player(folder: Path) -> Play:
    """Plays scenarios on a stage, on virtual time."""

    def play(scenario: Callable[[JobsStage], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with open_jobs(folder) as stage:
                await scenario(stage)

        run_virtually(whole())

    return play
