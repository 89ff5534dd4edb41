"""The ledger on PostgreSQL: what goes wrong is said clearly, and nothing is half written."""

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import asyncpg
import pytest

from gnomon.errors import DefinitionError, StoreError
from gnomon.shell.store.postgres.fault import explained
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.pool import PoolOptions
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.postgres.server import Server
from tests.shell.store.postgres.fleet import Fleet, commit_at, plan_at, play, save_many


def refusal(url: str, schema: str = "gnomon") -> StoreError:
    """What opening says."""
    with pytest.raises(StoreError) as raised:
        asyncio.run(PostgresLedger.open(url, schema=schema))
    return raised.value


async def raise_on_insert(fleet: Fleet, table: str, state: str) -> None:
    """Have the database fail an insert as it fails when something is wrong with the server."""
    await (await fleet.beside()).execute(
        f"CREATE FUNCTION {fleet.schema}.fail() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$;"
        f" CREATE TRIGGER fail BEFORE INSERT ON {table} EXECUTE FUNCTION {fleet.schema}.fail()"
    )


@clause("PG-9")
def test_a_server_that_is_away_is_named_without_its_password() -> None:
    error = refusal("postgresql://anna:secret@127.0.0.1:9/books")

    assert error.where == "postgresql://anna@127.0.0.1:9/books"
    assert re.match("cannot be reached", error.reason)
    assert error.transient
    assert "secret" not in str(error)


@clause("PG-9")
@pytest.mark.parametrize("address", ["@/books?host={0}&port=77", "@{1}:77/books"])
def test_a_socket_that_is_not_there_is_named(tmp_path: Path, address: str) -> None:
    error = refusal("postgresql://anna" + address.format(tmp_path, quote(str(tmp_path), safe="")))

    assert error.reason == f"cannot be reached (there is no socket {tmp_path}/.s.PGSQL.77)"
    assert error.hint == (
        "check that the server runs and the address is right; "
        "see unix_socket_directories and port of the server"
    )
    assert error.transient


@clause("PG-9")
def test_a_database_that_does_not_exist_is_named(postgres: Server) -> None:
    error = refusal(postgres.url("nowhere"))

    assert error.reason == 'does not exist (database "nowhere" does not exist)'
    assert not error.transient
    assert error.hint == "create it, with createdb for example"


@clause("PG-9")
def test_a_user_that_is_unknown_is_refused(postgres: Server) -> None:
    error = refusal(postgres.url().replace("postgres@", "nobody_of_that_name@"))

    assert error.reason == 'refuses this user (role "nobody_of_that_name" does not exist)'
    assert not error.transient


@clause("PG-9")
def test_missing_rights_are_said_and_nothing_is_made(database: str, postgres: Server) -> None:
    async def prepare() -> None:
        connection = await asyncpg.connect(database)
        await connection.execute("CREATE ROLE modest LOGIN")
        await connection.close()

    asyncio.run(prepare())
    error = refusal(database.replace("postgres@", "modest@"))

    assert re.fullmatch(
        r"does not allow this to this user \(permission denied for database own-.*\)", error.reason
    )
    assert not error.transient
    assert "grant ALL on it" in error.hint


@clause("PG-11")
def test_a_table_of_our_name_with_other_columns_is_another_programs(database: str) -> None:
    async def prepare() -> None:
        connection = await asyncpg.connect(database)
        await connection.execute("CREATE SCHEMA gnomon; CREATE TABLE gnomon.ledger_meta (a int)")
        await connection.close()

    asyncio.run(prepare())
    error = refusal(database)

    assert error.reason == 'has tables of another program (column "value" does not exist)'
    assert error.hint.startswith("name another database, or another schema")
    assert not error.transient


@clause("PG-9")
def test_a_name_in_an_address_that_only_libpq_reads_is_to_be_left_out(database: str) -> None:
    error = refusal(f"{database}&connect_timeout=5")

    assert error.reason == 'refused (unrecognized configuration parameter "connect_timeout")'
    assert error.hint == (
        "connect_timeout is libpq's and is not read here; leave it out of the address"
    )
    assert not error.transient


