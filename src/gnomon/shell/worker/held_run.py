"""
One run in one worker's hands: what may follow what, as a table.

A run is held from the moment its claim was won until the worker knows that it is over, has let it
go, or has no part in it any more. Rules for this file: every state that a held run can be in is
here, every step between two states is an entry here, and a step that is not here is an error.

What a step has as its consequence (who is asked to end what, what is reported) is the worker's
business. What becomes of the period in the ledger is another life: `core.ledger.lifecycle`.

Spec: RUN-38.
"""

from enum import StrEnum
from typing import NamedTuple

from gnomon.ports import Claim
from gnomon.shell.clock import Reading

__all__ = ["IN_LAUNCHER", "STEPS", "WAITING", "HeldEvent", "HeldRun", "HeldState", "Lease"]


class HeldState(StrEnum):
    """Where a run is, as far as the worker knows that holds it."""

    BLOCKED = "blocked"
    """Another run must end first."""
    READY = "ready"
    """It may start."""
    LAUNCHING = "launching"
    """The launcher was asked, and has not answered yet."""
    STARTING = "starting"
    """The launcher takes its time, and says later what became of the launch."""
    STAGED = "staged"
    """It is made ready, and begins when the ledger has accepted its launch."""
    RUNNING = "running"
    """It goes on here."""
    GIVING_WAY = "giving_way"
    """It will not start: another takes its place, once an earlier try of it has been ended."""
    PARKED = "parked"
    """This worker stops and will not start it; other workers may, after its own runs are over."""
    LOST = "lost"
    """It is not this worker's any more, and what may go on here is being ended."""
    GONE = "gone"
    """The worker has no part in it any more; what is to be reported was noted."""


class HeldEvent(StrEnum):
    """What happens to a held run."""

    CLEARED = "cleared"
    """What was in its way has ended."""
    NOT_CLEARED = "not_cleared"
    """What is in its way, or an earlier try of it, could not be ended."""
    KILLED = "killed"
    """A caller wants it ended."""
    REPLACED = "replaced"
    """Another run takes its place."""
    GAVE_WAY = "gave_way"
    """Another run takes its place, and an earlier try of it is to be ended first."""
    LAUNCH = "launch"
    """The launcher is asked to start it."""
    STRAINED = "strained"
    """The launcher could start no run at this moment."""
    DELAYED = "delayed"
    """The launcher takes its time."""
    MADE_READY = "made_ready"
    """The launcher has made it ready."""
    STARTED = "started"
    """The launcher has started it, or the ledger has accepted the start."""
    LET_GO = "let_go"
    """It goes on without this worker."""
    FAILED = "failed"
    """It could not be launched."""
    RAISED = "raised"
    """The launcher broke; whether it started, the lease decides."""
    ENDED = "ended"
    """It is over, or what was to be ended of it is."""
    REFUSED = "refused"
    """The ledger says that it is not this worker's any more."""
    STOPPING = "stopping"
    """The worker stops and will not start it."""
    DRAINED = "drained"
    """The worker's other runs are over."""


_S, _E = HeldState, HeldEvent

