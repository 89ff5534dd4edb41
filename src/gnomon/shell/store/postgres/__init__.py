"""
The ledger on PostgreSQL, for any number of workers, and the journal (the extra `postgres`).

Here belongs everything that speaks to PostgreSQL: connections and transactions, migrations, the
statements in `sql/`, and the transactions of the ports `Ledger` and `Journal`. What they have in
common with SQLite, because it follows from facts alone, stands one level above. What does not
belong here: deciding what happens to a period.

Nothing of Gnomon imports this package unless a database was named.
"""

from gnomon.errors import MissingExtraError

try:
    import asyncpg  # noqa: F401
except ImportError as error:
    raise MissingExtraError("PostgreSQL", extra="postgres") from error
