"""
The next occurrence, quickly: `Search.next_epoch` as a function made of tables.

A function is made for one expression in one zone. Far from any change of the zone's offset an
answer takes half a dozen look-ups: the offset of the bucket, the wait of the day, the next match of
the minute. Close to a change, or where the tables end, the plain search answers. Tables are built
only when a function has been asked a few times, because one answer costs less than one table.
A function may be asked by several threads at once: a table is never looked at before it is there,
and what two threads write into one is the same.

Why a match is right when its own bucket has the offset that it was computed with: it is the first
in local time, so no time in between matches, neither one that a fold repeats nor one that a gap
swallows; and a bucket with an offset holds no gap, fold or repetition itself. For a match within a
day there is nothing to compare, because the offset of a bucket holds for a day beyond it.

Spec: REC-1, REC-5, REC-9, DST-7.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import takewhile

from gnomon.core.civil.calendar import DAY, DAY_KEY, HORIZON_END, HORIZON_START
from gnomon.core.civil.zone import BUCKET_BITS, steady
from gnomon.core.cron.days import UNKNOWN, WaitTable, fill_waits, wait_table
from gnomon.core.cron.expression import ON_THE_MINUTE
from gnomon.core.cron.search import Search
from gnomon.core.cron.times import next_times

__all__ = ["NextEpoch", "fast_next"]

NextEpoch = Callable[[int], int | None]
"""From an instant to the first occurrence after it, or None when there is none."""

_OFTEN = 8  # questions
_DECADES = 20 * 366 * DAY  # listed before and after a question


def fast_next(search: Search) -> NextEpoch:
    """A function that answers as `search.next_epoch` does."""
    if search.local.times.second != ON_THE_MINUTE or (search.makes_up and search.ragged):
        return search.next_epoch
    if search.local.days.is_daily:
        return _make_daily(search) if len(search.line) > 1 else _make_steady(search)
    return _make_rare(search) if search.is_rare else _make_general(search)


def _make_steady(search: Search) -> NextEpoch:
    """For expressions that match every day, where the offset never changes."""
    ask, offset = search.next_epoch, search.line.offsets[0]
    times: Sequence[int] = ()
    asked = 0

    def next_epoch(after: int) -> int | None:
        try:
            if after < HORIZON_START:
                return ask(after)
            time = (after + offset) % DAY
            found = after - time + times[time // 60]
            return found if found < HORIZON_END else None
        except (IndexError, TypeError):  # no table yet, or not an integer
            return cold(after)

    def cold(after: int) -> int | None:
        nonlocal asked, times
        asked += 1
        if asked >= _OFTEN and not times:
            times = next_times(search.local.times)
        return ask(after)

    return next_epoch


def _make_daily(search: Search) -> NextEpoch:
    """For expressions that match every day."""
    ask, settle = search.next_epoch, search.settle
    starts, piece_offsets = search.line.starts, search.line.offsets
    codes = b""
    offsets: tuple[int, ...] = ()
    times: Sequence[int] = ()
    asked = 0

    def next_epoch(after: int) -> int | None:
        try:
            if after < HORIZON_START:
                return ask(after)
            code = codes[after >> BUCKET_BITS]
            if code:
                time = (after + offsets[code]) % DAY
                return after - time + times[time // 60]  # within a day, so the offset holds
            return near(after)
        except (IndexError, TypeError):  # no tables yet, beyond the horizon, or not an integer
            return cold(after)

    def near(after: int) -> int | None:
        piece = bisect_right(starts, after) - 1
        local = after + piece_offsets[piece]
        time = local % DAY
        return settle(piece, after, local - time + times[time // 60])

    def cold(after: int) -> int | None:
        nonlocal asked, codes, offsets, times
        asked += 1
        if asked >= _OFTEN and not codes:
            times = next_times(search.local.times)
            offsets = steady(search.line).offsets
            codes = steady(search.line).codes
        return ask(after)

    return next_epoch


def _make_general(search: Search) -> NextEpoch:
    """For expressions that match on some days."""
    ask, rule, first = search.next_epoch, search.local.days, search.local.times.first
    codes = b""
    offsets: tuple[int, ...] = ()
    times: Sequence[int] = ()
    waits = WaitTable()
    asked = 0

    def next_epoch(after: int) -> int | None:
        try:
            if after < HORIZON_START:
                return ask(after)
            code = codes[after >> BUCKET_BITS]
            if not code:
                return _near_change(search, times, waits, after)
            local = after + offsets[code]
            time = local % DAY
            key = DAY_KEY[local // DAY]
            wait = waits[key]
            if not wait:
                later = times[time // 60]
                if later < DAY:
                    return after - time + later  # within a day, so the offset holds
                wait = waits[key + 1] + 1
            if wait >= UNKNOWN:
                if waits[key] == UNKNOWN:
                    fill_waits(waits, rule, key >> 9)
                return ask(after)
            found = after - time + wait * DAY + first
            if codes[found >> BUCKET_BITS] == code:
                return found
            return _near_change(search, times, waits, after)
        except (IndexError, TypeError):  # no tables yet, beyond the horizon, or not an integer
            return cold(after)

    def cold(after: int) -> int | None:
        nonlocal asked, codes, offsets, times, waits
        asked += 1
        if asked >= _OFTEN and not codes:
            waits, times = wait_table(rule), next_times(search.local.times)
            offsets = steady(search.line).offsets
            codes = steady(search.line).codes
        return ask(after)

    return next_epoch


def _near_change(
    search: Search, times: Sequence[int], waits: Sequence[int], after: int
) -> int | None:
    """As `_make_general`, where the offset may change before the match."""
    piece = bisect_right(search.line.starts, after) - 1
    local = after + search.line.offsets[piece]
    time = local % DAY
    key = DAY_KEY[local // DAY]
    wait, later = waits[key], DAY + search.local.times.first
    if not wait:
        later = times[time // 60]
        wait = waits[key + 1] + 1 if later >= DAY else 1
    if wait >= UNKNOWN:
        return search.next_epoch(after)
    return search.settle(piece, after, local - time + later + (wait - 1) * DAY)


def _make_rare(search: Search) -> NextEpoch:
    """For expressions with so few occurrences that those of some decades can be listed."""
    ask = search.next_epoch
    known: list[int] = []
    start = end = 0
    asked = 0

    def next_epoch(after: int) -> int | None:
        nonlocal asked, known, start, end
        try:
            if start <= after < end:
                return known[bisect_right(known, after)]
        except (IndexError, TypeError):  # not an integer
            return ask(after)
        asked += 1
        if asked >= _OFTEN and not known:
            listed = search.epochs_after(after - _DECADES)
            known = list(takewhile(lambda epoch: epoch <= after + _DECADES, listed)) or [0]
            start, end = after - _DECADES, known[-1]
        return ask(after)

    return next_epoch
