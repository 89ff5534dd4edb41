"""
A ledger that says what it writes: one log line for each period that is settled or begins to run.

The lines are what a person reads who has no live table, and what a machine reads with `--json-log`.
A line is written after its transaction, so that nothing is said that did not happen; who is killed
in between has done more than was said.

Spec: CLI-21.
"""

import logging
from collections.abc import Iterable, Sequence

from gnomon.core.civil.instant import format_instant
from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.ports import Claim, Ended, Failed, Launched, Report, RunRow
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.telemetry import log

__all__ = ["NarratingLedger", "Narration"]


class Narration:
    """What is said about a ledger's answers."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}
        """Schedule and period of the runs in flight, by key."""

    def claimed(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            self._note(claim.key, claim.schedule.schedule_id, claim.nominal)

    def committed(self, changes: Iterable[Change]) -> None:
        """Each period that these changes have settled."""
        for change in changes:
            for fact in change.facts:
                if fact.state is State.DONE:
                    _say_settled(change.schedule.schedule_id, fact)

    def reported(self, reports: Sequence[Report], answers: Sequence[bool]) -> None:
        for report, accepted in zip(reports, answers, strict=True):
            if accepted:
                self._say(report)

    def found(self, rows: Iterable[RunRow]) -> None:
        """Runs in flight that others have begun."""
        for row in rows:
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


class NarratingLedger(SqliteLedger):
    """A ledger on SQLite, with log lines."""

    _narration: Narration | None = None

    @property
    def narration(self) -> Narration:
        self._narration = self._narration or Narration()
        return self._narration

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> list[Claim]:
        claims = await super().commit(changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
        self.narration.claimed(claims)
        return claims

    def committed(self, changes: Sequence[Change]) -> None:
        super().committed(changes)
        self.narration.committed(changes)

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        answers = await super().report(reports, now_ms=now_ms)
        self.narration.reported(reports, answers)
        return answers

    async def orphans(self, *, owner: str) -> list[RunRow]:
        rows = await super().orphans(owner=owner)
        self.narration.found(rows)
        return rows


def _say_settled(schedule_id: str, fact: Fact) -> None:
    log(
        logging.INFO, f"period {fact.outcome}", schedule=schedule_id,
        period=format_instant(fact.nominal), reason=str(fact.reason or ""), periods=fact.periods,
    )  # fmt: skip
