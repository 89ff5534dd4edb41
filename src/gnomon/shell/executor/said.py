"""
What has an executor said about runs that its worker has not taken yet?
"""

import asyncio
from collections.abc import Sequence

from gnomon.ports.executor import Feedback

__all__ = ["Said"]


class Said:
    """Feedback in the order in which it came; giving up waiting for it loses nothing."""

    def __init__(self) -> None:
        self._said: list[Feedback] = []
        self._some = asyncio.Event()

    def add(self, feedback: Feedback) -> None:
        self._said.append(feedback)
        self._some.set()

    async def take(self) -> Sequence[Feedback]:
        """Wait until there is some, and hand it over."""
        await self._some.wait()
        self._some.clear()
        said, self._said = self._said, []
        return said
