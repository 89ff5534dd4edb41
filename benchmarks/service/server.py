"""
`python -m benchmarks.service.server DIRECTORY SCHEDULES INTERVAL`: the service that is measured.

Every schedule recurs every INTERVAL seconds; they are spread evenly over those seconds, so that
SCHEDULES / INTERVAL are due in each. It prints the port when it is ready, then the second from
which on everything is due, and ends with its standard input.
"""

import asyncio
import json
import secrets
import sys
import time
from pathlib import Path

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.schedule_input import ScheduleInput, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.worker import ServiceWorker
from gnomon.compose.service import make_api, serve
from gnomon.compose.stores import Stores, open_stores
from gnomon.compose.token_file import loopback_access
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Schedule
from gnomon.ports.dag import StoredDag
from gnomon.shell.clock import SystemClock
from gnomon.shell.http.http_settings import HttpSettings
from gnomon.shell.http.listening import bind
from tests.stand_ins.noop_executor import NoopExecutor

PORTION = 5_000
LEAD_SECONDS = 3
DAG = json.dumps(
    {"workflow_id": "load", "version": 1, "nodes": [{"id": "a", "type": "action", "uses": "no"}]}
)


async def main(directory: Path, count: int, interval: int) -> None:
    clock, settings = SystemClock(), Settings()
    executor, token = NoopExecutor(clock), secrets.token_urlsafe(32)
    (directory / "token").write_text(token)
    events, counters = EventFeed(clock), ServiceCounters()
    access = loopback_access(token)
    async with open_stores(directory / "service.sqlite3", None) as stores:
        begin = await populate(stores, settings, count, interval)
        worker = ServiceWorker(
            stores.ledger, executor, stores.dags, clock, "bench", settings, events, counters
        )
        await worker.recover()
        http = HttpSettings(host="127.0.0.1", port=0)
        parts = make_api(
            stores, http, settings, lambda: access, clock, events=events,
            counters=counters, wake=worker.wake,
        )  # fmt: skip
        listener = bind(http.host, http.port)
        async with serve(parts, http, listener):
            print(listener.getsockname()[1], begin, flush=True)
            running = asyncio.create_task(worker.run())
            await asyncio.to_thread(sys.stdin.read)
            await worker.stop(10_000)
            await running


async def populate(stores: Stores, settings: Settings, count: int, interval: int) -> int:
    """Register everything; nothing is due before the second that is returned."""
    now_ms = time.time_ns() // 1_000_000
    await stores.dags.put(StoredDag("load", "load", 1, "0" * 64, DAG, now_ms))
    await stores.ledger.save(_idle(settings), now_ms=now_ms)
    began = time.monotonic()
    await _register(stores, range(min(PORTION, count)), int(time.time()) + 86_400, interval)
    whole = (time.monotonic() - began) * max(count / PORTION, 1)
    begin = int(time.time() + 1.5 * whole) + LEAD_SECONDS
    for first in range(0, count, PORTION):
        await _register(stores, range(first, min(first + PORTION, count)), begin, interval)
    lasted = time.monotonic() - began
    print(f"registered {count} in {lasted:.1f} s", file=sys.stderr, flush=True)
    return begin


async def _register(stores: Stores, numbers: range, begin: int, interval: int) -> None:
    settings = Settings()
    schedules = [_schedule(number, begin, interval, settings) for number in numbers]
    await stores.ledger.save_all(schedules, now_ms=time.time_ns() // 1_000_000)


def _idle(settings: Settings) -> Schedule:
    """A schedule that is never due, for requests that change something."""
    given = ScheduleInput(
        workflow_id="load", version=1, user_id="load", schedule_id="idle",
        once="2099-01-01T00:00:00Z",
    )  # fmt: skip
    return schedule_of(given, settings)


def _schedule(number: int, begin: int, interval: int, settings: Settings) -> Schedule:
    first = format_instant(begin + number % interval)
    given = ScheduleInput(
        workflow_id="load", version=1, user_id="load", schedule_id=f"s{number:06d}",
        every=f"{interval}s", anchor=first, start_at=first, overlap_policy="allow",
        catchup_policy="fire_immediately",
    )  # fmt: skip
    return schedule_of(given, settings)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
