"""A file of workflows: one owner, commands beside it, and no other file taken for it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gnomon.errors import StoreError, StoreHeldError
from gnomon.shell.store.database import APPLICATION_ID, Database
from gnomon.shell.store.queries import migrations
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, event, new, sheet

FIRST = """
INSERT INTO workflows VALUES ('orders', '', 'UTC', 'active', 1, 1, 0, 0, '', 0, 1, NULL, 0, NULL, 0,
  '2026-03-01T00:00:00.000Z');
INSERT INTO handlers VALUES ('orders', 'sheet', 'consumer', 1, '', '["orders"]', '[]', NULL, NULL,
  'null');
INSERT INTO events VALUES ('orders', 'orders', 'o1', '1', 'consumed', 1, 1, 1, 7, NULL, '[]',
  '2026-03-01T00:00:00.000Z');
"""


@clause("WLOG-9")
def test_a_file_has_one_owner_and_others_can_give_commands_beside_it(tmp_path: Path) -> None:
    path = str(tmp_path / "workflows.sqlite3")

    async def scenario() -> None:
        owner = await SqliteWorkflowLog.open(path, to_hold=True)
        await owner.commit(new(sheet()), seen=0)
        with pytest.raises(StoreHeldError):
            await SqliteWorkflowLog.open(path, to_hold=True)
        other = await SqliteWorkflowLog.open(path)
        assert await other.publish("orders", [event("o1")], now_ms=NOW) == 1
        await other.close()
        facts = await owner.load("orders")
        assert facts is not None
        assert facts.pending["orders"].size == 1
        await owner.close()
        again = await SqliteWorkflowLog.open(path, to_hold=True)
        await again.close()

    asyncio.run(scenario())


@clause("WLOG-9")
def test_a_file_of_another_kind_is_refused_and_not_held(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.sqlite3")
    Database(path, family="journal").close()

    async def scenario() -> None:
        for _ in range(2):
            with pytest.raises(StoreError, match="holds no workflow"):
                await SqliteWorkflowLog.open(path, to_hold=True)

    asyncio.run(scenario())


@clause("WLOG-1")
def test_a_file_of_the_first_schema_keeps_its_events_and_gets_the_newest(tmp_path: Path) -> None:
    path = str(tmp_path / "workflows.sqlite3")
    connection = sqlite3.connect(path)
    connection.executescript(migrations("workflow")[0] + FIRST)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()

    async def scenario() -> None:
        log = await SqliteWorkflowLog.open(path)
        facts = await log.load("orders")
        assert facts is not None
        assert facts.handler("sheet").ran_ms is None
        assert await log.take(holder="me") == {"orders": 1}
        for published_ms, left in ((NOW, ["o1"]), (NOW + 1, [])):
            await log.forget(
                "orders",
                fence=1,
                ended_ms=NOW,
                published_ms=published_ms,
                after=0,
                limit=10,
                newest=100,
            )
            assert [one.id for one in await log.events("orders", limit=10)] == left
        await log.close()

    asyncio.run(scenario())
