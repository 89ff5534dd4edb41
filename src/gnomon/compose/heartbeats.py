"""
How are the workers of a database, at the moment a scraper asks?

They are read when they are wanted, by one question at a time, so that a scraper that asks often
takes no more than one connection from the worker beside. A database that does not answer soon is a
figure too, and never an error: the rest of the page is wanted most when something is wrong. The
question is left alone then, not taken back, because a server that does not answer would not answer
to that either; the next scraper waits for the same answer.

Workers are known by the label `worker`, the name under which the ledger has their runs. Exactly one
of their states is 1; a worker that was not heard of for long and has not said good-bye is `silent`.

Spec: METRICS-8.
"""

import asyncio
from collections.abc import Sequence

from gnomon.errors import StoreError
from gnomon.shell.observe.counts import Family, gauge
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import WorkerRow, workers

__all__ = ["GOODBYE_MS", "STATES", "Heartbeats", "worker_families"]

STATES = ("running", "draining", "stopped", "silent")
GOODBYE_MS = 300_000
"""For how long a worker is shown that has said good-bye."""

PATIENCE_S = 3.0
"""How long the database may take; who asks for a page often waits no longer than ten seconds."""


class Heartbeats:
    """The workers of one ledger, as figures."""

    def __init__(self, ledger: PostgresLedger, *, patience_s: float = PATIENCE_S) -> None:
        self._ledger = ledger
        self._patience_s = patience_s
        self._asking: asyncio.Task[list[WorkerRow] | None] | None = None

    async def families(self) -> Sequence[Family]:
        """The figures, in any case within the time that the database may take."""
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.create_task(self._ask())
        answered, _ = await asyncio.wait({asking}, timeout=self._patience_s)
        return worker_families(asking.result() if answered else None)

    async def _ask(self) -> list[WorkerRow] | None:
        try:
            return await workers(self._ledger.pool, self._ledger.sql)
        except StoreError:
            return None


def worker_families(workers: Sequence[WorkerRow] | None) -> list[Family]:
    """The heartbeats of all workers; None when they could not be read."""
    up = gauge(
        "gnomon_ledger_up", "Whether the database answered when it was asked just now.",
        int(workers is not None),
    )  # fmt: skip
    age = _of_worker("heartbeat_age_seconds", "How long ago a worker was last heard of.")
    state = _of_worker("state", "How a worker is: 1 for the state that it is in.")
    holding = _of_worker("holding", "How many runs a worker had in hand when last heard of.")
    ahead = _of_worker("clock_ahead_seconds", "By how much a clock is ahead of the database's.")
    started = _of_worker("start_time_seconds", "When a worker was first heard of.")
    for one in filter(_is_shown, workers or ()):
        labels = {"worker": one.owner, "host": one.host}
        is_in = "silent" if one.is_silent else one.state
        age.add(one.silent_ms / 1000, **labels)
        for name in STATES:
            state.add(int(is_in == name), **labels, state=name)
        holding.add(one.holding, **labels)
        ahead.add(one.ahead_ms / 1000, **labels)
        started.add(one.started_ms / 1000, **labels)
    return [up, age, state, holding, ahead, started]


def _of_worker(name: str, help_text: str) -> Family:
    return gauge(f"gnomon_worker_{name}", help_text)


def _is_shown(worker: WorkerRow) -> bool:
    return worker.state != "stopped" or worker.silent_ms <= GOODBYE_MS
