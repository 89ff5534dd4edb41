"""
Definitions as a worker reads them on PostgreSQL, in the transaction of something else.

Spec: LEDGER-18.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gnomon.errors import StoreError
from gnomon.shell.store.definition_cache import Definition, DefinitionCache
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["definitions"]


async def definitions(
    connection: "Connection", sql: Statements, cache: DefinitionCache,
    wanted: Iterable[tuple[str, int]],
) -> tuple[dict[str, Definition], list[StoreError]]:  # fmt: skip
    """The definitions of these ids and revisions, and what is wrong with the others."""
    found, missing = cache.look_up(wanted)
    if not missing:
        return found, []
    rows = await connection.fetch(sql["definitions"], missing)
    return found, cache.read(((row[0], row[1], row[2], row[3]) for row in rows), found)
