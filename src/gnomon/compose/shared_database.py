"""
Which ledger on PostgreSQL is meant? The URL of a database, a schema in it, and the way there.

All three are checked here, before anything is opened, made or written; nothing else knows how a
ledger on PostgreSQL is addressed.

Spec: CLI-38.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import PoolOptions

__all__ = ["SharedDatabase", "checked_database"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDatabase:
    """A ledger on PostgreSQL; its address, schema and way have been checked."""

    url: str
    schema: str
    pooler: bool

    @property
    def options(self) -> "PoolOptions":
        """How to connect to it."""
        from gnomon.shell.store.postgres.pool import PoolOptions

        return PoolOptions(pooler=self.pooler)

    @property
    def place(self) -> str:
        """In words for people, without passwords."""
        from gnomon.shell.store.postgres.fault import place_of
        from gnomon.shell.store.postgres.statement import placed_in

        return placed_in(place_of(self.url), self.schema)


def checked_database(url: str, schema: str | None, pooler: bool) -> SharedDatabase:
    """The ledger on PostgreSQL that is named; `DefinitionError` when it cannot be meant."""
    from gnomon.shell.store.postgres.fault import check_address  # they need an extra
    from gnomon.shell.store.postgres.statement import SCHEMA, check_schema

    name = SCHEMA if schema is None else schema
    check_address(url)
    check_schema(name)
    return SharedDatabase(url=url, schema=name, pooler=pooler)
