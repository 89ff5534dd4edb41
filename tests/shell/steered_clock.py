"""A clock that stands still until a test lets a sleep end."""

import asyncio
from collections import defaultdict

__all__ = ["SteeredClock"]


class SteeredClock:
    """Sleeps are told apart by their length; each kind ends when the test says so."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms
        self._over: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._now_ms

    async def sleep_ms(self, length_ms: int) -> None:
        await self._over[length_ms].wait()

    def let_pass(self, length_ms: int) -> None:
        """Sleeps of this length are over, now and from now on."""
        self._over[length_ms].set()
