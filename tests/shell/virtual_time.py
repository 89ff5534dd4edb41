"""An event loop on which time passes only when every task waits, and its clock."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

__all__ = ["START_MS", "VirtualClock", "run_virtually"]

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
_T = TypeVar("_T")


class _Selector(selectors.SelectSelector):
    """Does not wait: it notes how long it was to wait."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen here"
        self.passed += max(timeout, 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.passed


class VirtualClock:
    """The clock of the loop it is used in; the one on the wall can be set."""

    def __init__(self) -> None:
        self.offset_ms = START_MS
        self.sleeps: list[int] = []

    def now_ms(self) -> int:
        return self.offset_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return round(asyncio.get_running_loop().time() * 1000)

    async def sleep_ms(self, length_ms: int) -> None:
        self.sleeps.append(length_ms)
        await asyncio.sleep(length_ms / 1000)


def run_virtually(scenario: Coroutine[object, object, _T]) -> _T:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(scenario)
