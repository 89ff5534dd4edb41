"""
A ledger in a few lines, for the laws of the engine: rows in a dictionary, no database.

It takes the changes that `plan` gives, insists that each of them could be written, and can be asked
what the engine will see next and what an auditor would see now.
"""

from dataclasses import dataclass, field

from gnomon.core.engine import Change, Due, Limits, Lost, Pause, plan
from gnomon.core.ledger.audit import AuditRun, AuditSchedule
from gnomon.core.ledger.lifecycle import (
    ENDS,
    IN_FLIGHT,
    STEPS,
    WAITING,
    Outcome,
    Reason,
    State,
    status_of,
)
from gnomon.core.ledger.period import Fact, InFlight, Waiting
from gnomon.core.policy import retry_ms
from gnomon.core.schedule import Schedule

__all__ = ["Model", "Row"]


@dataclass(slots=True)
class Row:
    """What one row says."""

    fact: Fact
    fence: int = 0
    failed: bool = False
    kill_ms: int | None = None
    has_failed: bool = False
    """Whether its last launch has failed."""

    @property
    def is_to_be_ended(self) -> bool:
        """Whether it waits for its end, and may be running."""
        return self.fact.state in WAITING and self.kill_ms is not None


@dataclass(slots=True)
class Model:
    """One schedule and its rows."""

    schedule: Schedule
    cursor: int
    limits: Limits = field(default_factory=Limits)
    wake_ms: int | None = 0
    written_ms: int = 0
    pause: Pause | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    confirmed: bool = False
    effective_ms: int = 0
    floor: int = -1

    def __post_init__(self) -> None:
        self.floor = self.cursor

    def due(self) -> Due:
        """What the engine sees."""
        rows = self.rows.values()
        runs = [_in_flight(row) for row in rows if row.fact.state in IN_FLIGHT]
        runs += [_in_flight(row)._replace(detached=True) for row in rows if row.is_to_be_ended]
        waiting = [row for row in rows if row.fact.state in WAITING and not row.is_to_be_ended]
        return Due(
            self.schedule, 1, self.cursor, self.pause,
            waiting=[_waiting(row) for row in waiting],
            in_flight=[run for run in runs if run.key not in self.lost],
            lost=[
                Lost(
                    run,
                    self.confirmed
                    and run.state is State.CLAIMED
                    and self.rows[run.key].fact.outcome is None,
                )
                for run in runs if run.key in self.lost
            ],
            effective_ms=self.effective_ms,
        )  # fmt: skip

    def turn(self, now_ms: int) -> Change:
        """Plan and write; the change that was made."""
        due = self.due()
        (change,) = plan([due], now_ms=now_ms, limits=self.limits)
        self._write(due, change, now_ms)
        return change

    def turns(self, now_ms: int) -> list[Change]:
        """Turns until nothing is left to do at this instant, but not for ever."""
        changes = [self.turn(now_ms)]
        while len(changes) < 100 and self.wake_ms is not None and self.wake_ms <= now_ms:
            changes.append(self.turn(now_ms))
        return changes

    def launched(self, key: str) -> None:
        row = self.rows[key]
        assert row.fact.state is State.CLAIMED
        row.fact = row.fact._replace(state=State.RUNNING, outcome=Outcome.EXECUTED)

    def ended(self, key: str, now_ms: int, *, success: bool = True) -> None:
        row = self.rows[key]
        assert row.fact.state in IN_FLIGHT or row.is_to_be_ended
        row.fact = row.fact._replace(state=State.DONE, outcome=Outcome.EXECUTED)
        row.failed = not success
        self.lost.discard(key)
        if any(row.fact.state is State.QUEUED for row in self.rows.values()):
            self._look_at(now_ms, now_ms)

    def failed(self, key: str, now_ms: int, *, may_have_run: bool = False) -> None:
        """A launch failed or had no answer: it is tried again later, or given up."""
        row, policy = self.rows[key], self.schedule.policy
        assert row.fact.state is State.CLAIMED
        self.lost.discard(key)
        again_ms = retry_ms(
            row.fact.launches, policy.launches_max, policy.launch_backoff, now_ms=now_ms
        )
        if may_have_run:
            row.fact = row.fact._replace(outcome=Outcome.EXECUTED)
        if row.kill_ms is not None:
            again_ms = self._to_be_ended(row, now_ms)
        elif again_ms is None:
            end = row.fact._replace(
                state=State.DONE, outcome=Outcome.MISSED, reason=Reason.LAUNCH_FAILED
            )
            row.fact = _standing(end, row.fact)
            row.failed = True
            self._look_at(now_ms, now_ms)
        if again_ms is not None:
            row.fact = _at(row.fact, again_ms)
            row.has_failed = True
            queued = any(row.fact.state is State.QUEUED for row in self.rows.values())
            self._look_at(now_ms if queued else again_ms, now_ms)

    def killed(self, key: str, now_ms: int) -> None:
        """A user asks for the end of a run."""
        row = self.rows[key]
        row.kill_ms = now_ms if row.kill_ms is None else row.kill_ms
        if row.fact.state in WAITING and row.kill_ms == now_ms:
            again_ms = self._to_be_ended(row, now_ms)
            if again_ms is not None:
                row.fact = _at(row.fact, again_ms)
        self._look_at(now_ms, now_ms)

    def _to_be_ended(self, row: Row, now_ms: int) -> int | None:
        """When to look at a run that may be running; None for one that is over at once."""
        if row.fact.outcome is not None:
            return now_ms
        row.fact = row.fact._replace(
            state=State.DONE, outcome=Outcome.SKIPPED, reason=Reason.KILLED
        )
        self._look_at(now_ms, now_ms)
        return None

    def keys(self, *states: State) -> list[str]:
        return [key for key, row in self.rows.items() if row.fact.state in states]

    def facts(self) -> list[Fact]:
        return [row.fact for row in self.rows.values()]

    def audited(self) -> tuple[list[AuditSchedule], list[AuditRun]]:
        """What an auditor sees."""
        flying = len(self.keys(*IN_FLIGHT))
        schedule = AuditSchedule(
            self.schedule, self.cursor, self.floor, self.wake_ms, self.written_ms,
            self.pause is not None, flying,
        )  # fmt: skip
        return [schedule], [self._audited(row) for row in self.rows.values()]

    def _audited(self, row: Row) -> AuditRun:
        fact = row.fact
        status = status_of(fact.state, fact.outcome, failed=row.failed, reason=fact.reason)
        return AuditRun(
            fact.key, self.schedule.schedule_id, fact.nominal, fact.last_nominal, fact.periods,
            fact.fire_ms, fact.state, fact.outcome, fact.reason, status, fact.launches, row.fence,
            1 if fact.state in IN_FLIGHT else None,
        )  # fmt: skip

    def _look_at(self, wake_ms: int, now_ms: int) -> None:
        self.written_ms = now_ms
        self.wake_ms = wake_ms if self.wake_ms is None else min(self.wake_ms, wake_ms)

    def _write(self, due: Due, change: Change, now_ms: int) -> None:
        assert change.cursor >= self.cursor
        for fact in change.facts:
            row = self.rows.get(fact.key)
            assert (row is None) == fact.is_new
            assert _could_follow(State.PLANNED if row is None else row.fact.state, fact)
            fence, kill_ms = (0, None) if row is None else (row.fence, row.kill_ms)
            taken = row is not None and row.fact.state in IN_FLIGHT and fact.state is State.PLANNED
            fence += taken or fact.state is State.CLAIMED
            fact = fact if row is None else _standing(fact, row.fact)
            if row is not None and row.fact.launches:
                chosen_ms = row.fact.chosen_ms or row.fact.fire_ms
                assert (fact.chosen_ms or fact.fire_ms) == chosen_ms
            written = Row(fact._replace(is_new=False), fence, kill_ms=kill_ms)
            written.has_failed = row is not None and row.has_failed and fact.state in WAITING
            written.failed = fact.outcome is Outcome.EXECUTED and fact.state is State.DONE
            self.rows[fact.key] = written
            self.lost.discard(fact.key)
        self.cursor, self.wake_ms, self.written_ms = change.cursor, change.wake_ms, now_ms
        if change.resumes:
            assert self.pause is not None
            self.pause = None


