"""
What an operator does: the protocol that was chosen, and what it becomes when a part is left out.

A protocol says with which calls an idle operator may begin (`tasks`), and what an answer leads to
(`hear`): the next call, or None when the pass is over. Whatever is known between two calls may be
lost at any time.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tests.protocol.cluster import (
    Bounds,
    Call,
    Job,
    KronJob,
    Note,
    Operator,
    Record,
)

__all__ = ["CHOSEN", "ClaimThenMake", "NameAlone", "Parts", "Protocol"]

Step = tuple[Call, Note]
_END = Note("end")


class Parts(NamedTuple):
    """What the protocol consists of; each part can be left out."""

    version: bool = True
    """A status is written under the version that it was decided from."""
    edition_in_name: bool = True
    """The name of a candidate says from which spec it was made, and an adopter asks."""
    uid_in_name: bool = True
    """The name says for which KronJob, and an adopter asks for its owner."""
    claim_first: bool = True
    """The status names a Job before it is released."""
    sweep_handled_only: bool = True
    wait_for_end: bool = True
    """Under `replace`, until the older Job and its pods are gone."""
    ask_before_skip: bool = True
    ask_when_unseen: bool = True
    """A Job that the cache does not show is asked for."""
    clock_guard: bool = True
    strict_birth: bool = True
    """The first period opens after the second of the creation."""
    repair: bool = True
    """A status that was wiped is noticed."""
    repair_spares: bool = True
    """The repair deletes no candidate."""
    replace_void: bool = True
    """What the repair has voided, and runs after all, is ended like any other."""
    keep_active: bool = True
    """A record is forgotten only after its Job has ended."""
    release_uid: bool = True


CHOSEN = Parts()


class Protocol:
    """Make the Job held, write its uid into the status, release that uid."""

    def __init__(self, parts: Parts = CHOSEN) -> None:
        self.parts = parts

    @property
    def looks_at_jobs(self) -> bool:
        """Whether the cache of Jobs matters."""
        return not self.parts.ask_when_unseen

    def may_send(self, operator: Operator, call: Call, now: int, bounds: Bounds) -> bool:
        """A claim that was planned a while ago is sent only within its deadline."""
        if call.word != "write" or operator.view is None:
            return True
        return all(
            now <= bounds.chosen[period] + bounds.deadline
            for period, record in enumerate(call.records)
            if record and record.what == "executed" and not record.ended
            and operator.view.records[period] is None
        )  # fmt: skip

    def tasks(self, operator: Operator, now: int, bounds: Bounds) -> Iterator[Step]:
        one = operator.view
        if one is None:
            return
        if one.spoiled and self.parts.repair:
            yield Call("list"), Note("repair")
            return
        for period, record in enumerate(one.records):
            if record and record.uid and not record.ended:
                unseen = all(job.uid != record.uid for job in operator.jobs)
                if unseen and not self.parts.ask_when_unseen:
                    yield self._write(operator, period, record._replace(ended=True)), _END
                else:
                    yield Call("ask", record.uid), Note("tend", period)
        if not one.suspended:
            for period in self._due(one, now, bounds):
                yield self._start(operator, one, period, now, bounds)
        for period, record in enumerate(one.records):
            if record or not self.parts.sweep_handled_only:
                yield Call("list"), Note("sweep", period)
            over = record is not None and (record.ended or not record.uid)
            is_old = record is not None and record.what != "handled"
            if bounds.forgets and is_old and (over or not self.parts.keep_active):
                yield self._write(operator, period, Record("handled")), _END

    def hear(
        self, operator: Operator, note: Note, answer: object, now: int, bounds: Bounds
    ) -> Step | None:
        one = operator.view
        assert one is not None
        job = answer if isinstance(answer, Job) else None
        match note.word:
            case "candidate":
                return self._claim(operator, one, note.period, job, now, bounds)
            case "released":
                return self._write(operator, note.period, Record("executed", note.other)), _END
            case "tend":
                return self._tend(operator, one, note.period, job, bounds)
            case "forbid":
                record = one.records[note.other]
                assert record is not None
                if job is None or job.state == "ended":
                    return self._write(operator, note.other, record._replace(ended=True)), _END
                return self._write(operator, note.period, Record("skipped")), _END
            case "sweep":
                return self._sweep(one, note.period, _jobs(answer))
            case "repair":
                return self._repair(operator, one, _jobs(answer), now, bounds)
        return None

    def _due(self, one: KronJob, now: int, bounds: Bounds) -> Iterator[int]:
        for period, record in enumerate(one.records):
            after_birth = bounds.chosen[period] > one.born - (not self.parts.strict_birth)
            if record is None and bounds.chosen[period] <= now and after_birth:
                yield period

    def _write(self, operator: Operator, period: int, record: Record) -> Call:
        assert operator.view is not None
        records = list(operator.view.records)
        records[period] = record
        return self._write_all(operator, tuple(records))

    def _write_all(self, operator: Operator, records: tuple[Record | None, ...]) -> Call:
        assert operator.view is not None
        return Call(
            "write", operator.view.uid, records=records, is_checked=self.parts.version,
            is_fresh=operator.is_fresh,
        )  # fmt: skip

    def _name(self, one: KronJob, period: int) -> tuple[int, ...]:
        uid = one.uid if self.parts.uid_in_name else 0
        return uid, period, one.edition if self.parts.edition_in_name else 0

    def _start(
        self, operator: Operator, one: KronJob, period: int, now: int, bounds: Bounds
    ) -> Step:
        if now > bounds.chosen[period] + bounds.deadline:
            return self._write(operator, period, Record("missed")), _END
        active = _active(one)
        if bounds.policy == "forbid" and active:
            if not self.parts.ask_before_skip:
                return self._write(operator, period, Record("skipped")), _END
            record = one.records[active[0]]
            assert record is not None
            return Call("ask", record.uid), Note("forbid", period, active[0])
        name = self._name(one, period)
        made = Call("make", name=name, owner=one.uid, period=period, edition=one.edition)
        return made, Note("candidate", period)

    def _claim(
        self, operator: Operator, one: KronJob, period: int, job: Job | None, now: int,
        bounds: Bounds,
    ) -> Step | None:  # fmt: skip
        assert job is not None
        if self.parts.uid_in_name and job.owner != one.uid:
            return None
        is_other = self.parts.edition_in_name and job.edition != one.edition
        if is_other or job.state == "ending" or now > bounds.chosen[period] + bounds.deadline:
            return None
        if not self.parts.claim_first and job.state == "held":
            return Call("release", job.uid), Note("released", period, job.uid)
        return self._write(operator, period, Record("executed", job.uid)), _END

    def _tend(
        self, operator: Operator, one: KronJob, period: int, job: Job | None, bounds: Bounds
    ) -> Step | None:
        record = one.records[period]
        assert record is not None
        if job is None or job.state == "ended":
            return self._write(operator, period, record._replace(ended=True)), _END
        others = [other for other in _active(one) if other != period]
        is_replaced = bounds.policy == "replace" and any(other > period for other in others)
        if record.what == "handled":  # a repair has found it; it must not be released
            ends = is_replaced and self.parts.replace_void and job.state == "running"
            return (Call("remove", job.uid), _END) if job.state == "held" or ends else None
        if is_replaced and job.state in ("held", "running"):
            return Call("remove", job.uid), _END
        waits = bounds.policy == "replace" and any(other < period for other in others)
        if job.state != "held" or (waits and self.parts.wait_for_end):
            return None
        if not self.parts.release_uid:
            return Call("release name", name=job.name), _END
        return Call("release", job.uid), _END

    def _sweep(self, one: KronJob, period: int, jobs: tuple[Job, ...]) -> Step | None:
        record = one.records[period]
        for job in jobs:
            is_ours = job.owner == one.uid and job.period == period and job.state == "held"
            if is_ours and (record is None or record.uid != job.uid):
                return Call("remove", job.uid), _END
        return None

    def _repair(
        self, operator: Operator, one: KronJob, jobs: tuple[Job, ...], now: int, bounds: Bounds
    ) -> Step:
        records = list(one.records)
        for job in (job for job in jobs if job.owner == one.uid):
            if job.state == "held" and not self.parts.repair_spares:
                return Call("remove", job.uid), _END
            if job.state == "held" and bounds.chosen[job.period] <= now:
                records[job.period] = records[job.period] or Record("handled", job.uid)
            elif job.state != "held":
                found = Record("executed", job.uid, job.state == "ended")
                records[job.period] = records[job.period] or found
        for period, chosen in enumerate(bounds.chosen):
            if chosen <= now:
                records[period] = records[period] or Record("handled")
        return self._write_all(operator, tuple(records)), _END


class NameAlone(Protocol):
    """Rejected: the name of the Job is the only lock, and the status is written afterwards."""

    def tasks(self, operator: Operator, now: int, bounds: Bounds) -> Iterator[Step]:
        one = operator.view
        for period in self._due(one, now, bounds) if one else ():
            assert one is not None
            if now > bounds.chosen[period] + bounds.deadline:
                yield self._write(operator, period, Record("missed")), _END
            else:
                yield self._running(one, period), Note("made", period)

    def hear(
        self, operator: Operator, note: Note, answer: object, now: int, bounds: Bounds
    ) -> Step | None:
        if note.word == "made" and isinstance(answer, Job):
            return self._write(operator, note.period, Record("executed", answer.uid)), _END
        return None

    def _running(self, one: KronJob, period: int) -> Call:
        name = self._name(one, period)
        return Call("make", 0, name, one.uid, period, one.edition, is_held=False)


class ClaimThenMake(NameAlone):
    """Rejected: the status claims the period, then the Job is made; `again` if it is not there."""

    def __init__(self, *, again: bool) -> None:
        super().__init__()
        self.again = again

    def tasks(self, operator: Operator, now: int, bounds: Bounds) -> Iterator[Step]:
        one = operator.view
        for period, record in enumerate(one.records if one else ()):
            if one is not None and record and record.what == "claimed":
                yield Call("ask name", name=self._name(one, period)), Note("found", period)
        for period in self._due(one, now, bounds) if one else ():
            late = now > bounds.chosen[period] + bounds.deadline
            record = Record("missed" if late else "claimed")
            yield self._write(operator, period, record), Note("end" if late else "claim", period)

    def hear(
        self, operator: Operator, note: Note, answer: object, now: int, bounds: Bounds
    ) -> Step | None:
        one = operator.view
        assert one is not None
        is_missing = note.word == "found" and answer is None
        if (note.word == "claim" and answer) or (is_missing and self.again):
            return self._running(one, note.period), Note("made", note.period)
        if is_missing:
            return self._write(operator, note.period, Record("executed", ended=True)), _END
        return super().hear(operator, note._replace(word="made"), answer, now, bounds)


def _active(one: KronJob) -> list[int]:
    return [
        period for period, record in enumerate(one.records)
        if record and record.uid and not record.ended
    ]  # fmt: skip


def _jobs(answer: object) -> tuple[Job, ...]:
    assert isinstance(answer, tuple)
    return answer
