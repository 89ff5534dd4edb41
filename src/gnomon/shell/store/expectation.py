"""
What is expected of schedules: what did not come true is written down.

A breach is written once, and its writer is told that it is new, so that one alarm is raised for it.

Spec: SERVICE-20.
"""

from collections.abc import Sequence

from gnomon.ports.ledger_rows import Breach, Expected, Judged
from gnomon.shell.store.transaction import Transaction

__all__ = ["judge"]


async def judge(
    transaction: Transaction, one: Expected, judged: Judged, *, now_ms: int
) -> Sequence[Breach]:
    """Write down what was found; return the breaches that were not noted before."""
    schedule_id, former_ms = one.schedule_id, one.after * 1000
    if judged.check_ms is None:
        await transaction.run("judge_nothing", id=schedule_id, former_at=former_ms)
    else:
        await transaction.run(
            "judge_expected", id=schedule_id, check_at=judged.check_ms,
            after_at=judged.after * 1000, former_at=former_ms,
        )  # fmt: skip
    return [
        breach
        for breach in judged.breaches
        if await transaction.run(
            "add_breach", id=schedule_id, run_at=breach.nominal * 1000,
            expectation=breach.expectation, now_at=now_ms,
        )
    ]  # fmt: skip
