"""Who waits for changes of the clock hears of nothing else, and leaves nothing behind."""

import asyncio
import os

from gnomon.shell.clock_change import told_of_clock_changes
from tests.clauses import clause


@clause("RUN-15")
def test_a_clock_that_no_process_sets_is_not_told_of() -> None:
    async def scenario() -> tuple[bool, int, int]:
        told: list[None] = []
        before = len(os.listdir("/proc/self/fd"))
        with told_of_clock_changes(lambda: told.append(None)) as works:
            for _ in range(3):
                await asyncio.sleep(0)
        return works, len(told), len(os.listdir("/proc/self/fd")) - before

    assert asyncio.run(scenario()) == (True, 0, 0)
