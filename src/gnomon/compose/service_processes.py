"""
`gnomon up`, `gnomon api` and `gnomon worker`: a service in one process, or split over many.

The port is taken before anything is written, so that a start which cannot be leaves nothing behind.
The first signal lets requests and runs come to their end, the second leaves at once. A process that
is killed leaves its facts behind, and the next one goes on from them.

Each worker tells Prometheus what it has counted, because the API of a service that is split over
machines has started nothing and counts nothing of it.

Spec: UP-1 to UP-10, METRICS-8, METRICS-9.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gnomon.apps.service.counters import ServiceCounters, service_families
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.worker import ServiceWorker
from gnomon.compose.executors import ExecutorSettings, callback_keys, open_executor
from gnomon.compose.run_metrics import metrics_listener, metrics_served, worker_page_families
from gnomon.compose.samples import deploy_samples
from gnomon.compose.service import make_api, relayed, serve
from gnomon.compose.shared_database import SharedDatabase
from gnomon.compose.stores import Stores, open_stores
from gnomon.compose.token_file import ensure_private_directory, ensure_token, loopback_access
from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.shell.http.authentication import AccessSource, access_from_file
from gnomon.shell.http.http_settings import HttpSettings
from gnomon.shell.http.listening import bind, url_of
from gnomon.shell.observe.counts import Family
from gnomon.shell.observe.log import log, log_lines
from gnomon.shell.observe.prometheus import page_text
from gnomon.shell.settings import environment

__all__ = ["UpOptions", "run_api", "run_up", "run_worker"]

GRACE_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """How to be up."""

    data: Path
    database: SharedDatabase | None
    http: HttpSettings
    samples: bool
    json_log: bool


def run_up(options: UpOptions, clock: Clock, announce: Callable[[Path, str], None]) -> bool:
    """
    The whole service until told to stop; False when it was told twice.

    `announce` is told the file of the token, and the URL, as soon as requests are answered.
    """
    former = os.umask(0o077)  # what is written is for its owner only
    try:
        with closing(bind(options.http.host, options.http.port)) as listener:
            ensure_private_directory(options.data)
            token_file = options.data / "token"
            access = loopback_access(ensure_token(token_file))
            with log_lines(logging.StreamHandler(sys.stderr), as_json=options.json_log):
                return asyncio.run(
                    _up(options, clock, lambda: access, token_file, listener, announce)
                )
    finally:
        os.umask(former)


def run_api(database: SharedDatabase, http: HttpSettings, clock: Clock, *, json_log: bool) -> bool:
    """The API alone until told to stop; False when it was told twice."""
    if http.access is None:
        raise DefinitionError(
            "must be given, or the API would refuse all requests", where="access", got=None,
            hint="write --access FILE; docs/howto/run-the-service.md shows what stands in it",
        )  # fmt: skip
    access = access_from_file(http.access)
    with (
        closing(bind(http.host, http.port)) as listener,
        log_lines(logging.StreamHandler(sys.stderr), as_json=json_log),
    ):
        return asyncio.run(_api(database, http, access, listener, clock))


def run_worker(
    database: SharedDatabase, metrics: tuple[str, int] | None, clock: Clock, *, json_log: bool
) -> bool:
    """A worker alone until told to stop; False when it was told twice."""
    with (
        metrics_listener(metrics) as listener,
        log_lines(logging.StreamHandler(sys.stderr), as_json=json_log),
        TemporaryDirectory(prefix="gnomon-worker-") as output,
    ):
        return asyncio.run(_worker(database, clock, Path(output), listener))


async def _up(
    options: UpOptions,
    clock: Clock,
    access: AccessSource,
    token_file: Path,
    listener: socket.socket,
    announce: Callable[[Path, str], None],
) -> bool:
    settings = Settings.read(environment())
    executing = ExecutorSettings(allow_commands=True)
    events, counters = EventFeed(clock), ServiceCounters()
    path = options.data / "service.sqlite3"
    output = options.data / "output"
    async with (
        _signals() as stopping,
        open_stores(path, options.database) as stores,
        open_executor(executing, stores.dag_runs, clock, output=output) as executor,
    ):
        worker = ServiceWorker(
            stores.ledger, executor, stores.dags, clock, _owner(clock), settings,
            events=events, counters=counters, also=stores.dag_runs,
        )  # fmt: skip
        parts = make_api(
            stores, options.http, settings, access, clock, events=events, counters=counters,
            wake=worker.wake, keys=callback_keys(executing),
        )  # fmt: skip
        if stores.alone:
            await worker.recover()
        telling = relayed(stores, options.database, events, clock, name=worker.owner, listens=True)
        async with _attended(stores, options.database, worker, clock):
            if options.samples:
                await deploy_samples(parts.registrar, parts.deployer)
            async with serve(parts, options.http, listener):
                announce(token_file, url_of(options.http.host, listener))
                async with telling:
                    return await _until_stopped(worker, stopping)


async def _api(
    database: SharedDatabase,
    http: HttpSettings,
    access: AccessSource,
    listener: socket.socket,
    clock: Clock,
) -> bool:
    settings, executing = Settings.read(environment()), ExecutorSettings()
    events, counters = EventFeed(clock), ServiceCounters()
    async with _signals() as stopping, open_stores(None, database) as stores:
        parts = make_api(
            stores, http, settings, access, clock, events=events, counters=counters,
            wake=lambda: None, keys=callback_keys(executing),
        )  # fmt: skip
        telling = relayed(stores, database, events, clock, name=_owner(clock), listens=True)
        async with telling, serve(parts, http, listener) as reload:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
            port = listener.getsockname()[1]
            log(logging.INFO, "serving", host=http.host, port=port, store=stores.place)
            await stopping.wait()
    return True


async def _worker(
    database: SharedDatabase, clock: Clock, output: Path, listener: socket.socket | None
) -> bool:
    settings, events = Settings.read(environment()), EventFeed(clock)
    counters = ServiceCounters()
    async with (
        _signals() as stopping,
        open_stores(None, database) as stores,
        open_executor(ExecutorSettings(), stores.dag_runs, clock, output=output) as executor,
    ):
        worker = ServiceWorker(
            stores.ledger, executor, stores.dags, clock, _owner(clock), settings,
            events=events, counters=counters, also=stores.dag_runs,
        )  # fmt: skip
        page = _WorkerPage(
            worker=worker,
            counters=counters,
            started_ms=clock.now_ms(),
            others=stores.heartbeats,
        )
        async with (
            metrics_served(listener, page.text),
            _attended(stores, database, worker, clock),
            relayed(stores, database, events, clock, name=worker.owner, listens=False),
        ):
            log(logging.INFO, "working", store=stores.place)
            return await _until_stopped(worker, stopping)


class _Stopping(asyncio.Event):
    """Set by the first signal; the second one cancels what still waits for the end."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once = asyncio.Event()

    def on_signal(self) -> None:
        if self.is_set():
            self.at_once.set()
        self.set()


