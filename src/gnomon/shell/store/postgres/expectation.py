"""
What is expected of schedules, on PostgreSQL: what to look at, and what did not come true.

Spec: SERVICE-20.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.ports.ledger_rows import Breach, Expected, Judged
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["judge"]


async def judge(
    connection: "Connection", sql: Statements, one: Expected, judged: Judged, *, now_ms: int
) -> Sequence[Breach]:
    """Write down what was found; return the breaches that were not noted before."""
    if judged.check_ms is None:
        await connection.execute(sql["judge_nothing"], one.schedule_id, one.after * 1000)
    else:
        values = one.schedule_id, judged.check_ms, judged.after * 1000, one.after * 1000
        await connection.execute(sql["judge_expected"], *values)
    if not judged.breaches:
        return []
    nominals = [breach.nominal * 1000 for breach in judged.breaches]
    words = [breach.expectation for breach in judged.breaches]
    rows = await connection.fetch(sql["add_breaches"], one.schedule_id, nominals, words, now_ms)
    return [Breach(run_ms // 1000, expectation) for run_ms, expectation in rows]
