"""
The one hand that writes a journal.

A session takes the writer, reads the time, decides, and writes. No other decision is made
meanwhile, so the journal has one order, which is the order of what happened. A write whose answer
was lost is in doubt. The writer then asks the journal whether the write was made, before anything
else is decided. If it was made, what was to follow from it follows then.

A scheduler that has lost its store, to another owner or because it is damaged or gone, starts and
writes nothing any more, and says so once.

Spec: STORE-3, OWNER-4, RUN-16.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from gnomon.apps.declarative.journal_time import Back, JournalTime, Timekeeper
from gnomon.apps.declarative.log import LogEvent, log
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import TaskRecord, write_record
from gnomon.errors import OwnershipLostError, StoreError
from gnomon.ports import Change, Clock, Entry, Event, Head, Journal, Registered

__all__ = ["JournalWriter", "Loss", "Observer", "init_start"]

ASK_AGAIN_MS = (100, 200, 400, 800)
"""How long to wait before asking again who the owner is."""

Observer = Callable[[Sequence[Entry]], None]
"""Is told of every entry, after it was written and before anything follows from it."""


class _Doubt(NamedTuple):
    number: int
    change: Change
    follow: Callable[[], None]


class JournalWriter:
    """Writes as one owner of a journal."""

    def __init__(
        self, journal: Journal, keeper: Timekeeper, head: Head, *,
        tell: Callable[[Change], None],
    ) -> None:  # fmt: skip
        self.identifier = _identifier(journal.owner, head, keeper.time())
        self.fence = head.fence
        self.calls = head.calls
        self._journal = journal
        self._keeper = keeper
        self._on_written = tell
        self._writes = 0
        self._doubt: _Doubt | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[JournalTime]:
        """Hold the writer, with nothing in doubt; decisions are made by the time that it gives."""
        async with self._lock:
            await self._settle()
            yield self._keeper.time()

    @property
    def is_in_doubt(self) -> bool:
        """Whether it is not known yet if the latest write was made."""
        return self._doubt is not None

    @property
    def is_free(self) -> bool:
        """Whether nothing that was decided is still to be written."""
        return self._doubt is None and not self._lock.locked()

    def time(self) -> JournalTime:
        return self._keeper.time()

    @property
    def has_gone_back(self) -> bool:
        """Whether the clock was set back to what is new, and nothing was made of that yet."""
        return self._keeper.has_gone_back

    def take_backs(self) -> list[tuple[int, Back]]:
        return self._keeper.take_backs()

    def next_call(self) -> int:
        self.calls += 1
        return self.calls

    def change(
        self, now: JournalTime, entries: Sequence[Entry],
        records: Mapping[str, TaskRecord | None] = MappingProxyType({}), *, ended: bool = False,
    ) -> Change:  # fmt: skip
        """What this owner writes at a time; a record that is None is to go."""
        return Change(
            identifier=self.identifier,
            t_ms=now.t_ms,
            wall_ms=now.wall_ms,
            through_ms=now.through_ms,
            looked=now.looked,
            calls=self.calls,
            ended=ended,
            entries=entries,
            records={
                name: None if record is None else write_record(record)
                for name, record in records.items()
            },
        )

    async def acquire(self, change: Change, *, after: int, clock: Clock) -> None:
        """Become the owner; when the answer is lost, ask who is, more than once if need be."""
        try:
            self.fence = await self._journal.acquire(change, after=after)
        except OwnershipLostError:
            raise
        except StoreError:
            head = await self._head_at_last(clock)
            if (head.fence, head.identifier) != (after + 1, self.identifier):
                raise
            self.fence = head.fence
        self._tell(change)

    async def write(self, change: Change, follow: Callable[[], None]) -> None:
        """Write, and then let `follow` what follows; the writer must be held."""
        if not self._lock.locked():
            raise RuntimeError("a write without the lock of the journal writer")
        number = self._writes + 1
        try:
            await self._journal.write(change, fence=self.fence, number=number)
        except OwnershipLostError:
            raise
        except StoreError:
            self._doubt = _Doubt(number, change, follow)
            await self._settle()
            if self._writes != number:
                raise
            return
        self._written(number, change, follow)

    async def _head_at_last(self, clock: Clock) -> Head:
        for wait_ms in ASK_AGAIN_MS:
            try:
                return await self._journal.head()
            except StoreError:
                await clock.sleep_ms(wait_ms)
        return await self._journal.head()

    async def _settle(self) -> None:
        """Find out whether a write in doubt was made."""
        if self._doubt is None:
            return
        head = await self._journal.head()
        doubt, self._doubt = self._doubt, None
        if head.fence != self.fence:
            raise OwnershipLostError(
                f"belongs to another scheduler now ({head.identifier})", where="journal",
                hint="stop this one; what it has not written is lost",
            )  # fmt: skip
        if head.writes == doubt.number:
            self._written(*doubt)

    def _written(self, number: int, change: Change, follow: Callable[[], None]) -> None:
        self._writes = number
        self._tell(change)
        follow()

    def _tell(self, change: Change) -> None:
        try:
            self._on_written(change)
        except Exception as error:  # what is written happens, whatever an observer makes of it
            log(logging.ERROR, LogEvent.OBSERVER_FAILED, failure=error, error=str(error))


def init_start(registrations: Sequence[Registration], now: JournalTime, call: int) -> Entry:
    """The entry of a call of `initialize`."""
    registered = tuple(Registered(one.name, one.cron, one.retry_ms) for one in registrations)
    return Entry(Event.INIT_START, now.t_ms, now.wall_ms, call=call, registrations=registered)


class Loss:
    """The error by which a store was lost, once there is one."""

    def __init__(self) -> None:
        self.error: StoreError | None = None
        self.event = asyncio.Event()

    def is_due_to(self, error: Exception) -> bool:
        """Whether the store is of no use any more."""
        if not isinstance(error, StoreError) or not error.lasts:
            return False
        is_taken = isinstance(error, OwnershipLostError)
        event = LogEvent.OWNERSHIP_LOST if is_taken else LogEvent.STORE_LOST
        log(logging.CRITICAL, event, error=str(error))
        self.error = error
        self.event.set()
        return True


def _identifier(owner: str, head: Head, now: JournalTime) -> str:
    """A name that no other ownership of this store has had."""
    text = f"{owner} {head.identifier} {head.fence + 1} {now.wall_ms}"
    return sha256(text.encode()).hexdigest()[:12]