@contextlib.asynccontextmanager
async def _signals() -> AsyncIterator[_Stopping]:
    stopping, loop = _Stopping(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.on_signal)
    try:
        yield stopping
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _until_stopped(worker: ServiceWorker, stopping: _Stopping) -> bool:
    """Work until told to stop, then let runs end; False when there was no time for that."""
    running = asyncio.create_task(worker.run())
    told = asyncio.create_task(stopping.wait())
    await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if running.done():
        await running
        return True
    log(logging.INFO, "stopping; runs in flight may end", grace_ms=GRACE_MS)
    ending = asyncio.create_task(worker.stop(GRACE_MS))
    at_once = asyncio.create_task(stopping.at_once.wait())
    await asyncio.wait({running, at_once}, return_when=asyncio.FIRST_COMPLETED)
    at_once.cancel()
    if running.done():
        await asyncio.gather(running, ending)
        return True
    log(logging.WARNING, "left at once; the next start goes on from the ledger")
    for task in (running, ending):
        task.cancel()
    await asyncio.gather(running, ending, return_exceptions=True)
    return False


@contextlib.asynccontextmanager
async def _attended(
    stores: Stores, database: SharedDatabase | None, worker: ServiceWorker, clock: Clock
) -> AsyncIterator[None]:
    """With a ledger that others use too: listen, and be seen."""
    if database is None:
        yield
        return
    from gnomon.compose.shared_run import attended
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    assert isinstance(stores.ledger, PostgresLedger)
    async with attended(stores.ledger, database, worker.runtime, worker.owner, clock):
        yield


def _owner(clock: Clock) -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{clock.now_ms()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkerPage:
    """The page of one worker of the service."""

    worker: ServiceWorker
    counters: ServiceCounters
    started_ms: int
    others: Callable[[], Awaitable[Sequence[Family]]] | None
    """What there is to tell about all workers; None where this one is alone."""

    async def text(self) -> str:
        """The page as it is now."""
        runtime, owner = self.worker.runtime, self.worker.owner
        own = worker_page_families(runtime, owner, started_ms=self.started_ms)
        others = [] if self.others is None else await self.others()
        return page_text([*service_families(self.counters), *own, *others])
