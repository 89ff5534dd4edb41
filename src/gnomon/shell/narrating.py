"""
A ledger that tells a narrator of each period that it settles, and of each that begins.

It tells after the transaction, so that it says nothing that did not happen. A process that is
killed in between has done more than it said. The narrator makes log lines or messages of it.

Spec: CLI-21.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from gnomon.core.engine import Change
from gnomon.ports import Claim, Committed, Report, RunRow
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = ["NarratingLedger", "Narrator"]


class Narrator(Protocol):
    """Who is told what a ledger has written."""

    def claimed(self, claims: Iterable[Claim]) -> None:
        """These claims were won."""
        ...

    def committed(self, changes: Iterable[Change]) -> None:
        """These changes were written."""
        ...

    def reported(self, reports: Sequence[Report], answers: Sequence[bool]) -> None:
        """These reports were written, or refused."""
        ...

    def found(self, rows: Iterable[RunRow]) -> None:
        """These runs in flight are others'."""
        ...

    def adopted(self, keys: Iterable[str]) -> None:
        """Those with these keys still go on, and are this worker's now."""
        ...


class NarratingLedger(SqliteLedger):
    """A ledger on SQLite that tells a narrator, if it has one."""

    narrator: Narrator | None = None

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        held = await super().commit(changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
        if self.narrator is not None:
            self.narrator.claimed(held.claims)
            self.narrator.committed(held.changes)
        return held

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        answers = await super().report(reports, now_ms=now_ms)
        if self.narrator is not None:
            self.narrator.reported(reports, answers)
        return answers

    async def orphans(self, *, owner: str) -> list[RunRow]:
        rows = await super().orphans(owner=owner)
        if self.narrator is not None:
            self.narrator.found(rows)
        return rows

    async def recover(
        self, *, owner: str, adopted: Sequence[str], now_ms: int
    ) -> list[tuple[str, int]]:
        taken = await super().recover(owner=owner, adopted=adopted, now_ms=now_ms)
        if self.narrator is not None:
            self.narrator.adopted([key for key, _ in taken])
        return taken
