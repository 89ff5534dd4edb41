"""
The rules about what may be running, one on a line: before | definition | now | what it does | next look.

`rules.py` says how to read and write a line. `unsure` is a run whose launch had no answer, and
which waits for its next try.
"""
# ruff: noqa: E501 - a rule is one line, however long

import pytest

from tests.clauses import clause
from tests.core.engine.rules import Rule, answer, rules

UNSURE = rules(
    """
    # what may be running counts as in flight unless overlap is allowed, and goes before all others
    unsure 09:00@10:10                     | overlap=skip    | 10:00 | skip(overlap) 10:00 | 10:10
    unsure 09:00@10:00                     | overlap=skip    | 10:00 | start 09:00, skip(overlap) 10:00 | 11:00
    unsure 09:00@10:10                     | overlap=allow   | 10:00 | start 10:00 | 10:10
    unsure 09:00@10:10                     | overlap=queue   | 10:00 | queue 10:00 | 10:10
    retry 08:00@10:00, unsure 09:00@10:00  | overlap=skip    | 10:00 | skip(overlap) 08:00, start 09:00, skip(overlap) 10:00 | 11:00
    retry 08:00@10:00, unsure 09:00@10:10  | overlap=skip    | 10:00 | skip(overlap) 08:00 10:00 | 10:10
    retry 09:00@10:10                      | overlap=skip    | 10:00 | start 10:00 | 10:10
    # where runs replace each other, what takes its place ends it, which any worker can try
    unsure 09:00@10:10                     | overlap=replace | 10:00 | end 09:00, start 10:00 | 10:10
    retry 09:00@10:10                      | overlap=replace | 10:00 | start 10:00 | 10:10
    runs 08:00, unsure 09:00@10:10         | overlap=replace | 10:00 | end 08:00 09:00, start 10:00 | 10:10
    unsure 08:00@09:30, queued 09:00       | overlap=replace lease=5m | 09:30 | end 08:00, move 08:00@09:35, start 09:00 | 09:35
    # it keeps its row until it has been ended: by then it is known what became of the newer one
    unsure 09:00@10:00                     | overlap=replace lease=5m | 10:00 | end 09:00, move 09:00@10:05, start 10:00 | 10:05
    claimed 10:00, unsure 09:00@10:05      | overlap=replace lease=5m | 10:05 | move 09:00@10:10 | 10:10
    runs 10:00, unsure 09:00@10:05         | overlap=replace | 10:05 | skip(superseded) 09:00 | 11:00
    unsure 09:00@09:30                     | overlap=replace | 09:30 | start 09:00 | 10:00
    # of several the newest is tried again, and nothing older goes before it
    unsure 08:00@09:30, unsure 09:00@09:30 | overlap=replace lease=5m | 09:30 | end 08:00, move 08:00@09:35, start 09:00 | 09:35
    unsure 08:00@09:30, unsure 09:00@09:40 | overlap=replace lease=5m | 09:30 | move 08:00@09:35 | 09:35
    retry 08:00@09:30, unsure 09:00@09:40  | overlap=replace | 09:30 | skip(superseded) 08:00 | 09:40
    # when it is ten leases old, and what would end it has failed to start, it is given up
    unsure 08:00@09:40, retry 09:00@09:30  | overlap=replace lease=5m | 09:30 | leave 08:00, start 09:00 | 10:00
    unsure 08:00@09:40, retry 09:00@09:30  | overlap=replace lease=9m | 09:30 | end 08:00, start 09:00 | 09:40
    unsure 08:00@09:40, queued 09:00       | overlap=replace lease=5m | 09:30 | end 08:00, start 09:00 | 09:40
    ran 09:00, retry 07:00@09:30, unsure 08:00@09:40 | overlap=replace lease=5m | 09:30 | skip(superseded) 07:00 | 09:40
    unsure 08:00@09:40, queued 09:00       | overlap=replace lease=5m launches_max=1 | 09:30 | leave 08:00, start 09:00 | 10:00
    ran 09:00, unsure 08:00@09:30          | overlap=replace lease=5m launches_max=1 | 09:30 | start 08:00 | 10:00
    """
)


@clause("ENGINE-6", "POLICY-7", "POLICY-9")
@pytest.mark.parametrize("rule", UNSURE, ids=str)
def test_the_rules_about_what_may_be_running(rule: Rule) -> None:
    assert answer(rule) == (rule.does, rule.wake)
