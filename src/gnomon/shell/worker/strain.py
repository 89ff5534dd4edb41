"""
Until when does a worker start nothing, because it could start no run whatever?

The claims that it has stay in its hand. It tries again after 100 ms, then after twice as long each
time up to 10 s, and whenever one of its runs has ended, which may have freed what was missing.

Spec: RUN-17.
"""

import logging

from gnomon.ports import Clock, Strained
from gnomon.shell.observe.log import log

__all__ = ["Strain"]

WAIT_MS = 100
WAIT_MAX_MS = 10_000


class Strain:
    """What one worker knows about what it lacks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times = 0
        self._until_ms: int | None = None

    def begin(self, strained: Strained) -> None:
        """Nothing can be started."""
        if not self._times:
            log(logging.WARNING, "runs are held back", message=strained.message, key=strained.key)
        wait_ms = min(WAIT_MS << min(self._times, 20), WAIT_MAX_MS)
        self._times += 1
        self._until_ms = self._clock.monotonic_ms() + wait_ms

    def rest_ms(self) -> int:
        """How long still to start nothing; 0 to try."""
        if self._until_ms is None:
            return 0
        return max(self._until_ms - self._clock.monotonic_ms(), 0)

    def ease(self) -> None:
        """Something may have become free."""
        self._until_ms = None

    def end(self) -> None:
        """Everything could be started."""
        if self._times:
            log(logging.INFO, "runs are started again", failures=self._times)
            self._times, self._until_ms = 0, None
