"""
The executor as a contract: what carries a DAG out, once for each key.

An executor gets the text of a DAG and the facts of one run, and says at once whether it has taken
the run on; how the run goes, it says later. Runs are known by their idempotency key: a caller that
asks twice under one key starts one run, and is told its state again. So a caller that does not know
whether its first question arrived can safely ask again.

Spec: EXEC-1 to EXEC-5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from gnomon.core.ledger.lifecycle import Reason

__all__ = ["Accepted", "Answer", "Executor", "Feedback", "FeedbackStatus", "Meta", "Refused",
           "Unanswered"]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """The facts of one run that an executor is told."""

    workflow_id: str
    version: int
    user_id: str
    schedule_id: str
    scheduled_for: int
    """The planned instant, in seconds."""
    idempotency_key: str
    """The same for every try of this run."""
    source: str = "schedule"
    """`schedule`, `manual` or `backfill`."""
    attempt: int = 1
    """Which try to launch it this is."""
    fence: int = 0
    """The number of the claim; a greater one takes a run over from a smaller one."""
    params: str = "{}"
    """What the run is given: a JSON object, the same for every try of a run by hand."""


class Accepted(NamedTuple):
    """The executor has taken the run on, now or before; its end will be reported."""

    run_id: str


class Refused(NamedTuple):
    """The executor has not taken the run on, and has certainly not begun it."""

    message: str
    permanent: bool
    """Whether asking again cannot help."""
    retry_after_ms: int | None = None
    """How long the executor asks to be left alone."""


class Unanswered(NamedTuple):
    """The executor may or may not have taken the run on; ask again under the same key."""

    message: str


Answer = Accepted | Refused | Unanswered


class FeedbackStatus(StrEnum):
    """What an executor says about a run, in the words of the table of runs."""

    STARTED = "STARTED"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


class Feedback(NamedTuple):
    """One thing that an executor has said about a run."""

    key: str
    status: FeedbackStatus
    run_id: str
    detail: str = ""
    at_ms: int | None = None
    """When it happened, by the executor's clock; None when it does not say."""
    fence: int | None = None
    """The number it was run under; None from an executor that does not keep it."""
    reason: Reason | None = None
    """Why it was ended, when it was ended from here."""

    @property
    def is_end(self) -> bool:
        return self.status is not FeedbackStatus.STARTED


class Executor(Protocol):
    """What carries runs out."""

    @property
    def detached(self) -> bool:
        """Whether runs go on without this process, and their ends come back as callbacks."""
        ...

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        """Take a run on. Under a key that is known already, nothing is started again."""
        ...

    async def feedback(self) -> Sequence[Feedback]:
        """
        Wait for something to be said about runs; return it.

        Nothing is lost when the waiting is given up. An executor whose feedback comes another way
        waits for ever.
        """
        ...

    async def adopt(self, key: str, run_id: str) -> bool:
        """Whether a run that a former worker handed over goes on without being asked again."""
        ...

    async def kill(self, key: str, reason: Reason) -> bool | None:
        """
        End a run; True when it is over, or was never begun.

        None when it is not in this process, and another one might have it.
        """
        ...

    async def drain(self, *, grace_ms: int) -> None:
        """Wait for the runs of this process, then end them."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads, and leave at once what runs in this process."""
        ...
