"""
Transactions that take their time: between two statements, and within one.

Most races need the commit of another transaction between two statements of one. On a quick machine
that gap is some microseconds wide; here the loop turns a few times in it, and before the commit, as
often as is drawn, and lets the others go on. Other races need that commit within a statement, after
its view was taken and before it has its rows, or after it has done its work. There a trigger of the
database, or a function in the statements that look and take, or end, at once, stands still now and
then, for some milliseconds.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, cast

from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["WindyPool", "WindyStatements", "blow", "tell_time"]

_DATABASE_TIME = "date_trunc('milliseconds', now())"
_TURNS = (0, 0, 0, 1, 3, 10, 40)
_LOOKS = "s.lock_version = v.version"
"""In the condition of each statement that looks at schedules and takes them."""
_ENDS = ") FROM ended"
"""At the end of the statement that writes ends and then wakes queues."""
_BLOW = """
CREATE TABLE {schema}.sky (now_at timestamptz NOT NULL);
INSERT INTO {schema}.sky VALUES ('epoch');
CREATE FUNCTION {schema}.time_of_the_sky() RETURNS timestamptz LANGUAGE sql STABLE AS
'SELECT now_at FROM {schema}.sky';
CREATE FUNCTION {schema}.stand_still_or_not() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF random() < 0.5 THEN
    PERFORM pg_sleep(random() * 0.04);
  END IF;
  RETURN true;
END
$$;
CREATE FUNCTION {schema}.stand_still() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF random() < 0.5 THEN
    PERFORM pg_sleep(random() * 0.02);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER stand_still BEFORE INSERT OR UPDATE OR DELETE ON {schema}.schedules
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.stand_still();
CREATE TRIGGER stand_still BEFORE INSERT OR UPDATE OR DELETE ON {schema}.schedule_runs
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.stand_still();
"""


async def blow(pool: Pool, schema: str) -> None:
    """Have statements that write stand still now and then, with the view they have taken."""
    async with pool.transaction() as connection:
        await connection.execute(_BLOW.format(schema=schema))


async def tell_time(pool: Pool, schema: str, now_ms: int) -> None:
    """Set the clock of the database."""
    await pool.fetch(f"UPDATE {schema}.sky SET now_at = $1", now_ms)


class WindyStatements(Statements):
    """
    Those that look at schedules and take them stand still in between, and ends before their commit.

    The time of the database is that of the storm.
    """

    def __getitem__(self, name: str) -> str:
        still = f"{_LOOKS} AND {self.schema}.stand_still_or_not()"
        late = f"), {self.schema}.stand_still_or_not(){_ENDS[1:]}"
        time = f"{self.schema}.time_of_the_sky()"
        text = super().__getitem__(name).replace(_LOOKS, still).replace(_DATABASE_TIME, time)
        return text.replace(_ENDS, late)


class WindyPool(Pool):
    """The connections of another pool, with gaps."""

    def __init__(self, calm: Pool, random: Random) -> None:
        self.__dict__.update(calm.__dict__)
        self._random = random

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        async with super().transaction() as connection:
            yield cast("Connection", _Windy(connection, self._random))
            await _linger(self._random)


class _Windy:
    """A connection that waits a little before each statement."""

    def __init__(self, connection: "Connection", random: Random) -> None:
        self._connection, self._random = connection, random

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        call = getattr(self._connection, name)

        async def late(*values: object) -> object:
            await _linger(self._random)
            return await call(*values)

        return late


async def _linger(random: Random) -> None:
    for _ in range(random.choice(_TURNS)):
        await asyncio.sleep(0)
