"""A host whose store is removed under it leaves its block, whatever it was doing."""

import asyncio
from pathlib import Path

import pytest

from gnomon.apps.workflow.context import Context
from gnomon.errors import StoreGoneError
from gnomon.workflow import Workflow, host
from tests.acceptance.command_line import gnomon
from tests.clauses import clause


@clause("RUN-16")
def test_a_host_that_looks_finds_its_store_gone(tmp_path: Path) -> None:
    store = tmp_path / "store"

    async def serve() -> None:
        async with host(str(store)) as running:
            store.unlink()
            running.look()
            await asyncio.Event().wait()

    with pytest.raises(StoreGoneError, match="was removed while this process used it"):
        asyncio.run(serve())
    assert not store.exists()


@clause("RUN-16")
def test_a_handler_whose_store_goes_is_called_once(tmp_path: Path) -> None:
    store, called = tmp_path / "store", []
    orders = Workflow("orders")

    @orders.producer("fetch", interval="1h", publishes=["orders"])
    def fetch(ctx: Context, state: object) -> None:
        called.append(1)
        store.unlink()

    async def serve() -> None:
        async with host(str(store), orders) as running:
            await running.commands.run_now("orders")
            await asyncio.Event().wait()

    with pytest.raises(StoreGoneError):
        asyncio.run(serve())
    assert called == [1]


@clause("RUN-16")
def test_an_error_of_the_block_is_its_own(tmp_path: Path) -> None:
    async def serve() -> None:
        async with host(str(tmp_path / "store")):
            raise TimeoutError("of the block")

    with pytest.raises(TimeoutError, match="of the block"):
        asyncio.run(serve())


@clause("WCLI-4")
@pytest.mark.parametrize(
    "command",
    [
        ["status"], ["pause", "orders"], ["resume", "orders"], ["run-now", "orders"],
        ["publish", "orders", "orders", "o1"], ["approve", "orders"], ["runs", "orders"],
    ],
)  # fmt: skip
def test_no_command_but_deploy_makes_a_store(command: list[str], tmp_path: Path) -> None:
    store = tmp_path / "store"

    done = gnomon("workflow", *command, "--store", str(store))

    assert done.code == 1
    assert "must be a file of workflows" in done.err
    assert list(tmp_path.iterdir()) == []
