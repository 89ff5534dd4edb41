"""Rules of the line of overdue periods, as lines of a table; the engine's answers in its words."""

# ruff: noqa: E501 - a rule is one line, however long

import pytest

from tests.clauses import clause
from tests.core.engine.rules import Rule, answer, rules

IN_LINE = rules(
    """
    # fire_immediately: all, a few in each tick; as many wait in line as may, the cursor keeps the rest
    ran 08:00 | catchup=fire_immediately overlap=allow | 10:30 | start 09:00 10:00 | 11:00
    ran 02:00 | catchup=fire_immediately overlap=allow | 10:30 | start 03:00 04:00 05:00, plan 06:00@10:30:01 07:00@10:30:01 | now
    ran 05:00 | catchup=fire_immediately overlap=allow | 10:30 | start 06:00 07:00 08:00, plan 09:00@10:30:01 10:00@10:30:01 | 10:30:01
    ran 07:00, waits 06:00@10:30:01, waits 07:00@10:30:01 | catchup=fire_immediately overlap=allow | 10:30 | plan 08:00@10:30:01 09:00@10:30:02 10:00@10:30:02 | 10:30:01
    ran 05:00, waits 01:00@10:31, waits 02:00@10:31, waits 03:00@10:31, waits 04:00@10:31, waits 05:00@10:31 | catchup=fire_immediately | 10:30 | nothing | 10:31
    ran 09:00, retry 08:00@10:31 | catchup=fire_immediately overlap=allow | 10:30 | start 10:00 | 10:31
    # where hardly any of them may run, one is kept back, so that the tick is not taken for a new one
    ran d-1 18:00 | catchup=fire_immediately overlap=allow avoid=hours=20-23 | 10:30 | plan d-1 19:00@10:30:01, refuse d-1 20:00 d-1 21:00 d-1 22:00 d-1 23:00 | now
    # what comes late is late for all of the line
    ran 10:00, waits 07:00@10:29:58, waits 08:00@10:29:58, waits 09:00@10:29:58, waits 10:00@10:30:00.100 | catchup=fire_immediately overlap=allow | 10:30 | start 07:00 08:00 09:00, move 10:00@10:30:01 | 10:30:01
    # in a queue what is on time waits behind the line, in its place
    ran 09:00, waits 08:00@10:00:01, waits 09:00@10:00:02 | catchup=fire_immediately overlap=queue | 10:00 | queue 10:00 | 10:00:01
    ran 09:00, waits 08:00@10:00, waits 09:00@10:00, queued 07:00 | catchup=fire_immediately overlap=queue | 10:00 | start 07:00, queue 08:00 09:00, skip(queue_full) 10:00 | 11:00
    ran 10:00, queued 10:00, waits 09:00@10:00:05 | catchup=fire_immediately overlap=queue | 10:00:05 | start 09:00 | 11:00
    # elsewhere it goes past it
    ran 09:00, waits 08:00@10:00:01, waits 09:00@10:00:02 | catchup=fire_immediately overlap=allow | 10:00 | start 10:00 | 10:00:01
    # spread: all, evenly over the next minute, the first at once
    ran 07:00 | catchup=spread overlap=allow | 10:30 | start 08:00, plan 09:00@10:30:20 10:00@10:30:40 | 10:30:20
    ran 08:00 | catchup=spread overlap=allow | 10:30 | start 09:00, plan 10:00@10:30:30 | 10:30:30
    ran 09:00 | catchup=spread overlap=allow | 10:30 | start 10:00 | 11:00
    ran 02:00 | catchup=spread overlap=allow | 10:30 | start 03:00, plan 04:00@10:30:07.500 05:00@10:30:15 06:00@10:30:22.500 07:00@10:30:30 | now
    ran 08:00 | catchup=spread overlap=allow | 10:00 | start 09:00 10:00 | 11:00
    ran 10:00, waits 08:00@10:10, waits 09:00@10:20 | catchup=spread overlap=allow | 10:30 | start 08:00, move 09:00@10:30:30 | 10:30:30
    ran 07:00, waits 04:00@10:30:07.500, waits 05:00@10:30:15, waits 06:00@10:30:22.500, waits 07:00@10:30:30 | catchup=spread overlap=allow | 10:30 | plan 08:00@10:30:37.500 | 10:30:07.500
    ran d-7 09:00 | catchup=spread overlap=allow | 10:30 | start d-7 10:00, plan d-7 11:00@10:30:00.355 d-7 12:00@10:30:00.710 d-7 13:00@10:30:01.065 d-7 14:00@10:30:01.420 | now
    # where one run at a time is allowed, the line goes past what is on time, and not together with it
    ran 07:00 | catchup=spread overlap=skip  | 10:00 | plan 08:00@10:00:30 09:00@10:01, start 10:00 | 10:00:30
    ran 07:00 | catchup=spread overlap=allow | 10:00 | start 08:00, plan 09:00@10:00:30, start 10:00 | 10:00:30
    ran 10:00, waits 08:00@10:29:59, waits 09:00@10:30, waits 10:00@10:30:10 | catchup=spread overlap=skip | 10:30 | start 08:00, move 09:00@10:30:02.750 | 10:30:02.750
    ran 10:00, waits 08:00@10:29:59, waits 09:00@10:30, waits 10:00@10:30:10 | catchup=spread overlap=allow | 10:30 | start 08:00 09:00 | 10:30:10
    # what was spread once keeps its instant
    ran 10:00, waits 09:00@10:30:20, waits 10:00@10:30:40 | catchup=spread | 10:30:20 | start 09:00 | 10:30:40
    ran 10:00, waits 09:00@10:30:20, waits 10:00@10:30:40 | catchup=spread | 10:30:10 | nothing     | 10:30:20
    """
)


@clause("POLICY-8", "POLICY-13", "POLICY-14", "ENGINE-13")
@pytest.mark.parametrize("rule", IN_LINE, ids=str)
def test_the_rules_of_the_line_of_overdue_periods(rule: Rule) -> None:
    assert answer(rule) == (rule.does, rule.wake)
