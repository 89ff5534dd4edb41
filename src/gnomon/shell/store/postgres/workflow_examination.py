"""
Are the workflows of a PostgreSQL database in good order?

The same rules as for a file, in one view of everything, and nothing is changed, not even the
schema.

Spec: WDOC-1 to WDOC-4.
"""

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.migration import WORKFLOW, schema_number
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.statement import SCHEMA, Statements, migrations
from gnomon.shell.store.workflow_examination import (
    FINDINGS_MAX,
    WorkflowExamination,
    WorkflowFinding,
    found,
)

__all__ = ["examine_shared_workflows"]


async def examine_shared_workflows(url: str, *, schema: str = SCHEMA) -> WorkflowExamination:
    """Look at everything; `StoreError` when there is nothing that could be looked at."""
    sql, checks = Statements(schema, "workflow.sql"), Statements(schema, "workflow_examination.sql")
    pool = await Pool.open(url, PoolOptions(connections=1))
    known = len(migrations(schema, "workflow"))
    try:
        async with pool.transaction() as connection:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            number = await schema_number(connection, pool.place, sql, WORKFLOW)
            if number == 0:
                raise StoreError(
                    f"has no workflows in the schema {schema}", where=pool.place,
                    hint="gnomon workflow deploy FILE --store URL makes some",
                )  # fmt: skip
            if number != known:
                code = "newer" if number > known else "older"
                problem = f"the schema is {number}, and {known} is the newest here"
                return WorkflowExamination(pool.place, number, known, "", 0, [found(code, problem)])
            row = await connection.fetchrow(sql["holders"])
            assert row is not None
            findings: list[WorkflowFinding] = []
            for code in checks.names:
                for workflow, subject, problem in await connection.fetch(checks[code]):
                    findings.append(found(code, problem, workflow, subject))
        owner = f"{row[1]} hosts" if row[1] else "nobody"
        return WorkflowExamination(
            pool.place, number, known, owner, row[0], findings[:FINDINGS_MAX]
        )
    finally:
        await pool.close()
