"""
An executor that does nothing, and says that it is done: for measuring everything else.
"""

from collections.abc import Sequence

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Clock
from gnomon.ports.executor import Accepted, Answer, Feedback, FeedbackStatus, Meta
from gnomon.shell.executor.embedded import FeedbackQueue

__all__ = ["NoopExecutor"]

_DONE = FeedbackStatus.SUCCESS


class NoopExecutor:
    """A `gnomon.ports.executor.Executor` whose runs are over when they begin."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._feedback = FeedbackQueue()

    @property
    def detached(self) -> bool:
        return False

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        run_id = f"noop:{meta.idempotency_key}"
        now_ms = self._clock.now_ms()
        self._feedback.add(
            Feedback(meta.idempotency_key, _DONE, run_id, at_ms=now_ms, fence=meta.fence)
        )
        return Accepted(run_id)

    async def feedback(self) -> Sequence[Feedback]:
        return await self._feedback.take()

    async def adopt(self, key: str, run_id: str) -> bool:
        return False

    async def kill(self, key: str, reason: Reason) -> bool:
        return True

    async def drain(self, *, grace_ms: int) -> None:
        """Nothing runs."""

    async def close(self) -> None:
        """Nothing is held."""
