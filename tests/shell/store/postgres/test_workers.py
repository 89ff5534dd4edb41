"""The ledger on PostgreSQL: many workers at once, rows that others have, and whose clock counts."""

import asyncio

import asyncpg
import pytest

from gnomon.core.ledger.lifecycle import State
from gnomon.errors import StoreError
from gnomon.ports import Claim, Ended, Held, Renewal
from gnomon.shell.store.postgres.ledger import LeaseTime
from gnomon.shell.store.postgres.pool import PoolOptions
from gnomon.shell.store.postgres.statement import Statements
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play, save_many


class HeldUp(Statements):
    """Claiming waits for a lock after it has begun."""

    def __getitem__(self, name: str) -> str:
        first = "FROM unnest(\n    string_to_array($1"
        held = "FROM (SELECT pg_advisory_xact_lock(77) OFFSET 0) held CROSS JOIN"
        text = super().__getitem__(name)
        return text.replace(first, first.replace("FROM", held)) if name == "claim_free" else text


async def one_claim(fleet: Fleet, **more: object) -> Claim:
    ledger = await fleet.open()
    await ledger.save(minutely("report", **more), now_ms=at("00:00:30"))
    (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
    return claim


@clause("PG-1", "LEDGER-4")
def test_of_many_workers_exactly_one_wins_each_period(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        workers = [await fleet.open() for _ in range(4)]
        await save_many(workers[0], 50)
        plans = [await plan_at(worker, "00:01:00") for worker in workers]

        won = await asyncio.gather(
            *(
                commit_at(worker, changes, "00:01:00", owner=f"w{number}")
                for number, (worker, changes) in enumerate(zip(workers, plans, strict=True))
            )
        )

        keys = [claim.key for claims in won for claim in claims]
        assert len(set(keys)) == len(keys)
        left = await commit_at(workers[0], await plan_at(workers[0], "00:01:00"), "00:01:00")
        assert len(keys) + len(left) == 50

    play(common_database, schema, scenario)


@clause("PG-1", "LEDGER-4")
def test_nothing_is_claimed_of_a_schedule_that_changes_its_place_meanwhile(
    common_database: str, schema: str
) -> None:
    """Retention writes to a schedule and gives it no new version; the statement is held up here."""

    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await save_many(ledger, 2)
        changes = await plan_at(ledger, "00:01:00")
        other = await fleet.beside()
        await other.execute("SELECT pg_advisory_lock(77)")
        usual, ledger.sql = ledger.sql, HeldUp(schema)
        committing = asyncio.create_task(commit_at(ledger, changes, "00:01:00"))
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not await other.fetchval(waits):
            pass
        await other.execute("UPDATE schedules SET floor_at = now() WHERE schedule_id = 's001'")
        await other.execute("SELECT pg_advisory_unlock(77)")
        claims = await committing
        ledger.sql = usual

        assert [claim.schedule.schedule_id for claim in claims] == ["s000"]
        later = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        assert [claim.schedule.schedule_id for claim in later] == ["s001"]

    play(common_database, schema, scenario)


@clause("PG-1")
def test_a_commit_does_not_wait_for_a_schedule_that_another_has(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await save_many(ledger, 3)
        changes = await plan_at(ledger, "00:01:00")
        other = await fleet.beside()
        async with other.transaction():
            await other.execute("SELECT * FROM schedules WHERE schedule_id = 's001' FOR UPDATE")
            claims = await commit_at(ledger, changes, "00:01:00")

        assert [claim.schedule.schedule_id for claim in claims] == ["s000", "s002"]
        again = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        assert [claim.schedule.schedule_id for claim in again] == ["s001"]

    play(common_database, schema, scenario)


@clause("PG-2")
def test_workers_that_lose_to_each_other_come_to_take_different_schedules(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> list[list[int]]:
        workers = {name: await fleet.open() for name in ("anna", "boris", "carla")}
        await save_many(workers["anna"], 400)
        rounds = []
        for _ in range(8):
            plans = {
                name: await plan_at(one, "00:01:00", limit=10) for name, one in workers.items()
            }
            won = [
                len(await commit_at(workers[name], changes, "00:01:00", owner=name))
                for name, changes in plans.items()
            ]
            rounds.append(won)
        return rounds

    rounds = play(common_database, schema, scenario)
    assert rounds[0] == [10, 0, 0]
    assert [10, 10, 10] in rounds


@clause("PG-2")
def test_what_lies_in_no_workers_lane_is_taken_by_any_worker_that_looks(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> int:
        anna, boris = await fleet.open(), await fleet.open()
        await save_many(anna, 60)
        stale = await plan_at(boris, "00:01:00", limit=20)
        won = len(await commit_at(anna, await plan_at(anna, "00:01:00", limit=20), "00:01:00"))
        assert await commit_at(boris, stale, "00:01:00", owner="boris") == []
        for _ in range(9):  # alone from here on, with a lane to begin with
            changes = await plan_at(boris, "00:01:00", limit=20)
            won += len(await commit_at(boris, changes, "00:01:00", owner="boris"))
        return won

    assert play(common_database, schema, scenario) == 60


@clause("PG-3", "LEDGER-7")
def test_a_report_that_waits_for_a_takeover_is_refused(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        claim = await one_claim(fleet)
        ledger, other = await fleet.open(), await fleet.beside()
        async with other.transaction():
            await other.execute("UPDATE schedule_runs SET fence = 2, owner = 'boris'")
            report = asyncio.create_task(
                ledger.report([Ended(claim.key, 1, True, "")], now_ms=at("00:01:10"))
            )
            await fleet.waits_for_a_lock(report)

        assert await report == [False]
        (row,) = await ledger.runs("report")
        assert (row.state, row.fence, row.owner) == (State.CLAIMED, 2, "boris")

    play(common_database, schema, scenario)


@clause("PG-3", "LEDGER-7")
def test_an_end_that_waits_for_a_renewal_is_written(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        claim = await one_claim(fleet)
        ledger, other = await fleet.open(), await fleet.beside()
        async with other.transaction():
            await other.execute("UPDATE schedule_runs SET lease_until = now() + '1 hour'")
            report = asyncio.create_task(
                ledger.report([Ended(claim.key, 1, True, "fine")], now_ms=at("00:01:10"))
            )
            await fleet.waits_for_a_lock(report)

        assert await report == [True]
        (row,) = await ledger.runs("report")
        assert (row.state, row.detail) == (State.DONE, "fine")

    play(common_database, schema, scenario)


@clause("PG-3", "LEDGER-9")
def test_a_period_that_joins_the_queue_while_the_run_ends_is_woken(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        claim = await one_claim(fleet, overlap_policy="queue", lease="1h", cron_expr="1,2 * * * *")
        ledger, other = await fleet.open(), await fleet.beside()
        async with other.transaction():
            await other.execute("SELECT * FROM schedules FOR UPDATE")
            report = asyncio.create_task(
                ledger.report([Ended(claim.key, 1, True, "")], now_ms=at("00:02:05"))
            )
            await fleet.waits_for_a_lock(report)
            await other.execute(
                "INSERT INTO schedule_runs (idempotency_key, schedule_id, run_at, created_at,"
                " updated_at, fire_at, state, revision) VALUES ('two', 'report',"
                " '2026-03-01T00:02Z', now(), now(), '2026-03-01T00:02Z', 'queued', 1)"
            )
            await other.execute("UPDATE schedules SET wake_at = '2026-03-01T01:01Z'")

        assert await report == [True]
        assert await ledger.next_wake_ms() == at("00:02:05")

    play(common_database, schema, scenario)


@clause("PG-3", "LEDGER-8")
@pytest.mark.parametrize(
    "write", ["lease_until = '2026-03-01T00:01:40Z'", "state = 'running', outcome = 'executed'"]
)
def test_a_takeover_does_not_wait_for_who_is_writing_about_the_run(
    common_database: str, schema: str, write: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        await one_claim(fleet, lease="10s")
        ledger, other = await fleet.open(), await fleet.beside()
        takeover = await plan_at(ledger, "00:01:30")
        async with other.transaction():
            await other.execute(f"UPDATE schedule_runs SET {write}")
            assert await commit_at(ledger, takeover, "00:01:30", owner="boris") == []

        (row,) = await ledger.runs("report")
        assert (row.owner, row.fence) == ("anna", 1)

    play(common_database, schema, scenario)


@clause("PG-4", "LEDGER-13")
def test_workers_that_save_the_same_at_once_make_one_revision(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        workers = [await fleet.open() for _ in range(4)]
        schedules = [minutely(f"s{number}") for number in range(20)]

        saved = await asyncio.gather(
            *(worker.save_all(schedules, now_ms=at("00:00:30")) for worker in workers)
        )

        assert {one.revision for many in saved for one in many} == {1}
        assert sum(one.changed for many in saved for one in many) == 20

    play(common_database, schema, scenario)


@clause("PG-6")
def test_a_lease_counts_by_the_clock_of_the_database(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(lease_time=LeaseTime.DATABASE)
        await ledger.save(minutely(lease="1m"), now_ms=at("00:00:30"))
        await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        other = await fleet.beside()

        assert await other.fetchval(
            "SELECT lease_until - now() BETWEEN '50 s' AND '60 s' FROM schedule_runs"
        )

    play(common_database, schema, scenario)


@clause("PG-6")
def test_a_worker_whose_clock_is_ahead_takes_nothing_from_the_others(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(lease_time=LeaseTime.DATABASE)
        await ledger.save(minutely(lease="1m"), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")

        (due,) = await ledger.load(now_ms=at("23:59:00"), limit=10)
        assert [run.key for run in due.in_flight] == [claim.key]
        assert due.lost == []
        held = [Held(claim.key, 1)]
        assert await ledger.renew(held, owner="anna", now_ms=at("00:00:00")) == [Renewal.HELD]

        await (await fleet.beside()).execute(
            "UPDATE schedule_runs SET lease_until = now() - interval '1 s'"
        )
        (due,) = await ledger.load(now_ms=at("00:01:01"), limit=10)
        assert [lost.run.key for lost in due.lost] == [claim.key]

    play(common_database, schema, scenario)


@clause("PG-6")
def test_the_end_of_a_lease_is_told_in_the_time_of_the_worker(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(lease_time=LeaseTime.DATABASE)
        once = minutely(lease="1m", cron_expr=None, once="2026-03-01T00:01:00Z")
        await ledger.save(once, now_ms=at("00:00:30"))
        await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.load(now_ms=at("00:01:00"), limit=10)

        wake_ms = await ledger.next_wake_ms()
        assert wake_ms is not None
        assert 50_000 < wake_ms - at("00:01:00") <= 60_001

    play(common_database, schema, scenario)


@clause("PG-13")
def test_a_frozen_transaction_is_ended_with_its_locks(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()  # the schema may take its time
        frozen = await fleet.open(options=PoolOptions(idle_ms=500))
        await ledger.save(minutely(), now_ms=at("00:00:30"))
        await ledger.pause("report", until_ms=None, reason="", now_ms=at("00:00:40"))

        async def freeze() -> None:
            async with frozen.pool.transaction() as connection:
                await connection.execute(f"SELECT * FROM {schema}.schedules FOR UPDATE")
                assert await ledger.resume("report", now_ms=at("00:00:50"))

        with pytest.raises(StoreError, match="closed the connection") as raised:
            await freeze()
        assert raised.value.transient
        assert len(await frozen.schedules()) == 1

    play(common_database, schema, scenario)


@clause("PG-13")
def test_who_waits_for_a_frozen_transaction_waits_longer_than_that_can_last() -> None:
    assert PoolOptions().lock_ms > PoolOptions().idle_ms


@clause("PG-3")
def test_who_has_waited_sees_what_is_new_whatever_the_database_prefers(
    database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        beside = await asyncpg.connect(database)
        name = await beside.fetchval("SELECT current_database()")
        await beside.execute(
            f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = 'serializable'"
        )
        await beside.close()
        ledger = await fleet.open()

        async with ledger.pool.transaction() as connection:
            assert await connection.fetchval("SHOW transaction_isolation") == "read committed"
        async with ledger.pool.alone() as connection:
            assert await connection.fetchval("SHOW transaction_isolation") == "read committed"

    play(database, schema, scenario)
