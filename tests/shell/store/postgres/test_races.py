"""The ledger on PostgreSQL: two calls of which one comes between two statements of the other."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress

import asyncpg
import pytest

from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import period_key
from gnomon.ports import By, Ended, Failed, Launched, Report
from gnomon.shell.store.postgres.examination import examine_shared
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.pool import PoolOptions
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.between import meanwhile
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play, save_many

ANNA = By("anna")


async def states(ledger: PostgresLedger, *keys: str) -> list[State]:
    return [row.state for key in keys if (row := await ledger.run(key)) is not None]


async def is_in_order(fleet: Fleet) -> bool:
    return not (await examine_shared(fleet.url, schema=fleet.schema)).findings


@clause("LEDGER-9", "LEDGER-16", "PG-3")
def test_a_launch_that_fails_while_its_schedule_is_deleted_is_settled(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 1)
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        failed = Failed(claim.key, claim.fence, "no such file", permanent=False)

        answers = await meanwhile(
            fleet, ledger, "retry_runs",
            ledger.report([failed], now_ms=at("00:01:10")),
            other.delete("s000", now_ms=at("00:01:10")),
        )  # fmt: skip

        assert answers == ([True], True)
        row = await ledger.run(claim.key)
        assert row is not None
        assert row.state is State.DONE
        assert await is_in_order(fleet)

    play(common_database, schema, scenario)


@clause("CLI-32")
@pytest.mark.parametrize(("ahead", "found"), [("00:02:13.800", []), ("00:02:15", ["wake"])])
def test_the_doctor_allows_for_clocks_that_are_each_wrong_by_less_than_two_seconds(
    common_database: str, schema: str, ahead: str, found: list[str]
) -> None:
    """Who is ahead reports the end that a period waits for; who is behind writes after that."""

    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.save(minutely("s000", overlap_policy="queue"), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await commit_at(ledger, await plan_at(ledger, "00:02:00"), "00:02:00")
        end = Ended(claim.key, claim.fence, success=True, detail="exit 0")
        await ledger.report([end], now_ms=at(ahead))
        await ledger.skip_next("s000", now_ms=at("00:02:10"))

        examined = await examine_shared(fleet.url, schema=fleet.schema)
        assert [one.code for one in examined.findings] == found

    play(common_database, schema, scenario)


@clause("CLI-32", "LEDGER-26")
def test_the_doctor_misses_nothing_that_a_clock_ahead_has_passed_over(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.save(minutely("s000"), now_ms=at("00:05:30"))
        await ledger.save(minutely("s000", cron_expr="*/2 * * * *"), now_ms=at("00:02:10"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:06:00"), "00:06:00")
        assert claim.nominal == at("00:06:00") // 1000
        assert await is_in_order(fleet)

    play(common_database, schema, scenario)


@clause("LEDGER-15", "ASK-4")
def test_a_run_by_hand_that_is_asked_for_while_its_schedule_is_paused_is_looked_at(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 1)

        await meanwhile(
            fleet, ledger, "wake_now",
            ledger.trigger("s000", name="now", now_ms=at("00:00:40")),
            other.pause("s000", until_ms=None, reason="", now_ms=at("00:00:40")),
        )  # fmt: skip

        assert await ledger.next_wake_ms() == at("00:00:40")
        assert await is_in_order(fleet)

    play(common_database, schema, scenario)


@clause("PG-4")
def test_two_that_save_what_the_other_removes_come_one_after_the_other(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 2)
        now_ms = at("00:00:40")

        await meanwhile(
            fleet, ledger, "delete_schedule",
            ledger.save_all([minutely("s001")], now_ms=now_ms, removed=["s000"]),
            other.save_all([minutely("s000")], now_ms=now_ms, removed=["s001"]),
        )  # fmt: skip

        assert [row.schedule.schedule_id for row in await ledger.schedules()] == ["s000"]

    play(common_database, schema, scenario)


@clause("ASK-9", "LEDGER-9")
def test_a_request_to_end_a_run_that_ends_by_itself_waits_for_no_report(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 1, overlap_policy="queue")
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")

        killed, answers = await meanwhile(
            fleet, ledger, "ask_to_end",
            ledger.kill(claim.key, by=ANNA, now_ms=at("00:01:10")),
            other.report([Ended(claim.key, claim.fence, True, "fine")], now_ms=at("00:01:10")),
        )  # fmt: skip

        assert answers == [True]
        assert killed is not None
        assert await is_in_order(fleet)

    play(common_database, schema, scenario)


@clause("LEDGER-9", "LEDGER-16", "PG-3")
@pytest.mark.parametrize("before", ["reported_runs", "end_runs", "wake_queues", "fill_in_runs"])
def test_a_queue_that_comes_into_being_while_the_run_before_it_ends_is_woken(
    common_database: str, schema: str, before: str
) -> None:
    """In whichever gap of a report: who ends sees the queue, or has written the end before."""

    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 2)
        first, late = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.report([Ended(late.key, 1, True, "fine")], now_ms=at("00:01:10"))
        turned = minutely(first.schedule.schedule_id, overlap_policy="queue")

        async def turn_and_look() -> None:
            await other.save(turned, now_ms=at("00:01:20"))
            await commit_at(other, await plan_at(other, "00:02:00"), "00:02:00", owner="bert")

        reports: list[Report] = [
            Ended(first.key, 1, True, "fine"),
            Launched(late.key, 1, "run 1"),
        ]
        answers, _ = await meanwhile(
            fleet, ledger, before,
            ledger.report(reports, now_ms=at("00:02:00")), turn_and_look(),
        )  # fmt: skip

        assert answers == [True, True]
        await commit_at(ledger, await plan_at(ledger, "00:02:00"), "00:02:00")
        assert await states(ledger, period_key(turned.schedule_id, at("00:02:00") // 1000)) == [
            State.CLAIMED
        ]
        assert await is_in_order(fleet)

    play(common_database, schema, scenario)


@clause("LEDGER-8", "LEDGER-16")
def test_a_lost_run_is_not_buried_when_its_schedule_is_saved_again_meanwhile(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        restart = {"uncertain": "restart", "lease": "10s"}
        await save_many(ledger, 1, **restart)
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.delete("s000", now_ms=at("00:01:05"))

        changes = await plan_at(ledger, "00:01:30")
        await meanwhile(
            fleet, ledger, "take_free", commit_at(ledger, changes, "00:01:30"),
            other.save(minutely("s000", **restart), now_ms=at("00:01:30")),
        )  # fmt: skip

        again = await commit_at(ledger, await plan_at(ledger, "00:01:30"), "00:01:30")
        assert [(one.key, one.fence) for one in again] == [(claim.key, 2)]

    play(common_database, schema, scenario)


@clause("LEDGER-8", "LEDGER-16", "PG-1")
def test_a_lost_run_that_another_connection_has_is_buried_by_a_later_look(
    common_database: str, schema: str
) -> None:
    """A report of an end waits for the schedule next: to wait for the run is a deadlock."""

    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(options=PoolOptions(lock_ms=100))
        await save_many(ledger, 2, lease="10s")
        claims = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        for claim in claims:
            await ledger.delete(claim.schedule.schedule_id, now_ms=at("00:01:05"))
        taken, free = sorted(claim.key for claim in claims)
        other = await fleet.beside()

        async with other.transaction():
            await other.execute(
                "SELECT 1 FROM schedule_runs WHERE idempotency_key = $1 FOR UPDATE", taken
            )
            await commit_at(ledger, await plan_at(ledger, "00:01:30"), "00:01:30")
            assert await states(ledger, free, taken) == [State.DONE, State.CLAIMED]

        await commit_at(ledger, await plan_at(ledger, "00:01:31"), "00:01:31")
        assert await states(ledger, free, taken) == [State.DONE, State.DONE]

    play(common_database, schema, scenario)


@clause("PG-4", "LEDGER-16")
@pytest.mark.parametrize("asked", ["delete", "kill"])
def test_who_tells_of_an_end_does_not_hear_of_a_deadlock(
    common_database: str, schema: str, asked: str
) -> None:
    """A request locks the schedule and then the run, and a report the other way round."""

    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await ledger.save(minutely("s000", overlap_policy="queue"), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        unsure = Failed(claim.key, 1, "no answer", permanent=False, reason=Reason.UNCERTAIN)
        await ledger.report([unsure], now_ms=at("00:01:01"))
        now_ms, told = at("00:01:02"), [Ended(claim.key, 1, True, "fine")]

        calls: dict[str, tuple[str, Callable[[], Coroutine[object, object, object]]]] = {
            "delete": ("delete_waiting", lambda: ledger.delete("s000", now_ms=now_ms)),
            "kill": ("ask_to_end", lambda: ledger.kill(claim.key, by=ANNA, now_ms=now_ms)),
        }
        before, call = calls[asked]
        reporting = other.report(told, now_ms=now_ms)
        done, written = await meanwhile(fleet, ledger, before, call(), reporting)

        assert done
        assert written in ([True], [False])

    play(common_database, schema, scenario)


@clause("LEDGER-19")
def test_two_that_remove_old_rows_at_once_tell_of_each_row_once(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other = await fleet.open(), await fleet.open()
        await save_many(ledger, 1)
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.report([Ended(claim.key, 1, True, "")], now_ms=at("00:01:10"))

        told = await meanwhile(
            fleet, ledger, "take",
            ledger.retain(before_ms=at("00:02:00"), limit=10),
            other.retain(before_ms=at("00:02:00"), limit=10),
        )  # fmt: skip

        assert told == (0, 1)

    play(common_database, schema, scenario)


@clause("PG-4")
def test_who_saves_does_not_hear_of_a_deadlock(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, beside = await fleet.open(), await fleet.beside()
        await save_many(ledger, 2)
        theirs = beside.transaction()
        await theirs.start()
        await beside.execute("SELECT 1 FROM schedules WHERE schedule_id = 's001' FOR UPDATE")
        definitions = [minutely(name, timezone="Asia/Tokyo") for name in ("s000", "s001")]
        saving = asyncio.create_task(ledger.save_all(definitions, now_ms=at("00:00:40")))
        await fleet.waits_for_a_lock(saving)

        # Each has what the other wants. The one that has waited for longer is broken, unless this
        # machine took more than a second to come here: then it is the other, which may hear of it.
        with suppress(asyncpg.DeadlockDetectedError):
            await beside.execute("SELECT 1 FROM schedules WHERE schedule_id = 's000' FOR UPDATE")
        await theirs.rollback()

        assert [saved.revision for saved in await saving] == [2, 2]
        assert [row.revision for row in await ledger.schedules()] == [2, 2]

    play(common_database, schema, scenario)


@clause("PG-4")
def test_who_saves_what_has_just_come_into_being_takes_it_first(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, other, beside = await fleet.open(), await fleet.open(), await fleet.beside()
        theirs, now_ms = beside.transaction(), at("00:00:40")

        async def add_and_change() -> None:
            await other.save(minutely("s000"), now_ms=now_ms)
            await theirs.start()
            await beside.execute("UPDATE schedules SET revision = 2, lock_version = 2")
            await beside.execute(
                "INSERT INTO schedule_revisions SELECT schedule_id, 2, effective_at, definition"
                " FROM schedule_revisions"
            )

        tokyo = minutely("s000", timezone="Asia/Tokyo")
        saving = asyncio.create_task(
            meanwhile(fleet, ledger, "heads", ledger.save(tokyo, now_ms=now_ms), add_and_change())
        )
        await fleet.waits_for_a_lock(saving)
        await theirs.commit()

        saved, _ = await saving
        assert saved.revision == 3

    play(common_database, schema, scenario)
