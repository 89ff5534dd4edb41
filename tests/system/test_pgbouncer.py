"""Behind a real PgBouncer in transaction mode: what works, and what is said where it cannot."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.errors import StoreError
from gnomon.ports import Ended
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.pool import PoolOptions
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
def test_who_does_not_say_that_there_is_a_pooler_is_told(bouncer: str) -> None:
    with pytest.raises(StoreError, match="is behind a pooler") as caught:
        asyncio.run(PostgresLedger.open(bouncer))

    assert "PoolOptions(pooler=True)" in str(caught.value)
    assert not caught.value.transient


@clause("PG-12", "PG-9")
def test_gnomon_run_says_that_it_wants_the_server_itself(bouncer: str, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('[[schedule]]\nname = "a"\nevery = "1s"\nshell = "exit"\n')
    done = subprocess.run(
        [sys.executable, "-m", "gnomon", "run", str(file), "--database", bouncer, "--once"],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert done.returncode == 2
    assert "is behind a pooler" in done.stderr
    assert "name the server itself" in done.stderr
