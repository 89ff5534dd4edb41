"""The clock of the machine is set, to the time that it has, and the listener is told."""

import asyncio
import time

import pytest

from gnomon.shell.clock_change import told_of_clock_changes
from tests.clauses import clause


def set_clock_to_itself() -> None:
    try:
        time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_REALTIME))
    except PermissionError:
        pytest.skip("the clock may not be set here")


@clause("RUN-15")
def test_a_listener_is_told_each_time() -> None:
    async def scenario() -> int:
        told, heard = 0, asyncio.Event()

        def tell() -> None:
            nonlocal told
            told += 1
            heard.set()

        with told_of_clock_changes(tell) as works:
            assert works
            for _ in range(2):
                heard.clear()
                set_clock_to_itself()
                await heard.wait()
        return told

    assert asyncio.run(scenario()) == 2
