"""
What was asked of a running scheduler: minutes, dues and retries, as they come.

They follow from the accepted lists, the clock and the failures. They do not follow from the task
plan, because a judge must not ask a scheduler what it owes. Each task has its next occurrence in a
heap, so that a minute costs as much as there is due in it. Of many occurrences that pass at one
look, the first and the last are told: a start settles them all, and only the last can be in the
present minute.

Spec: LIVE-2, LIVE-4.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from gnomon.apps.declarative.journal_time import MINUTE_MS, Back, Island
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import RETRY_MIN_MS, next_beside
from gnomon.core.recurrence import Recurrence
from gnomon.trace import Event, Kind
from gnomon.trace import Registration as Listed

__all__ = ["LivePulses"]

_MINUTE_RANK, _DUE_RANK, _RETRY_RANK = range(3)
_STALE_MAX = 64
"""So many reminders that are no longer true may lie about, besides one for each task."""

_LEAP_MS = 1_000
"""A clock that gets ahead by more than this between two looks was set."""

_Ranked = tuple[int, int, int, str]
"""When, in time that never goes back; the second on the wall; the rank; the task."""


class LivePulses:
    """The pulses of one ownership, in order of time."""

    def __init__(self) -> None:
        self.islands: tuple[Island, ...] = ()
        """What the clock has been set back before: nothing in it is due."""
        self.unknown: set[str] = set()
        """The tasks whose recurrence does not say when they are due."""
        self._t = self._through_ms = 0
        self._minute = -1
        self._listed: dict[str, Listed] = {}
        self._recurrences: dict[str, Recurrence] = {}
        """What each cron text means; those of lists to come, too."""
        self._next: dict[str, int] = {}
        self._dues: list[tuple[int, str]] = []
        self._delays: dict[str, int] = {}
        """How long each run waits if it fails, by the list that it was started under."""
        self._retry_t: dict[str, int] = {}
        self._retries: list[tuple[int, str]] = []

    def know(self, registrations: Iterable[Registration]) -> None:
        """These may be accepted."""
        for one in registrations:
            self._recurrences[one.cron] = one.recurrence

    def resume(self, listed: Listed, *, settled_ms: int, through_ms: int) -> bool:
        """A task goes on that was known before; whether it is due since it was settled."""
        due = self._occurrence(listed, settled_ms // 1000)
        self._follow(listed, through_ms // 1000)
        return due is not None and due <= through_ms // 1000

    def enlist(
        self, accepted: Sequence[Listed], *, t: int, through_ms: int, new_ms: int
    ) -> Iterator[Event]:
        """A list was accepted: what is not as before may be due already, after `new_ms`."""
        second = through_ms // 1000
        wanted = {one.name: one for one in accepted}
        for name in [name for name in self._listed if name not in wanted]:
            self._drop(name)
        for one in accepted:
            if self._listed.get(one.name) != one:
                self.unknown.discard(one.name)
                due = self._occurrence(one, new_ms // 1000)
                if due is not None and due <= second:
                    yield Event(Kind.DUE, t, one.name, cron=one.cron)
                self._follow(one, second)
        texts = {one.cron for one in accepted} & self._recurrences.keys()
        self._recurrences = {text: self._recurrences[text] for text in texts}

    def started(self, name: str) -> None:
        """A run was started: no retry is pending."""
        self._retry_t.pop(name, None)
        if name in self._listed:
            self._delays[name] = max(self._listed[name].retry_ms, RETRY_MIN_MS)

    def ended(self, name: str, *, failed_t: int | None) -> None:
        """A run has ended; when it failed, a retry is due after its delay."""
        delay_ms = self._delays.pop(name, None)
        if failed_t is not None and delay_ms is not None:
            self.retry_at(name, failed_t + delay_ms)

    def retry_at(self, name: str, t: int) -> None:
        """A retry is due then."""
        self._retry_t[name] = t
        self._retries = _remind(self._retries, self._retry_t, name)

    def skip_to(self, t: int) -> None:
        """The scheduler could not act before this: what came since the last look comes now."""
        self._t = max(self._t, t)

    def go_back(self, t: int, back: Back) -> Iterator[Event]:
        """The clock was set back: what was due before is, and what comes after that comes."""
        self.islands = back.islands
        self._t, self._through_ms = t, back.base_ms
        self._minute = back.base_ms // MINUTE_MS
        for listed in list(self._listed.values()):
            self._follow(listed, back.base_ms // 1000)
        yield Event(Kind.MINUTE_START, t)

    def stale(self, t: int) -> Iterator[Event]:
        """The clock is where it was before: nothing is due in a minute that has been."""
        yield Event(Kind.MINUTE_START, t)

    def until(self, t: int, through_ms: int) -> Iterator[Event]:
        """What has come since the last look, when the clock has shown `through_ms` at most."""
        for at_t, second, rank, name in sorted(self._come(t, through_ms)):
            if rank == _RETRY_RANK:
                yield Event(Kind.RETRY_DUE, at_t, name)
                continue
            if second // 60 > self._minute:
                self._minute = second // 60
                yield Event(Kind.MINUTE_START, at_t)
            if rank == _DUE_RANK:
                yield Event(Kind.DUE, at_t, name, cron=self._listed[name].cron)
        self._t, self._through_ms = t, through_ms

    def _come(self, t: int, through_ms: int) -> Iterator[_Ranked]:
        leapt_ms = (through_ms - self._through_ms) - (t - self._t)
        # When the clock leapt is not known: what it passed is owed from now on at the latest.
        earliest = t if leapt_ms > _LEAP_MS else self._t

        def when(second: int) -> int:
            return min(max(t - (through_ms - second * 1000), earliest), t)

        while self._dues and self._dues[0][0] * 1000 <= through_ms:
            at, name = heappop(self._dues)
            if self._next.get(name) == at:
                yield when(at), at, _DUE_RANK, name
                latest = self._pass(name, at, through_ms // 1000)
                if latest != at:
                    yield when(latest), latest, _DUE_RANK, name
        while self._retries and self._retries[0][0] <= t:
            retry_t, name = heappop(self._retries)
            if self._retry_t.get(name) == retry_t:
                del self._retry_t[name]
                yield max(retry_t, self._t), 0, _RETRY_RANK, name
        minute = through_ms // MINUTE_MS * 60
        yield when(minute), minute, _MINUTE_RANK, ""

    def _pass(self, name: str, at: int, second: int) -> int:
        """Go on to what comes after `second`; return the last occurrence until then."""
        listed = self._listed[name]
        coming = self._occurrence(listed, at)
        if coming is None or coming > second:
            self._await(name, coming)
            return at
        latest = max(self._latest(listed, second) or coming, coming)
        self._follow(listed, second)
        return latest

    def _follow(self, listed: Listed, second: int) -> None:
        """Wait for the first occurrence of this task after `second`."""
        self._listed[listed.name] = listed
        self._await(listed.name, self._occurrence(listed, second))

    def _await(self, name: str, coming: int | None) -> None:
        """This is when the task is due next."""
        if coming is None:
            self._next.pop(name, None)
        else:
            self._next[name] = coming
            self._dues = _remind(self._dues, self._next, name)

    def _drop(self, name: str) -> None:
        del self._listed[name]
        self._next.pop(name, None)
        self._retry_t.pop(name, None)
        self.unknown.discard(name)

    def _occurrence(self, listed: Listed, after: int) -> int | None:
        try:
            found = next_beside(self._recurrences[listed.cron], after, self.islands)
            assert found is None or found > after
            return found
        except Exception:  # a recurrence of the user's own
            self.unknown.add(listed.name)
            return None

    def _latest(self, listed: Listed, second: int) -> int | None:
        try:
            return self._recurrences[listed.cron].latest_epoch(second)
        except Exception:
            self.unknown.add(listed.name)
            return None


def _remind(heap: list[tuple[int, str]], when: dict[str, int], name: str) -> list[tuple[int, str]]:
    """The heap with a reminder of this task, made anew when too many in it are no longer true."""
    heappush(heap, (when[name], name))
    if len(heap) <= 2 * len(when) + _STALE_MAX:
        return heap
    fresh = [(at, name) for name, at in when.items()]
    heapify(fresh)
    return fresh