@clause("PG-9")
def test_a_name_in_an_address_that_the_server_does_not_know_is_to_be_left_out(
    database: str,
) -> None:
    error = refusal(f"{database}&conect_timeout=5")

    assert error.hint == (
        "leave that name out of the address, where it is taken for a setting of the server"
    )


@clause("PG-9")
def test_a_port_in_the_environment_that_is_no_number_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGPORT", "many")

    error = refusal("postgresql://anna@127.0.0.1/books")

    assert error.hint == "see PGPORT, which is the number of a port"
    assert not error.transient


@clause("PG-9")
def test_servers_of_which_none_is_the_primary_can_be_tried_again(database: str) -> None:
    error = refusal(f"{database}&target_session_attrs=standby")

    assert error.reason == "has no server that is as target_session_attrs says"
    assert "wait for the failover" in error.hint
    assert error.transient


@clause("PG-9", "PG-12")
@pytest.mark.parametrize(
    "said", ["no such database: books", "query_wait_timeout", "server login has been failing"]
)
def test_what_a_pooler_itself_says_is_quoted_and_can_be_tried_again(said: str) -> None:
    with pytest.raises(StoreError) as raised, explained("books"):
        raise asyncpg.ProtocolViolationError(said)

    assert raised.value.reason == f"is behind a pooler that says no ({said})"
    assert "the server behind it" in raised.value.hint
    assert raised.value.transient


@clause("PG-9", "PG-12")
def test_a_pooler_that_knows_no_settings_is_to_be_named() -> None:
    with pytest.raises(StoreError, match="with --pooler, in Python") as raised, explained("books"):
        raise asyncpg.ProtocolViolationError("unsupported startup parameter: jit")

    assert not raised.value.transient


