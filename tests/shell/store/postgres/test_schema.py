"""The ledger on PostgreSQL: its tables, its indexes, and how it comes to be."""

import asyncio
import json

import asyncpg
import pytest

from gnomon.errors import DefinitionError, IncompatibleStateError, StoreError
from gnomon.ports import Ended
from gnomon.shell.store.postgres.announcement import events_channel
from gnomon.shell.store.postgres.examination import examine_shared
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.migration import migrate
from gnomon.shell.store.postgres.pool import PoolOptions
from gnomon.shell.store.postgres.statement import Statements, check_schema, migrations
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play, save_many
from tests.shell.store.test_sqlite import SEED


@clause("PG-15", "LEDGER-3")
@pytest.mark.parametrize("table", sorted(SEED))
def test_the_tables_have_every_column_of_the_seed(
    common_database: str, schema: str, table: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()
        rows = await (await fleet.beside()).fetch(
            "SELECT column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = $1 AND table_name = $2", schema, table,
        )  # fmt: skip
        types = {row[0]: row[1] for row in rows}

        assert SEED[table] - types.keys() == set()
        instants = {name for name in types if name.endswith("_at")}
        assert {types[name] for name in instants} == {"timestamp with time zone"}

    play(common_database, schema, scenario)


@clause("CLI-38")
def test_a_schema_is_not_named_as_the_server_would_not_understand_it(common_database: str) -> None:
    """The server says which words those are."""

    async def ask() -> list[str]:
        connection = await asyncpg.connect(common_database)
        rows = await connection.fetch(
            "SELECT word FROM pg_get_keywords() WHERE catcode = ANY (ARRAY['R', 'T'])"
        )
        await connection.close()
        return [row[0] for row in rows]

    for word in [*asyncio.run(ask()), "pg_books"]:
        with pytest.raises(DefinitionError, match="must be no word that PostgreSQL keeps"):
            check_schema(word)


@clause("CLI-38", "PG-19")
def test_two_schemas_have_no_channel_in_common_however_long_their_names_are() -> None:
    schemas = [Statements(f"{'s' * 58}_{name}") for name in ("red", "blue")] + [Statements("s")]
    channels = [sql.channel for sql in schemas] + [events_channel(sql) for sql in schemas]

    assert len(set(channels)) == 6
    assert {len(name) for name in channels} == {63, len("gnomon_s"), len("events_gnomon_s")}


@clause("PG-15")
def test_rows_can_be_read_with_plain_sql(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        schedule = minutely(
            cron_expr="0 3 * * *", timezone="Europe/Riga", start_at="2026-03-01T00:00:00Z",
            target={"workflow_id": "bill", "version": 4, "user_id": "u1"}, jitter_ms=500,
        )  # fmt: skip
        await ledger.save(schedule, now_ms=at("00:00:30"))
        row = await (await fleet.beside()).fetchrow(
            "SELECT workflow_id, version, user_id, cron_expr, timezone, start_at, end_at,"
            " next_run_at, paused, jitter_ms, overlap_policy, catchup_policy FROM schedules"
        )

        assert row is not None
        assert [value if row is None else str(value) for value in row] == [
            "bill", "4", "u1", "0 3 * * *", "Europe/Riga", "2026-03-01 00:00:00+00:00", "None",
            "2026-03-01 01:00:00+00:00", "False", "500", "skip", "none",
        ]  # fmt: skip

    play(common_database, schema, scenario)


@clause("PG-15", "LEDGER-1")
@pytest.mark.parametrize("column", ["state = 'planned', ended_at = NULL", "outcome = 'missed'"])
def test_the_database_itself_keeps_an_outcome(
    common_database: str, schema: str, column: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.save(minutely(), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.report([Ended(claim.key, 1, True, "")], now_ms=at("00:01:10"))

        with pytest.raises(asyncpg.PostgresError, match="an outcome is permanent"):
            await (await fleet.beside()).execute(f"UPDATE schedule_runs SET {column}")

    play(common_database, schema, scenario)


@clause("PG-15")
def test_hot_tables_are_vacuumed_by_how_much_has_changed(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()
        rows = await (await fleet.beside()).fetch(
            "SELECT relname, reloptions FROM pg_class WHERE relnamespace = $1::regnamespace"
            " AND relname IN ('schedules', 'schedule_runs')", schema,
        )  # fmt: skip
        options = {row[0]: set(row[1]) for row in rows}

        assert "autovacuum_vacuum_scale_factor=0" in options["schedules"]
        assert "autovacuum_vacuum_scale_factor=0.02" in options["schedule_runs"]

    play(common_database, schema, scenario)


@clause("PG-5", "LEDGER-5")
@pytest.mark.parametrize("name", ["load", "next_wake"])
def test_what_is_asked_every_turn_is_answered_from_indexes(
    common_database: str, schema: str, name: str
) -> None:
    async def scenario(fleet: Fleet) -> str:
        ledger = await fleet.open()
        await save_many(ledger, 500)
        await commit_at(ledger, await plan_at(ledger, "00:01:00", limit=100), "00:01:00")
        connection = await fleet.beside()
        await connection.execute("ANALYZE")
        await connection.execute("SET enable_seqscan = off")
        statement = ledger.sql[name]
        values = ("'2026-03-01'", "'2026-03-01'", "10", "3", "1")
        for number, value in enumerate(values, 1):
            statement = statement.replace(f"${number}", value)
        rows = await connection.fetch(f"EXPLAIN {statement}")
        return "\n".join(row[0] for row in rows)

    plan = play(common_database, schema, scenario)
    assert "schedules_by_wake" in plan
    assert "schedule_runs_by_lease" in plan
    assert "Seq Scan" not in plan


@clause("PG-10")
def test_many_workers_start_at_once_on_an_empty_database(database: str) -> None:
    async def scenario() -> None:
        ledgers = await asyncio.gather(*(PostgresLedger.open(database) for _ in range(6)))
        saved = await ledgers[0].save(minutely(), now_ms=at("00:00:30"))
        assert saved.changed
        for ledger in ledgers:
            await ledger.close()

    asyncio.run(scenario())


@clause("PG-10", "LEDGER-22")
def test_new_zone_data_makes_every_zoned_schedule_due_once(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        noon = "0 12 * * *"
        there, here = minutely("there", timezone="Europe/Riga", cron_expr=noon), minutely("here")
        await ledger.save_all([there, here], now_ms=at("00:00:30"))
        await (await fleet.beside()).execute(
            "UPDATE ledger_meta SET value = '1999a' WHERE name = 'tzdata'"
        )

        again = await fleet.open()
        dues = await again.load(now_ms=at("00:00:40"), limit=10)
        assert [due.schedule.schedule_id for due in dues] == ["there"]

    play(common_database, schema, scenario)


@clause("PG-10")
def test_who_may_make_no_schema_uses_the_one_that_was_made_for_it(database: str) -> None:
    async def scenario() -> None:
        beside = await asyncpg.connect(database)
        await beside.execute("CREATE ROLE tenant LOGIN; CREATE SCHEMA gnomon AUTHORIZATION tenant")
        ledger = await PostgresLedger.open(database.replace("postgres@", "tenant@"))
        assert await ledger.schedules() == []
        await ledger.close()
        await beside.close()

    asyncio.run(scenario())


@clause("PG-11")
def test_a_newer_schema_is_refused_and_left_alone(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()
        beside = await fleet.beside()
        await beside.execute("UPDATE ledger_meta SET value = '99' WHERE name = 'schema'")

        with pytest.raises(IncompatibleStateError, match="has schema 99, and this version"):
            await fleet.open()
        value = await beside.fetchval("SELECT value FROM ledger_meta WHERE name = 'schema'")
        assert value == "99"

    play(common_database, schema, scenario)


@clause("PG-11", "PG-9")
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE ledger_meta SET value = 'abc' WHERE name = 'schema'", "ledger_meta, but 'abc';"),
        ("DELETE FROM ledger_meta WHERE name = 'schema'", "ledger_meta;"),
    ],
)
def test_a_number_of_the_schema_that_cannot_be_read_is_said_and_left_alone(
    common_database: str, schema: str, statement: str, said: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()
        await (await fleet.beside()).execute(statement)

        with pytest.raises(StoreError, match=f"does not say which schema it has in .*{said}"):
            await fleet.open()
        with pytest.raises(StoreError, match="does not say which schema it has"):
            await examine_shared(common_database, schema=schema)

    play(common_database, schema, scenario)


@clause("PG-11")
def test_tables_of_another_program_are_refused_and_left_alone(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        connection = await asyncpg.connect(common_database)
        await connection.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.schedules (a int)")

        said = f"tables of another program in the schema {schema}; name another database, or"
        with pytest.raises(StoreError, match=said):
            await fleet.open()
        tables = await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = $1", schema
        )
        assert [row[0] for row in tables] == ["schedules"]
        await connection.close()

    play(common_database, schema, scenario)


@clause("PG-11")
def test_a_server_that_is_too_old_is_refused(
    common_database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.shell.store.postgres.migration.OLDEST", 990000)

    async def scenario(fleet: Fleet) -> None:
        with pytest.raises(StoreError, match="and Gnomon needs 99 or newer"):
            await fleet.open()

    play(common_database, schema, scenario)


@clause("PG-11")
@pytest.mark.parametrize("name", ["", "Gnomon", "a-b", "x" * 64, 'a"; DROP TABLE x'])
def test_the_name_of_a_schema_is_a_plain_name(name: str) -> None:
    with pytest.raises(DefinitionError, match="schema: must be a plain name"):
        Statements(name)


@clause("PG-12")
def test_behind_a_pooler_nothing_outlives_a_transaction(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(options=PoolOptions(pooler=True, connections=1))
        await ledger.save(minutely(), now_ms=at("00:00:30"))
        (claim,) = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        await ledger.pool.fetch("DISCARD ALL")  # as a pooler does between two clients
        assert await ledger.report([Ended(claim.key, 1, True, "")], now_ms=at("00:01:10")) == [True]

        assert [tuple(row) for row in await ledger.pool.fetch(_LEFT_BEHIND)] == [(0, 0)]

    play(common_database, schema, scenario)


_LEFT_BEHIND = """
SELECT (SELECT count(*) FROM pg_prepared_statements),
  (SELECT count(*) FROM pg_settings WHERE source = 'client' AND name <> 'client_encoding')
"""


def test_the_statements_can_be_read_without_python() -> None:
    plain, other = Statements(), Statements("other")

    assert plain["take"] == other["take"].replace("other.", "gnomon.")


@clause("PG-17")
def test_a_schema_of_before_is_brought_forward_with_everything_in_it(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        other = f"{schema}_new"
        former = await PostgresLedger.open(common_database, schema=other)
        await former.save(minutely("report"), now_ms=at("00:00:30"))
        for minute in ("00:01:00", "00:02:00"):
            (claim,) = await commit_at(former, await plan_at(former, minute), minute)
            if minute == "00:01:00":
                await former.report([Ended(claim.key, 1, True, "")], now_ms=at("00:01:10"))
        await former.close()
        beside = await fleet.beside()
        await beside.execute(migrations(schema)[0])
        for table in ("schedules", "schedule_revisions", "schedule_runs"):
            rows = await beside.fetch(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_schema = $1 AND table_name = $2", schema, table,
            )  # fmt: skip
            columns = ", ".join(row[0] for row in rows)
            await beside.execute(
                f"INSERT INTO {schema}.{table} ({columns}) SELECT {columns} FROM {other}.{table}"
            )
        await beside.execute(f"INSERT INTO {schema}.ledger_meta VALUES ('schema', '1')")

        ledger = await fleet.open()

        assert [row.nominal for row in await ledger.runs("report")] == [
            at("00:02:00") // 1000, at("00:01:00") // 1000,
        ]  # fmt: skip
        index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'schedule_runs_by_schedule'"
        (definition,) = await beside.fetch(f"{index} AND schemaname = '{schema}'")
        assert "WHERE (state = 'done'::text)" in definition[0]

    play(common_database, schema, scenario)


def test_opening_again_changes_nothing(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await migrate(ledger.pool, ledger.sql)
        rows = await ledger.pool.fetch(f"SELECT name, value FROM {schema}.ledger_meta")
        assert json.loads(json.dumps({row[0]: row[1] for row in rows}))["schema"] == str(
            len(migrations(schema))
        )

    play(common_database, schema, scenario)
