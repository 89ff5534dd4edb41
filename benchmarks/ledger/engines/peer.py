"""
What the peers on PostgreSQL have in common: full fires, on a server of their own.

A peer says what one pass is: so many periods, from due to done. Before each pass the database is
vacuumed, as it is for everybody; a pass in which a callback is missing raises, whatever the figure.
Slow ones are given fewer periods, which favours them where the cost of one grows with their number.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engines.postgres_server import PostgresServer

__all__ = ["Fire", "PostgresPeer"]

Fire = Callable[[Meter], int]
"""One pass, of which the meter counts what is to be counted; how many callbacks ran."""

_Result = TypeVar("_Result")


class PostgresPeer:
    distributions: tuple[str, ...] = ()
    due_max = 1_000

    def __init__(self, directory: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = PostgresServer()

    @abstractmethod
    def fires(self, url: str, due: int) -> Fire:
        """Make a database ready for passes of so many periods."""

    def close(self) -> None:
        self._server.close()
        self._loop.close()

    def job(self, cell: Cell) -> Job:
        if cell.is_cold or cell.area is not Area.FIRE:
            raise Unsupported("only its fires are measured")
        url, due = self._server.database(), min(cell.due, self.due_max)
        fire = self.fires(url, due)
        meter, facts = Meter(), dict[str, float]()

        def run() -> None:
            self._server.vacuum(url)
            called = fire(meter)
            assert called == due, f"{called} of {due} callbacks ran"
            facts["processor us"] = round(meter.processor_ns / due / 1000, 2)

        return Job(run=run, operations=due, answers=list, facts=facts, clock=meter.read)

    def do(self, work: Coroutine[None, None, _Result]) -> _Result:
        return self._loop.run_until_complete(work)
