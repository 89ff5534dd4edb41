"""
What the engine is asked, and what it answers.

Instants are integers: nominal ones in seconds, all others in milliseconds, with a name that says
so.

Spec: ENGINE-1, ENGINE-13.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, Waiting
from gnomon.core.schedule import PauseRule, Schedule

__all__ = ["USUAL", "Candidate", "Change", "Due", "Limits", "Lineup", "Lost", "Pause"]


class Limits(NamedTuple):
    """How much one call does for one schedule, and what it takes for late."""

    catchup_max: int = 100
    """Periods started at a time; and overdue ones that start within one tick."""
    tick_ms: int = 1_000
    """The tick that is meant."""
    line_max: int = 200
    """Overdue periods that stand in line for their turn; the cursor keeps the rest."""
    queue_max: int = 100
    open_max: int = 5_000
    """Periods opened at a time."""
    one_by_one_max: int = 32
    """Overdue periods that get a row each; more become one range."""
    count_max: int = 1_000_000
    """Periods that one range stands for."""
    starts_max: int = 10
    """Starts of one run whose workers are lost, each in its turn; then it is left alone."""
    on_time_ms: int = 2_000
    """How long after its chosen instant a period still counts as seen in time."""
    grace_ms: int = 61_000
    """How old the newest overdue period may be under the catch-up policy `none`."""
    lookahead_ms: int = 60_000
    """Over how long overdue periods are spread, unless that were too many in a tick."""
    backfills_max: int = 10
    """Backfilled runs in flight at a time, where overlap is allowed; else one."""
    asked_max: int = 1_000
    """Overdue periods of which it is asked, at a time, whether their constraints allow a second."""


USUAL = Limits()


class Pause(NamedTuple):
    """A schedule starts nothing, until an instant or until further notice."""

    until_ms: int | None = None

    def lasts(self, now_ms: int) -> bool:
        return self.until_ms is None or self.until_ms > now_ms


class Lost(NamedTuple):
    """A run that its worker has not been heard of in time."""

    run: InFlight
    never_started: bool
    """Whether it is certain that the launcher did not start it."""


class Due(NamedTuple):
    """A schedule with what is known about its periods."""

    schedule: Schedule
    version: int
    cursor: int
    """The last nominal instant that has been planned."""
    pause: Pause | None = None
    waiting: Sequence[Waiting] = ()
    in_flight: Sequence[InFlight] = ()
    lost: Sequence[Lost] = ()
    effective_ms: int = 0
    """Since when the definition is in force; nothing it opens runs before."""
    revision: int = 1
    """Which definition it is."""
    skips: Sequence[int] = ()
    """Nominal instants after the cursor that a caller asked to leave out."""
    deleted: bool = False
    """Whether it was deleted: then only its lost runs are there to settle."""

    def is_paused(self, now_ms: int) -> bool:
        return self.pause is not None and self.pause.lasts(now_ms)

    @property
    def swallowed_ms(self) -> int:
        """Before which instant a pause that is over swallows the periods; 0 when none does."""
        if self.pause is None or self.schedule.policy.pause is PauseRule.HOLD:
            return 0
        return self.pause.until_ms or 0


class Change(NamedTuple):
    """What is to become of one schedule: written as a whole or not at all."""

    schedule: Schedule
    version: int
    cursor: int
    following: int | None
    """The nominal instant after the cursor."""
    wake_ms: int | None
    """When to look at the schedule again; None when only an event can change anything."""
    facts: list[Fact]
    replaced: Sequence[InFlight]
    """Runs to end before anything is started."""
    resumes: bool
    """Whether a pause is over."""
    revision: int
    """Of the definition that it was made from, as its version is."""

    @property
    def launches(self) -> list[Fact]:
        """The runs to start, once their claims are committed."""
        return [fact for fact in self.facts if fact.state is State.CLAIMED]


class Candidate(NamedTuple):
    """A period that may be started, with or without a row of its own."""

    key: str
    nominal: int
    fire_ms: int
    queued: bool
    launches: int
    may_have_run: bool
    fence: int
    chosen_ms: int
    has_failed: bool
    is_new: bool
    in_line: bool = False
    """Whether it is overdue and has its turn after others, or had it to wait for."""

    def claimed(self) -> Fact:
        """It starts."""
        return self.becomes(State.CLAIMED, launches=self.launches + 1)

    def becomes(self, state: State, outcome: Outcome | None = None, reason: Reason | None = None,
                *, launches: int | None = None) -> Fact:  # fmt: skip
        tries = self.launches if launches is None else launches
        return Fact(
            self.key, self.nominal, self.fire_ms, state, outcome, reason, tries, self.is_new,
            chosen_ms=self.chosen_ms,
        )  # fmt: skip


class Lineup(NamedTuple):
    """The periods of a schedule that are not over, by when they may start; each step makes one."""

    ready: list[Candidate]
    """They may start now, as far as has been asked."""
    later: list[Candidate]
    """They wait for an instant ahead."""
    held: list[Candidate]
    """A pause holds them back."""
    facts: list[Fact]
    """What has been decided on the way."""

    @property
    def waiting(self) -> list[Candidate]:
        return self.later + self.held
