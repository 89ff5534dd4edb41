"""Claims to launch, as a ledger would have granted them."""

from gnomon.core.ledger.period import period_key
from gnomon.core.schedule_record import read_schedule
from gnomon.ports import Claim

__all__ = ["a_claim"]

NOMINAL = 1_772_323_200  # 2026-03-01T00:00:00Z


def a_claim(target: object, *, name: str = "billing", fence: int = 1, launches: int = 1) -> Claim:
    """A claim for the period of 2026-03-01T00:00:00Z."""
    schedule = read_schedule(
        {"schedule_id": name, "cron_expr": "0 0 * * *", "timezone": "Europe/Riga", "target": target}
    )
    key = period_key(name, NOMINAL)
    return Claim(schedule, key, NOMINAL, NOMINAL * 1000, launches, fence, ())
