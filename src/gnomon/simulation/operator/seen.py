"""
Everything that was ever seen of Jobs and KronJobs, by their uids: what the judge judges from.

It is told of objects as a server stored them, when, and by whom. An execution is a Job that was
ever seen unsuspended, or that was ever given a pod; a Job that was made and never released is none.

Spec: OSIM-2.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from gnomon.simulation.operator.duty import at, is_wrong, text

__all__ = ["Chronicle", "JobSeen", "KronJobSeen", "Spec", "Told", "seconds"]

_RESERVED = "gnomon.dev/"
_PERIOD, _CHOSEN = "gnomon.dev/period", "gnomon.dev/chosen"


class Spec(NamedTuple):
    """A spec in force, and when it was first seen."""

    since: float
    generation: int
    words: Mapping[str, object]


class Told(NamedTuple):
    """What a status said of a single period, and when it said so first."""

    outcome: str
    reason: str
    uid: str
    at: float


@dataclass(slots=True, kw_only=True)
class JobSeen:
    """One Job."""

    uid: str
    owner: str = ""
    period: int = 0
    chosen: int = 0
    name: str = ""
    created: float | None = None
    released: float | None = None
    """When it was first seen unsuspended."""
    released_by: str = ""
    ended: float | None = None
    end: str = ""
    """`Complete` or `Failed`, if it came to its own end."""
    pods: int = 0
    deleted_by: set[str] = field(default_factory=set)
    deleted: float | None = None
    """When its deletion began."""
    marks: Mapping[str, object] = field(default_factory=dict)
    """The annotations that its template gave it."""

    @property
    def is_execution(self) -> bool:
        return self.released is not None or self.pods > 0


@dataclass(slots=True, kw_only=True)
class KronJobSeen:
    """One KronJob."""

    uid: str
    name: str = ""
    created: float = 0.0
    deleted: float | None = None
    specs: list[Spec] = field(default_factory=list)
    told: dict[int, list[Told]] = field(default_factory=lambda: defaultdict(list))
    results: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What statuses said of how a Job ended, in order."""
    ranges: set[tuple[int, int, str]] = field(default_factory=set)
    """What statuses said of many at once: the first, the last, the outcome."""
    taken_up: dict[int, float] = field(default_factory=dict)
    """When an operator's status first named a generation."""
    spoiled: list[float] = field(default_factory=list)
    """When another client than an operator wrote its status."""
    mended: list[float] = field(default_factory=list)
    """When an operator wrote it first after that."""
    status: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_spoiled(self) -> bool:
        return bool(self.spoiled)

    @property
    def outcomes(self) -> dict[int, set[str]]:
        return {period: {one.outcome for one in told} for period, told in self.told.items()}

    def spec_at(self, instant: float) -> Spec:
        """The newest of that moment; before there was one, the first."""
        return max(
            (one for one in self.specs if one.since <= instant), default=self.specs[0],
            key=lambda one: one.since,
        )  # fmt: skip

    def words_of(self, generation: int) -> Mapping[str, object]:
        """What the spec said in a generation."""
        known = [one for one in self.specs if one.generation <= generation]
        return (known or self.specs[:1])[-1].words


