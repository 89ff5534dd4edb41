"""The ledger on PostgreSQL: workers are told what others changed, and say that they are there."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from gnomon.ports import Ended, Failed, Report
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.postgres.announcement import announce, events_channel
from gnomon.shell.store.postgres.examination import examine_shared
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.postgres.listener import BACKOFF_MS, listen
from gnomon.shell.store.postgres.pool import PoolOptions
from gnomon.shell.store.postgres.presence import SILENT_MS, Presence, workers
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play

Act = Callable[[PostgresLedger], Awaitable[object]]


async def report_one(ledger: PostgresLedger, name: str, *, fails: bool) -> object:
    """A run of this schedule ends, or could not be started."""
    (row,) = [row for row in await ledger.runs(name) if row.lease_ms is not None]
    report: Report = Ended(row.key, row.fence, True, "")
    if fails:
        report = Failed(row.key, row.fence, "no", permanent=False)
    return await ledger.report([report], now_ms=at("00:02:10"))


ACTS: dict[str, Act] = {
    "saving": lambda ledger: ledger.save(minutely("new"), now_ms=at("00:02:10")),
    "resuming": lambda ledger: ledger.resume("queue", now_ms=at("00:02:10")),
    "a queue that moves on": lambda ledger: report_one(ledger, "queue", fails=False),
    "a launch tried again": lambda ledger: report_one(ledger, "allow", fails=True),
}


async def two_schedules(fleet: Fleet) -> PostgresLedger:
    """One with a run in flight and a queue, one with a run in flight."""
    ledger = await fleet.open()
    once = {"cron_expr": None, "once": "2026-03-01T00:02:00Z", "lease": "1h"}
    queue = minutely("queue", overlap_policy="queue", lease="1h")
    await ledger.save_all([queue, minutely("allow", **once)], now_ms=at("00:00:30"))
    for now in ("00:01:00", "00:02:00"):
        await commit_at(ledger, await plan_at(ledger, now), now)
    return ledger


@clause("PG-7")
@pytest.mark.parametrize("act", sorted(ACTS))
def test_what_changes_when_to_look_wakes_the_others(
    common_database: str, schema: str, act: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await two_schedules(fleet)
        woken = asyncio.Event()
        listening = asyncio.create_task(
            listen(common_database, ledger.sql.channel, woken.set, SystemClock())
        )
        await woken.wait()  # it listens
        woken.clear()

        await ACTS[act](ledger)
        await woken.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    play(common_database, schema, scenario)


@clause("PG-7")
def test_a_listener_whose_connection_broke_listens_again_and_wakes(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        woken = asyncio.Event()
        listening = asyncio.create_task(
            listen(common_database, ledger.sql.channel, woken.set, SystemClock())
        )
        await woken.wait()
        beside = await fleet.beside()
        for _ in range(2):
            woken.clear()
            await beside.fetch(_END_LISTENERS, f'LISTEN "{ledger.sql.channel}"')
            await woken.wait()
        woken.clear()
        while not woken.is_set():
            await ledger.save(minutely(), now_ms=at("00:00:30"))
            await ledger.delete("report", now_ms=at("00:00:30"))
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    play(common_database, schema, scenario)


class MendingClock(SystemClock):
    """Mends what was wrong while the listener waits to try again."""

    def __init__(self, mend: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._mend = mend

    async def sleep_ms(self, length_ms: int) -> None:
        if length_ms == BACKOFF_MS:
            await self._mend()
        else:
            await super().sleep_ms(length_ms)


@clause("PG-7")
def test_a_listener_says_that_it_does_not_listen_and_that_it_does_again(
    common_database: str, schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(fleet: Fleet) -> None:
        beside, woken = await fleet.beside(), asyncio.Event()
        role = f"listener_{fleet.schema}"
        await beside.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 0")
        clock = MendingClock(lambda: beside.execute(f"ALTER ROLE {role} CONNECTION LIMIT -1"))
        address = common_database.replace("postgres@", f"{role}@")
        listening = asyncio.create_task(listen(address, "x", woken.set, clock))
        await woken.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    with caplog.at_level(logging.INFO, "gnomon.runtime"):
        play(common_database, schema, scenario)

    late, again = caplog.messages
    assert late.startswith("no connection listens; what others change is noticed late: error=")
    assert again == "listening again: failures=1"


_END_LISTENERS = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query = $1"


@clause("PG-12")
def test_behind_a_pooler_no_connection_listens(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        await listen(common_database, "x", pytest.fail, SystemClock(), PoolOptions(pooler=True))

    play(common_database, schema, scenario)


@clause("PG-14")
def test_a_worker_says_that_it_is_there_and_how_it_is_doing(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        anna = Presence(ledger.pool, ledger.sql, SystemClock(), owner="anna:1", host="anna", pid=7)
        await anna.beat("running", holding=3, counters={"ends": 5})
        await anna.beat("draining", holding=1, counters={"ends": 7})

        (row,) = await workers(ledger.pool, ledger.sql)
        assert (row.owner, row.host, row.pid, row.state) == ("anna:1", "anna", 7, "draining")
        assert (row.holding, row.counters, row.is_silent) == (1, {"ends": 7}, False)
        assert row.started_ms <= row.seen_ms

    play(common_database, schema, scenario)


class Wrong(SystemClock):
    """Five seconds behind, and each look at it takes as long as the test says."""

    def __init__(self, takes_ms: int) -> None:
        self._takes_ms, self._passed_ms = takes_ms, 0

    def now_ms(self) -> int:
        return super().now_ms() - 5_000

    def monotonic_ms(self) -> int:
        self._passed_ms += self._takes_ms
        return self._passed_ms


@clause("PG-14")
@pytest.mark.parametrize(("takes_ms", "is_seen"), [(1, True), (501, False)])
def test_a_wrong_clock_is_seen_but_not_in_an_answer_that_took_long(
    common_database: str, schema: str, takes_ms: int, is_seen: bool
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        clock = Wrong(takes_ms)
        anna = Presence(ledger.pool, ledger.sql, clock, owner="anna:1", host="anna", pid=7)
        await anna.beat("running", holding=0, counters={})

        (row,) = await workers(ledger.pool, ledger.sql)
        assert (row.ahead_ms < -2_000) == is_seen

    play(common_database, schema, scenario)


@clause("PG-14")
def test_who_has_fallen_silent_is_told_from_who_has_stopped(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        for name, state in (("anna", "running"), ("boris", "stopped")):
            presence = Presence(
                ledger.pool, ledger.sql, SystemClock(), owner=name, host=name, pid=1
            )
            await presence.beat(state, holding=0, counters={})
        await (await fleet.beside()).execute(
            f"UPDATE workers SET seen_at = now() - interval '{SILENT_MS + 1} ms'"
        )

        rows = await workers(ledger.pool, ledger.sql)
        assert {row.owner: row.is_silent for row in rows} == {"anna": True, "boris": False}

    play(common_database, schema, scenario)


@clause("PG-14")
def test_workers_that_have_been_silent_for_long_are_forgotten(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        for name in ("anna", "boris"):
            presence = Presence(
                ledger.pool, ledger.sql, SystemClock(), owner=name, host=name, pid=1
            )
            await presence.beat("running", holding=0, counters={})
        await (await fleet.beside()).execute(
            "UPDATE workers SET seen_at = now() - interval '2 h' WHERE owner = 'anna'"
        )
        await presence.forget_others()

        assert [row.owner for row in await workers(ledger.pool, ledger.sql)] == ["boris"]

    play(common_database, schema, scenario)


@clause("PG-14", "CLI-40")
def test_a_silent_worker_is_not_forgotten_while_runs_are_under_its_name(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(lease_time=LeaseTime.DATABASE)
        await ledger.save(minutely("s000", lease="3h"), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        for name in ("anna", "boris"):
            presence = Presence(
                ledger.pool, ledger.sql, SystemClock(), owner=name, host=name, pid=1
            )
            await presence.beat("running", holding=0, counters={})
        await (await fleet.beside()).execute(
            "UPDATE workers SET seen_at = now() - interval '2 h' WHERE owner = 'anna'"
        )
        await presence.forget_others()
        held = await examine_shared(fleet.url, schema=fleet.schema)
        end = Ended(claim.key, claim.fence, success=True, detail="exit 0")
        await ledger.report([end], now_ms=at("00:01:10"))
        await presence.forget_others()
        over = await examine_shared(fleet.url, schema=fleet.schema)

        assert [one.code for one in held.findings] == ["silent"]
        assert [one.owner for one in over.workers or []] == ["boris"]

    play(common_database, schema, scenario)


@clause("PG-19")
def test_what_is_announced_is_heard_in_order(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        channel, heard, enough = events_channel(ledger.sql), list[str](), asyncio.Event()

        def hear(text: str) -> None:
            heard.append(text)
            if len(heard) == 3:
                enough.set()

        listens = asyncio.Event()
        listening = asyncio.create_task(
            listen(common_database, channel, listens.set, SystemClock(), hear=hear)
        )
        await listens.wait()
        await announce(ledger.pool, channel, ["one", "é" * 3_900])
        await announce(ledger.pool, channel, ["three"])
        await enough.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

        assert heard == ["one", "é" * 3_900, "three"]

    play(common_database, schema, scenario)
