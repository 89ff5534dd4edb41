"""Who takes a run over and who still writes to it, at once, on PostgreSQL."""

import asyncio

import asyncpg

from gnomon.ports.dag import DagRun, NodeRow, NodeState
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.store.postgres.dag import PostgresDagRuns
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.statement import Statements
from tests.clauses import clause

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1"


def a_run(fence: int) -> DagRun:
    return DagRun(
        "key", "run", "report", 1, "anna", fence, FeedbackStatus.STARTED, "", START_MS
    )  # fmt: skip


async def until_blocked(connection: "asyncpg.Connection[asyncpg.Record]", statement: str) -> None:
    """Return when a connection waits for a lock with a statement like this."""
    while not await connection.fetchval(BLOCKED, f"%{statement}%"):
        pass


@clause("EXECUTION-2")
def test_who_takes_over_sees_what_was_being_written(common_database: str, schema: str) -> None:
    async def scenario() -> None:
        ledger = await PostgresLedger.open(common_database, schema=schema)
        dag_runs, sql = (
            PostgresDagRuns(ledger.pool, schema),
            Statements(schema, "dag.sql"),
        )
        await dag_runs.begin(a_run(1))
        looking = await asyncpg.connect(common_database)
        async with ledger.pool.transaction() as writing:
            assert await writing.fetchval(sql["may_write"], "key", 1)
            taking = asyncio.ensure_future(dag_runs.begin(a_run(2)))
            await until_blocked(looking, f"{schema}.dag_runs")
            values = ("key", "a", "success", 1, None, "exit 0", "", START_MS, START_MS)
            await writing.execute(sql["write_node"], *values)
        taken = await taking

        assert taken.fence == 2
        assert [(row.node_id, row.state) for row in taken.nodes] == [("a", NodeState.SUCCESS)]
        late = [NodeRow("b", NodeState.RUNNING, 1)]
        assert not await dag_runs.write("key", late, fence=1)
        await looking.close()
        await ledger.close()

    asyncio.run(scenario())