@clause("PG-9")
def test_a_server_without_connections_left_can_be_tried_again(
    database: str, postgres: Server
) -> None:
    async def prepare() -> None:
        connection = await asyncpg.connect(database)
        await connection.execute("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
        await connection.close()

    asyncio.run(prepare())
    error = refusal(database.replace("postgres@", "crowd@"))

    assert error.reason == 'has no connection left (too many connections for role "crowd")'
    assert "or the CONNECTION LIMIT of the role or the database" in error.hint
    assert error.transient


@clause("PG-9")
def test_a_standby_is_told_from_a_primary(database: str) -> None:
    async def prepare() -> None:
        connection = await asyncpg.connect(database)
        name = await connection.fetchval("SELECT current_database()")
        await connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        await connection.close()

    asyncio.run(prepare())
    error = refusal(database)

    assert (error.reason, error.transient) == ("is read-only", True)
    assert "see default_transaction_read_only" in error.hint


@clause("PG-9")
def test_a_full_disk_writes_nothing_and_can_be_tried_again(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await raise_on_insert(fleet, "schedule_revisions", "53100")

        with pytest.raises(StoreError, match="cannot grow: its disk is full") as raised:
            await ledger.save(minutely(), now_ms=at("00:00:30"))
        assert raised.value.transient
        assert await ledger.schedules() == []

    play(common_database, schema, scenario)


@clause("PG-9")
def test_who_asked_once_is_told_to_try_again(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await raise_on_insert(fleet, "schedule_revisions", "57P03")

        with pytest.raises(StoreError, match="is starting or stopping") as raised:
            await ledger.save(minutely(), now_ms=at("00:00:30"))
        assert raised.value.hint == "wait, and try again; a worker does so by itself"

    play(common_database, schema, scenario)


@clause("PG-9", "PG-8")
def test_a_failure_in_the_middle_of_a_commit_claims_nothing(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await save_many(ledger, 20)
        changes = await plan_at(ledger, "00:01:00")
        await raise_on_insert(fleet, "schedule_runs", "53100")
        with pytest.raises(StoreError):
            await commit_at(ledger, changes, "00:01:00")

        await (await fleet.beside()).execute("DROP TRIGGER fail ON schedule_runs")
        assert len(await commit_at(ledger, changes, "00:01:00")) == 20

    play(common_database, schema, scenario)


@clause("PG-9")
def test_a_row_that_another_connection_holds_for_long_is_not_waited_for_without_end(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(options=PoolOptions(lock_ms=50))
        await ledger.save(minutely(), now_ms=at("00:00:30"))
        other = await fleet.beside()
        async with other.transaction():
            await other.execute("SELECT * FROM schedules FOR UPDATE")
            with pytest.raises(StoreError, match="has a row that another process holds") as raised:
                await ledger.resume("report", now_ms=at("00:00:40"))

        assert raised.value.transient
        assert await ledger.resume("report", now_ms=at("00:00:40"))

    play(common_database, schema, scenario)


@clause("PG-9")
def test_a_statement_that_takes_too_long_is_given_up(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.open()  # the schema may take its time
        ledger = await fleet.open(options=PoolOptions(statement_ms=500))

        with pytest.raises(StoreError, match="took too long over a statement") as raised:
            await ledger.pool.fetch("SELECT pg_sleep(60)")
        assert raised.value.transient
        assert await ledger.schedules() == []

    play(common_database, schema, scenario)


@clause("PG-8")
def test_a_connection_that_was_ended_is_made_again(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open(options=PoolOptions(connections=1))
        await ledger.save(minutely(), now_ms=at("00:00:30"))
        ((pid,),) = await ledger.pool.fetch("SELECT pg_backend_pid()")
        beside = await fleet.beside()
        await beside.execute("SELECT pg_terminate_backend($1, 5000)", pid)

        with suppress(StoreError):  # the first call may find its connection gone
            await ledger.schedules()
        rows = await ledger.schedules()
        assert [row.schedule.schedule_id for row in rows] == ["report"]

    play(common_database, schema, scenario)


@clause("PG-8", "PG-9")
def test_a_server_that_crashes_and_comes_back_is_used_again() -> None:
    server = Server()
    server.create()

    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await save_many(ledger, 5)
        changes = await plan_at(ledger, "00:01:00")
        server.stop("immediate")
        for _ in range(2):
            with pytest.raises(StoreError) as raised:
                await commit_at(ledger, changes, "00:01:00")
            assert raised.value.transient
        server.start()

        assert len(await commit_at(ledger, changes, "00:01:00")) == 5
        assert await commit_at(ledger, changes, "00:01:00") == []

    try:
        play(server.url(), "gnomon", scenario)
    finally:
        server.remove()


@clause("PG-9")
def test_an_instant_that_no_calendar_has_is_refused(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.save(minutely(), now_ms=at("00:00:30"))

        with pytest.raises(DefinitionError, match="must lie between the years 1970 and 9999"):
            await ledger.pause("report", until_ms=-1, reason="", now_ms=at("00:01:00"))

    play(common_database, schema, scenario)


@clause("LEDGER-11")
def test_a_definition_that_cannot_be_read_is_named_and_the_others_go_on(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await save_many(ledger, 2)
        beside = await fleet.beside()
        await beside.execute("UPDATE schedule_revisions SET definition = 'null'"
                             " WHERE schedule_id = 's001'")  # fmt: skip
        fresh = await fleet.open()

        dues = await fresh.load(now_ms=at("00:01:00"), limit=10)
        assert [due.schedule.schedule_id for due in dues] == ["s000"]
        with pytest.raises(StoreError, match="holds a definition of s001 that cannot be read"):
            await fresh.get("s001")
        await save_many(fresh, 2)
        assert len(await fresh.load(now_ms=at("00:02:00"), limit=10)) == 2

    play(common_database, schema, scenario)


@clause("PG-8")
def test_a_ledger_that_was_closed_says_so(common_database: str, schema: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger = await fleet.open()
        await ledger.close()

        with pytest.raises(StoreError, match="closed"):
            await ledger.schedules()

    play(common_database, schema, scenario)
