"""
What the rows of a ledger went through, as the database itself has seen it.

Triggers write down every row before and after each change, under the lock of that row, so that the
order in which they are numbered is the order of the changes to it. A transaction that is rolled
back takes its lines with it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnomon.shell.store.postgres.pool import Pool

__all__ = ["Moment", "Row", "record", "told"]

Row = Mapping[str, object]

_RECORD = """
CREATE TABLE {schema}.seen (
  number bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL, id text NOT NULL, was jsonb, became jsonb
);
CREATE FUNCTION {schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  became jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  one jsonb := coalesce(became, was);
BEGIN
  INSERT INTO {schema}.seen (kind, id, was, became) VALUES (
    TG_TABLE_NAME, coalesce(one ->> 'idempotency_key', one ->> 'schedule_id'), was, became
  );
  RETURN NULL;
END
$$;
CREATE TRIGGER seen AFTER INSERT OR UPDATE OR DELETE ON {schema}.schedules
FOR EACH ROW EXECUTE FUNCTION {schema}.see();
CREATE TRIGGER seen AFTER INSERT OR UPDATE OR DELETE ON {schema}.schedule_runs
FOR EACH ROW EXECUTE FUNCTION {schema}.see();
"""


class Moment(NamedTuple):
    """One change of one row."""

    id: str
    was: Row | None
    became: Row | None


async def record(pool: Pool, schema: str) -> None:
    """Write down from here on what happens to schedules and runs."""
    async with pool.transaction() as connection:
        await connection.execute(_RECORD.format(schema=schema))


async def told(pool: Pool, schema: str, kind: str) -> Sequence[Moment]:
    """Everything that happened to the rows of one table, in order."""
    rows = await pool.fetch(
        f"SELECT id, was, became FROM {schema}.seen WHERE kind = $1 ORDER BY number", kind
    )
    return [Moment(row[0], _read(row[1]), _read(row[2])) for row in rows]


def _read(text: str | None) -> Row | None:
    if text is None:
        return None
    row: Row = json.loads(text)
    return row
