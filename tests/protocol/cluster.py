"""
A model of one KronJob, its Jobs and an API server, as small as it can be: what may happen?

Writes to one object come one after the other. A call may stay on the wire and arrive at any later
time. What breaks a clause of the contract is noticed in the step in which it happens.
Uids are numbers that come back only when nothing remembers them, so that the states are finitely
many; periods are numbers of ticks.
"""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["FAULTS", "Bounds", "BrokenClauseError", "Call", "Job", "KronJob", "Note", "Operator",
           "Record", "State", "begin", "cannot_matter", "environment", "job_of", "serve", "spend",
           "tidy"]  # fmt: skip

FAULTS = ("late", "delete", "suspend", "edit", "recreate", "wipe", "skew", "resume")
HELD, RUNNING, ENDED, ENDING = "held", "running", "ended", "ending"


class BrokenClauseError(Exception):
    """A clause of the contract does not hold."""


class Record(NamedTuple):
    """What the status says of a period: executed, skipped, missed, or handled and forgotten."""

    what: str
    uid: int = 0
    ended: bool = False


class KronJob(NamedTuple):
    uid: int
    born: int
    suspended: bool
    edition: int
    records: tuple[Record | None, ...]
    spoiled: bool = False
    """Its seal is broken: a hand has wiped the status."""


class Job(NamedTuple):
    uid: int
    owner: int
    period: int
    edition: int
    name: tuple[int, ...]
    state: str


class Call(NamedTuple):
    """A question to the server; `word` says which of the fields it has."""

    word: str
    uid: int = 0
    name: tuple[int, ...] = ()
    owner: int = 0
    period: int = 0
    edition: int = 0
    is_held: bool = True
    records: tuple[Record | None, ...] = ()
    is_checked: bool = True
    """Whether it names the version that it was decided from."""
    is_fresh: bool = True
    """Whether that is the newest version."""


class Note(NamedTuple):
    """What an operator wants to do with an answer."""

    word: str
    period: int = 0
    other: int = 0


class Operator(NamedTuple):
    view: KronJob | None = None
    is_fresh: bool = False
    jobs: tuple[Job, ...] = ()
    """As its cache shows them, where the protocol looks there."""
    plan: tuple[Call, Note] | None = None


class State(NamedTuple):
    now: int
    kronjob: KronJob | None
    jobs: tuple[Job, ...]
    starts: tuple[int, ...]
    """How often each period has begun to run."""
    wire: tuple[Call, ...]
    left: tuple[int, ...]
    """How many faults of each kind may still come."""
    touched: frozenset[int]
    """Periods whose Job or whose record people have taken away."""
    operators: tuple[Operator, ...]


class Bounds(NamedTuple):
    """How far a search goes."""

    policy: str = "allow"
    chosen: tuple[int, ...] = (0,)
    deadline: int = 1
    end: int = 2
    operators: int = 2
    late: int = 0
    delete: int = 0
    suspend: int = 0
    edit: int = 0
    recreate: int = 0
    wipe: int = 0
    skew: int = 0
    """Decisions taken with a wrong clock."""
    resume: int = 0
    """Candidates that something else resumes."""
    forgets: bool = False
    """Whether operators forget records that are over."""


def begin(bounds: Bounds) -> State:
    blank = (None,) * len(bounds.chosen)
    left = tuple(int(getattr(bounds, fault)) for fault in FAULTS)
    operators = (Operator(),) * bounds.operators
    born = KronJob(1, -1, False, 1, blank)
    return State(0, born, (), (0,) * len(blank), (), left, frozenset(), operators)


def spend(state: State, fault: str) -> State | None:
    """The state with one fault of a kind fewer to come; None where none is left."""
    place = FAULTS.index(fault)
    if not state.left[place]:
        return None
    left = (*state.left[:place], state.left[place] - 1, *state.left[place + 1 :])
    return state._replace(left=left)


def job_of(state: State, uid: int) -> Job | None:
    return next((job for job in state.jobs if job.uid == uid), None)


def cannot_matter(state: State, call: Call) -> bool:
    """Whether the server will refuse it whenever it comes."""
    if call.word == "write":
        return call.is_checked and not call.is_fresh
    if call.word in ("release", "remove"):
        job = job_of(state, call.uid)
        return job is None or (call.word == "release" and job.state != HELD)
    return False


