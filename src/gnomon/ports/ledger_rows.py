"""
What goes into a ledger and comes out of it, as values: claims, reports, rows, requests.

A worker gets claims, renews their leases and writes what launchers report. A reader gets rows. Who
asks for a change is a value too: a change that a caller asked for and the line about it in the log
are one transaction, so there is no change without a line, and no line without a change.

A tenant is a `user_id`: everything belongs to one, and a subject that acts for a tenant sees
nothing of the others.

Spec: PORT-7, PORT-8, LEDGER-8, LEDGER-38, SERVICE-3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.engine import Change, Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.ledger.period import Kind, kind_of
from gnomon.core.schedule import Schedule

__all__ = [
    "Actor",
    "Breach",
    "By",
    "Claim",
    "Committed",
    "Ended",
    "Expected",
    "Failed",
    "Held",
    "Judged",
    "Launched",
    "LogRow",
    "Only",
    "Renewal",
    "Report",
    "RevisionRow",
    "RunRow",
    "RunsOnly",
    "RunsPlace",
    "Saved",
    "ScheduleRow",
    "ToEnd",
]


class Claim(NamedTuple):
    """A run that this worker has claimed and may start, now that the claim is committed."""

    schedule: Schedule
    key: str
    nominal: int
    fire_ms: int
    launches: int
    fence: int
    replaces: tuple[tuple[str, int], ...]
    """Keys and fencing numbers of runs that are to be ended first."""
    detached: frozenset[str] = frozenset()
    """The keys of those among them that no worker holds."""
    chosen_ms: int = 0
    """The chosen instant of its period, where `fire_ms` is that of a further try; else 0."""


class Committed(NamedTuple):
    """What a commit has written: nothing else of what was planned has happened."""

    changes: Sequence[Change]
    """Those that held, with their facts as they were written."""
    claims: Sequence[Claim]


class Launched(NamedTuple):
    """A launcher has started a run."""

    key: str
    fence: int
    run_id: str
    """What the launcher calls it; of a process, its pid and start time."""
    detached_ms: int | None = None
    """For how long to wait for word of its end, when it goes on without its worker; else None."""
    started_ms: int | None = None
    """When it began, by the launcher's clock; None for when it is reported."""


class Failed(NamedTuple):
    """A launcher could not start a run; it did not start, as far as anybody knows."""

    key: str
    fence: int
    message: str
    permanent: bool
    """Whether trying again cannot help."""
    reason: Reason = Reason.LAUNCH_FAILED
    """
    `superseded` for a claim that another took the place of before it began, after the launcher has
    ended what may be running of its earlier tries; `killed` for one that a caller asked to end,
    whose earlier tries are not over for that; `stopped` for one that a worker gives back, so that
    any worker may take it at once, however many tries there were; `uncertain` where it may have
    started after all.
    """
    wait_ms: int | None = None
    """For how long not to try again, whatever the policy says."""
    started_ms: int | None = None
    """When it began, if it did: for a run whose executor has said meanwhile that it is over."""


class Ended(NamedTuple):
    """A run has ended."""

    key: str
    fence: int
    success: bool
    detail: str
    """Exit status, exception or the like, in one line."""
    reason: Reason | None = None
    run_id: str | None = None
    started_ms: int | None = None
    """When it began; None where the report of its launch says so."""
    ended_ms: int | None = None
    """When it ended, by the launcher's clock; None for when it is reported."""


Report = Launched | Failed | Ended


