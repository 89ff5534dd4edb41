"""
Rows that are added for facts that are no claims.

Spec: LEDGER-4.
"""

from collections.abc import Iterable

from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.shell.store.claim_rows import status_word
from gnomon.shell.store.transaction import Transaction, Value

__all__ = ["add_runs"]


async def add_runs(
    transaction: Transaction, facts: Iterable[tuple[Fact, str, int]], now_ms: int
) -> None:
    """Add a row for each fact, with its schedule and revision."""
    await transaction.run_each("add_run", [_values(*one, now_ms) for one in facts])


def _values(fact: Fact, schedule_id: str, revision: int, now_ms: int) -> dict[str, Value]:
    return {
        "key": fact.key,
        "id": schedule_id,
        "run_at": fact.nominal * 1000,
        "last_run_at": fact.last_nominal * 1000 if fact.last_nominal else None,
        "periods": fact.periods,
        "fire_at": fact.fire_ms,
        "state": fact.state.value,
        "status": status_word(fact),
        "outcome": fact.outcome and fact.outcome.value,
        "reason": fact.reason and fact.reason.value,
        "launches": fact.launches,
        "revision": revision,
        "now_at": now_ms,
        "ended_at": now_ms if fact.state is State.DONE else None,
    }