def tidy(state: State) -> State:
    """Without what can have no effect any more."""
    wire = tuple(call for call in state.wire if not cannot_matter(state, call))
    operators = tuple(
        one._replace(plan=None) if one.plan and cannot_matter(state, one.plan[0]) else one
        for one in state.operators
    )
    return state._replace(wire=wire, operators=operators)


def serve(state: State, call: Call, bounds: Bounds) -> tuple[State, object]:
    """One call arrives: the state after it, and the answer; None says no."""
    match call.word:
        case "make":
            taken = next((job for job in state.jobs if job.name == call.name), None)
            if taken is not None:
                return state, taken
            held = HELD if call.is_held else RUNNING
            job = Job(_new_uid(state), call.owner, call.period, call.edition, call.name, held)
            if not call.is_held:
                state = _started(state, job, bounds)
            return _with_job(state, None, job), job
        case "ask":
            return state, job_of(state, call.uid)
        case "ask name":
            return state, next((job for job in state.jobs if job.name == call.name), None)
        case "list":
            return state, state.jobs
        case "write":
            return _write(state, call, bounds)
        case "release" | "release name":
            by_name = (job for job in state.jobs if job.name == call.name)
            found = job_of(state, call.uid) if call.word == "release" else next(by_name, None)
            if found is None or found.state != HELD:
                return state, None
            state = _started(state, found, bounds)
            return _with_job(state, found, found._replace(state=RUNNING)), True
        case _:
            assert call.word == "remove"
            found = job_of(state, call.uid)
            return (state, None) if found is None else (_removed(state, found), True)


def environment(state: State, bounds: Bounds) -> Iterator[tuple[str, State | BrokenClauseError]]:
    """What happens without an operator."""
    if state.now < bounds.end:
        yield "time passes", state._replace(now=state.now + 1)
    for job in state.jobs:
        yield from _of_job(state, job, bounds)
    for place, call in enumerate(state.wire):
        rest = state._replace(wire=state.wire[:place] + state.wire[place + 1 :])
        try:
            yield f"a late {call.word} arrives", serve(rest, call, bounds)[0]
        except BrokenClauseError as broken:
            yield f"a late {call.word} arrives", broken
    one = state.kronjob
    if one is None:
        blank = (None,) * len(bounds.chosen)
        again = state._replace(kronjob=KronJob(2, state.now, False, 1, blank))
        yield "the KronJob is made again", _aged(again)
        return
    changes = {
        "suspend": one._replace(suspended=not one.suspended),
        "edit": one._replace(edition=one.edition + 1),
        "recreate": None,
    }
    for fault, changed in changes.items():
        after = spend(state, fault)
        if after is not None:
            yield f"people {fault}", _aged(after._replace(kronjob=changed))
    after = spend(state, "wipe")
    if after is not None and any(one.records):
        lost = {
            period for period, record in enumerate(one.records)
            if record or bounds.chosen[period] <= state.now
        }  # fmt: skip
        wiped = one._replace(records=(None,) * len(one.records), spoiled=True)
        yield "people wipe", _aged(after._replace(kronjob=wiped, touched=state.touched | lost))


def _of_job(
    state: State, job: Job, bounds: Bounds
) -> Iterator[tuple[str, State | BrokenClauseError]]:
    if job.state == RUNNING:
        yield f"Job {job.uid} ends", _with_job(state, job, job._replace(state=ENDED))
    if job.state == ENDED:
        yield f"Job {job.uid} outlives its TTL", _with_job(state, job, None)
    if job.state == ENDING:
        yield f"the pods of Job {job.uid} end", _with_job(state, job, None)
    is_orphan = state.kronjob is None or state.kronjob.uid != job.owner
    if is_orphan and job.state != ENDING:
        yield f"Job {job.uid} is collected", _removed(state, job)
    after = spend(state, "delete")
    if after is not None and job.state in (HELD, RUNNING):
        removed = _removed(after, job)
        yield f"people delete Job {job.uid}", removed._replace(touched=state.touched | {job.period})
    after = spend(state, "resume")
    if after is not None and job.state == HELD:
        label = f"something resumes Job {job.uid}"
        try:
            started = _started(after, job, bounds)
            yield label, _with_job(started, job, job._replace(state=RUNNING))
        except BrokenClauseError as broken:
            yield label, broken


