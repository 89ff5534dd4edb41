"""
One transaction of a store, whatever its database: named statements with named values.

What a store does is written once, as a coroutine over a `Transaction`. On PostgreSQL it waits for
the server. On SQLite nothing in it waits, so the thread of the store drives it to its end in one
hop; a body that waits all the same is a mistake, and its transaction is rolled back.

Both databases have a file of statements each, with the same names, the same named values and the
same columns. A value or a column whose name ends in `_at` or `_until` is an instant: an integer of
milliseconds in Python, and on disk what the database has for one. A list is handed over as an array
on PostgreSQL, and as one JSON text on SQLite. A truth is 0 or 1 when SQLite gives it back.

What does not belong here: a statement, and anything that is decided from rows.

Spec: PORT-1, LEDGER-3, LEDGER-11.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple, Protocol, TypeVar

from gnomon.shell.store.database import Database
from gnomon.shell.store.instant_text import from_text, to_text

__all__ = [
    "NAMED_VALUE", "Body", "Result", "Row", "SqliteTransaction",
    "SqliteTransactions", "Transaction", "TransactionSource", "Value", "driven",
]  # fmt: skip


NAMED_VALUE = re.compile(r"(?<![:\w]):([a-z]\w*)")
"""A value in the text of a statement: a colon and a name, and no cast."""

Value = str | int | None | Sequence[str] | Sequence[int]
Row = TypeVar("Row", bound=NamedTuple)
Result = TypeVar("Result")

_INSTANT = ("_at", "_until")


class Transaction(Protocol):
    """What the body of a store's method has: the statements of the store, one after the other."""

    @property
    def has_one_view(self) -> bool:
        """Whether all statements see the same, whatever another process commits meanwhile."""
        ...

    async def rows(self, kind: type[Row], statement: str, /, **values: Value) -> list[Row]:
        """The rows that a statement gives; `kind` has a field for each of its columns."""
        ...

    async def run(self, statement: str, /, **values: Value) -> int:
        """Do what a statement says; how many rows it has changed."""
        ...

    async def run_each(self, statement: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """
        Do what a statement says for each of these rows of values, in their order.

        On PostgreSQL such a statement takes each value as an array, and does all rows at once.
        """
        ...

    async def tell_workers(self) -> None:
        """Have the workers of other processes look, once this is committed."""
        ...


Body = Callable[[Transaction], Coroutine[object, object, Result]]
"""What one transaction does."""


class TransactionSource(Protocol):
    """Where a store has its transactions from."""

    @property
    def place(self) -> str:
        """The file or the database, as messages name it."""
        ...

    async def read(self, body: Body[Result]) -> Result:
        """Do what only reads."""
        ...

    async def write(self, body: Body[Result], *, again: bool = False) -> Result:
        """
        Do what writes, and commit it; when it raises, nothing has happened.

        With `again` it is done again where the database broke it because of another process: for a
        caller that does not try again.
        """
        ...

    async def close(self) -> None: ...


def driven(body: Coroutine[object, object, Result]) -> Result:
    """What a coroutine comes to that waits for nothing."""
    try:
        body.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    body.close()
    raise AssertionError("the body of a transaction on SQLite has waited")


class SqliteTransactions:
    """The transactions of one SQLite database, each in one hop to the thread of its store."""

    def __init__(
        self, database: Database, statements: Mapping[str, str], *,
        executor: Executor | None = None, let_go: Callable[[], None] | None = None,
        is_lasting: bool = False,
    ) -> None:  # fmt: skip
        """
        Without an executor the caller's own thread does the work.

        `let_go` is called when the database was closed; one that `is_lasting` stays open.
        """
        self.database = database
        self._statements = statements
        self._executor = executor
        self._let_go = let_go
        self._is_lasting = is_lasting
        self._shapes: _Shapes = {}

    @property
    def place(self) -> str:
        return self.database.path

    async def read(self, body: Body[Result]) -> Result:
        return await self.hop(lambda: self.database.read(lambda it: self._whole(body, it)))

    async def write(self, body: Body[Result], *, again: bool = False) -> Result:
        return await self.hop(lambda: self.database.write(lambda it: self._whole(body, it)))

    async def hop(self, work: Callable[[], Result]) -> Result:
        """Do something on the thread of the store."""
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def close(self) -> None:
        try:
            if not self._is_lasting:
                await self.hop(self.database.close)
        finally:
            let_go, self._let_go = self._let_go, None
            if let_go is not None:
                let_go()

    def _whole(self, body: Body[Result], connection: sqlite3.Connection) -> Result:
        return driven(body(SqliteTransaction(connection, self._statements, self._shapes)))


class _Shape(NamedTuple):
    """How the columns of a statement become the fields of a row."""

    places: list[int] | None
    """Where each field stands among the columns; None where both have one order."""
    instants: list[int]
    """Which fields are instants."""


_Shapes = dict[tuple[str, type], _Shape]


class SqliteTransaction:
    """A `Transaction` on SQLite."""

    has_one_view = True

    def __init__(
        self, connection: sqlite3.Connection, statements: Mapping[str, str],
        shapes: _Shapes | None = None,
    ) -> None:  # fmt: skip
        """The `shapes` are those of former transactions, found out once for each statement."""
        self._connection = connection
        self._statements = statements
        self._shapes = {} if shapes is None else shapes

    async def rows(self, kind: type[Row], statement: str, /, **values: Value) -> list[Row]:
        cursor = self._connection.execute(self._statements[statement], _written(values))
        shape = self._shapes.get((statement, kind)) or self._shape(kind, statement, cursor)
        places, instants = shape
        make = kind._make
        if places is None and not instants:
            return [make(row) for row in cursor]
        found = []
        for row in cursor:
            cells = list(row) if places is None else [row[place] for place in places]
            for place in instants:
                cell = cells[place]
                if cell is not None:
                    cells[place] = from_text(cell)
            found.append(make(cells))
        return found

    async def run(self, statement: str, /, **values: Value) -> int:
        return self._connection.execute(self._statements[statement], _written(values)).rowcount

    async def run_each(self, statement: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        if written := [_written(dict(row)) for row in rows]:
            self._connection.executemany(self._statements[statement], written)

    async def tell_workers(self) -> None:
        """A file has one worker, which looks again by itself."""

    def _shape(self, kind: type[Row], statement: str, cursor: sqlite3.Cursor) -> _Shape:
        columns, fields = [column[0] for column in cursor.description], kind._fields
        if sorted(columns) != sorted(fields):  # a damaged schema, if the statement is right
            raise LookupError(f"{statement} has the columns {', '.join(columns)}")
        places = None if columns == list(fields) else [columns.index(name) for name in fields]
        instants = [place for place, name in enumerate(fields) if name.endswith(_INSTANT)]
        shape = self._shapes[statement, kind] = _Shape(places, instants)
        return shape


def _written(values: dict[str, Value]) -> dict[str, Value]:
    """The values as SQLite takes them."""
    for name, value in values.items():
        if value is None or isinstance(value, str):
            continue
        if not isinstance(value, int):
            values[name] = json.dumps(list(value))
        elif name.endswith(_INSTANT):
            values[name] = to_text(value)
    return values
