"""
A storm: several workers and several people on one ledger at once, and a judge when it is over.

`python -m tests.storm.world SEED OPERATIONS [apart]` makes a server of its own and says what came
of it; with `apart` no clock is right but the database's, by which leases are judged. A server does
not do the same twice; the seed says who wants what, and not who is first. So a finding is not
replayed: run the seed again, some times, or write down the order that it shows.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gnomon.shell.store.postgres.examination import examine_shared
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from tests.postgres.server import Server
from tests.storm.book import Book
from tests.storm.hands import Hand
from tests.storm.history import record
from tests.storm.judge import judge_answers, judge_rest
from tests.storm.people import Person
from tests.storm.sky import LAST, Sky
from tests.storm.wind import WindyPool, WindyStatements, blow, tell_time

__all__ = ["Storm", "run_alone", "run_storm"]

_LEDGERS, _HANDS, _PEOPLE = 3, 5, 4
_REST_EVERY = 250
"""After so many operations everybody stops, and the rows are looked at."""
_GUST = 14
"""Operations at one instant; everything is due at once at its beginning."""
_LAST_TURNS = 1_000
_TOLD_MAX = 20


class Storm(NamedTuple):
    """What came of a storm."""

    operations: int
    calls: Counter[str]
    raised: Counter[str]
    claims: int
    problems: Sequence[str]

    def __str__(self) -> str:
        raised = ", ".join(f"{times} {what}" for what, times in sorted(self.raised.items()))
        return (
            f"{self.operations} operations, {self.calls.total()} calls, {self.claims} claims, "
            f"{len(self.problems)} problems; raised: {raised or 'nothing'}"
        )


async def run_storm(
    url: str, schema: str, seed: str, operations: int, *, apart: bool = False
) -> Storm:
    """Let it happen; say what is wrong afterwards."""
    world = _World(url, schema, Sky(seed, apart=apart))
    try:
        await world.begin()
        for first in range(0, operations, _REST_EVERY):
            await world.rage(min(_REST_EVERY, operations - first))
            await world.rest(f"after {first + _REST_EVERY} operations")
            if world.book.problems:
                break
        else:
            await world.come_to_an_end()
        world.book.problems += await judge_answers(world.ledgers[0].pool, schema, world.book)
    finally:
        await world.close()
    book = world.book
    return Storm(
        operations, book.calls, book.raised, book.claims.total(), book.problems[:_TOLD_MAX]
    )


class _World:
    def __init__(self, url: str, schema: str, sky: Sky) -> None:
        # A deadlock is found at once, not after a second.
        self._url, self._schema = f"{url}&deadlock_timeout=20ms", schema
        self._sky, self.book = sky, Book()
        self.ledgers: list[PostgresLedger] = []
        self._everybody: list[Hand | Person] = []

    async def begin(self) -> None:
        lease_time = LeaseTime.DATABASE if self._sky.apart else LeaseTime.GIVEN
        for number in range(_LEDGERS):
            ledger = await PostgresLedger.open(
                self._url, schema=self._schema, lease_time=lease_time
            )
            ledger.pool = WindyPool(ledger.pool, self._sky.random(f"wind {number}"))
            ledger.sql = WindyStatements(self._schema)
            self.ledgers.append(ledger)
        await record(self.ledgers[0].pool, self._schema)
        await blow(self.ledgers[0].pool, self._schema)
        await self._tell_time()
        hands = [self._hand(f"w{number}", number) for number in range(_HANDS)]
        people = [
            Person(f"p{number}", self._ledger(number), self._sky, self.book)
            for number in range(_PEOPLE)
        ]
        await people[0].begin()
        self._everybody = [*hands, *people]

    async def rage(self, operations: int) -> None:
        """So many operations, of everybody at once, in gusts."""
        self._sky.change()
        for first in range(0, operations, _GUST):
            self._sky.pass_by()
            await self._tell_time()
            await self._blow(min(_GUST, operations - first))

    async def _blow(self, left: int) -> None:
        async def act(one: Hand | Person) -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await one.act()

        await asyncio.gather(*map(act, self._everybody))

    async def rest(self, when: str) -> None:
        """Look at the rows, while no worker and no person is at work."""
        pool = self.ledgers[0].pool
        examined = await examine_shared(self._url, schema=self._schema)
        found = [
            f"{one.code}: {one.schedule_id} {one.problem}"
            for one in examined.findings
            # Who is ahead and wants a look at once is told of by the doctor, and rightly so.
            if not (self._sky.apart and one.code == "wake" and "s after" in one.problem)
        ]
        found += await judge_rest(pool, self._schema)
        found += await self._stale()
        self.book.problems += [f"{when}: {line}" for line in found]

    async def come_to_an_end(self) -> None:
        """One worker goes on alone, whenever the ledger says; all that is open has an outcome."""
        ledger, last = self.ledgers[0], self._hand(LAST, 0)
        for row in await ledger.schedules():
            await ledger.resume(row.schedule.schedule_id, now_ms=self._sky.now_ms)
        opened = await self._open()
        for _ in range(_LAST_TURNS):
            if not (opened := opened & await self._open()):
                break
            wake_ms = await ledger.next_wake_ms()
            if wake_ms is None:
                break
            self._sky.now_ms = max(self._sky.now_ms, wake_ms)
            await self._tell_time()
            await last.turn()
            await last.end_all()
        self.book.problems += [f"at the end {key} has no outcome" for key in sorted(opened)]
        await self.rest("at the end")

    async def close(self) -> None:
        for ledger in self.ledgers:
            await ledger.close()

    def _ledger(self, number: int) -> PostgresLedger:
        return self.ledgers[number % len(self.ledgers)]

    def _hand(self, name: str, number: int) -> Hand:
        return Hand(name, self._ledger(number), self._sky, self.book)

    async def _tell_time(self) -> None:
        await tell_time(self.ledgers[0].pool, self._schema, self._sky.now_ms)

    async def _open(self) -> set[str]:
        rows = await self.ledgers[0].pool.fetch(
            f"SELECT idempotency_key FROM {self._schema}.schedule_runs WHERE state <> 'done'"
        )
        return {row[0] for row in rows}

    async def _stale(self) -> list[str]:
        """Every worker has the definitions that are there."""
        found = []
        for number, ledger in enumerate(self.ledgers):
            for row in await ledger.schedules():
                schedule_id = row.schedule.schedule_id
                newest, *_ = await ledger.revisions(schedule_id, limit=1)
                if newest.schedule != row.schedule:
                    found.append(f"worker {number} has an old definition of {schedule_id}")
        return found


def run_alone(seed: str, operations: int, *, apart: bool) -> Storm:
    """A storm on a server of its own."""
    server = Server()
    try:
        server.create()
        return asyncio.run(run_storm(server.url(), "storm", seed, operations, apart=apart))
    finally:
        server.remove()


def main(seed: str, operations: int, *, apart: bool) -> int:
    storm = run_alone(seed, operations, apart=apart)
    print(f"storm {seed}: {storm}")
    for problem in storm.problems:
        print(f"FOUND {problem}")
    return 1 if storm.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), apart="apart" in sys.argv))
