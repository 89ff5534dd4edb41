"""Things that happen to a job, for tests of what is told about them."""

from pathlib import Path

from gnomon.core.ledger.lifecycle import Outcome, Reason
from gnomon.shell.launcher.ends import without_usage
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.observe.notify.rule import Occasion
from tests.apps.krond.krontab.reading import job

__all__ = ["AT_MS", "happened"]

AT_MS = 1_772_332_860_000  # 2026-03-01T02:41:00Z

_OUTCOMES = {
    Occasion.SUCCESS: (Outcome.EXECUTED, None, "exit 0"),
    Occasion.FAILURE: (Outcome.EXECUTED, None, "exit 2, 0.1 s"),
    Occasion.MISSED: (Outcome.MISSED, Reason.DEADLINE, ""),
    Occasion.SKIPPED: (Outcome.SKIPPED, Reason.OVERLAP, ""),
    Occasion.UNSCHEDULABLE: (Outcome.UNSCHEDULABLE, Reason.CONSTRAINTS, ""),
}


def happened(
    occasion: Occasion, fields: str, *, output: Path | None = None, periods: int = 1,
    detail: str | None = None,
) -> Happening:  # fmt: skip
    """What became of the period of 2 o'clock, of a job with these fields."""
    outcome, reason, usual = _OUTCOMES[occasion]
    detail = usual if detail is None else detail
    ran = outcome is Outcome.EXECUTED
    return Happening(
        job=job(f"0 2 * * * name=backup command=/bin/backup {fields}"),
        occasion=occasion,
        period_id="2026-03-01T02:00:00Z",
        periods=periods,
        chosen_ms=AT_MS if periods == 1 else None,
        outcome=outcome,
        reason=reason,
        detail=detail,
        brief=without_usage(detail),
        started_ms=AT_MS if ran else None,
        ended_ms=AT_MS + 192_000,
        output=output,
    )
