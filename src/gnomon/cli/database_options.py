"""
The options that say which ledger on PostgreSQL is meant.

Spec: CLI-38.
"""

import click

from gnomon.compose.shared_database import SharedDatabase, checked_database

__all__ = ["database_option", "pooler_option", "read_database", "schema_option"]

database_option = click.option(
    "--database", metavar="URL", help="A ledger on PostgreSQL, which many machines can share."
)
schema_option = click.option(
    "--schema", metavar="NAME", help="The schema of the database; left out, gnomon."
)
pooler_option = click.option(
    "--pooler", is_flag=True,
    help="There is a pooler in between that has a connection for each transaction.",
)  # fmt: skip


def read_database(url: str | None, schema: str | None, pooler: bool) -> SharedDatabase | None:
    """The ledger on PostgreSQL that is meant; None when none is."""
    if url is None:
        if schema is not None or pooler:
            wrong = "--pooler" if schema is None else "--schema"
            raise click.BadParameter(f"{wrong} goes with --database, and there is none")
        return None
    return checked_database(url, schema, pooler)
