"""
Was every period of every KronJob executed at most once, and none lost? Said from the audit log.

The judge reads what the API server wrote down, and shares no code with the operator: it has its
own reader of the few schedules that the campaign uses, and the words on the objects as literals. An
execution is a Job that was ever seen unsuspended, or that was ever given a pod; a Job that was
made and never released is none. What an operator says in a status is compared with that, and never
believed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["JobSeen", "Judge", "KronJobSeen"]

_PERIOD, _CHOSEN = "gnomon.dev/period", "gnomon.dev/chosen"
_SECONDS = re.compile(r"([0-9,]+) \* \* \* \* \*")
_OPENING_S = 5
"""A KronJob need not run what opens so soon after its creation or a change of its spec."""


@dataclass(slots=True, kw_only=True)
class JobSeen:
    """Everything that the log says of one Job, by its uid."""

    uid: str
    owner: str = ""
    period: int = 0
    chosen: int = 0
    name: str = ""
    created: float | None = None
    released: float | None = None
    """When it was first seen unsuspended."""
    ended: float | None = None
    pods: int = 0
    deleted_by: set[str] = field(default_factory=set)

    @property
    def is_execution(self) -> bool:
        return self.released is not None or self.pods > 0


@dataclass(slots=True, kw_only=True)
class KronJobSeen:
    """Everything that the log says of one KronJob, by its uid."""

    uid: str
    name: str = ""
    created: float = 0.0
    deleted: float | None = None
    specs: list[tuple[float, Mapping[str, object]]] = field(default_factory=list)
    """The specs in force, each with when it was first seen."""
    outcomes: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What statuses said of single periods."""
    ranges: set[tuple[int, int, str]] = field(default_factory=set)
    """What statuses said of many at once: the first, the last, the outcome."""
    is_spoiled: bool = False
    """Whether somebody else wrote its status."""