def _write(state: State, call: Call, bounds: Bounds) -> tuple[State, object]:
    one = state.kronjob
    if one is None or one.uid != call.uid or (call.is_checked and not call.is_fresh):
        return state, None
    for period, (old, new) in enumerate(zip(one.records, call.records, strict=True)):
        if old != new:
            _judge(state, one, period, old, new, bounds)
    written = one._replace(records=call.records, spoiled=False)
    return _aged(state._replace(kronjob=written)), True


def _judge(
    state: State, one: KronJob, period: int, old: Record | None, new: Record | None, bounds: Bounds
) -> None:
    """The clauses about what a status says of a period."""
    if old and old.what != "claimed" and not one.spoiled:
        is_other = new is None or new.what not in (old.what, "handled")
        if is_other or (new is not None and old.uid and new.uid not in (0, old.uid)):
            raise BrokenClauseError("an outcome changed")
    if new is None or (old is not None and old.what != "claimed"):
        return
    if old is None and one.suspended and not one.spoiled:
        raise BrokenClauseError("a period was handled while suspended")
    if new.what == "executed" and state.now < bounds.chosen[period] and not one.spoiled:
        raise BrokenClauseError("executed before its time")
    if new.what == "missed" and state.now <= bounds.chosen[period] + bounds.deadline:
        raise BrokenClauseError("missed before its deadline")
    if new.what in ("skipped", "missed") and state.starts[period] and period not in state.touched:
        raise BrokenClauseError("recorded otherwise, and it ran")
    job = job_of(state, new.uid)
    if new.what == "executed" and old is None and job and job.edition != one.edition:
        raise BrokenClauseError("claimed from an old spec")


def _started(state: State, job: Job, bounds: Bounds) -> State:
    """A Job begins to run: the clauses about starts."""
    if state.starts[job.period]:
        raise BrokenClauseError("two executions of one period")
    one = state.kronjob
    if one and one.uid == job.owner and not one.spoiled and job.period not in state.touched:
        record = one.records[job.period]
        if record and record.what in ("skipped", "missed"):
            raise BrokenClauseError("started, and recorded otherwise")
    others = (
        other for other in state.jobs
        if other.uid != job.uid and other.owner == job.owner and other.state in (RUNNING, ENDING)
    )  # fmt: skip
    if bounds.policy != "allow" and any(others):
        raise BrokenClauseError("two are active")
    starts = (*state.starts[: job.period], 1, *state.starts[job.period + 1 :])
    return state._replace(starts=starts)


def _removed(state: State, job: Job) -> State:
    """In the foreground: a Job that runs goes when its pods have ended."""
    if job.state == RUNNING:
        return _with_job(state, job, job._replace(state=ENDING))
    return state if job.state == ENDING else _with_job(state, job, None)


def _with_job(state: State, old: Job | None, new: Job | None) -> State:
    jobs = [job for job in state.jobs if job != old]
    return state._replace(jobs=tuple(sorted([*jobs, new] if new else jobs)))


def _aged(state: State) -> State:
    """The KronJob has changed: what was decided from an earlier version is old."""
    return state._replace(
        wire=tuple(call._replace(is_fresh=False) for call in state.wire),
        operators=tuple(
            one._replace(
                is_fresh=False,
                plan=one.plan and (one.plan[0]._replace(is_fresh=False), one.plan[1]),
            )
            for one in state.operators
        ),
    )


def _new_uid(state: State) -> int:
    """The smallest that nothing has or remembers."""
    used = {job.uid for job in state.jobs}
    plans = [one.plan for one in state.operators if one.plan]
    for view in (state.kronjob, *(one.view for one in state.operators)):
        used.update(record.uid for record in (view.records if view else ()) if record)
    for call in (*state.wire, *(plan[0] for plan in plans)):
        used.add(call.uid)
        used.update(record.uid for record in call.records if record)
    for one in state.operators:
        used.update(job.uid for job in one.jobs)
    used.update(plan[1].other for plan in plans)
    return next(uid for uid in range(1, len(used) + 2) if uid not in used)
