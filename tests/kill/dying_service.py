"""
A worker of the service with a bomb in it.

`python -m tests.kill.dying_service N STORE EXECUTOR SECRET FD [UNTIL]`

The process kills itself, with SIGKILL, at the N-th point it passes; 0 for never, and with -N it
stops itself there. Points lie before and after every call of the ledger, of the DAG store and
of the executor, around every callback that is heard, and inside every transaction right before its
commit. The last line it writes says which point it was. STORE is a file or the URL of a database,
EXECUTOR the URL of an executor, and FD a socket that callbacks come to. With UNTIL, in seconds, the
process stops when everything up to that instant has an outcome. Everything that decides or writes
is the product.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from concurrent.futures import Executor

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.feedback import record_feedback
from gnomon.apps.service.schedule_input import read_input, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.worker import ServiceWorker
from gnomon.core.dag import parse_dag
from gnomon.core.ledger.lifecycle import State
from gnomon.ports import Ledger
from gnomon.ports.dag import DagStore, StoredDag
from gnomon.ports.executor import Feedback
from gnomon.shell.clock import SystemClock
from gnomon.shell.executor.callback import read_callback
from gnomon.shell.executor.http import HttpExecutor
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.address_rule import read_rule
from gnomon.shell.http.outgoing import Outgoing
from gnomon.shell.store import sqlite as store
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from tests.kill.mine import LEDGER_CALLS, Bomb, MinedDatabase, mined

__all__ = ["INTERVALS", "KEY_ID"]

KEY_ID = "kill"
USER, DAG_ID = "anna", "counted"
INTERVALS = {"all": 1, "slow": 1, "queue": 4, "spread": 2}
_POLICIES = {
    "all": {"overlap_policy": "allow", "catchup_policy": "fire_immediately"},
    "slow": {"overlap_policy": "skip", "catchup_policy": "latest"},
    "queue": {"overlap_policy": "queue", "catchup_policy": "fire_immediately"},
    "spread": {"overlap_policy": "allow", "catchup_policy": "spread"},
}
SETTINGS = Settings(lookahead_ms=2_000, lease="2s")
_LAUNCHES = {"launches_max": 100, "launch_backoff": "50ms"}
"""The executor is often busy or silent; a worker that gave up could not know what happened."""
_DAG = {
    "workflow_id": DAG_ID, "version": 1,
    "nodes": [{"id": "count", "type": "action", "uses": "counting"}],
}  # fmt: skip
_MORE_LEDGER_CALLS = ("save", "delete", "run", "get")


def lay_mines() -> None:
    mine_stores(SqliteLedger, SqliteDagStore)
    for name in ("run", "kill"):
        setattr(HttpExecutor, name, mined(f"{name} by the executor", getattr(HttpExecutor, name)))
    setattr(store, "Database", MinedDatabase)  # noqa: B010


def mine_stores(ledger: type, dags: type) -> None:
    for name in sorted({*LEDGER_CALLS, *_MORE_LEDGER_CALLS} & set(dir(ledger))):
        setattr(ledger, name, mined(name, getattr(ledger, name)))
    for name in ("put", "load"):
        setattr(dags, name, mined(f"{name} DAG", getattr(dags, name)))


class Ear:
    """Hears callbacks, as the service's own route does."""

    def __init__(self, ledger: Ledger, keyring: Keyring, worker: ServiceWorker) -> None:
        self._ledger, self._keyring, self._worker = ledger, keyring, worker

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
            headers = dict(line.split(": ", 1) for line in head)
            body = await reader.readexactly(int(headers["Content-Length"]))
            status = await self._hear(headers, body)
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _hear(self, headers: dict[str, str], body: bytes) -> int:
        now_ms = SystemClock().now_ms()
        heard = read_callback(headers, body, self._keyring, now_ms=now_ms)
        if not isinstance(heard, Feedback):
            return heard.status
        Bomb.point("before feedback")
        known = await record_feedback(self._ledger, heard, now_ms=now_ms)
        Bomb.point("after feedback")
        os.write(2, json.dumps({"event": "heard", "status": heard.status}).encode() + b"\n")
        self._worker.wake()
        return 404 if known == "unknown" else 200


