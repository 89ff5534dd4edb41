"""
What `gnomon run` says: one log line for each period that is settled or begins to run.

The lines are what a person reads who has no live table, and what a machine reads with `--json-log`.

Spec: CLI-21.
"""

import logging
from collections.abc import Collection, Sequence

from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.ports import Committed, Ended, Failed, Launched, Observer, Report, RunRow
from gnomon.shell.observe.log import log

__all__ = ["Narration"]


class Narration(Observer):
    """What is said about what a worker has written."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}
        """Schedule and period of the runs in flight, by key."""

    def committed(self, held: Committed) -> None:
        """Each period that these changes have settled."""
        for claim in held.claims:
            self._note(claim.key, claim.schedule.schedule_id, claim.nominal)
        for change in held.changes:
            for fact in change.facts:
                if fact.state is State.DONE:
                    _say_settled(change.schedule.schedule_id, fact)

    def reported(self, reports: Sequence[Report]) -> None:
        for report in reports:
            self._say(report)

    def took_over(self, found: Sequence[RunRow], adopted: Collection[str]) -> None:
        """Runs in flight that others have begun; the worker says how many go on."""
        for row in found:
            self._note(row.key, row.schedule_id, row.nominal)

    def _note(self, key: str, schedule_id: str, nominal: int) -> None:
        self._names[key] = schedule_id, format_instant(nominal)

    def _say(self, report: Report) -> None:
        schedule_id, period = self._names.get(report.key, ("", report.key))
        match report:
            case Launched():
                log(logging.INFO, "run started", schedule=schedule_id, period=period)
            case Ended(success=success, detail=detail, reason=reason):
                level = logging.INFO if success else logging.WARNING
                log(
                    level, "run ended", schedule=schedule_id, period=period, success=success,
                    detail=detail, reason=str(reason or ""),
                )  # fmt: skip
            case Failed(message=message):
                log(
                    logging.WARNING, "run not started", schedule=schedule_id, period=period,
                    message=message,
                )  # fmt: skip
        if not isinstance(report, Launched):
            self._names.pop(report.key, None)


def _say_settled(schedule_id: str, fact: Fact) -> None:
    log(
        logging.INFO, f"period {fact.outcome}", schedule=schedule_id,
        period=format_instant(fact.nominal), reason=str(fact.reason or ""), periods=fact.periods,
    )  # fmt: skip
