"""
A worker of a fleet: `python -m benchmarks.ledger.engines.gnomon_worker URL NAME`.

It reads an hour from standard input, in milliseconds, and works from then on as if that hour had
just struck. A line of its own says that it is ready, and one for each batch of ends how many were
written, and how many runs it has ever started. At the end of the input it stops.
"""

import asyncio
import logging
import sys
from collections.abc import Sequence

from benchmarks.ledger.engines.gnomon_runs import MovableClock, nothing
from benchmarks.ledger.population import BEGINS_MS
from gnomon.ports import Ended, Report
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.worker.runtime import Runtime
from tests.stand_ins.function_launcher import FunctionLauncher


class _TellingLedger(PostgresLedger):
    """Says how many ends were written."""

    telemetry: Telemetry

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        accepted = await super().report(reports, now_ms=now_ms)
        answers = zip(reports, accepted, strict=True)
        ends = sum(written and type(report) is Ended for report, written in answers)
        print(ends, self.telemetry.launches, flush=True)
        return accepted


async def work(url: str, name: str) -> None:
    ledger = await _TellingLedger.open(url)
    ledger.telemetry = Telemetry()
    clock = MovableClock()
    clock.move_to(BEGINS_MS)
    launcher = FunctionLauncher({"nothing": nothing}, clock)
    runtime = Runtime(ledger, launcher, clock, name, telemetry=ledger.telemetry)
    running = asyncio.create_task(runtime.run())
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        clock.move_to(int(line))
        runtime.wake()
    await runtime.stop(1000)
    await running
    await ledger.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(work(sys.argv[1], sys.argv[2]))
