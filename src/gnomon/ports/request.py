"""
Who asks a ledger for something, and what it keeps about that.

A change that a caller asked for and the line about it in the log are one transaction: there is no
change without a line, and no line without a change.

A tenant is a `user_id`: everything belongs to one, and a subject that acts for a tenant sees
nothing of the others.

Spec: PORT-7, PORT-8, SERVICE-3.
"""

from typing import NamedTuple

from gnomon.core.schedule import Schedule

__all__ = ["Actor", "Breach", "By", "Expected", "Judged", "LogRow", "Only", "RevisionRow",
           "RunsOnly", "RunsPlace"]  # fmt: skip


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
