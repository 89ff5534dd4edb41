"""
DBOS: durable workflows on PostgreSQL. A workflow that does nothing is started for each period, with
an id of its own, and its result waited for.

Its scheduler starts one workflow at a time in the same way, after sleeping until it is due.
"""

import itertools

from dbos import DBOS, SetWorkflowID

from benchmarks.harness.meter import Meter
from benchmarks.ledger.engines.peer import Fire, PostgresPeer

__all__ = ["DbosEngine"]


class DbosEngine(PostgresPeer):
    distributions = ("dbos", "SQLAlchemy", "psycopg")
    due_max = 200

    def fires(self, url: str, due: int) -> Fire:
        address = url.replace("postgresql://", "postgresql+psycopg://", 1)
        DBOS(config={"name": "bench", "system_database_url": address, "log_level": "WARNING"})
        called = itertools.count()

        @DBOS.workflow()  # type: ignore[untyped-decorator]
        def nothing() -> None:
            next(called)

        DBOS.launch()
        hours = itertools.count()

        def fire(meter: Meter) -> int:
            before, hour = next(called), next(hours)
            with meter.running():
                handles = []
                for number in range(due):
                    with SetWorkflowID(f"hourly-{number:04d}:{hour}"):
                        handles.append(DBOS.start_workflow(nothing))
                for handle in handles:
                    handle.get_result()
            return next(called) - before - 1

        return fire

    def close(self) -> None:
        DBOS.destroy()
        super().close()
