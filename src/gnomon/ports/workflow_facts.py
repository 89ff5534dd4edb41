"""
The facts of the workflow door, as values: what is known of a workflow, and what one write changes.

Values that scripts make (states, payloads, results) are JSON texts here. Nothing here decides.

Spec: WLOG-1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = [
    "Answer",
    "Asked",
    "Committed",
    "Event",
    "EventStatus",
    "Facts",
    "Handler",
    "HandlerKind",
    "Input",
    "Mode",
    "Mutation",
    "MutationStatus",
    "Pending",
    "Phase",
    "Publication",
    "Run",
    "RunStatus",
    "Script",
    "Standing",
    "WorkflowChange",
]


class HandlerKind(StrEnum):
    PRODUCER = "producer"
    CONSUMER = "consumer"


class Mode(StrEnum):
    """What the user wants of a workflow."""

    ACTIVE = "active"
    PAUSED = "paused"


class Phase(StrEnum):
    """How far a run has come; it never goes back."""

    PREPARING = "preparing"
    PREPARED = "prepared"
    MUTATING = "mutating"
    MUTATED = "mutated"
    EMITTING = "emitting"
    COMMITTED = "committed"

    @property
    def is_settled(self) -> bool:
        """Whether it is known what became of the mutation: applied, none or skipped."""
        return self in (Phase.MUTATED, Phase.EMITTING, Phase.COMMITTED)


class RunStatus(StrEnum):
    """What a run is doing, or how it ended; it says nothing about the phase."""

    ACTIVE = "active"
    TRANSIENT = "paused:transient"
    APPROVAL = "paused:approval"
    RECONCILIATION = "paused:reconciliation"
    LOGIC = "failed:logic"
    INTERNAL = "failed:internal"
    COMMITTED = "committed"
    CRASHED = "crashed"


class EventStatus(StrEnum):
    PENDING = "pending"
    RESERVED = "reserved"
    CONSUMED = "consumed"
    SKIPPED = "skipped"


class MutationStatus(StrEnum):
    IN_FLIGHT = "in_flight"
    APPLIED = "applied"
    FAILED = "failed"
    """It is certain that nothing has happened."""
    NEEDS_RECONCILE = "needs_reconcile"
    INDETERMINATE = "indeterminate"
    """A person is asked to say; its tool is still asked where that is possible."""
    SKIPPED = "skipped"

    @property
    def is_uncertain(self) -> bool:
        return self in (
            MutationStatus.IN_FLIGHT, MutationStatus.NEEDS_RECONCILE, MutationStatus.INDETERMINATE
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A workflow, and where it stands."""

    name: str
    title: str = ""
    zone: str = "UTC"
    mode: Mode = Mode.ACTIVE
    script: int = 1
    """The version of the script that new runs use."""
    version: int = 0
    """Counts the changes; each writer says which one it has seen."""
    fence: int = 0
    """The fencing number of the present holder."""
    writes: int = 0
    """How often that holder has written."""
    runs: int = 0
    """The number of the newest run."""
    arrivals: int = 0
    """The number of the newest arrival of an event."""
    current: int | None = None
    """The run that must come to its end before anything else is run."""
    failures: int = 0
    """Transient failures in a row."""
    retry_ms: int | None = None
    """When the current run is tried again."""
    repairs: int = 0
    """How often the script was repaired since a run was last committed."""
    trouble: str = ""
    """Why its host cannot load its script; empty while it can."""
    created_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A producer or a consumer, and what must survive a restart about it."""

    name: str
    kind: HandlerKind
    place: int
    """In the order of declaration."""
    schedule: str = ""
    """Of a producer, e.g. `every 5m` or `cron */5 * * * *`."""
    subscribes: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    next_run_ms: int | None = None
    wake_ms: int | None = None
    state: str = "null"
    ran_ms: int | None = None
    """When the latest run of a producer began that was committed."""


class Asked(NamedTuple):
    """The one mutation that a person is asked about, and that an approval names."""

    tool: str
    params: str
    key: str
    title: str
    reconcilable: bool
    script: int
    """The version of the script that asked for it."""
    run: int = 0
    """The run under whose number the mutation stands once it is written down; 0 in rows from before
    that was kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt to run a handler."""

    number: int
    handler: str
    kind: HandlerKind
    script: int
    retry_of: int | None = None
    phase: Phase = Phase.PREPARING
    status: RunStatus = RunStatus.ACTIVE
    prepared: str | None = None
    """What prepare gave, as a checkpoint."""
    mutated: str | None = None
    """What became of the mutation, as a checkpoint."""
    mutation: int | None = None
    """The run under whose number the mutation stands; that of an earlier attempt, perhaps."""
    asked: Asked | None = None
    """What waits for approval."""
    approved: Asked | None = None
    """What a person has approved, in this attempt or before; nothing else is made without being
    asked about."""
    fault: str = ""
    """The class of the failure."""
    error: str = ""
    traceback: str = ""
    """Where the script failed, as the end of Python's own traceback."""
    note: str = ""
    """What it did, in words for the user."""
    created_ms: int = 0
    updated_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One mutation of the outside world; written before it is tried."""

    run: int
    tool: str
    params: str
    key: str
    title: str = ""
    reconcilable: bool = False
    status: MutationStatus = MutationStatus.IN_FLIGHT
    result: str | None = None
    error: str = ""
    tries: int = 0
    """How often it was tried to find out what became of it."""
    next_ms: int | None = None
    """When that is tried again."""
    resolved_by: str = ""
    resolved_ms: int | None = None
    created_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A message in a topic; what waits is never forgotten."""

    topic: str
    id: str
    payload: str
    status: EventStatus = EventStatus.PENDING
    number: int = 0
    """In the order of first publication, over all topics of the workflow."""
    arrival: int = 0
    """The number of its latest change; a reader that has seen a later one has seen this."""
    attempt: int = 1
    """One more each time that it was released again."""
    reserved_by: int | None = None
    created_by: int | None = None
    causes: tuple[str, ...] = ()
    """The inputs that it comes from."""
    created_ms: int = 0
    rounds: int = 0
    """Through how many consumers, one after the other, what it comes from has gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Something that came in from outside."""

    id: str
    title: str = ""
    skipped: bool = False
    pending: int = 0
    """How many events that come from it are not settled."""
    created_ms: int = 0


