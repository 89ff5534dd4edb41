"""Times of day, against a scan of every second."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cron.dialect import STANDARD
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.parse import parse
from gnomon.core.cron.times import Times, next_times
from tests.clauses import clause

MASK_60 = st.integers(1, (1 << 60) - 1) | st.integers(0, 59).map(lambda bit: 1 << bit)
MASK_24 = st.integers(1, (1 << 24) - 1) | st.integers(0, 23).map(lambda bit: 1 << bit)
TIMES = st.integers(0, 86_399)


def expression(second: int, minute: int, hour: int) -> Expression:
    return parse("* * * * *", STANDARD)._replace(second=second, minute=minute, hour=hour)


def scan(second: int, minute: int, hour: int) -> list[int]:
    return [
        h * 3600 + m * 60 + s
        for h in range(24) if hour >> h & 1
        for m in range(60) if minute >> m & 1
        for s in range(60) if second >> s & 1
    ]  # fmt: skip


@clause("CRON-1", "CRON-2")
@given(st.integers(0, 59).map(lambda bit: 1 << bit) | st.just(1 << 60 - 1), MASK_60, MASK_24, TIMES)
def test_the_neighbours_of_a_time_are_those_of_the_scan(
    second: int, minute: int, hour: int, time: int
) -> None:
    times = Times(expression(second, minute, hour))
    matches = scan(second, minute, hour)

    assert times.after(time) == min((m for m in matches if m > time), default=None)
    assert times.at_or_before(time) == max((m for m in matches if m <= time), default=None)


@given(MASK_60, MASK_24, TIMES)
def test_several_seconds_of_a_minute_are_found_in_order(minute: int, hour: int, time: int) -> None:
    second = 1 << 0 | 1 << 20 | 1 << 59
    times = Times(expression(second, minute, hour))
    matches = scan(second, minute, hour)

    assert times.after(time) == min((m for m in matches if m > time), default=None)
    assert times.at_or_before(time) == max((m for m in matches if m <= time), default=None)


@given(MASK_60, MASK_24)
def test_blocks_hold_every_match_in_order(minute: int, hour: int) -> None:
    times = Times(expression(1, minute, hour))
    blocks = times.blocks(256)

    assert [time for block in blocks for time in block] == scan(1, minute, hour)
    assert all(len(block) <= 256 for block in blocks)
    assert times.count == len(scan(1, minute, hour))


@given(MASK_60, MASK_24)
def test_the_table_agrees_with_the_search_for_every_minute(minute: int, hour: int) -> None:
    times = Times(expression(1, minute, hour))
    expected = [times.after(m * 60) or 86_400 + times.first for m in range(1440)]

    assert list(next_times(times)) == expected


def test_expressions_with_the_same_times_share_a_table() -> None:
    one = next_times(Times(parse("0 3 * * 1", STANDARD)))
    other = next_times(Times(parse("0 3 1 * *", STANDARD)))

    assert one is other
