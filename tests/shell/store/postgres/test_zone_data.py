"""New zone data while workers with the old ones are still there."""

import tzdata

from gnomon.shell.clock import SystemClock
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import Presence
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play

_HEARD_LONG_AGO = """
UPDATE ledger_meta SET value = (value::bigint - 21000)::text WHERE name = 'tzdata 1999a'
"""


def seen(ledger: PostgresLedger, name: str, zones: str = tzdata.IANA_VERSION) -> Presence:
    clock = SystemClock()
    return Presence(ledger.pool, ledger.sql, clock, owner=name, host=name, pid=1, zones=zones)


async def due_at(ledger: PostgresLedger, now: str) -> list[str]:
    """What is due is planned, too, so that it is not due any more."""
    changes = await plan_at(ledger, now)
    await commit_at(ledger, changes, now)
    return [change.schedule.schedule_id for change in changes]


async def opened(fleet: Fleet) -> PostgresLedger:
    """A ledger of which something happens at noon in Riga, and something else in no zone."""
    ledger, noon = await fleet.open(), "0 12 * * *"
    riga = minutely("riga", timezone="Europe/Riga", cron_expr=noon)
    await ledger.save_all([riga, minutely("utc", cron_expr=noon)], now_ms=at("00:00:30"))
    return ledger


@clause("PG-20")
def test_zoned_schedules_are_looked_at_once_when_who_had_other_zone_data_is_gone(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, beside = await opened(fleet), await fleet.beside()
        old, new = seen(ledger, "anna", "1999a"), seen(ledger, "boris")
        found = []
        for beat in (old.beat, new.beat):
            await beat("running", holding=0, counters={})
        for statement in ("SELECT 1", _HEARD_LONG_AGO, "SELECT 1"):
            await beside.execute(statement)
            await new.outlast_others()
            found.append(await due_at(ledger, "00:00:40"))

        assert found == [[], ["riga"], []]

    play(common_database, schema, scenario)


@clause("PG-20", "LEDGER-22")
def test_who_was_gone_before_new_zone_data_came_is_not_waited_for(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, beside = await opened(fleet), await fleet.beside()
        await seen(ledger, "anna", "1999a").beat("stopped", holding=0, counters={})
        await ledger.set_note("tzdata", "1999a")
        found = []
        again = await fleet.open()
        found.append(await due_at(again, "00:00:40"))
        await beside.execute(_HEARD_LONG_AGO)
        await seen(again, "boris").outlast_others()
        found.append(await due_at(again, "00:00:50"))

        assert found == [["riga"], []]

    play(common_database, schema, scenario)


@clause("PG-20")
def test_who_stays_decides_which_zone_data_a_ledger_is_said_to_have(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, beside = await opened(fleet), await fleet.beside()
        await seen(ledger, "anna", "1999a").beat("running", holding=0, counters={})
        await ledger.set_note("tzdata", "1999a")  # it was started last
        await beside.execute(_HEARD_LONG_AGO)
        await seen(ledger, "boris").outlast_others()

        assert await ledger.note("tzdata") == tzdata.IANA_VERSION

    play(common_database, schema, scenario)