class Publication(NamedTuple):
    """An event to publish; one that is there already gets the payload and keeps its status."""

    topic: str
    id: str
    payload: str
    causes: tuple[str, ...] = ()


class Script(NamedTuple):
    """A version of what the author wrote."""

    version: int
    digest: str
    text: str
    """Empty when it can only be run by the program that has it in memory."""
    reason: str
    deployed_ms: int
    modules: str = "{}"
    """The modules beside the script that it imports: their texts by path, as JSON."""


class Pending(NamedTuple):
    """What waits in a topic."""

    size: int
    oldest: int
    """The number of the oldest event."""
    newest: int
    """The newest arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that is needed to decide what a workflow does next, in one view."""

    standing: Standing
    handlers: tuple[Handler, ...] = ()
    run: Run | None = None
    """The current run."""
    mutation: Mutation | None = None
    """Its mutation."""
    pending: Mapping[str, Pending] = field(default_factory=dict)

    def handler(self, name: str) -> Handler:
        return next(one for one in self.handlers if one.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowChange:
    """What one write does, as a whole, in the order of the fields."""

    standing: Standing
    script: Script | None = None
    handlers: Sequence[Handler] = ()
    """Those that are new or changed."""
    removed: Sequence[str] = ()
    runs: Sequence[Run] = ()
    mutations: Sequence[Mutation] = ()
    inputs: Sequence[Input] = ()
    publish: Sequence[Publication] = ()
    publisher: int | None = None
    """The run that publishes."""
    rounds: int = 0
    """Of what is published that was not there before."""
    inherits: bool = False
    """Whether publications come from the inputs of what the publisher has reserved."""
    settle: tuple[int, EventStatus] | None = None
    """What becomes of all that a run has reserved; released events are pending again."""
    hand_over: tuple[int, int] | None = None
    """What the first run has reserved belongs to the second."""
    reserve: tuple[int, Sequence[tuple[str, str]]] | None = None
    """The run takes these pending events, by topic and id."""
    skip_input: str = ""
    """Pending events of this input are skipped, and it is marked."""


class Answer(StrEnum):
    """What became of a write."""

    MADE = "made"
    STALE = "stale"
    """Another writer has changed the workflow; nothing was written."""
    NOT_PENDING = "not pending"
    """An event to reserve is not pending; nothing was written."""


class Committed(NamedTuple):
    answer: Answer
    not_pending: tuple[tuple[str, str], ...] = ()
