"""
Audit: does a ledger hold together?

The rules are those that every ledger keeps at rest, between two transactions. They hold for every
writer, and after every crash: each row agrees with the tables of its life, each period up to the
cursor is accounted for exactly once, and whatever waits will be looked at. The audit asks the
recurrence which periods there are, and never what was planned.

Findings are values, with what to do about them. Nothing is mended here.

Spec: LIFE-5 to LIFE-9, ASK-12.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple, assert_never

from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import (
    IN_FLIGHT,
    REASONS,
    WAITING,
    Outcome,
    Reason,
    State,
    Status,
    status_of,
)
from gnomon.core.ledger.period import (
    Kind,
    is_backfill,
    is_boot,
    is_manual,
    kind_of,
    period_key,
    range_key,
)
from gnomon.core.schedule import Catchup, Schedule

__all__ = ["CODES", "AuditRun", "AuditSchedule", "Finding", "audit"]

COUNT_MAX = 1_000_000
"""No range stands for more periods than this."""

CODES = {
    "outcome": "set the outcome that its history shows, or remove the row if it never ran",
    "reason": "set a reason that goes with the outcome",
    "status": "derive the status again from state, outcome and reason",
    "lease": "clear the lease of a row that is not in flight; give one to a row that is",
    "count": "set launches and fence so that fence >= launches, and both to 0 where none happened",
    "key": "set the key that schedule and nominal instant give, unless that key is taken",
    "range": "set the first and last period and how many they are as the recurrence has them",
    "beyond": "move the cursor to the last row, so that the period is not planned again",
    "stray": "nothing, if the definition was changed by hand; else remove the row",
    "twice": "keep the row that shows what happened, and cut the other short",
    "gap": "add a row, missed(outage), for the periods that have none",
    "in_flight": "count the rows in flight again",
    "wake": "set the wake to now: the next look puts everything right",
    "orphan": "set the outcome skipped(deleted)",
}
"""What can be wrong, and how to mend it."""


class AuditSchedule(NamedTuple):
    """A schedule, as its row has it."""

    schedule: Schedule
    cursor: int
    floor: int
    """Up to here nothing is owed: history was removed, or the definition was saved."""
    wake_ms: int | None
    written_ms: int
    """When the row was last written."""
    paused: bool
    in_flight: int


class AuditRun(NamedTuple):
    """A period or a range of periods, as its row has it."""

    key: str
    schedule_id: str
    nominal: int
    last_nominal: int
    periods: int
    fire_ms: int
    state: State
    outcome: Outcome | None
    reason: Reason | None
    status: Status | None
    launches: int
    fence: int
    lease_ms: int | None


class Finding(NamedTuple):
    """Something that cannot be, and how to mend it."""

    code: str
    schedule_id: str
    key: str
    """The row in question; empty when it is the schedule's own."""
    problem: str
    remedy: str


def audit(schedules: Iterable[AuditSchedule], runs: Iterable[AuditRun]) -> list[Finding]:
    """Everything that is wrong with a ledger; nothing when it holds together."""
    rows: dict[str, list[AuditRun]] = {}
    for run in runs:
        rows.setdefault(run.schedule_id, []).append(run)
    findings: list[Finding] = []
    for one in schedules:
        own = sorted(rows.pop(one.schedule.schedule_id, []), key=_by_nominal)
        findings += _audit_schedule(one, own)
    for left in rows.values():  # of schedules that were deleted: only their history is kept
        for run in left:
            findings += _audit_run(run)
            if run.state in WAITING:
                findings.append(_about(run, "orphan", "waits, but its schedule is gone"))
    return findings


def _audit_schedule(one: AuditSchedule, runs: Sequence[AuditRun]) -> Iterator[Finding]:
    periods = []
    for run in runs:
        yield from _audit_run(run)
        if is_manual(run.key) or is_backfill(run.key) or is_boot(run.key):
            continue  # what was asked for is no period, and no recurrence knows a boot
        periods.append(run)
        if max(run.nominal, run.last_nominal) > one.cursor:
            yield _about(run, "beyond", f"lies beyond the cursor, {format_instant(one.cursor)}")
    above = [run for run in periods if max(run.nominal, run.last_nominal) > one.floor]
    yield from _audit_cover(one, [run for run in above if run.nominal <= one.cursor])
    yield from _audit_range_sizes(one, runs)
    states = Counter(run.state for run in runs)
    flying = sum(states[state] for state in IN_FLIGHT)
    if flying != one.in_flight:
        yield _of(one, "in_flight", f"counts {one.in_flight} in flight, and there are {flying}")
    yield from _audit_wake(one, runs)


