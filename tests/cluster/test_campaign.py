"""A dose of the campaign: two operators without a leader, to which everything happens."""

from tests.clauses import clause
from tests.kube.campaign import KINDS, run_campaign


@clause("OPERATOR-5", "OPERATOR-13", "OPERATOR-17")
def test_no_period_runs_twice_and_none_is_lost_whatever_happens() -> None:
    report = run_campaign("dose", 30)

    assert report.complaints == []
    assert report.faults.total() >= 30
    assert set(report.faults) <= set(KINDS)
    assert report.executions > report.due > 0
