"""A database of the time when the ledger had DAGs in a table named workflows, beside flows."""

import asyncio

import asyncpg
import pytest

from gnomon.errors import IncompatibleStateError
from gnomon.ports.workflow_facts import Answer, MutationStatus, Standing, WorkflowChange
from gnomon.shell.store.postgres.dag import PostgresDagRuns, PostgresDagStore
from gnomon.shell.store.postgres.examination import examine_shared
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.workflow_examination import examine_shared_workflows
from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog
from tests.clauses import clause
from tests.contract.workflow_desk import NOW
from tests.shell.store.older import POSTGRES_10, check_dags

_NAMES = """
SELECT relname FROM pg_class WHERE relnamespace = 'gnomon'::regnamespace
UNION SELECT conname FROM pg_constraint WHERE connamespace = 'gnomon'::regnamespace
  AND conname NOT LIKE '%_not_null'
UNION SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
"""


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def names(url: str) -> set[str]:
    """Of tables, indexes, constraints and triggers."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(_NAMES)
    await connection.close()
    return {row[0] for row in rows}


async def use_dags(url: str) -> None:
    ledger = await PostgresLedger.open(url)
    await check_dags(PostgresDagStore(ledger.pool), PostgresDagRuns(ledger.pool))
    (schedule,) = await ledger.schedules()
    assert '"version":2' in schedule.schedule.target
    await ledger.close()
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="a version of a DAG is"):
        await execute(url, "UPDATE gnomon.dags SET digest = ''")


async def use_workflows(url: str) -> None:
    log = await PostgresWorkflowLog.open(url)
    facts = await log.load("orders")
    assert facts is not None
    assert facts.mutation is not None
    assert facts.mutation.status is MutationStatus.INDETERMINATE
    assert [one.id for one in await log.events("orders", limit=9)] == ["o3", "o2", "o1"]
    assert [one.number for one in await log.runs("orders", limit=9)] == [3, 2, 1]
    again = WorkflowChange(standing=Standing(name="gone", created_ms=NOW))
    assert (await log.commit(again, seen=0)).answer is Answer.MADE
    assert (await log.take(holder="bob"))["gone"] == 3
    await log.close()


@clause("PG-17", "WLOG-1", "WSTORE-1", "EXECUTION-4")
def test_an_older_database_is_brought_forward_with_its_dags_and_its_workflows(
    database: str,
) -> None:
    async def scenario() -> None:
        await execute(database, POSTGRES_10)
        await use_dags(database)
        await use_workflows(database)
        found = await names(database)
        assert sorted(one for one in found if "flow" in one.replace("workflow", "")) == [
            "flow_meta", "flow_meta_pkey",
        ]  # fmt: skip
        assert not [one for one in found if "execution" in one]

    asyncio.run(scenario())


@clause("PG-17", "PG-10")
def test_an_older_database_and_a_new_one_have_the_same_names(database: str) -> None:
    async def scenario() -> None:
        await execute(database, POSTGRES_10)
        await (await PostgresLedger.open(database)).close()
        await (await PostgresWorkflowLog.open(database)).close()
        older = await names(database)
        await execute(database, "DROP SCHEMA gnomon CASCADE")

        await (await PostgresWorkflowLog.open(database)).close()  # in the other order
        await (await PostgresLedger.open(database)).close()
        assert await names(database) == older

    asyncio.run(scenario())


@clause("PG-11", "WLOG-1")
def test_workflows_wait_until_the_older_ledger_beside_them_was_brought_forward(
    database: str,
) -> None:
    async def scenario() -> None:
        await execute(database, POSTGRES_10)
        before = await names(database)
        with pytest.raises(IncompatibleStateError, match="has a ledger of an older ver") as raised:
            await PostgresWorkflowLog.open(database)
        assert raised.value.hint == (
            "first bring that ledger forward: gnomon run, krond start, up, api and worker bring it "
            "forward when they start"
        )
        assert await names(database) == before

        await (await PostgresLedger.open(database)).close()
        await use_workflows(database)

    asyncio.run(scenario())


@clause("CLI-28", "WDOC-3")
def test_readers_of_an_older_database_say_what_brings_it_forward(database: str) -> None:
    async def scenario() -> None:
        await execute(database, POSTGRES_10)
        with pytest.raises(IncompatibleStateError, match="has schema 10, and this") as raised:
            await PostgresLedger.look_into(database)
        assert raised.value.hint.endswith("up, api and worker bring it forward when they start")

        (ledger,) = (await examine_shared(database)).findings
        assert (ledger.code, ledger.problem) == (
            "older", "the schema is 10, and 11 is the newest here",
        )  # fmt: skip
        (workflows,) = (await examine_shared_workflows(database)).findings
        assert workflows.remedy == "gnomon workflow run brings it forward when it starts"

    asyncio.run(scenario())
