"""
Was every period of every KronJob executed at most once, none lost, and every outcome told truly?

The rules are the same for a simulated world and for the audit log of a real server. What a status
says is compared with what happened, and never believed. A period must have been executed when
operators that nothing disturbed had the time for it, within its deadline and while it was not
suspended; the world says when they had (`able`).

Spec: OSIM-2 to OSIM-6.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gnomon.simulation.operator.duty import (
    Occurrence,
    concurrency,
    deadline_s,
    is_suspended,
    is_wrong,
    occurrences,
    timing,
)
from gnomon.simulation.operator.seen import Chronicle, JobSeen, KronJobSeen, Spec, Told

__all__ = ["TOLERANCE_S", "Due", "Judge"]

TOLERANCE_S = 2
"""By how much the clock of an operator may differ from the server's."""
_OPENING_S = 5
"""A KronJob need not run what opens so soon after its creation, or after an edit was taken up."""
_SLACK_S = 1


class Due(NamedTuple):
    """A period that must be executed, if it can be."""

    period: int
    chosen: int
    last: int
    """The last second within its deadline."""
    stretches: list[tuple[float, float]]
    """When, from its chosen second to the last, it was not suspended."""


def _always(first: float, last: float) -> bool:
    return True


class Judge(Chronicle):
    """`see` everything, then ask."""

    stall_s = 30
    """So long a question may be under way: operators freeze, and what they sent comes late. What
    was true when it was decided may be old by so much when it is written."""

    def twice(self) -> Iterator[str]:
        """Periods that were executed more than once."""
        runs: dict[tuple[str, int], list[JobSeen]] = defaultdict(list)
        for job in self.jobs.values():
            if job.is_execution and job.owner:
                runs[job.owner, job.period].append(job)
        for (owner, period), jobs in sorted(runs.items()):
            if len(jobs) > 1:
                uids = ", ".join(f"{job.name} {job.uid}" for job in jobs)
                yield f"{self._name(owner)} ran its period {period} {len(jobs)} times: {uids}"
        again: dict[tuple[str, int], list[str]] = defaultdict(list)
        for owner, period in sorted(runs):
            again[self._name(owner), period].append(owner)
        for (name, period), owners in sorted(again.items()):
            words = [timing(self.kronjobs[owner].spec_at(period).words) for owner in owners]
            if len(owners) > 1 and all(one == words[0] for one in words):
                yield f"{name} was made again, and ran its period {period} again"

    def lost(
        self, *, until: float, able: Callable[[float, float], bool] = _always
    ) -> Iterator[str]:
        """Periods that did not run within the deadline, though they were due."""
        ran = {(job.owner, job.period): job for job in self.jobs.values() if job.is_execution}
        removed = {
            (job.owner, job.period)
            for job in self.jobs.values()
            if job.deleted_by - self.operators and not job.is_execution
        }
        for one in self.kronjobs.values():
            for due in self.due(one, until=until):
                key = one.uid, due.period
                job = ran.get(key)
                late = None if job is None or job.released is None else job.released - due.chosen
                if late is not None and late < -TOLERANCE_S:
                    yield f"{one.name} ran its period {due.period} {-late:.1f} s too early"
                elif late is not None and self._claimed(one, job) > due.last + 1 + self.stall_s:
                    text = f"{one.name} ran its period {due.period}"
                    yield f"{text} after its deadline: {late:.1f} s"
                elif job is None and key not in removed and not self._is_excused(one, due):
                    told = one.outcomes.get(due.period, {"nothing"})
                    said = f"its status said {', '.join(sorted(told))}"
                    if any(able(first, last) for first, last in due.stretches):
                        yield f"{one.name} did not run its period {due.period}; {said}"

    def lies(self) -> Iterator[str]:
        """Where a status says of a period what did not happen."""
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
                if inside and period not in one.outcomes and not one.is_spoiled:
                    yield f"{one.name} says {sorted(inside)} of many, and {period} of them ran"
                elif one.outcomes and period not in one.outcomes and not one.is_spoiled:
                    yield f"{one.name} never said that {period} was executed, and it ran"

    def due(self, one: KronJobSeen, *, until: float) -> Iterator[Due]:
        """The periods that must have been run, by specs that held long enough around them."""
        end = min(until, one.deleted if one.deleted is not None else until)
        for begins, ends, spec in self._in_force(one, end):
            for period, chosen in occurrences(one.name, spec.words, int(begins) + 1, int(ends)):
                due = self._due(one, Occurrence(period, chosen), end)
                if due is not None:
                    yield due

    def lateness_ms(self) -> list[int]:
        """How long after its chosen second each Job was released, sorted."""
        return sorted(
            int((job.released - job.chosen) * 1000)
            for job in self.jobs.values()
            if job.released is not None and job.chosen
        )

    def _due(self, one: KronJobSeen, occurrence: Occurrence, end: float) -> Due | None:
        """What is owed of an occurrence; None where its spec changed, or its status was lost."""
        period, chosen = occurrence
        spec = one.spec_at(chosen)
        last = chosen + deadline_s(spec.words)
        around = [other for other in one.specs if period <= other.since <= last + _OPENING_S]
        rules = {(concurrency(other.words), deadline_s(other.words)) for other in [spec, *around]}
        is_lost = any(period <= instant + _OPENING_S for instant in one.mended)
        if len(rules) > 1 or last + _OPENING_S >= end or is_lost:
            return None
        if len(one.mended) < len(one.spoiled):
            return None
        stretches = []
        for number, other in enumerate(one.specs):
            begins = max(other.since, chosen)
            following = one.specs[number + 1].since if one.specs[number + 1 :] else end
            if begins < min(following, last + 1) and not is_suspended(other.words):
                stretches.append((begins, min(following, last + 1.0)))
        return Due(period, chosen, last, stretches)

    def _in_force(self, one: KronJobSeen, end: float) -> Iterator[tuple[float, float, Spec]]:
        """Each timing, with from when and until when periods open under it."""
        for number, spec in enumerate(one.specs):
            if number and timing(one.specs[number - 1].words) == timing(spec.words):
                continue  # told with the first of its equals
            changes = (
                other.since
                for other in one.specs[number + 1 :]
                if timing(other.words) != timing(spec.words)
            )
            taken = {
                generation: when
                for generation, when in one.taken_up.items()
                if generation >= spec.generation and not is_wrong(one.words_of(generation))
            }
            begins = min(taken.values(), default=end)
            if not number and min(taken, default=spec.generation) == spec.generation:
                begins = one.created  # no edit came before an operator had seen it
            yield begins + _OPENING_S, min(next(changes, end), end), spec

    def _is_excused(self, one: KronJobSeen, due: Due) -> bool:
        """Whether it was skipped for a reason that held."""
        told = one.told.get(due.period, [])
        policy = concurrency(one.spec_at(due.chosen).words)
        if policy == "forbid":
            moments = [
                (said.at - self.stall_s, said.at) for said in told if said.reason == "overlap"
            ]
            return any(self._was_active(one, *moment, due.period) for moment in moments)
        if policy == "replace":
            newer = [
                job for job in self.jobs.values()
                if job.owner == one.uid and job.period > due.period
            ]  # fmt: skip
            return any(
                job.created is not None and job.created >= due.chosen - TOLERANCE_S
                for job in newer
                if any(said.reason == "superseded" or said.outcome == "executed" for said in told)
            )
        return False

    def _was_active(self, one: KronJobSeen, first: float, last: float, period: int) -> bool:
        """Whether a Job of another period, claimed or running, had not ended at some time then."""
        return any(
            job.owner == one.uid
            and job.period != period
            and job.created is not None
            and job.created <= last + _SLACK_S
            and (job.ended is None or job.ended >= first - _SLACK_S)
            and (job.is_execution or any(t.uid == job.uid for t in one.told.get(job.period, [])))
            for job in self.jobs.values()
        )

    def _claimed(self, one: KronJobSeen, job: JobSeen | None) -> float:
        """When the status first named a Job; when it was released, if it never did."""
        assert job is not None
        told: list[Told] = one.told.get(job.period, [])
        claims = [said.at for said in told if said.uid == job.uid]
        assert job.released is not None
        return min([*claims, job.released])

    def _name(self, owner: str) -> str:
        return self.kronjobs[owner].name if owner in self.kronjobs else owner
