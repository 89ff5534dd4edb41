"""
Who was given which claim until when, and which reports were accepted? Seen beside the ledger.

It changes nothing about what the ledger does. It writes down what passes between a worker and the
real ledger, so that judges can tell without asking the ledger.

Spec: SIM-2, SIM-3.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from gnomon.core.engine import Change, Due
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.ports import (
    Committed,
    Ended,
    Failed,
    Held,
    Launched,
    Ledger,
    Renewal,
    Report,
    ToEnd,
)
from gnomon.simulation.kit.gate import Gate, Nature, behind
from gnomon.simulation.ledger.record import Effect, Grant, Record, Seen

__all__ = ["LedgerNature", "watched"]

_MS = timedelta(milliseconds=1)
_RENEWALS = {
    Renewal.HELD: "lease renewed",
    Renewal.OVER: "lease of a run that was over",
    Renewal.TAKEN: "lease not renewed",
}


class LedgerNature(Nature, Protocol):
    """What the parts of a world with a ledger need besides."""

    record: Record

    def shown_ms(self) -> int:
        """The latest instant that the wall clock has ever shown."""
        ...

    def call_back(self, effect: Effect) -> None:
        """An executor elsewhere says that a run is over."""
        ...

    async def interject(self, schedule_ids: Sequence[str]) -> None:
        """People may do something to schedules that a worker has loaded, before it goes on."""
        ...


def watched(ledger: Ledger, gate: Gate[LedgerNature]) -> Ledger:
    """The ledger as one worker reaches it: behind its gate, with an onlooker."""
    return behind(gate.call, Ledger, ledger, own=_Onlooker(ledger, gate))


class _Onlooker:
    """The calls of a `Ledger` that the judges must know of, behind the gate of one worker."""

    def __init__(self, inner: Ledger, gate: Gate[LedgerNature]) -> None:
        self._inner = inner
        self._gate = gate
        self._record = gate.nature.record

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        async def act() -> list[Due]:
            dues = await self._inner.load(now_ms=now_ms, limit=limit)
            await self._gate.nature.interject([due.schedule.schedule_id for due in dues])
            return dues

        return await self._gate.call("load", act)

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        written = set[str]()

        async def act() -> Committed:
            held = await self._inner.commit(
                changes, owner=owner, confirmed=confirmed, now_ms=now_ms
            )
            self._see_changes(held, changes, now_ms)
            written.update(fact.key for change in held.changes for fact in change.facts)
            return held

        try:
            return await self._gate.call("commit", act)
        except BaseException:
            self._record.unheard |= written
            raise

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        async def act() -> list[bool]:
            answers = await self._inner.report(reports, now_ms=now_ms)
            for report, accepted in zip(reports, answers, strict=True):
                self._see_report(report, accepted, now_ms)
            return answers

        return await self._gate.call("report", act)

    async def renew(self, runs: Sequence[Held], *, owner: str, now_ms: int) -> list[Renewal]:
        async def act() -> list[Renewal]:
            answers = await self._inner.renew(runs, owner=owner, now_ms=now_ms)
            for (key, fence, _), answer in zip(runs, answers, strict=True):
                self._record.hit(_RENEWALS[answer])
                grant = self._record.grant(key, fence)
                if answer is Renewal.HELD and grant is not None:
                    grant.until_ms = now_ms + grant.lease_ms
            return answers

        return await self._gate.call("renew", act)

    async def recover(
        self, *, owner: str, adopted: Sequence[str], now_ms: int
    ) -> list[tuple[str, int]]:
        async def act() -> list[tuple[str, int]]:
            taken = await self._inner.recover(owner=owner, adopted=adopted, now_ms=now_ms)
            self._see_recovery(taken, now_ms)
            return taken

        return await self._gate.call("recover", act)

    async def to_end(self, *, owner: str) -> list[ToEnd]:
        found = await self._gate.call("to_end", lambda: self._inner.to_end(owner=owner))
        for key, fence, _ in found:
            place = self._gate.worker, key, fence
            self._record.told.setdefault(place, self._record.next_no())
        return found

    async def close(self) -> None:
        """The world closes the store; a worker only stops using it."""
        self._gate.check()

    def _see_changes(self, held: Committed, planned: Sequence[Change], now_ms: int) -> None:
        record, claims = self._record, held.claims
        if len(held.changes) < len(planned):
            record.hit("commit lost to another worker")
        for change in held.changes:
            for fact in change.facts:
                former = None if fact.is_new else record.newest_grant(fact.key)
                if former is not None and fact.state is State.DONE:
                    former.settled_no = former.settled_no or record.next_no()
                if former is None or former.is_closed or former.unanswered_no is not None:
                    continue
                if former.until_ms < now_ms:
                    former.lost_no = former.lost_no or record.next_no()
                    former.waits = fact.state is State.PLANNED
                    record.hit("lease was over")
        for claim in claims:
            self._give(
                claim.schedule.schedule_id, claim.nominal, claim.key, claim.fence, claim.launches,
                claim.schedule.policy.lease // _MS, now_ms,
            )  # fmt: skip

    def _give(
        self, schedule_id: str, nominal: int, key: str, fence: int, launches: int, lease_ms: int,
        now_ms: int, *, adopts: bool = False,
    ) -> None:  # fmt: skip
        nature, record = self._gate.nature, self._record
        record.log(nature.at(), self._gate.worker, f"claim {key[:12]} fence {fence}")
        record.grants.append(
            Grant(
                schedule_id=schedule_id, nominal=nominal, key=key, fence=fence, launches=launches,
                worker=self._gate.worker, no=record.next_no(), given_ms=now_ms,
                shown_ms=nature.shown_ms(), lease_ms=lease_ms, until_ms=now_ms + lease_ms,
                is_adopted=adopts,
            )
        )  # fmt: skip

    def _see_report(self, report: Report, accepted: bool, now_ms: int) -> None:
        record, kind, number = self._record, type(report).__name__, self._record.next_no()
        record.reports.append(Seen(report.key, report.fence, kind, accepted, number))
        record.hit(f"report {kind} accepted" if accepted else f"report {kind} refused")
        line = f"{kind} {report.key[:12]} fence {report.fence} {'ok' if accepted else 'refused'}"
        record.log(self._gate.nature.at(), self._gate.worker, line)
        grant = record.grant(report.key, report.fence)
        if accepted and grant is not None:
            if isinstance(report, Launched) and report.detached_ms is not None:
                grant.until_ms, grant.is_detached = now_ms + report.detached_ms, True
            if isinstance(report, Ended):
                grant.is_closed = True
            elif isinstance(report, Failed) and report.reason is Reason.UNCERTAIN:
                grant.unanswered_no = None if grant.is_closed else number
            elif isinstance(report, Failed):
                grant.lost_no, grant.is_given_back = number, True
                grant.settled_no = number if report.permanent else None

    def _see_recovery(self, taken: Sequence[tuple[str, int]], now_ms: int) -> None:
        record, adopted = self._record, dict(taken)
        for grant in list(record.grants):
            if grant.worker == self._gate.worker or grant.is_closed or grant.lost_no is not None:
                continue
            grant.lost_no = record.next_no()
            fence = adopted.get(grant.key)
            if fence is not None and record.grant(grant.key, fence) is None:
                self._give(
                    grant.schedule_id, grant.nominal, grant.key, fence, grant.launches,
                    grant.lease_ms, now_ms, adopts=True,
                )  # fmt: skip
            else:
                record.hit("run lost with its worker")
