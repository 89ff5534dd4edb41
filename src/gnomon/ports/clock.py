"""
The clock as a contract: the one on the wall, the one that never goes back, and waiting.

Nothing else reads time or waits, so that the supplier of the clock decides how long a second
takes.
"""

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Time, read once a turn."""

    def now_ms(self) -> int:
        """The present instant on the wall clock; it may jump."""
        ...

    def monotonic_ms(self) -> int:
        """Time that never goes back, for measuring how long something took."""
        ...

    async def sleep_ms(self, length_ms: int) -> None:
        """Return when this much monotonic time has passed."""
        ...