class Judge:
    """`see` every event of the log, then ask."""

    def __init__(self, operators: Iterable[str]) -> None:
        self._operators = frozenset(operators)
        self.jobs: dict[str, JobSeen] = {}
        self.kronjobs: dict[str, KronJobSeen] = {}
        self.requests = 0

    def see(self, event: Mapping[str, object]) -> None:
        """One event of the audit log, of the stage at which the answer is known."""
        user = _text(event, "user", "username")
        self.requests += user in self._operators
        about, code = _at(event, "objectRef"), _at(event, "responseStatus", "code")
        if not isinstance(code, int) or not 200 <= code < 300:
            return
        at = _seconds(_text(event, "requestReceivedTimestamp"))
        one = _at(event, "responseObject")
        verb, resource = _text(event, "verb"), _text(about, "resource")
        if verb == "delete" and resource in ("jobs", "kronjobs"):
            self._see_deletion(resource, about, one, user, at)
        elif isinstance(one, Mapping):
            self._see_object(one, at, by=user, subresource=_text(about, "subresource"))

    def see_now(self, objects: Iterable[Mapping[str, object]], at: float) -> None:
        """What is there at the end, in case a server died before it wrote something down."""
        for one in objects:
            self._see_object(one, at, by="", subresource="")

    def twice(self) -> Iterator[str]:
        """Periods that were executed more than once."""
        runs: dict[tuple[str, int], list[JobSeen]] = defaultdict(list)
        for job in self.jobs.values():
            if job.is_execution and job.owner:
                runs[job.owner, job.period].append(job)
        for (owner, period), jobs in sorted(runs.items()):
            if len(jobs) > 1:
                name = self.kronjobs[owner].name if owner in self.kronjobs else owner
                uids = ", ".join(f"{job.name} {job.uid}" for job in jobs)
                yield f"{name} ran its period {period} {len(jobs)} times: {uids}"

    def lost(self, *, until: float, deadline_s: int) -> Iterator[str]:
        """Periods that nobody ran within the deadline, though they were due."""
        ran = {(job.owner, job.period): job for job in self.jobs.values() if job.is_execution}
        removed = {
            (job.owner, job.period)
            for job in self.jobs.values()
            if job.deleted_by - self._operators and not job.is_execution
        }
        for one in self.kronjobs.values():
            for period in self.due(one, until=until, deadline_s=deadline_s):
                job = ran.get((one.uid, period))
                late = None if job is None or job.released is None else job.released - period
                if job is None and (one.uid, period) not in removed:
                    if not self._may_be_skipped(one, period, deadline_s):
                        said = ", ".join(sorted(one.outcomes.get(period, {"nothing"})))
                        yield f"{one.name} did not run its period {period}; its status said {said}"
                elif late is not None and late > deadline_s + 1:
                    yield f"{one.name} ran its period {period} after its deadline: {late:.1f} s"
                elif late is not None and late < -1:
                    yield f"{one.name} ran its period {period} {-late:.1f} s too early"

    def lies(self) -> Iterator[str]:
        """Where a status says of a period what the log does not say."""
        ran = {(job.owner, job.period) for job in self.jobs.values() if job.is_execution}
        made = {(job.owner, job.period) for job in self.jobs.values()}
        for one in self.kronjobs.values():
            for period, outcomes in sorted(one.outcomes.items()):
                key = one.uid, period
                if len(outcomes) > 1:
                    yield f"{one.name} changed its word about {period}: {sorted(outcomes)}"
                elif outcomes == {"executed"} and key not in made:
                    yield f"{one.name} says that {period} was executed, and it has no Job"
                elif outcomes != {"executed"} and key in ran:
                    yield f"{one.name} says {sorted(outcomes)} of {period}, which ran"
            for period in sorted(period for owner, period in ran if owner == one.uid):
                inside = {what for first, last, what in one.ranges if first <= period <= last}
                if inside and period not in one.outcomes:
                    yield f"{one.name} says {sorted(inside)} of many, and {period} of them ran"
                elif one.outcomes and period not in one.outcomes:
                    yield f"{one.name} never said that {period} was executed, and it ran"

    def due(self, one: KronJobSeen, *, until: float, deadline_s: int) -> Iterator[int]:
        """The periods that must have been run, by a spec that held long enough around them."""
        end = min(until, one.deleted if one.deleted is not None else until)
        for number, (begin, spec) in enumerate(one.specs):
            last = one.specs[number + 1][0] if number + 1 < len(one.specs) else end
            if _at(spec, "policy", "suspend") is True:
                continue
            first = int(max(begin, one.created)) + _OPENING_S
            for period in range(first, int(last) - deadline_s - 1):
                if period % 60 in _seconds_of(_text(spec, "schedule")):
                    yield period

    def lateness_ms(self) -> list[int]:
        """How long after its chosen second each Job was released, sorted."""
        return sorted(
            int((job.released - job.chosen) * 1000)
            for job in self.jobs.values()
            if job.released is not None and job.chosen
        )

    def _may_be_skipped(self, one: KronJobSeen, period: int, deadline_s: int) -> bool:
        """Whether the spec forbids to run it beside a Job that was active then."""
        spec = max((pair for pair in one.specs if pair[0] <= period), key=lambda pair: pair[0])[1]
        if _text(spec, "policy", "concurrency") != "forbid":
            return False
        return any(
            job.owner == one.uid
            and job.released is not None
            and job.released <= period + deadline_s + 1
            and (job.ended is None or job.ended >= period - 1)
            for job in self.jobs.values()
        )

    def _see_deletion(
        self, resource: str, about: object, one: object, user: str, at: float
    ) -> None:
        uid = _text(one, "metadata", "uid") or _text(one, "details", "uid")
        if resource == "kronjobs":
            for seen in self.kronjobs.values():
                if seen.uid == uid:
                    seen.deleted = seen.deleted if seen.deleted is not None else at
            return
        for job in self.jobs.values():
            if job.uid == uid or (not uid and job.name == _text(about, "name")):
                job.deleted_by.add(user)
                job.ended = job.ended if job.ended is not None else at

    def _see_object(
        self, one: Mapping[str, object], at: float, *, by: str, subresource: str
    ) -> None:
        kind = _text(one, "kind")
        if kind == "Job":
            self._see_job(one, at)
        elif kind == "KronJob":
            self._see_kronjob(one, at, by=by, subresource=subresource)
        elif kind == "Pod":
            owner = _controller(one, "Job")
            if owner:
                self.jobs.setdefault(owner, JobSeen(uid=owner)).pods += 1

    def _see_job(self, one: Mapping[str, object], at: float) -> None:
        uid = _text(one, "metadata", "uid")
        job = self.jobs.setdefault(uid, JobSeen(uid=uid))
        job.owner = job.owner or _controller(one, "KronJob")
        job.name = _text(one, "metadata", "name")
        notes = _at(one, "metadata", "annotations")
        if period := _text(notes, _PERIOD):
            job.period = int(_seconds(period))
            job.chosen = int(_seconds(_text(notes, _CHOSEN) or period))
        job.created = job.created if job.created is not None else at
        if job.released is None and _at(one, "spec", "suspend") is not True:
            started = _text(
                one, "status", "startTime"
            )  # where the release itself is not in the log
            job.released = min(at, _seconds(started)) if started else at
        conditions = _at(one, "status", "conditions")
        for condition in conditions if isinstance(conditions, list) else []:
            is_end = _text(condition, "type") in ("Complete", "Failed")
            if is_end and _text(condition, "status") == "True" and job.ended is None:
                job.ended = at

    def _see_kronjob(
        self, one: Mapping[str, object], at: float, *, by: str, subresource: str
    ) -> None:
        uid = _text(one, "metadata", "uid")
        seen = self.kronjobs.setdefault(uid, KronJobSeen(uid=uid))
        seen.name = f"{_text(one, 'metadata', 'namespace')}/{_text(one, 'metadata', 'name')}"
        seen.created = _seconds(_text(one, "metadata", "creationTimestamp"))
        spec = _at(one, "spec")
        if isinstance(spec, Mapping) and (not seen.specs or seen.specs[-1][1] != spec):
            seen.specs.append((at, spec))
        if subresource == "status" and by not in self._operators:
            seen.is_spoiled = True
        recent = _at(one, "status", "recent")
        for record in recent if isinstance(recent, list) else []:
            outcome = _text(record, "outcome")
            if period := _text(record, "period"):
                seen.outcomes[int(_seconds(period))].add(outcome)
            elif first := _text(record, "from"):
                last = _seconds(_text(record, "to"))
                seen.ranges.add((int(_seconds(first)), int(last), outcome))


def _seconds_of(schedule: str) -> frozenset[int]:
    """The seconds of each minute in which a schedule of the campaign is due."""
    found = _SECONDS.fullmatch(schedule)
    if found is None:
        raise ValueError(f"the judge does not read {schedule!r}")
    return frozenset(int(part) for part in found[1].split(","))


def _seconds(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()


def _controller(one: Mapping[str, object], kind: str) -> str:
    owners = _at(one, "metadata", "ownerReferences")
    for owner in owners if isinstance(owners, list) else []:
        if _text(owner, "kind") == kind and _at(owner, "controller") is True:
            return _text(owner, "uid")
    return ""


def _at(one: object, *path: str) -> object:
    for part in path:
        one = one.get(part) if isinstance(one, Mapping) else None
    return one


def _text(one: object, *path: str) -> str:
    found = _at(one, *path)
    return found if isinstance(found, str) else ""
