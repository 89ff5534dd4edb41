"""
The workers of a storm: each looks, plans, commits, and reports whatever comes to its mind.

A worker keeps to the port and to nothing else. It launches twice, reports late and under old
numbers, commits plans that are long past, dies and comes back under another name: a ledger has to
stand all of it.
"""

from collections.abc import Sequence
from random import Random

from gnomon.core.engine import Change, plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.ports import Ended, Failed, Held, Launched, Renewal, Report
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.storm.book import Book
from tests.storm.sky import Sky

__all__ = ["Hand"]

_Run = tuple[str, int]
_ACTS = ("turn",) * 8 + ("report",) * 8 + ("renew",) * 2 + (
    "late turn", "late report", "obey", "read", "die", "recover"
)  # fmt: skip
_RECOVERS = 0.1
"""How often who wants to own the store alone really does: it takes everything from the others."""
_PAST_MAX = 30


class Hand:
    """One worker."""

    def __init__(self, name: str, ledger: PostgresLedger, sky: Sky, book: Book) -> None:
        self._name, self._ledger, self._sky, self._book = name, ledger, sky, book
        self._random: Random = sky.random(name)
        self._clock = sky.clock(name)
        self._lives = 1
        self._confirmed = self._random.random() < 0.5
        self._held: list[_Run] = []
        self._past: list[_Run] = []
        self._late: list[Change] = []

    @property
    def owner(self) -> str:
        return f"{self._name}.{self._lives}"

    async def act(self) -> None:
        """One operation, whichever."""
        match self._random.choice(_ACTS):
            case "turn":
                await self.turn()
            case "late turn":
                await self._commit(self._late, self._clock.now_ms)
            case "report":
                await self.report([self._drawn(*one) for one in self._some(self._held)])
            case "late report":
                past = [(key, fence - self._random.choice((0, 0, 1))) for key, fence in self._past]
                mixed = self._some(past) + self._some(self._held)
                await self.report([self._drawn(*one) for one in mixed])
            case "renew":
                await self._renew()
            case "obey":
                await self._obey()
            case "read":
                await self._read()
            case "die":
                self._forget(self._held)
                self._lives += 1
            case "recover" if self._random.random() < _RECOVERS:
                await self._recover()

    async def turn(self) -> None:
        """Look, plan and commit."""
        now_ms, limit = self._clock.now_ms, self._random.choice((2, 100))
        dues = await self._book.hear("load", self._ledger.load(now_ms=now_ms, limit=limit))
        if dues:
            changes = plan(dues, now_ms=now_ms)
            if self._random.random() < 0.1:
                self._late = changes
            await self._commit(changes, now_ms)

    async def end_all(self) -> None:
        """Say that whatever is held has ended."""
        await self.report([self._end(key, fence) for key, fence in self._held])

    async def report(self, reports: Sequence[Report]) -> None:
        if not reports:
            return
        answers = await self._book.hear(
            "report", self._ledger.report(reports, now_ms=self._clock.now_ms)
        )
        if answers is not None:
            self._book.reported(reports, answers)
            over = [(one.key, one.fence) for one in reports if not isinstance(one, Launched)]
            self._forget(over)

    async def _commit(self, changes: Sequence[Change], now_ms: int) -> None:
        held = await self._book.hear(
            "commit",
            self._ledger.commit(
                changes, owner=self.owner, confirmed=self._confirmed, now_ms=now_ms
            ),
        )
        for fact in [fact for change in held.changes for fact in change.facts] if held else ():
            if fact.state is State.DONE:
                self._book.settled[fact.key, str(fact.outcome), str(fact.reason)] += 1
        for claim in held.claims if held else ():
            self._book.claims[claim.key, claim.fence, self.owner] += 1
            self._held.append((claim.key, claim.fence))

    def _drawn(self, key: str, fence: int) -> Report:
        match self._random.choice(("launch", "launch", "end", "end", "fail")):
            case "launch":
                detached_ms = self._random.choice((None, None, None, 60_000))
                return Launched(key, fence, f"run {self._sky.number()}", detached_ms)
            case "end":
                return self._end(key, fence)
        reason = self._random.choice((Reason.LAUNCH_FAILED, Reason.UNCERTAIN, Reason.SUPERSEDED))
        permanent = reason is Reason.SUPERSEDED or self._random.random() < 0.2
        return Failed(key, fence, f"failure {self._sky.number()}", permanent, reason)

    def _end(self, key: str, fence: int, reason: Reason | None = None) -> Ended:
        success = reason is None and self._random.random() < 0.7
        return Ended(key, fence, success, f"end {self._sky.number()}", reason)

    async def _renew(self) -> None:
        claims = self._some(self._held)
        runs = [Held(*claim, self._random.choice((None, 20_000))) for claim in claims]
        answers = await self._book.hear(
            "renew", self._ledger.renew(runs, owner=self.owner, now_ms=self._clock.now_ms)
        )
        if answers is not None:
            told = zip(claims, answers, strict=True)
            lost = [one for one, answer in told if answer is not Renewal.HELD]
            self._forget(lost)

    async def _obey(self) -> None:
        """End the runs that a person asked to end."""
        asked = await self._book.hear("to_end", self._ledger.to_end(owner=self.owner))
        await self.report([self._end(key, fence, Reason.KILLED) for key, fence, _ in asked or ()])

    async def _read(self) -> None:
        await self._book.hear("next_wake_ms", self._ledger.next_wake_ms())
        await self._book.hear("still_owes", self._ledger.still_owes(at_ms=self._clock.now_ms))
        await self._book.hear("schedules", self._ledger.schedules())

    async def _recover(self) -> None:
        """Take everything from the others, and go on with some of it."""
        orphans = await self._book.hear("orphans", self._ledger.orphans(owner=self.owner))
        adopted = [row.key for row in orphans or () if self._random.random() < 0.5]
        taken = await self._book.hear(
            "recover",
            self._ledger.recover(owner=self.owner, adopted=adopted, now_ms=self._clock.now_ms),
        )
        for key, fence in taken or ():
            self._book.adopted[key, fence, self.owner] += 1
            self._held.append((key, fence))

    def _some(self, held: Sequence[_Run]) -> list[_Run]:
        """A few of these, each key once."""
        found = dict(self._random.sample(held, min(len(held), self._random.choice((1, 2, 5)))))
        return list(found.items())

    def _forget(self, gone: Sequence[_Run]) -> None:
        self._past = [*self._past, *gone][-_PAST_MAX:]
        self._held = [one for one in self._held if one not in set(gone)]
