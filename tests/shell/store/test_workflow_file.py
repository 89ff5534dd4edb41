"""A file of workflows: one owner, commands beside it, and no other file taken for it."""

import asyncio
from pathlib import Path

import pytest

from gnomon.errors import StoreError, StoreHeldError
from gnomon.shell.store.database import Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, event, new, sheet


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
