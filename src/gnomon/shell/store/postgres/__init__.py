"""
The ledger on PostgreSQL, for any number of workers, and the journal (the extra `postgres`).

Here belongs everything that speaks to PostgreSQL: connections and transactions, migrations, the
statements in `sql/`, and what workers do so often that each database has its own fastest way. What
is written once for both databases stands one level above, and so does what follows from facts
alone. What does not belong here: deciding what happens to a period.

Nothing of Gnomon imports this package unless a database was named.
"""

from gnomon.errors import MissingExtraError

try:
    import asyncpg  # noqa: F401
except ImportError as error:
    raise MissingExtraError("PostgreSQL", extra="postgres") from error
