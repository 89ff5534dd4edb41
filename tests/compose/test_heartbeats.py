"""The heartbeats of a real database as figures, and a database that does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.compose.heartbeats import GOODBYE_MS, Heartbeats, worker_families
from gnomon.shell.clock import SystemClock
from gnomon.shell.observe.prometheus import page_text
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import SILENT_MS, Presence, WorkerRow
from tests.clauses import clause
from tests.shell.store.postgres.fleet import Fleet, play

SOCKET = ".s.PGSQL.5432"


def worker(
    owner: str = "anna:7:1", *, state: str = "running", silent_ms: int = 1_500, ahead_ms: int = 0
) -> WorkerRow:
    return WorkerRow(
        owner=owner, host="anna", pid=7, state=state, started_ms=1_000, seen_ms=9_000,
        ahead_ms=ahead_ms, holding=3, counters={}, silent_ms=silent_ms,
    )  # fmt: skip


def lines(*workers: WorkerRow) -> list[str]:
    return page_text(worker_families(workers)).splitlines()


@clause("METRICS-8")
def test_a_worker_is_told_with_its_age_its_state_and_what_it_holds() -> None:
    found = lines(worker(ahead_ms=-250))

    who = 'host="anna",worker="anna:7:1"'
    for line in (
        "gnomon_ledger_up 1.0",
        f"gnomon_worker_heartbeat_age_seconds{{{who}}} 1.5",
        'gnomon_worker_state{host="anna",state="running",worker="anna:7:1"} 1.0',
        'gnomon_worker_state{host="anna",state="draining",worker="anna:7:1"} 0.0',
        'gnomon_worker_state{host="anna",state="stopped",worker="anna:7:1"} 0.0',
        'gnomon_worker_state{host="anna",state="silent",worker="anna:7:1"} 0.0',
        f"gnomon_worker_holding{{{who}}} 3.0",
        f"gnomon_worker_clock_ahead_seconds{{{who}}} -0.25",
        f"gnomon_worker_start_time_seconds{{{who}}} 1.0",
    ):
        assert line in found


@clause("METRICS-8")
def test_who_has_not_been_heard_of_for_long_is_silent_and_nothing_else() -> None:
    found = lines(worker(state="draining", silent_ms=SILENT_MS + 1))

    states = [line for line in found if line.startswith("gnomon_worker_state{")]
    assert [line.partition("state=")[2] for line in states] == [
        '"running",worker="anna:7:1"} 0.0', '"draining",worker="anna:7:1"} 0.0',
        '"stopped",worker="anna:7:1"} 0.0', '"silent",worker="anna:7:1"} 1.0',
    ]  # fmt: skip


@clause("METRICS-8")
def test_who_said_good_bye_is_shown_for_five_minutes() -> None:
    just_now = worker("anna", state="stopped", silent_ms=GOODBYE_MS)
    long_ago = worker("boris", state="stopped", silent_ms=GOODBYE_MS + 1)

    found = "\n".join(lines(just_now, long_ago))

    assert 'gnomon_worker_state{host="anna",state="stopped",worker="anna"} 1.0' in found
    assert "boris" not in found


@clause("METRICS-8")
def test_workers_that_cannot_be_read_leave_a_figure_that_says_so() -> None:
    assert page_text(worker_families(None)) == (
        "# HELP gnomon_ledger_up Whether the database answered when it was asked just now.\n"
        "# TYPE gnomon_ledger_up gauge\n"
        "gnomon_ledger_up 0.0\n"
    )


@clause("METRICS-8")
def test_every_worker_of_the_database_is_told(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> str:
        ledger = await fleet.open()
        for name, state in (("anna", "running"), ("boris", "draining")):
            presence = Presence(
                ledger.pool, ledger.sql, SystemClock(), owner=name, host=f"{name}.lan", pid=1
            )
            await presence.beat(state, holding=len(name), counters={})
        return page_text(await Heartbeats(ledger).families())

    lines = play(common_database, schema, scenario).splitlines()

    assert "gnomon_ledger_up 1.0" in lines
    assert 'gnomon_worker_holding{host="anna.lan",worker="anna"} 4.0' in lines
    assert 'gnomon_worker_holding{host="boris.lan",worker="boris"} 5.0' in lines
    assert 'gnomon_worker_state{host="boris.lan",state="draining",worker="boris"} 1.0' in lines


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
            stuck = page_text(await heartbeats.families())
        patient = Heartbeats(ledger)
        return stuck, page_text(await patient.families())

    stuck, free = play(common_database, schema, scenario)

    assert ("gnomon_ledger_up 0.0\n" in stuck, "gnomon_ledger_up 1.0\n" in free) == (True, True)


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
            pages = [page_text(await heartbeats.families()) for _ in range(2)]
            flowing.set()
            pages.append(page_text(await Heartbeats(ledger).families()))
            await ledger.close()
        return [page.splitlines()[2] for page in pages]

    assert asyncio.run(story()) == [
        "gnomon_ledger_up 0.0", "gnomon_ledger_up 0.0", "gnomon_ledger_up 1.0",
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
        return page_text(await Heartbeats(ledger).families())

    assert "gnomon_ledger_up 0.0\n" in play(common_database, schema, scenario)
