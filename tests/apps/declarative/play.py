"""
A play: a random history of a scheduler on a stage.

Lists are handed over and changed, stops and crashes come at any time, callbacks are slow and fail,
the store fails, and with more letters the clock is set and the store is taken over by another.
"""

import asyncio
import random

from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.errors import GnomonError
from tests.apps.declarative.stage import SECOND, Stage

__all__ = ["Play"]

CRONS = ("* * * * *", "0,10,20,30,40,50 * * * *", "7 * * * *", "59 0 * * *")
PLAIN = "iiisscfff"
"""What may happen, each letter as likely as the others: initialize, stop, crash, a fault."""

STEPS_MS = (-7_200_000, -90_000, -1_500, 2_000, 90_000, 3_600_000, 200_000_000)


class Play:
    """One history; `letters` says what may happen in it."""

    def __init__(
        self, stage: Stage, dice: random.Random, reinitialize: str, *, letters: str = PLAIN,
        zone: str = "UTC",
    ) -> None:  # fmt: skip
        self._stage = stage
        self._dice = dice
        self._reinitialize = reinitialize
        self._letters = letters
        self._zone = zone
        self._scheduler = self._new()
        self._calls: list[asyncio.Task[None]] = []

    async def act(self) -> None:
        stage, dice = self._stage, self._dice
        await stage.clock.sleep_ms(dice.choice([0, 7, 1_000, 20_000, 59_993, 200_000, 900_000]))
        match dice.choice(self._letters):
            case "i":
                self._calls.append(asyncio.create_task(self._initialize()))
            case "s":
                self._calls.append(asyncio.create_task(self._stop()))
            case "c":
                await stage.crash()
                self._calls.clear()
                stage.faults.clear()
                await stage.clock.sleep_ms(dice.choice([0, 30_000, 4_000_000]))
                self._scheduler = self._new()
            case "w":
                stage.clock.offset_ms += dice.choice(STEPS_MS)
            case "t":  # another takes the store over; this one finds out when it writes
                self._scheduler = self._new()
                self._calls.append(asyncio.create_task(self._initialize()))
            case _:
                where = dice.choice(["write before", "write after", "acquire after", "head before"])
                if len(stage.faults) < 5:  # a store that fails for long makes everything late
                    stage.faults += [where] * dice.randint(1, 3)

    async def finish(self) -> None:
        self._stage.faults.clear()
        await self._stop()
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self._stop()
        # Only the next scheduler can write that the one before it has crashed.
        self._scheduler = self._new()
        await self._scheduler.initialize([])
        await self._scheduler.stop()

    def _new(self) -> Scheduler:
        return self._stage.scheduler(zone=self._zone, reinitialize=self._reinitialize)

    async def _initialize(self) -> None:
        names = self._dice.sample("abc", self._dice.randint(0, 3))
        try:
            await self._scheduler.initialize([self._task(name) for name in names])
        except GnomonError:
            self._stage.note("refused")

    async def _stop(self) -> None:
        try:
            await self._scheduler.stop()
        except GnomonError:
            self._stage.note("not told")

    def _task(self, name: str):  # type: ignore[no-untyped-def]
        dice = self._dice

        async def callback() -> None:
            await asyncio.sleep(dice.choice([0, 0, 5, 61, 400]))
            if dice.random() < 0.3:
                raise ValueError("no")

        cron = dice.choice(CRONS) if dice.random() < 0.3 else CRONS["abc".index(name)]
        return name, cron, callback, dice.choice([0, 0, 0, 1, 90]) * SECOND + 5 * SECOND
