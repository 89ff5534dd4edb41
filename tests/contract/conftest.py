"""The stores that keep the contracts: a fixture for each kind, and one for those that last."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon.ports import JournalOpener, Ledger
from gnomon.ports.kubernetes import Create, Kind
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.postgres.journal import PostgresJournalOpener
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.loop import VirtualLoop
from gnomon.simulation.kubernetes.api import SimulatedApi
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import SimulatedServer
from tests.contract.journal_desk import JournalDesk
from tests.contract.kubernetes_desk import KubernetesDesk, a_kronjob
from tests.contract.ledger_desk import Desk
from tests.contract.workflow_desk import WorkflowDesk
from tests.kube.cluster import Cluster
from tests.kube.kronjobs import install_kronjobs

Open = Callable[[], Ledger]


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def open_ledger(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path, store: str
) -> Open:
    """Opens a ledger of a kind; what was written is there when it is opened again."""
    if store == "sqlite-memory":
        return lambda: SqliteLedger.open(":memory:")
    if store == "sqlite-file":
        return lambda: SqliteLedger.open(tmp_path / "ledger.sqlite3")
    database = request.getfixturevalue("common_database")
    schema = request.getfixturevalue("schema")
    return lambda: runner.run(
        PostgresLedger.open(database, schema=schema, lease_time=LeaseTime.GIVEN)
    )


@pytest.fixture(params=["sqlite-memory", "sqlite-file", "postgres"])
def store(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture
def desk(runner: asyncio.Runner, open_ledger: Open) -> Iterator[Desk]:
    desk = Desk(runner, open_ledger)
    yield desk
    desk.close()


_LASTING = ["sqlite-file", "sqlite-thread", "postgres"]


@pytest.fixture(params=["sqlite-memory", *_LASTING])
def journals(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[JournalDesk]:
    desk = JournalDesk(runner, _openers(request, tmp_path, request.param))
    yield desk
    desk.close()


@pytest.fixture(params=_LASTING)
def lasting_journals(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[JournalDesk]:
    desk = JournalDesk(runner, _openers(request, tmp_path, request.param))
    yield desk
    desk.close()


def _openers(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> Callable[[int, str], JournalOpener]:
    """Makes openers of a kind, each for so many entries kept and for a namespace."""
    if kind == "postgres":
        database = request.getfixturevalue("common_database")
        schema = request.getfixturevalue("schema")
        return lambda kept, namespace: PostgresJournalOpener(
            database, schema=schema, namespace=namespace, kept=kept
        )
    path = ":memory:" if kind == "sqlite-memory" else str(tmp_path / "journal.sqlite3")
    return lambda kept, namespace: SqliteJournalOpener(
        path, namespace=namespace, kept=kept, threaded=kind == "sqlite-thread"
    )


_LASTING_WORKFLOWS = ["sqlite-file", "sqlite-thread", "postgres"]


@pytest.fixture(params=["sqlite-memory", *_LASTING_WORKFLOWS])
def workflows(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[WorkflowDesk]:
    desk = WorkflowDesk(runner, _log_maker(request, runner, tmp_path))
    yield desk
    desk.close()


@pytest.fixture(params=_LASTING_WORKFLOWS)
def lasting_workflows(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[WorkflowDesk]:
    desk = WorkflowDesk(runner, _log_maker(request, runner, tmp_path))
    yield desk
    desk.close()


def _log_maker(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Callable[[], WorkflowLog]:
    """Opens a workflow log of a kind."""
    kind = request.param
    if kind == "postgres":
        database = request.getfixturevalue("common_database")
        schema = request.getfixturevalue("schema")
        return lambda: runner.run(PostgresWorkflowLog.open(database, schema=schema))
    path = ":memory:" if kind == "sqlite-memory" else str(tmp_path / "workflows.sqlite3")
    return lambda: runner.run(
        SqliteWorkflowLog.open(path, to_hold=True, threaded=kind == "sqlite-thread")
    )


@pytest.fixture(params=["memory", pytest.param("real", marks=pytest.mark.cluster)])
def cluster(request: pytest.FixtureRequest) -> Iterator[KubernetesDesk]:
    """An API server with an empty namespace: one in memory, and a real one."""
    if request.param == "memory":
        yield from _server_in_memory()
    else:
        kube, namespace = map(request.getfixturevalue, ("kube", "kube_namespace"))
        yield from _real_server(kube, namespace)


def _server_in_memory() -> Iterator[KubernetesDesk]:
    """The API server in memory, whose controllers act and whose time passes in `settle`."""
    now_ms = [1_772_323_200_000]  # 2026-03-01T00:00:00Z
    server = SimulatedServer(lambda: now_ms[0])

    async def settle() -> None:
        now_ms[0] += 1000
        run_jobs(server, lambda job: 3)
        collect_garbage(server)

    async def forget() -> str:
        version = str(server.version)
        server.send(Create(Kind.KRONJOB, "prod", a_kronjob("passing")))
        server.forget_history()
        return version

    loop = VirtualLoop(Dice("contract"), steps_max=100_000)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        yield KubernetesDesk(runner, SimulatedApi(server), "prod", settle, forget)


def _real_server(kube: Cluster, namespace: str) -> Iterator[KubernetesDesk]:
    """A real API server, whose controllers act by themselves."""
    install_kronjobs(kube)

    async def settle() -> None:
        await asyncio.sleep(0.1)

    async def forget() -> str:
        return "1"  # older than everything that the server still tells of

    with asyncio.Runner() as runner:
        server = KubernetesServer(load_of({}, kubeconfig=str(kube.kubeconfig())))
        runner.run(server.__aenter__())
        try:
            yield KubernetesDesk(runner, server, namespace, settle, forget)
        finally:
            runner.run(server.__aexit__(None, None, None))
