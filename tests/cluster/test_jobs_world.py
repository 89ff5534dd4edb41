"""A worker whose runs are Jobs is killed; the audit log of the API server shows what ran."""

from tests.clauses import clause
from tests.kube.jobs_world import run_world

KILLS = 3


@clause("EXEC-47")
def test_every_due_period_has_one_job_however_often_the_worker_dies() -> None:
    outcome = run_world("east", KILLS)

    assert outcome.problems == [], f"python -m tests.kube.jobs_world east {KILLS}"
    assert outcome.kills == KILLS
    assert outcome.verdict.lines > 0