def _audit_run(run: AuditRun) -> Iterator[Finding]:
    """One row by itself."""
    if run.outcome not in _OUTCOMES[run.state]:
        yield _about(run, "outcome", f"is {run.state} with the outcome {_word(run.outcome)}")
    elif run.state is not State.DONE and run.reason is not None:
        yield _about(run, "reason", f"is {run.state} and has the reason {run.reason}")
    elif run.state is State.DONE and run.reason not in REASONS[run.outcome or Outcome.EXECUTED]:
        yield _about(run, "reason", f"is {run.outcome} for the reason {_word(run.reason)}")
    words = {
        status_of(run.state, run.outcome, failed=failed, reason=run.reason)
        for failed in (False, True)
    }
    if run.status not in words:
        yield _about(run, "status", f"is {run.state} and reads {_word(run.status)}")
    if (run.lease_ms is not None) != (run.state in IN_FLIGHT):
        yield _about(run, "lease", f"is {run.state} and has {'a' if run.lease_ms else 'no'} lease")
    started = run.state in IN_FLIGHT or run.outcome is Outcome.EXECUTED
    if not run.fence >= run.launches >= int(started):
        yield _about(run, "count", f"has {run.launches} launches and fence {run.fence}")
    if not _has_its_key(run):
        yield _about(run, "key", "has the key of another period")
    if run.last_nominal:
        if run.state is not State.DONE or run.launches:
            yield _about(run, "range", f"is a range and {run.state}; a range never runs")
    elif run.periods != 1:
        yield _about(run, "range", f"is one period and counts {run.periods}")


def _has_its_key(run: AuditRun) -> bool:
    """Whether schedule and nominal instant are those that the key stands for."""
    try:
        kind = kind_of(run.key)
    except ValueError:
        return False
    asked_for = f"{kind}:{run.schedule_id}:"
    match kind:
        case Kind.PERIOD:
            return not run.last_nominal and run.key == period_key(run.schedule_id, run.nominal)
        case Kind.RANGE:
            return bool(run.last_nominal) and run.key == range_key(run.schedule_id, run.nominal)
        case Kind.MANUAL | Kind.BOOT:
            return not run.last_nominal and run.key.startswith(asked_for)
        case Kind.BACKFILL:
            ends_so = run.key.endswith(f":{run.nominal}")
            return not run.last_nominal and run.key.startswith(asked_for) and ends_so
        case _:
            assert_never(kind)


def _audit_cover(one: AuditSchedule, runs: Sequence[AuditRun]) -> Iterator[Finding]:
    """Every nominal instant after the floor up to the cursor has exactly one row."""
    recurrence = one.schedule.recurrence
    covered = one.floor
    for run in runs:
        if run.nominal <= one.floor:  # a range, and what was removed lies in the middle of it
            covered = max(covered, run.last_nominal)
            continue
        if recurrence.next_epoch(run.nominal - 1) != run.nominal:
            yield _about(run, "stray", "is no period of its schedule")
            continue
        if run.nominal <= covered:
            yield _about(run, "twice", "is accounted for already")
        else:
            yield from _gap(one, covered, run.nominal - 1)
        covered = max(covered, run.nominal, run.last_nominal)
    yield from _gap(one, covered, one.cursor)


def _gap(one: AuditSchedule, after: int, until: int) -> Iterator[Finding]:
    recurrence = one.schedule.recurrence
    first, last = recurrence.next_epoch(after), recurrence.latest_epoch(until)
    if first is not None and last is not None and first <= last:
        text = f"{format_instant(first)} to {format_instant(last)}"
        yield _of(one, "gap", f"has no row for the periods from {text}")


