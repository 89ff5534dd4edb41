"""
What do the processes of one database say to each other? Short texts, to those that listen just now.

Nothing is kept: a process that is not listening never hears it, and nothing may depend on it.

Spec: PG-19.
"""

from collections.abc import Sequence

from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements, channel_name

__all__ = ["announce", "events_channel"]

_ANNOUNCE = "SELECT pg_notify($1, said) FROM unnest($2::text[]) AS said"


def events_channel(sql: Statements) -> str:
    """Where events are told, apart from what wakes workers."""
    return channel_name(f"events_gnomon_{sql.schema}")


async def announce(pool: Pool, channel: str, texts: Sequence[str]) -> None:
    """Say these, in order; each has less than 8000 bytes."""
    await pool.fetch(_ANNOUNCE, channel, list(texts))
