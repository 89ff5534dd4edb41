"""The heartbeats of a real database as figures, and a database that does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.shell.clock import SystemClock
from gnomon.shell.observe.exposition import render_families
from gnomon.shell.observe.heartbeats import Heartbeats
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import Presence
from tests.clauses import clause
from tests.shell.store.postgres.fleet import Fleet, play

SOCKET = ".s.PGSQL.5432"


@clause("METRICS-8")
def test_every_worker_of_the_database_is_told(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> str:
        ledger = await fleet.open()
        for name, state in (("anna", "running"), ("boris", "draining")):
            presence = Presence(
                ledger.pool, ledger.sql, SystemClock(), owner=name, host=f"{name}.lan", pid=1
            )
            await presence.beat(state, holding=len(name), counters={})
        return render_families(await Heartbeats(ledger).families())

    lines = play(common_database, schema, scenario).splitlines()

    assert "gnomon_ledger_up 1" in lines
    assert 'gnomon_worker_holding{worker="anna",host="anna.lan"} 4' in lines
    assert 'gnomon_worker_holding{worker="boris",host="boris.lan"} 5' in lines
    assert 'gnomon_worker_state{worker="boris",host="boris.lan",state="draining"} 1' in lines


@clause("METRICS-8")
def test_a_database_that_does_not_answer_soon_is_not_waited_for(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> tuple[str, str]:
        ledger = await fleet.open()
        beside = await fleet.beside()
        heartbeats = Heartbeats(ledger, patience_s=0.1)
        async with beside.transaction():
            await beside.execute("LOCK TABLE workers IN ACCESS EXCLUSIVE MODE")
            stuck = render_families(await heartbeats.families())
        patient = Heartbeats(ledger)
        return stuck, render_families(await patient.families())

    stuck, free = play(common_database, schema, scenario)

    assert ("gnomon_ledger_up 0\n" in stuck, "gnomon_ledger_up 1\n" in free) == (True, True)


@clause("METRICS-8")
def test_a_server_that_is_frozen_is_not_waited_for_even_to_take_the_question_back(
    common_database: str, schema: str, tmp_path: Path
) -> None:
    async def story() -> list[str]:
        url, directory = common_database.split("host=")
        flowing = asyncio.Event()
        flowing.set()
        async with relay(Path(directory), tmp_path, flowing):
            ledger = await PostgresLedger.open(f"{url}host={tmp_path}", schema=schema)
            heartbeats = Heartbeats(ledger, patience_s=0.1)
            flowing.clear()
            pages = [render_families(await heartbeats.families()) for _ in range(2)]
            flowing.set()
            pages.append(render_families(await Heartbeats(ledger).families()))
            await ledger.close()
        return [page.splitlines()[2] for page in pages]

    assert asyncio.run(story()) == [
        "gnomon_ledger_up 0", "gnomon_ledger_up 0", "gnomon_ledger_up 1",
    ]  # fmt: skip


@asynccontextmanager
async def relay(server: Path, here: Path, flowing: asyncio.Event) -> AsyncIterator[None]:
    """The socket of a server under another path, where nothing passes unless it flows."""
    pumps: list[asyncio.Task[None]] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while some := await reader.read(65_536):
            await flowing.wait()
            writer.write(some)
        writer.close()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_unix_connection(str(server / SOCKET))
        pumps.append(asyncio.create_task(pump(reader, there[1])))
        pumps.append(asyncio.create_task(pump(there[0], writer)))

    listening = await asyncio.start_unix_server(join, path=str(here / SOCKET))
    try:
        yield
    finally:
        listening.close()
        await asyncio.gather(*pumps)


@clause("METRICS-8")
def test_a_database_that_is_gone_is_a_figure_and_no_error(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> str:
        ledger = await fleet.open()
        ledger.pool.terminate()
        return render_families(await Heartbeats(ledger).families())

    assert "gnomon_ledger_up 0\n" in play(common_database, schema, scenario)