class Saved(NamedTuple):
    """What saving a definition did."""

    schedule_id: str
    revision: int
    changed: bool
    """False when an equal definition was there already."""
    next_nominal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """A schedule as the ledger has it."""

    schedule: Schedule
    revision: int
    version: int
    cursor: int
    wake_ms: int | None
    pause: Pause | None
    pause_reason: str
    in_flight: int
    created_ms: int
    updated_ms: int
    skips: tuple[int, ...] = ()
    """Nominal instants ahead that a caller asked to leave out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A row of the ledger: a period, a range of them, or a run asked for; and its fate."""

    key: str
    schedule_id: str
    nominal: int
    last_nominal: int
    """0 unless the row stands for a range."""
    periods: int
    fire_ms: int
    state: State
    outcome: Outcome | None
    reason: Reason | None
    status: Status | None
    launches: int
    fence: int
    owner: str | None
    lease_ms: int | None
    run_id: str | None
    detail: str | None
    revision: int
    started_ms: int | None
    ended_ms: int | None
    created_ms: int
    updated_ms: int
    kill_ms: int | None = None
    """When a caller asked to end it."""
    kill_by: str | None = None
    first_fire_ms: int | None = None
    """Its chosen instant, where `fire_ms` is that of a further try; else None."""
    params: str | None = None
    """What a run by hand was given, as JSON."""

    @property
    def chosen_ms(self) -> int:
        """The instant that was chosen for it."""
        return self.fire_ms if self.first_fire_ms is None else self.first_fire_ms

    @property
    def kind(self) -> Kind:
        """What the row stands for."""
        return kind_of(self.key)

    @property
    def is_detached(self) -> bool:
        """Whether it goes on without a worker that holds it."""
        return self.lease_ms is not None and self.owner is None


class ToEnd(NamedTuple):
    """A run that is in flight, or may be, and that a caller asked to end."""

    key: str
    fence: int
    detached: bool
    """Whether no worker holds it, so that each worker that sees this may end it."""


class Held(NamedTuple):
    """A run that a worker holds, and for how long from now on it will not be heard of again."""

    key: str
    fence: int
    lease_ms: int | None = None
    """The length that the worker reckons with; None for that of the definition by now."""


class Renewal(StrEnum):
    """What a worker hears when it renews the lease of a run."""

    HELD = "held"
    """It is this worker's, and its lease is longer by now."""
    OVER = "over"
    """It has ended, as its worker or its executor said."""
    TAKEN = "taken"
    """It is not this worker's any more: another has it, has judged it lost, or may try it again."""


class Actor(NamedTuple):
    """Who asks for something."""

    subject: str
    """A name for the audit log."""
    tenant: str | None = None
    """The one tenant that is acted for; None for all of them."""

    def may_see(self, user_id: str | None) -> bool:
        return self.tenant is None or self.tenant == user_id


class By(NamedTuple):
    """Who asks for a change."""

    subject: str
    user_id: str | None = None
    """The owner whose schedules are there for this one; None for all of them."""
    detail: str = "{}"
    """What else the log is to say, as JSON."""
    schedules_max: int | None = None
    """How many schedules the owner may have; what would make them more is refused as a whole."""


class Only(NamedTuple):
    """Which schedules are wanted; None for whichever."""

    user_id: str | None = None
    workflow_id: str | None = None
    paused: bool | None = None
    text: str | None = None
    """A part of the id."""


class RunsOnly(NamedTuple):
    """Which runs are wanted, of all schedules; None for whichever."""

    since_ms: int
    """Of those that are over, the ones that ended then or later."""
    until_ms: int | None = None
    """Only those that were over before."""
    user_id: str | None = None
    workflow_id: str | None = None
    state: str | None = None
    status: str | None = None
    outcome: str | None = None
    reason: str | None = None


class RunsPlace(NamedTuple):
    """Where a page of runs ended: with one that was open, or over."""

    is_open: bool
    at: int
    """Its nominal instant in seconds, or of one that was over its end in milliseconds."""
    key: str


class LogRow(NamedTuple):
    """A line of the log: who changed what."""

    number: int
    at_ms: int
    subject: str
    user_id: str | None
    """Whose schedule it is."""
    action: str
    schedule_id: str
    detail: str


class RevisionRow(NamedTuple):
    """A definition that a schedule had, and since when."""

    revision: int
    effective_ms: int
    schedule: Schedule


class Expected(NamedTuple):
    """A schedule with an expectation, and up to where that has been looked at."""

    schedule_id: str
    after: int
    """The last nominal instant that has been judged."""


class Breach(NamedTuple):
    """Something that was expected of the run of a period, and did not come true in time."""

    nominal: int
    expectation: str


class Judged(NamedTuple):
    """What looking at a schedule's expectations came to."""

    after: int
    """The last nominal instant that has been judged now."""
    check_ms: int | None
    """When to look again; None when nothing is expected any more."""
    breaches: tuple[Breach, ...] = ()
