"""
A worker of the service whose nodes are Jobs, with a bomb in it.

`python -m tests.kube.dying_worker N STORE KUBECONFIG TEMPLATES [UNTIL]`

The process kills itself, with SIGKILL, at the N-th point it passes; 0 for never. Points lie before
and after every call of the ledger, of the store of DAGs, of the record of DAG runs and of
the executor, around every question to the API server and while it is on its way, and inside every
transaction right before its commit. With UNTIL, in seconds, the process stops when everything up to
that instant has an outcome. Everything that decides or writes is the product.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.worker import ServiceWorker
from gnomon.ports.executor import Feedback
from gnomon.ports.kubernetes import Answer, Call
from gnomon.shell.clock import SystemClock
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.job_node import JobNodes, JobTemplates
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from gnomon.shell.kubernetes.jobs import Jobs
from gnomon.shell.store import sqlite as store
from gnomon.shell.store.dag import SqliteDagRuns, SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from tests.kill.dying_service import (
    SETTINGS,
    mine_stores,
    work,
)
from tests.kill.mine import Bomb, MinedDatabase, mined
from tests.kube.campaign import NAMESPACE

__all__: list[str] = []

_ON_ITS_WAY_S = 0.003


def lay_mines() -> None:
    mine_stores(SqliteLedger, SqliteDagStore)
    for name in ("begin", "write", "end"):
        setattr(SqliteDagRuns, name, mined(f"{name} DAG run", getattr(SqliteDagRuns, name)))
    for name in ("run", "kill"):
        at_executor = mined(f"{name} by the executor", getattr(EmbeddedExecutor, name))
        setattr(EmbeddedExecutor, name, at_executor)
    setattr(store, "Database", MinedDatabase)  # noqa: B010


class MinedServer(KubernetesServer):
    """The way to the API server, with points on it."""

    async def send(self, call: Call) -> Answer:
        name = type(call).__name__
        Bomb.point(f"before {name} of a Job")
        answering = asyncio.ensure_future(super().send(call))
        await asyncio.sleep(_ON_ITS_WAY_S)
        Bomb.point(f"{name} of a Job on its way")
        answer = await answering
        Bomb.point(f"after {name} of a Job")
        return answer


class TellingExecutor(EmbeddedExecutor):
    """Writes a line for each thing that is said about a run."""

    async def feedback(self) -> list[Feedback]:
        said = list(await super().feedback())
        for one in said:
            os.write(2, json.dumps({"event": "heard", "status": one.status}).encode() + b"\n")
        return said


async def live(place: str, kubeconfig: str, templates: str, until: int | None) -> None:
    clock, thread = SystemClock(), ledger_thread()
    ledger = SqliteLedger.open(place, executor=thread, exclusive=True)
    dags = SqliteDagStore(ledger.database, executor=thread)
    dag_runs = SqliteDagRuns(ledger.database, executor=thread)
    async with MinedServer(load_of({}, kubeconfig=kubeconfig)) as api:
        jobs = JobNodes(Jobs(api, clock, NAMESPACE), JobTemplates(Path(templates), json.loads))
        executor = TellingExecutor(dag_runs, clock, NodeRunners(jobs=jobs))
        worker = ServiceWorker(
            ledger, executor, dags, clock, f"worker-{os.getpid()}-{clock.now_ms()}", SETTINGS,
            EventFeed(clock), ServiceCounters(),
        )  # fmt: skip
        await work(worker, ledger, dags, grace_ms=0, until=until)
        await executor.close()
    await ledger.close()
    thread.shutdown()


if __name__ == "__main__":
    Bomb.lay(int(sys.argv[1]))
    lay_mines()
    settled = int(sys.argv[5]) if len(sys.argv) > 5 else None
    asyncio.run(live(sys.argv[2], sys.argv[3], sys.argv[4], settled))
