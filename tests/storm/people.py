"""
The people of a storm: they save, pause, delete, ask for runs, end them, and let the past go.

They ask with a name or without, because a change with a name goes another way.
"""

from collections.abc import Awaitable, Callable
from random import Random

from gnomon.core.schedule_record import read_schedule, write_schedule
from gnomon.errors import ConflictError, DefinitionError
from gnomon.ports import Breach, By, Expected, Judged
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.storm.book import Book
from tests.storm.sky import IDS, Sky, draw_schedule

__all__ = ["Person"]

_FASHION = 0.6
_MINUTE = 60
_KEPT_MS = (1_000, 60_000, 900_000)


class Person:
    """A person who asks for changes."""

    def __init__(self, name: str, ledger: PostgresLedger, sky: Sky, book: Book) -> None:
        self._name, self._ledger, self._sky, self._book = name, ledger, sky, book
        self._random: Random = sky.random(name)
        self._clock = sky.clock(name)
        acts: list[tuple[int, Callable[[str, By | None, int], Awaitable[None]]]] = [
            (3, self._save), (3, self._turn), (2, self._save_all), (2, self._pause),
            (6, self._resume), (1, self._delete), (4, self._trigger), (2, self._backfill),
            (2, self._skip), (5, self._kill), (9, self._retain), (3, self._look), (1, self._read),
        ]  # fmt: skip
        self._acts = [act for times, act in acts for _ in range(times)]

    async def act(self) -> None:
        """One operation, whichever, of any schedule; more often the one that is in fashion."""
        by = self._random.choice((None, By(self._name)))
        act = self._random.choice(self._acts)
        if self._random.random() < _FASHION:
            act = self._acts[int(self._sky.fashion * len(self._acts))]
        await act(self._random.choice(IDS), by, self._clock.now_ms)

    async def begin(self) -> None:
        """The first definitions."""
        schedules = [draw_schedule(self._random, name) for name in IDS]
        await self._ledger.save_all(schedules, now_ms=self._sky.now_ms)

    async def _save(self, name: str, by: By | None, now_ms: int) -> None:
        revision = self._random.choice((None, None, 0, 1, 2))
        call = self._ledger.save(
            draw_schedule(self._random, name), now_ms=now_ms, by=by, if_revision=revision
        )
        saved = await self._book.hear("save", call, ConflictError)
        if saved is not None:
            self._log(by, "upsert", saved.changed)

    async def _turn(self, name: str, by: By | None, now_ms: int) -> None:
        """Change nothing but what happens where one run comes before another has ended."""
        row = await self._book.hear("get", self._ledger.get(name))
        if row is None:
            return
        record = write_schedule(row.schedule)
        record["overlap_policy"] = "skip" if record["overlap_policy"] == "queue" else "queue"
        call = self._ledger.save(read_schedule(record), now_ms=now_ms, by=by)
        saved = await self._book.hear("turn", call)
        if saved is not None:
            self._log(by, "upsert", saved.changed)

    async def _save_all(self, name: str, by: By | None, now_ms: int) -> None:
        names = self._random.sample(IDS, 4)
        *saved_names, removed = names
        schedules = [draw_schedule(self._random, one) for one in saved_names]
        gone = [removed] if self._random.random() < 0.3 else []
        call = self._ledger.save_all(schedules, now_ms=now_ms, by=by, removed=gone)
        self._book.deleted.update(gone)
        saved = await self._book.hear("save_all", call, ConflictError)
        if saved is not None:
            self._log(by, "upsert", sum(one.changed for one in saved))
            self._book.maybe_logged["delete"] += by is not None and bool(gone)

    async def _pause(self, name: str, by: By | None, now_ms: int) -> None:
        until_ms = self._random.choice((None, now_ms + 1_000, now_ms + 90_000))
        call = self._ledger.pause(name, until_ms=until_ms, reason="storm", now_ms=now_ms, by=by)
        self._log(by, "pause", bool(await self._book.hear("pause", call)))

    async def _resume(self, name: str, by: By | None, now_ms: int) -> None:
        call = self._ledger.resume(name, now_ms=now_ms, by=by)
        self._log(by, "resume", bool(await self._book.hear("resume", call)))

    async def _delete(self, name: str, by: By | None, now_ms: int) -> None:
        self._book.deleted.add(name)
        call = self._ledger.delete(name, now_ms=now_ms, by=by)
        self._log(by, "delete", bool(await self._book.hear("delete", call)))

    async def _trigger(self, name: str, by: By | None, now_ms: int) -> None:
        # The same name again, unless retention can have been there; then there is a new line.
        who = "unknown" if by is None else "known"
        word = self._random.choice((f"{who} at {now_ms}", f"number {self._sky.number()}"))
        call = self._ledger.trigger(name, name=word, now_ms=now_ms, by=by)
        row = await self._book.hear("trigger", call)
        if row is None:
            return
        if row.key not in self._book.asked:
            self._log(by, "trigger", True)
        elif by is not None:
            self._book.maybe_logged["trigger"] += 1
        self._book.asked.add(row.key)

    async def _backfill(self, name: str, by: By | None, now_ms: int) -> None:
        last = now_ms // 1000 // _MINUTE * _MINUTE
        nominals = [last - _MINUTE * back for back in self._random.sample(range(1, 9), 3)]
        call = self._ledger.backfill(
            name, name=f"at {now_ms}", nominals=nominals, now_ms=now_ms, by=by
        )
        added = await self._book.hear("backfill", call)
        self._book.backfilled += added or 0
        self._log(by, "backfill", bool(added))

    async def _skip(self, name: str, by: By | None, now_ms: int) -> None:
        call = self._ledger.skip_next(name, now_ms=now_ms, by=by)
        nominal = await self._book.hear("skip_next", call, DefinitionError)
        if nominal is not None:
            self._book.skipped.add((name, nominal))
        self._log(by, "skip_next", nominal is not None)

    async def _kill(self, name: str, by: By | None, now_ms: int) -> None:
        rows = await self._book.hear("runs", self._ledger.runs(name, limit=20)) or []
        keys = [row.key for row in rows if row.ended_ms is None] or [row.key for row in rows]
        if not keys:
            return
        call = self._ledger.kill(self._random.choice(keys), by=By(self._name), now_ms=now_ms)
        row = await self._book.hear("kill", call)
        if row is not None:
            self._book.killed.add(row.key)
            self._log(By(self._name), "kill", row.kill_ms == now_ms)

    async def _retain(self, _name: str, _by: By | None, now_ms: int) -> None:
        before_ms = now_ms - self._random.choice(_KEPT_MS)
        call = self._ledger.retain(before_ms=before_ms, limit=self._random.choice((1, 20, 100)))
        removed = await self._book.hear("retain", call)
        self._book.removed += removed or 0

    async def _look(self, _name: str, _by: By | None, now_ms: int) -> None:
        """Judge what is expected, as the service does."""
        call = self._ledger.expected(now_ms=now_ms, limit=3)
        for one in await self._book.hear("expected", call) or ():
            row = await self._book.hear("get", self._ledger.get(one.schedule_id))
            judged = Judged(one.after, None)
            if row is not None and "_by_ms" in row.schedule.target:
                judged = self._judged(one, now_ms)
            breaches = await self._book.hear(
                "judge", self._ledger.judge(one, judged, now_ms=now_ms)
            )
            self._book.breached(one.schedule_id, breaches or ())

    def _judged(self, one: Expected, now_ms: int) -> Judged:
        nominal = now_ms // 1000 // _MINUTE * _MINUTE
        return Judged(max(one.after, nominal), now_ms + 60_000, (Breach(nominal, "start_by"),))

    async def _read(self, name: str, _by: By | None, now_ms: int) -> None:
        nominal = now_ms // 1000 // _MINUTE * _MINUTE
        await self._book.hear("revisions", self._ledger.revisions(name))
        await self._book.hear("covering", self._ledger.covering(name, nominal))
        await self._book.hear("log", self._ledger.log(schedule_id=name))

    def _log(self, by: By | None, action: str, times: int) -> None:
        if by is not None:
            self._book.logged[action] += int(times)