async def prepare(ledger: Ledger, dags: DagStore) -> None:
    """Deploy what is to run; in every life but the first it is there."""
    dag, now_ms = parse_dag(json.dumps(_DAG)), SystemClock().now_ms()
    await dags.put(StoredDag(USER, DAG_ID, 1, dag.digest, dag.text, now_ms))
    for name, interval in INTERVALS.items():
        given = read_input({
            "schedule_id": name, "trigger_id": name, "workflow_id": DAG_ID, "version": 1,
            "user_id": USER, "every": f"{interval}s", **_POLICIES[name], **_LAUNCHES,
        })  # fmt: skip
        await ledger.save(schedule_of(given, SETTINGS), now_ms=now_ms)


async def stop_when_settled(ledger: Ledger, worker: ServiceWorker, until: int) -> None:
    """Wait until everything up to an instant has an outcome, and stop."""
    for name in INTERVALS:
        while not await _is_settled(ledger, name, until):
            await SystemClock().sleep_ms(100)
    await worker.stop(grace_ms=10_000)


async def _is_settled(ledger: Ledger, name: str, until: int) -> bool:
    schedule = await ledger.get(name)
    assert schedule is not None
    if schedule.cursor < until:
        return False
    rows = await ledger.runs(name, limit=1000)
    return all(row.state is State.DONE for row in rows if row.nominal <= until)


def say_what_is_waited_for() -> None:
    """The last words of a process that hangs."""
    for task in asyncio.all_tasks():
        task.print_stack(limit=6)
    os._exit(1)


async def open_stores(place: str, thread: Executor) -> tuple[Ledger, DagStore]:
    if not place.startswith("postgresql"):
        file = SqliteLedger.open(place, executor=thread, exclusive=True)
        return file, SqliteDagStore(file.database, executor=thread)
    # Most worlds do without, and every life would pay for it.
    from gnomon.shell.store.postgres.dag import PostgresDagStore
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    mine_stores(PostgresLedger, PostgresDagStore)
    shared = await PostgresLedger.open(place)
    return shared, PostgresDagStore(shared.pool)


async def work(
    worker: ServiceWorker, ledger: Ledger, dags: DagStore, *, grace_ms: int,
    until: int | None,
) -> None:  # fmt: skip
    """Work until told to stop, or until everything up to an instant is settled."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, say_what_is_waited_for)
    stopping: list[asyncio.Task[None]] = []
    loop.add_signal_handler(
        signal.SIGTERM,
        lambda: stopping.append(asyncio.create_task(worker.stop(grace_ms=grace_ms))),
    )
    await prepare(ledger, dags)
    if isinstance(ledger, SqliteLedger):
        await worker.recover()
    if until is not None:
        stopping.append(asyncio.create_task(stop_when_settled(ledger, worker, until)))
    await worker.run()
    await asyncio.gather(*stopping)


async def live(place: str, url: str, secret: str, descriptor: int, until: int | None) -> None:
    clock, thread = SystemClock(), ledger_thread()
    keyring = Keyring(current=KEY_ID, secrets={KEY_ID: bytes.fromhex(secret)})
    listening = socket.socket(fileno=descriptor)
    here = f"http://127.0.0.1:{listening.getsockname()[1]}/callbacks"
    outgoing = Outgoing(clock, rule=read_rule(networks=["127.0.0.0/8"]))
    executor = HttpExecutor(url, keyring, outgoing, clock, callback_url=here)
    ledger, dags = await open_stores(place, thread)
    worker = ServiceWorker(
        ledger, executor, dags, clock, f"worker-{os.getpid()}-{clock.now_ms()}", SETTINGS,
        EventFeed(clock), ServiceCounters(),
    )  # fmt: skip
    server = await asyncio.start_server(Ear(ledger, keyring, worker).handle, sock=listening)
    await work(worker, ledger, dags, grace_ms=10_000, until=until)
    server.close()
    await executor.close()
    await ledger.close()
    thread.shutdown()


if __name__ == "__main__":
    Bomb.lay(int(sys.argv[1]))
    lay_mines()
    asyncio.run(
        live(
            sys.argv[2],
            sys.argv[3],
            sys.argv[4],
            int(sys.argv[5]),
            int(sys.argv[6]) if len(sys.argv) > 6 else None,
        )
    )
