"""What a worker writes into its log while its store is away: little, whatever is looked at."""

import asyncio
import logging
from collections import Counter
from typing import cast

import pytest

from gnomon.apps.service.worker import ServiceWorker
from gnomon.ports import Ledger
from tests.apps.service.http.test_store_down import Switch
from tests.apps.service.stage import Stage
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually

LINES_MAX, WAIT_MAX_S = 10, 30
"""The waits between equal lines about an outage grow from little to half a minute."""


@clause("SERVICE-66")
@pytest.mark.parametrize("seconds", [1, 166, 900])
def test_an_outage_is_no_line_for_each_tick(seconds: int, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        stage = await Stage.open()
        switch = Switch(stage.ledger)
        worker = ServiceWorker(
            cast("Ledger", switch), stage.executor, stage.dags, stage.clock, "w",
            stage.settings, stage.events, stage.counters,
        )  # fmt: skip
        await stage.upsert(start_by="10s")
        running = asyncio.create_task(worker.run())
        await stage.wait_until("00:00:10")
        switch.is_off = True
        await stage.clock.sleep_ms(seconds * 1_000)
        switch.is_off = False
        await stage.clock.sleep_ms(60_000)
        await worker.stop(0)
        await running

    caplog.set_level(logging.INFO, "gnomon.runtime")
    run_virtually(scenario())

    lines = Counter(record.getMessage().partition(":")[0] for record in caplog.records)
    about = {line: count for line, count in lines.items() if not line.startswith("run.")}
    assert max(about.values()) <= LINES_MAX + seconds // WAIT_MAX_S, about
    assert about["expectations could not be looked at"] == 1
    assert about["expectations are looked at again"] == 1
    assert about["the ledger answers again"] == 1
