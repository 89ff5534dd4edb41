"""
A service on virtual time: a real ledger, the real registrar and worker, an executor to steer.

The world begins on 2026-03-01 at 00:00:00 UTC. Nothing here decides anything.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.feedback import FeedbackResult, record_feedback
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.schedule_input import read_input
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.worker import ServiceWorker
from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Clock, Ledger, RunRow
from gnomon.ports.dag import DagStore, StoredDag
from gnomon.ports.executor import Accepted, Answer, Feedback, FeedbackStatus, Meta
from gnomon.ports.ledger_rows import Actor
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.postgres.dag import PostgresDagStore
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.shell.virtual_time import START_MS, VirtualClock

__all__ = ["ANNA", "REPORT", "START_MS", "Call", "Stage", "SteeredExecutor", "at"]

ANNA = Actor("anna@example", "anna")
REPORT = {"workflow_id": "report", "version": 1, "user_id": "anna", "cron_expr": "* * * * *"}


def at(time: str) -> int:
    """`at("00:05:00")` is that instant of the first day, in milliseconds."""
    hours, minutes, seconds = time.split(":")
    return START_MS + round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000)


class Call(NamedTuple):
    """One time that the executor was asked."""

    at_ms: int
    meta: Meta

    @property
    def time(self) -> str:
        seconds = (self.at_ms - START_MS) / 1000
        return f"{int(seconds // 3600):02d}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"


class SteeredExecutor:
    """Takes runs on, once for each key, and says what the test tells it to."""

    def __init__(self, clock: Clock, *, detached: bool = True) -> None:
        self._clock = clock
        self.detached = detached
        self.calls: list[Call] = []
        self.effects: list[str] = []
        """The keys of the runs that were really begun."""
        self.kills: list[tuple[str, Reason]] = []
        self.can_end = True
        self.answers: list[Answer | Exception] = []
        """What to say next, in place of taking a run on."""
        self.takes_ms = 0
        self.runs_ms: int | None = None
        """How long a run takes that ends by itself; None for one that does not."""
        self._said: asyncio.Queue[Feedback] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        self.calls.append(Call(self._clock.now_ms(), meta))
        await self._clock.sleep_ms(self.takes_ms)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        if meta.idempotency_key not in self.effects:
            self.effects.append(meta.idempotency_key)
        if self.runs_ms is not None:
            self._tasks.add(asyncio.create_task(self._end(meta, self.runs_ms)))
        return Accepted(f"run:{meta.idempotency_key[:8]}")

    async def feedback(self) -> Sequence[Feedback]:
        return [await self._said.get()]

    async def adopt(self, key: str, run_id: str) -> bool:
        return False

    async def kill(self, key: str, reason: Reason) -> bool:
        self.kills.append((key, reason))
        if not self.can_end:
            return False
        if not self.detached and key in self.effects:
            self.say(Feedback(key, FeedbackStatus.FAILED, f"run:{key[:8]}", "ended", reason=reason))
        return True

    async def drain(self, *, grace_ms: int) -> None:
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Nothing is held."""

    def say(self, feedback: Feedback) -> None:
        self._said.put_nowait(feedback)

    async def _end(self, meta: Meta, length_ms: int) -> None:
        await self._clock.sleep_ms(length_ms)
        key = meta.idempotency_key
        self.say(Feedback(key, FeedbackStatus.SUCCESS, f"run:{key[:8]}", fence=meta.fence))


class Stage:
    """One service; to be made inside the loop."""

    make_clock: Callable[[], Clock] = VirtualClock

    def __init__(
        self, ledger: Ledger, dags: DagStore, *, settings: Settings, detached: bool
    ) -> None:
        self.clock = type(self).make_clock()
        self.ledger, self.dags, self.settings = ledger, dags, settings
        self.executor = SteeredExecutor(self.clock, detached=detached)
        self.events, self.counters = EventFeed(self.clock), ServiceCounters()
        self._names = iter(range(1_000_000))
        self.worker = self.another("worker-1")
        self.registrar = Registrar(
            ledger, self.clock, settings, self.events, dags,
            unique=lambda: f"n{next(self._names)}",
            wake=lambda: self.worker.wake(),
        )  # fmt: skip

    @classmethod
    async def open(
        cls, *, detached: bool = True, settings: Settings | None = None,
        postgres: tuple[str, str] | None = None, dag: bool = True,
    ) -> Self:  # fmt: skip
        settings = settings or Settings()
        if postgres is None:
            ledger = SqliteLedger.open(":memory:")
            dags: DagStore = SqliteDagStore(ledger.database)
            stage = cls(ledger, dags, settings=settings, detached=detached)
        else:
            url, schema = postgres
            shared = await PostgresLedger.open(url, schema=schema, lease_time=LeaseTime.GIVEN)
            dags = PostgresDagStore(shared.pool, schema)
            stage = cls(shared, dags, settings=settings, detached=detached)
        if dag:
            await dags.put(StoredDag("anna", "report", 1, "d1", '{"nodes": []}', START_MS))
        return stage

    def another(self, owner: str) -> ServiceWorker:
        """A further worker, as in another process."""
        return ServiceWorker(
            self.ledger, self.executor, self.dags, self.clock, owner, self.settings,
            self.events, self.counters,
        )  # fmt: skip

    async def upsert(self, **more: object) -> str:
        given = read_input(REPORT | {"schedule_id": "nightly"} | more)
        return (await self.registrar.upsert_schedule(ANNA, given)).schedule_id

    async def run_until(self, time: str, *, worker: ServiceWorker | None = None) -> None:
        """Let a worker work until this time of the day, then let it stop."""
        one = worker or self.worker
        running = asyncio.create_task(one.run())
        await self.wait_until(time)
        await one.stop(0)
        await running

    async def crash_at(self, time: str, *, worker: ServiceWorker | None = None) -> None:
        """Let a worker work until this time, and then vanish."""
        running = asyncio.create_task((worker or self.worker).run())
        await self.wait_until(time)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    async def wait_until(self, time: str) -> None:
        await self.clock.sleep_ms(max(at(time) - self.clock.now_ms(), 0))

    async def say(self, key: str, status: str, run_id: str | None = None) -> FeedbackResult:
        """What an executor says about a run, as its callback."""
        feedback = Feedback(key, FeedbackStatus(status), run_id or f"run:{key[:8]}")
        return await record_feedback(self.ledger, feedback, now_ms=self.clock.now_ms())

    async def rows(self, name: str = "nightly") -> list[RunRow]:
        """The rows of a schedule, oldest first."""
        return (await self.ledger.runs(name, limit=10_000))[::-1]

    async def words(self, name: str = "nightly") -> list[str]:
        """What became of each period, oldest first: its time, its status, its reason."""
        return [
            f"{Call(row.nominal * 1000, _NOBODY).time[:8]} {row.status or row.state}"
            + (f" {row.reason}" if row.reason else "")
            + (f" x{row.periods}" if row.periods > 1 else "")
            for row in await self.rows(name)
        ]

    def told(self, kind: str) -> list[str]:
        """The events of a kind, by the instant they are about."""
        return [
            str(event.fields.get("run_at"))[11:19] + f" {event.fields.get('expectation', '')}"
            for event in self.events.after(0)
            if event.kind == kind
        ]


_NOBODY = Meta(
    workflow_id="", version=0, user_id="", schedule_id="", scheduled_for=0, idempotency_key=""
)
