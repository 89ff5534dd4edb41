"""
May this user do what a worker does?

The statement `missing_rights` knows which right a worker needs on which table, so that a worker
hears of all that is missing at its start, before a turn of it is refused in the middle.

Spec: PG-9, UP-10.
"""

from itertools import groupby

from gnomon.shell.store.postgres.fault import forbidden
from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements

__all__ = ["expect_rights"]


async def expect_rights(pool: Pool, sql: Statements) -> None:
    """Raise a `StoreError` that names each table and the rights on it that a worker lacks."""
    rows = await pool.fetch(sql["missing_rights"])
    lacking = [
        f"{', '.join(right for _, right in rights)} on the table {table}"
        for table, rights in groupby(rows, key=lambda row: str(row[0]))
    ]
    if lacking:
        raise forbidden(pool.place, f"a worker needs {'; '.join(lacking)}")