def _audit_range_sizes(one: AuditSchedule, runs: Sequence[AuditRun]) -> Iterator[Finding]:
    recurrence = one.schedule.recurrence
    for run in runs:
        if not run.last_nominal or run.nominal <= one.floor:
            continue
        nominals = recurrence.iterate_epochs(run.nominal - 1)
        within = islice(takewhile(run.last_nominal.__ge__, nominals), COUNT_MAX + 1)
        count = sum(1 for _ in within)
        if run.periods != count or recurrence.latest_epoch(run.last_nominal) != run.last_nominal:
            last = format_instant(run.last_nominal)
            yield _about(run, "range", f"counts {run.periods} up to {last}, and there are {count}")


def _audit_wake(one: AuditSchedule, runs: Sequence[AuditRun]) -> Iterator[Finding]:
    """Whatever waits will be looked at: nothing is left to luck."""
    made_up = [run for run in runs if is_backfill(run.key)]
    ours = [run for run in runs if not is_backfill(run.key)]
    is_busy = any(map(_may_be_running, ours))
    if one.paused:  # then only what was asked for by hand is started
        made_up, ours = [], [run for run in ours if is_manual(run.key)]
    planned = [run for run in ours if run.state is State.PLANNED]
    instants = [run.fire_ms for run in planned]
    following = one.schedule.recurrence.next_epoch(one.cursor)
    if following is not None and not one.paused and not _stands_behind(one, following, planned):
        instants.append(following * 1000 - one.schedule.lead_ms)
    queued = [run for run in ours if run.state is State.QUEUED]
    oldest = min((run.nominal for run in queued), default=0)
    first_in_queue = any(run.launches or run.nominal < oldest for run in planned)
    if not first_in_queue and not is_busy:
        instants += [run.fire_ms for run in queued]
    unsure = [run for run in made_up if run.state is State.PLANNED and _may_be_running(run)]
    if not any(run.state in IN_FLIGHT for run in made_up):
        waiting = unsure or [run for run in made_up if run.state is State.PLANNED]
        instants += [run.fire_ms for run in waiting]
    if not instants:
        return
    # What could have begun before the row was last written has been seen then.
    needed_ms = max(min(instants), one.written_ms)
    if one.wake_ms is None:
        yield _of(one, "wake", "is never looked at, though something waits")
    elif one.wake_ms > needed_ms:
        late_s = (one.wake_ms - needed_ms) / 1000
        yield _of(one, "wake", f"is looked at {late_s:g} s after something is to happen")


def _stands_behind(one: AuditSchedule, following: int, planned: Sequence[AuditRun]) -> bool:
    """Whether a period that is overdue is opened when others, which wait in line, have gone."""
    if one.schedule.policy.catchup not in (Catchup.FIRE_IMMEDIATELY, Catchup.SPREAD):
        return False
    is_overdue = following * 1000 + one.schedule.tail_ms < one.written_ms
    return is_overdue and any(not run.launches and not is_manual(run.key) for run in planned)


def _may_be_running(run: AuditRun) -> bool:
    """Whether it is in flight, or waits for its next try after one that may have worked."""
    return run.state in IN_FLIGHT or (run.state is State.PLANNED and run.outcome is not None)


def _about(run: AuditRun, code: str, problem: str) -> Finding:
    text = f"{format_instant(run.nominal)} {problem}"
    return Finding(code, run.schedule_id, run.key, text, CODES[code])


def _of(one: AuditSchedule, code: str, problem: str) -> Finding:
    return Finding(code, one.schedule.schedule_id, "", problem, CODES[code])


def _word(value: str | None) -> str:
    return "none" if value is None else value


def _by_nominal(run: AuditRun) -> tuple[int, int]:
    return run.nominal, run.last_nominal


_OUTCOMES: dict[State, frozenset[Outcome | None]] = {
    # Until it is over: none, or executed, when it has been or may have been and is started again.
    State.PLANNED: frozenset({None, Outcome.EXECUTED}),
    State.QUEUED: frozenset({None, Outcome.EXECUTED}),
    State.CLAIMED: frozenset({None, Outcome.EXECUTED}),
    State.RUNNING: frozenset({Outcome.EXECUTED}),
    State.DONE: frozenset(Outcome),
}
