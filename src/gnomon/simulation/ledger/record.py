"""
What happened in a world, as an onlooker wrote it down: plain data, no rules.

The simulated ports fill it in and the judges read it. It holds no type of the engine or the store,
so that a judge who reads it shares nothing with what is judged. Instants named `_ms` are those of
the wall clock, which may jump; `_at` are milliseconds since the world began, which never do; `no`
numbers what happened in its order, because much may happen in one millisecond.

Spec: SIM-3.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from gnomon.simulation.kit.notes import Notes

__all__ = [
    "Deleted",
    "Effect",
    "Grant",
    "Paused",
    "Record",
    "Row",
    "Seen",
    "Settled",
]


class Row(NamedTuple):
    """A row of the ledger at the end of the world, in the words on the wire."""

    schedule_id: str
    key: str
    nominal: int
    last_nominal: int
    periods: int
    state: str
    outcome: str | None
    reason: str | None
    launches: int
    fence: int
    killed_for_ms: int | None = None
    """How long after a caller asked to end it it was over."""
    says_start: bool = True
    """Whether it says how the run is called and when it began."""
    chosen_ms: int | None = None
    """The instant that was chosen for it; None for a range."""
    params: str | None = None
    """What the caller that asked for it gave along."""


@dataclass(slots=True, kw_only=True)
class Effect:
    """A run that really began, whatever the ledger says."""

    schedule_id: str
    nominal: int
    key: str
    launches: int
    fence: int
    worker: str
    run_id: str
    no: int
    began_at: int
    began_ms: int
    ended_at: int | None = None
    success: bool = False
    ended_no: int | None = None
    how: str = ""
    """How it ended: by itself, ended by a worker, or died with one."""
    params: str | None = None
    """What it was handed, where a run is handed anything."""


@dataclass(slots=True, kw_only=True)
class Grant:
    """A claim that the ledger gave to a worker, until its lease is over."""

    schedule_id: str
    nominal: int
    key: str
    fence: int
    launches: int
    worker: str
    no: int
    given_ms: int
    shown_ms: int
    """The latest instant that the wall clock had ever shown."""
    lease_ms: int
    until_ms: int
    is_adopted: bool = False
    """Whether the run was going on already, under a worker who died."""
    is_closed: bool = False
    """Whether the ledger accepted that the run had ended."""
    lost_no: int | None = None
    """When it was given back, or taken away: its lease was over, or its worker cannot be alive."""
    waits: bool = False
    """Whether the lost run waits for its next try: deleting its schedule ends it there and then."""
    is_detached: bool = False
    """Whether its run goes on elsewhere, so that its worker has let it go."""
    is_given_back: bool = False
    """Whether its worker said that it had certainly started nothing."""
    unanswered_no: int | None = None
    """When its worker said that it does not know whether it has started something."""
    settled_no: int | None = None
    """When the ledger let go of a run that was not answered, without knowing what became of it."""


class Seen(NamedTuple):
    """A report that the ledger accepted or refused."""

    key: str
    fence: int
    kind: str
    accepted: bool
    no: int


class Settled(NamedTuple):
    """What a worker told of a period, or of a range of them: that it is over, and how."""

    schedule_id: str
    key: str
    nominal: int
    periods: int
    outcome: str | None
    reason: str | None
    worker: str


class ToldLost(NamedTuple):
    """What a worker told of a run: that it has lost it."""

    worker: str
    key: str
    fence: int
    no: int


class Deleted(NamedTuple):
    """When a schedule was deleted, by the wall clock and in the order of things."""

    at_ms: int
    no: int


class Paused(NamedTuple):
    """A pause, by the wall clock."""

    schedule_id: str
    from_ms: int
    until_ms: int | None


@dataclass(slots=True)
class Record(Notes):
    """Everything that the judges of the ledger may know."""

    effects: list[Effect] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    reports: list[Seen] = field(default_factory=list)
    pauses: list[Paused] = field(default_factory=list)
    strained_ms: list[int] = field(default_factory=list)
    """When a launcher could start nothing, by the wall clock."""
    saved_ms: dict[str, int] = field(default_factory=dict)
    """When a schedule was saved: nothing before is owed, but for what was open."""
    open_when_saved: dict[str, list[int]] = field(default_factory=dict)
    """The periods whose window was open by then, with their instant ahead or none at all."""
    in_force_ms: dict[str, list[int]] = field(default_factory=dict)
    """When each definition of a schedule was saved: what it opens runs no earlier."""
    unbegun: set[str] = field(default_factory=set)
    """Keys of runs that were ended when they were ready, before they were let go."""
    edited: list[str] = field(default_factory=list)
    """Schedules whose definition was changed on the way."""
    leases: dict[str, list[str]] = field(default_factory=dict)
    """Schedules whose leases got another length on the way, and which."""
    turned: dict[str, int] = field(default_factory=dict)
    """Schedules whose runs overlapped, and since when they replace each other."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    """Schedules and keys of runs that a caller asked for."""
    given: dict[str, str] = field(default_factory=dict)
    """Parameters by the key of the run that a caller gave them to, first."""
    left_out: set[tuple[str, int]] = field(default_factory=set)
    """Schedules and periods that a caller asked to leave out."""
    killed: dict[str, int] = field(default_factory=dict)
    """Keys of runs that a caller asked to end, and when."""
    settled: list[Settled] = field(default_factory=list)
    """What workers told of periods that were settled without a run of theirs."""
    lost: list[ToldLost] = field(default_factory=list)
    """The runs that workers told they had lost."""
    unheard: set[str] = field(default_factory=set)
    """Keys of rows that were written, and whose writer did not live to hear of it."""
    deleted: dict[str, Deleted] = field(default_factory=dict)
    """Schedules that a caller deleted."""
    told: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """When a worker was told that a run is to be ended: worker, key and fencing number."""
    launched: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """When a worker had a run launched."""
    catchup_max: int = 100
    """How many overdue periods of a schedule may be claimed within a tick."""
    tick_ms: int = 1_000
    on_time_ms: int = 2_000
    """How late a period is overdue."""
    lookahead_ms: int = 60_000
    """Over how long overdue periods are spread."""
    clock_was_set: bool = False
    outage_alone: bool = False
    """Whether all workers were gone for a while, and nothing else went wrong."""
    anybody_ends: bool = False
    """Whether any worker can end a run, wherever it was started."""

    number: int = 0

    def everything(self) -> list[str]:
        return [*self.lines, *map(str, self.effects)]

    def next_no(self) -> int:
        self.number += 1
        return self.number

    def grant(self, key: str, fence: int) -> Grant | None:
        return next((g for g in reversed(self.grants) if g.key == key and g.fence == fence), None)

    def newest_grant(self, key: str) -> Grant | None:
        return next((grant for grant in reversed(self.grants) if grant.key == key), None)