STEPS: dict[tuple[HeldState, HeldEvent], HeldState] = {
    (_S.BLOCKED, _E.CLEARED): _S.READY,
    (_S.BLOCKED, _E.NOT_CLEARED): _S.GONE,
    (_S.BLOCKED, _E.KILLED): _S.GONE,
    (_S.BLOCKED, _E.REPLACED): _S.GONE,
    (_S.BLOCKED, _E.GAVE_WAY): _S.GIVING_WAY,
    (_S.BLOCKED, _E.STOPPING): _S.PARKED,
    (_S.BLOCKED, _E.REFUSED): _S.GONE,
    (_S.BLOCKED, _E.ENDED): _S.GONE,
    (_S.READY, _E.LAUNCH): _S.LAUNCHING,
    (_S.READY, _E.KILLED): _S.GONE,
    (_S.READY, _E.REPLACED): _S.GONE,
    (_S.READY, _E.GAVE_WAY): _S.GIVING_WAY,
    (_S.READY, _E.STOPPING): _S.PARKED,
    (_S.READY, _E.REFUSED): _S.GONE,
    (_S.READY, _E.ENDED): _S.GONE,
    (_S.LAUNCHING, _E.STRAINED): _S.READY,
    (_S.LAUNCHING, _E.STOPPING): _S.PARKED,
    (_S.LAUNCHING, _E.DELAYED): _S.STARTING,
    (_S.LAUNCHING, _E.MADE_READY): _S.STAGED,
    (_S.LAUNCHING, _E.STARTED): _S.RUNNING,
    (_S.LAUNCHING, _E.LET_GO): _S.GONE,
    (_S.LAUNCHING, _E.FAILED): _S.GONE,
    (_S.LAUNCHING, _E.RAISED): _S.GONE,
    (_S.LAUNCHING, _E.ENDED): _S.GONE,
    (_S.STARTING, _E.MADE_READY): _S.STAGED,
    (_S.STARTING, _E.STARTED): _S.RUNNING,
    (_S.STARTING, _E.LET_GO): _S.GONE,
    (_S.STARTING, _E.FAILED): _S.GONE,
    (_S.STARTING, _E.REFUSED): _S.LOST,
    (_S.STARTING, _E.ENDED): _S.GONE,
    (_S.STAGED, _E.STARTED): _S.RUNNING,
    (_S.STAGED, _E.REFUSED): _S.LOST,
    (_S.STAGED, _E.ENDED): _S.GONE,
    (_S.RUNNING, _E.REFUSED): _S.LOST,
    (_S.RUNNING, _E.ENDED): _S.GONE,
    (_S.GIVING_WAY, _E.REPLACED): _S.GONE,
    (_S.GIVING_WAY, _E.NOT_CLEARED): _S.GONE,
    (_S.GIVING_WAY, _E.STOPPING): _S.PARKED,
    (_S.GIVING_WAY, _E.REFUSED): _S.GONE,
    (_S.GIVING_WAY, _E.ENDED): _S.GONE,
    (_S.PARKED, _E.DRAINED): _S.GONE,
    (_S.PARKED, _E.REFUSED): _S.GONE,
    (_S.PARKED, _E.ENDED): _S.GONE,
    (_S.LOST, _E.REFUSED): _S.LOST,
    (_S.LOST, _E.MADE_READY): _S.LOST,
    (_S.LOST, _E.STARTED): _S.LOST,
    (_S.LOST, _E.LET_GO): _S.GONE,
    (_S.LOST, _E.FAILED): _S.GONE,
    (_S.LOST, _E.ENDED): _S.GONE,
}
"""
The state after each event that a state knows.

A run that the launcher has, and that is killed or replaced, keeps its state: the launcher is asked
to end it, and its end is an event of its own.
"""

WAITING = frozenset({_S.BLOCKED, _S.READY, _S.LAUNCHING, _S.STAGED, _S.GIVING_WAY})
"""Claims that are not launched and confirmed."""
IN_LAUNCHER = frozenset({_S.STARTING, _S.STAGED, _S.RUNNING, _S.LOST})
"""The launcher has it, and can be asked to end it."""


class Lease(NamedTuple):
    """For how long a run is held, and when the worker must say so again."""

    length_ms: int
    renew: Reading

    @property
    def third_ms(self) -> int:
        return max(self.length_ms // 3, 1)


class HeldRun:
    """A run, its claim, its lease and its state."""

    __slots__ = ("_claim", "fence", "key", "lease", "state")

    def __init__(
        self, key: str, fence: int, state: HeldState, lease: Lease | None, claim: Claim | None
    ) -> None:
        self.key, self.fence, self.state, self.lease = key, fence, state, lease
        self._claim = claim

    @property
    def claim(self) -> Claim:
        """What was won; a run of a former worker, which this one has adopted, has none."""
        if self._claim is None:
            raise LookupError(f"the run {self.key} was adopted, and has no claim")
        return self._claim

    @property
    def may_be_withdrawn(self) -> bool:
        """Whether it is a claim that the launcher was not asked to start."""
        return self.state is _S.BLOCKED or self.state is _S.READY