class Chronicle:
    """`see_object` and `see_deletion` as they happen."""

    def __init__(self, operators: Iterable[str]) -> None:
        self.operators = frozenset(operators)
        self.jobs: dict[str, JobSeen] = {}
        self.kronjobs: dict[str, KronJobSeen] = {}

    def see_object(
        self, one: Mapping[str, object], instant: float, *, by: str, is_status: bool
    ) -> None:
        """An object as it was stored; `is_status` when its status alone was written."""
        kind = text(one, "kind")
        if kind == "Job":
            self._see_job(one, instant, by=by)
        elif kind == "KronJob":
            self._see_kronjob(one, instant, by=by, is_status=is_status)
        elif kind == "Pod":
            owner = _controller(one, "Job")
            if owner:
                self.jobs.setdefault(owner, JobSeen(uid=owner)).pods += 1

    def see_deletion(self, kind: str, uid: str, name: str, instant: float, *, by: str) -> None:
        """A client has deleted it, or it has gone; without a uid, all that had this name."""
        if kind == "kronjobs":
            for seen in self.kronjobs.values():
                if seen.uid == uid:
                    seen.deleted = seen.deleted if seen.deleted is not None else instant
            return
        for job in self.jobs.values():
            if job.uid == uid or (not uid and job.name == name):
                job.deleted_by.add(by)
                job.deleted = job.deleted if job.deleted is not None else instant
                job.ended = job.ended if job.ended is not None else instant

    def _see_job(self, one: Mapping[str, object], instant: float, *, by: str) -> None:
        uid = text(one, "metadata", "uid")
        job = self.jobs.setdefault(uid, JobSeen(uid=uid))
        job.owner = job.owner or _controller(one, "KronJob")
        job.name = text(one, "metadata", "name")
        notes = at(one, "metadata", "annotations")
        if period := text(notes, _PERIOD):
            job.period = int(seconds(period))
            job.chosen = int(seconds(text(notes, _CHOSEN) or period))
        if isinstance(notes, Mapping):
            job.marks = {
                name: value for name, value in notes.items() if not name.startswith(_RESERVED)
            }
        job.created = job.created if job.created is not None else instant
        if job.released is None and at(one, "spec", "suspend") is not True:
            # The start says it where the release itself is not in the log.
            started = text(one, "status", "startTime")
            job.released = min(instant, seconds(started)) if started else instant
            job.released_by = by
        if job.deleted is None and at(one, "metadata", "deletionTimestamp") is not None:
            job.deleted = instant
            job.deleted_by.add(by)
        conditions = at(one, "status", "conditions")
        for condition in conditions if isinstance(conditions, list) else []:
            is_end = text(condition, "type") in ("Complete", "Failed")
            if is_end and text(condition, "status") == "True" and not job.end:
                job.end = text(condition, "type")
                job.ended = job.ended if job.ended is not None else instant

    def _see_kronjob(
        self, one: Mapping[str, object], instant: float, *, by: str, is_status: bool
    ) -> None:
        uid = text(one, "metadata", "uid")
        seen = self.kronjobs.setdefault(uid, KronJobSeen(uid=uid))
        seen.name = f"{text(one, 'metadata', 'namespace')}/{text(one, 'metadata', 'name')}"
        seen.created = seconds(text(one, "metadata", "creationTimestamp"))
        found, generation = at(one, "spec"), at(one, "metadata", "generation")
        spec: Mapping[str, object] = found if isinstance(found, Mapping) else {}
        generation = generation if isinstance(generation, int) else 0
        if spec and (not seen.specs or seen.specs[-1].words != spec):
            seen.specs.append(Spec(instant, generation, spec))
        if is_status and by not in self.operators:
            seen.spoiled.append(instant)
        elif is_status and len(seen.mended) < len(seen.spoiled) and not is_wrong(spec):
            seen.mended += [instant] * (len(seen.spoiled) - len(seen.mended))
        status = at(one, "status")
        seen.status = status if isinstance(status, Mapping) else {}
        observed = at(status, "observedGeneration")
        if isinstance(observed, int):
            seen.taken_up.setdefault(observed, instant)
        recent = at(status, "recent")
        for record in recent if isinstance(recent, list) else []:
            _hear(seen, record, instant)


def seconds(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()


def _hear(seen: KronJobSeen, record: object, instant: float) -> None:
    """What one entry of a status says."""
    outcome = text(record, "outcome")
    if period := text(record, "period"):
        told = seen.told[int(seconds(period))]
        new = Told(outcome, text(record, "reason"), text(record, "uid"), instant)
        is_end = new.outcome == "executed"  # whose reason is that of the Job's failure
        if not any(
            (one.outcome, one.uid) == (new.outcome, new.uid)
            and (is_end or one.reason == new.reason)
            for one in told
        ):
            told.append(new)
        results = seen.results[new.uid]
        result = text(record, "result")
        if new.uid and (result or results) and results[-1:] != [result]:
            results.append(result)
    elif first := text(record, "from"):
        seen.ranges.add((int(seconds(first)), int(seconds(text(record, "to"))), outcome))


def _controller(one: Mapping[str, object], kind: str) -> str:
    owners = at(one, "metadata", "ownerReferences")
    for owner in owners if isinstance(owners, list) else []:
        if text(owner, "kind") == kind and at(owner, "controller") is True:
            return text(owner, "uid")
    return ""