def _could_follow(state: State, fact: Fact) -> bool:
    if state is fact.state and state in WAITING:
        return fact.outcome is None  # opened, or moved to another instant
    return any(
        before is state and after is fact.state and ENDS.get(step) in (None, fact.outcome)
        for (before, step), after in STEPS.items()
    )


def _standing(fact: Fact, before: Fact) -> Fact:
    """What may have been executed stays that, whatever becomes of it."""
    if before.outcome is None or fact.outcome is Outcome.EXECUTED:
        return fact
    reason = Reason.UNCERTAIN if fact.state is State.DONE else None
    return fact._replace(outcome=Outcome.EXECUTED, reason=reason)


def _at(fact: Fact, again_ms: int) -> Fact:
    """To be looked at again then; the instant that was chosen for it stays."""
    chosen_ms = (fact.chosen_ms or fact.fire_ms) if fact.launches else 0
    return fact._replace(state=State.PLANNED, fire_ms=again_ms, chosen_ms=chosen_ms)


def _waiting(row: Row) -> Waiting:
    fact = row.fact
    return Waiting(
        fact.key, fact.nominal, fact.fire_ms, fact.state is State.QUEUED, fact.launches,
        fact.outcome is not None, row.fence, fact.chosen_ms, row.has_failed,
    )  # fmt: skip


def _in_flight(row: Row) -> InFlight:
    fact = row.fact
    return InFlight(
        fact.key, fact.nominal, fact.fire_ms, fact.state, row.fence, fact.launches,
        kill_ms=row.kill_ms, chosen_ms=fact.chosen_ms,
    )  # fmt: skip
