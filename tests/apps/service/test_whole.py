"""The whole service in one process: deployed, due, carried out, and shown node by node."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.views import RunView
from gnomon.apps.service.worker import ServiceWorker
from gnomon.core.dag.value import Json
from gnomon.ports import RunRow
from gnomon.ports.dag import NodeState
from gnomon.ports.ledger_rows import Actor
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.dag import SqliteDagRuns, SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.core.dag.dags import dag_text
from tests.shell.executor.embedded_stage import open_stage, shell_node

ANNA = Actor("anna@example.org", "anna")


class Service:
    """The parts of a service that tests ask."""

    def __init__(self, ledger: SqliteLedger, dag_runs: SqliteDagRuns) -> None:
        clock, settings = SystemClock(), Settings()
        self.ledger, self.dag_runs = ledger, dag_runs
        self.events = EventFeed(clock)
        self.dags = SqliteDagStore(ledger.database)
        self.worker: ServiceWorker | None = None
        self.registrar = Registrar(
            ledger, clock, settings, self.events, self.dags, unique=lambda: "once",
            wake=self._wake,
        )  # fmt: skip
        self.deployer = Deployer(self.dags, self.registrar, clock, settings)

    async def deploy(self, *nodes: Json, edges: str = "") -> str:
        """Deploy a DAG that is due once a year; the id of its schedule."""
        trigger: Json = {"type": "schedule_based", "cron_expr": "0 0 1 1 *"}
        joined: list[Json] = [{"from": one[0], "to": one[1]} for one in edges.split()]
        text = dag_text(nodes=list(nodes), edges=joined, triggers=[trigger])
        (schedule_id,) = (await self.deployer.deploy(ANNA, text)).schedules
        return schedule_id

    async def end_of(self, run: RunView) -> RunRow:
        """Wait until a run is over."""
        seen = self.events.newest
        while True:
            row = await self.ledger.run(run.idempotency_key)
            assert row is not None
            if row.ended_ms is not None:
                return row
            # The news of an end may come before it is written down.
            news = asyncio.ensure_future(self.events.wait(seen))
            await asyncio.wait([news], timeout=0.05)
            news.cancel()
            seen = self.events.newest

    def _wake(self) -> None:
        if self.worker is not None:
            self.worker.wake()


@asynccontextmanager
async def open_service(folder: Path) -> AsyncIterator[Service]:
    ledger = SqliteLedger.open(folder / "service.sqlite3")
    service = Service(ledger, SqliteDagRuns(ledger.database))
    async with open_stage(folder, dag_runs=service.dag_runs) as stage:
        service.worker = ServiceWorker(
            ledger, stage.executor, service.dags, SystemClock(), "worker", Settings(),
            service.events, ServiceCounters(),
        )  # fmt: skip
        working = asyncio.create_task(service.worker.run())
        try:
            yield service
        finally:
            await service.worker.stop(grace_ms=0)
            await working
    await ledger.close()


@clause("EXEC-10")
def test_a_deployed_dag_is_carried_out_and_shown_node_by_node(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_service(tmp_path) as service:
            schedule_id = await service.deploy(
                shell_node("a", "echo hello"), shell_node("b", "exit 3"), edges="ab"
            )
            row = await service.end_of(await service.registrar.trigger(ANNA, schedule_id))
            kept = await service.dag_runs.get(row.key)

            assert (row.status, row.detail) == ("FAILED", "b: exit 3")
            assert kept is not None
            assert [(node.node_id, node.state) for node in kept.nodes] == [
                ("a", NodeState.SUCCESS), ("b", NodeState.FAILED),
            ]  # fmt: skip
            assert await service.dag_runs.log(row.key, "a") == "hello\n"

    asyncio.run(scenario())


@clause("EXEC-4")
def test_a_run_that_a_user_ends_is_over_with_all_its_processes(tmp_path: Path) -> None:
    async def scenario() -> None:
        os.mkfifo(tmp_path / "begun")
        async with open_service(tmp_path) as service:
            schedule_id = await service.deploy(
                shell_node("a", "echo $$ > begun; exec sleep 1000"), shell_node("b", "touch b"),
                edges="ab",
            )  # fmt: skip
            run = await service.registrar.trigger(ANNA, schedule_id)
            await asyncio.to_thread((tmp_path / "begun").read_text)
            await service.registrar.kill_run(ANNA, run.idempotency_key)
            row = await service.end_of(run)

            assert (row.status, row.reason) == ("FAILED", "killed")
            assert not (tmp_path / "b").exists()

    asyncio.run(scenario())
