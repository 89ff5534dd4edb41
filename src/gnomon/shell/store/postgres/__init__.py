"""
The ledger on PostgreSQL, for any number of workers (the extra `postgres`).

Here belongs everything that speaks to PostgreSQL: connections and transactions, migrations, the
statements in `sql/`, and the transactions of the port `Ledger`. What they have in common with the
ledger on SQLite, because it follows from facts alone, stands one level above. What does not belong
here: deciding what happens to a period.

Nothing of Gnomon imports this package unless a database was named.
"""

from gnomon.errors import MissingExtraError

try:
    import asyncpg  # noqa: F401
except ImportError as error:
    raise MissingExtraError("a ledger on PostgreSQL", extra="postgres") from error
