"""Two recurrences side by side: what goes, what comes, what stays."""

import gnomon
from gnomon.core import fire_diff
from gnomon.core.fire_diff import compare_fires
from tests.clauses import clause

DAY = 86_400
MARCH = 1_772_323_200  # 2026-03-01T00:00:00Z


@clause("DIFF-1")
def test_what_only_one_of_them_has_goes_or_comes() -> None:
    before = gnomon.cron("0 6,18 * * *")
    after = gnomon.cron("0 6,20 * * *")

    found = compare_fires(before, after, since=MARCH, until=MARCH + 2 * DAY)

    assert found.gone == [MARCH + 18 * 3600, MARCH + DAY + 18 * 3600]
    assert found.come == [MARCH + 20 * 3600, MARCH + DAY + 20 * 3600]
    assert (found.same, found.until) == (2, MARCH + 2 * DAY)


@clause("DIFF-1")
def test_the_beginning_is_left_out_and_the_end_is_compared() -> None:
    daily = gnomon.cron("0 0 * * *")

    found = compare_fires(daily, daily, since=MARCH, until=MARCH + 2 * DAY)

    assert (found.gone, found.come, found.same) == ([], [], 2)


@clause("DIFF-1")
def test_nothing_is_compared_beyond_the_last_fire_that_was_read() -> None:
    secondly = gnomon.cron("* * * * * *")
    hourly = gnomon.cron("0 * * * *")
    reached = MARCH + fire_diff.FIRES_MAX

    found = compare_fires(secondly, hourly, since=MARCH, until=MARCH + 20 * DAY)

    assert (found.until, found.come, found.same) == (reached, [], fire_diff.FIRES_MAX // 3600)
    assert found.gone[0] == MARCH + 1
