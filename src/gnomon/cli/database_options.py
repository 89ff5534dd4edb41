"""
The options that say which ledger on PostgreSQL is meant.

Spec: CLI-38.
"""

from typing import Annotated

import typer

from gnomon.compose.shared_database import SharedDatabase, checked_database

__all__ = ["DatabaseOption", "PoolerOption", "SchemaOption", "read_database"]

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="A ledger on PostgreSQL, which many machines can share."
    ),
]
SchemaOption = Annotated[
    str | None,
    typer.Option("--schema", metavar="NAME", help="The schema of the database; left out, gnomon."),
]
PoolerOption = Annotated[
    bool,
    typer.Option(
        "--pooler", help="There is a pooler in between that has a connection for each transaction."
    ),
]


def read_database(url: str | None, schema: str | None, pooler: bool) -> SharedDatabase | None:
    """The ledger on PostgreSQL that is meant; None when none is."""
    if url is None:
        if schema is not None or pooler:
            wrong = "--pooler" if schema is None else "--schema"
            raise typer.BadParameter(f"{wrong} goes with --database, and there is none")
        return None
    return checked_database(url, schema, pooler)
