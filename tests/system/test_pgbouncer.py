"""Behind a real PgBouncer in transaction mode: what works, and what is said where it cannot."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from gnomon.errors import StoreError
from gnomon.ports import Ended
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.pool import PoolOptions
from tests.acceptance.command_line import gnomon_process
from tests.acceptance.running import EVERY_SECOND, HOURLY, owe, running, write
from tests.clauses import clause
from tests.contract.ledger_desk import at
from tests.postgres.server import Server
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play, save_many
from tests.system.bouncer import Bouncer

BEHIND = PoolOptions(pooler=True)
WORKERS, SCHEDULES = 4, 60


@pytest.fixture
def bouncer() -> Iterator[str]:
    """The address of a database behind PgBouncer."""
    server = Server()
    server.create()
    try:
        with Bouncer(server) as bouncer:
            yield bouncer.url("postgres")
    finally:
        server.remove()


@clause("PG-12", "PG-1", "PG-10")
def test_workers_behind_a_pooler_share_the_work(bouncer: str) -> None:
    async def scenario(fleet: Fleet) -> list[str]:
        workers = await asyncio.gather(*(fleet.open(options=BEHIND) for _ in range(WORKERS)))
        await save_many(workers[0], SCHEDULES, overlap_policy="allow")
        done: list[str] = []
        for minute in ("00:01:00", "00:02:00", "00:03:00"):
            plans = [await plan_at(worker, minute) for worker in workers]
            won = await asyncio.gather(
                *(
                    commit_at(worker, changes, minute, owner=f"w{number}")
                    for number, (worker, changes) in enumerate(zip(workers, plans, strict=True))
                )
            )
            for worker, claims in zip(workers, won, strict=True):
                ends = [Ended(claim.key, claim.fence, True, "") for claim in claims]
                assert all(await worker.report(ends, now_ms=at(minute) + 5000))
                done += [claim.key for claim in claims]
        return done

    done = play(bouncer, "gnomon", scenario)
    assert len(done) == len(set(done)) == 3 * SCHEDULES


@clause("PG-12", "PG-9")
def test_a_caller_that_does_not_say_that_there_is_a_pooler_is_told(bouncer: str) -> None:
    with pytest.raises(StoreError, match="is behind a pooler") as caught:
        asyncio.run(PostgresLedger.open(bouncer))

    assert "with --pooler, in Python with PoolOptions(pooler=True)" in str(caught.value)
    assert not caught.value.transient


@clause("PG-12", "PG-9", "CLI-38")
def test_gnomon_run_that_was_not_told_of_a_pooler_says_how_to_tell_it(
    bouncer: str, tmp_path: Path
) -> None:
    done = gnomon_process("run", str(write(tmp_path, HOURLY)), "--database", bouncer, "--once")

    assert done.code == 2
    assert "is behind a pooler" in done.err
    assert "hint: name the server itself, or say that there is a pooler: with --pooler" in done.err


@clause("PG-12", "CLI-38")
def test_every_command_works_behind_a_pooler_that_it_was_told_of(
    bouncer: str, tmp_path: Path
) -> None:
    file = write(tmp_path, HOURLY)
    asyncio.run(owe(file, hours=2))
    there = ("--database", bouncer, "--schema", "books", "--pooler")

    assert gnomon_process("run", str(file), "--once").code == 0
    moved = gnomon_process("migrate-store", str(file.with_suffix(".sqlite3")), bouncer, *there[2:])
    assert (moved.code, moved.out[:19]) == (0, "Moved: 1 schedules,"), moved.err
    ran = gnomon_process("run", str(file), *there, "--once")
    assert ran.code == 0, ran.err
    history = gnomon_process("history", *there, "hourly", "--json")
    runs = history.json["runs"]
    assert isinstance(runs, list)
    assert [run["status"] for run in runs] == ["SUCCESS", "SUCCESS"]
    doctor = gnomon_process("doctor", *there)
    assert (doctor.code, ": stopped, 0 runs in hand" in doctor.out) == (0, True), doctor.out


@clause("PG-12", "CLI-37", "METRICS-8")
def test_workers_behind_a_pooler_tell_of_each_other(bouncer: str, tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    options = ("--database", bouncer, "--pooler", "--metrics", "0")
    with running(file, *options) as first, running(file, *options) as second:
        url = str(first.until("metrics")["url"])
        second.until("metrics")
        text, is_running = "", re.compile(r'state="running",worker="[^"]+"} 1[.]0\n')
        while len(is_running.findall(text)) < 2:  # until the second has spoken
            text = httpx2.get(url, trust_env=False).text

    assert "gnomon_ledger_up 1.0\n" in text
