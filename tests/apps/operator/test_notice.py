"""Events say why a period did not run in a sentence, and not by a code."""

from gnomon.apps.operator.notice import Told
from gnomon.ports.kubernetes import Create, Denial, Denied
from gnomon.ports.kubernetes_object import text
from tests.apps.operator.lone_operator import Cluster
from tests.clauses import clause


def told(cluster: Cluster, kind: Told) -> list[str]:
    return [one.message for one in cluster.notices if one.told is kind]


@clause("OPERATOR-30")
def test_a_missed_period_tells_its_deadline_and_its_chosen_second() -> None:
    cluster = Cluster(policy={"deadline": "2m"})
    cluster.until("2026-03-01T00:04:00Z")
    cluster.sleep_until("2026-03-01T00:08:00Z")

    cluster.pass_over()

    assert told(cluster, Told.MISSED) == [
        "the period 2026-03-01T00:05:00Z: missed: more than 2m after its chosen second,"
        " 2026-03-01T00:05:00Z"
    ]


@clause("OPERATOR-30")
def test_periods_that_were_missed_together_tell_how_many_they_were() -> None:
    cluster = Cluster(policy={"deadline": "2m"})
    cluster.until("2026-03-01T00:04:00Z")
    cluster.sleep_until("2026-03-01T00:21:00Z")

    cluster.pass_over()

    assert told(cluster, Told.MISSED) == [
        "3 periods from 2026-03-01T00:05:00Z to 2026-03-01T00:15:00Z: missed: more than 2m after"
        " the chosen second of each"
    ]


@clause("OPERATOR-30")
def test_a_period_for_which_no_job_could_be_made_tells_so() -> None:
    cluster = Cluster(policy={"deadline": "10s"})
    cluster.until("2026-03-01T00:04:59Z")
    denied = Denied(Denial.QUOTA, "no room", cluster.server.at)
    cluster.deny = lambda question: denied if isinstance(question, Create) else None

    cluster.until("2026-03-01T00:05:11Z")

    (message,) = told(cluster, Told.MISSED)
    assert "missed: no Job could be made until 10s after its chosen second, 2026-" in message


@clause("OPERATOR-30")
def test_a_skipped_period_tells_which_job_was_active() -> None:
    cluster = Cluster(lasts_s=400)
    cluster.until("2026-03-01T00:05:00Z")
    (job,) = cluster.jobs

    cluster.until("2026-03-01T00:10:00Z")

    assert told(cluster, Told.SKIPPED) == [
        f"the period 2026-03-01T00:10:00Z: skipped: {text(job, 'metadata', 'name')} was active,"
        " and concurrency is forbid"
    ]


@clause("OPERATOR-30")
def test_a_period_that_a_newer_one_replaces_tells_so() -> None:
    cluster = Cluster(policy={"deadline": "20m", "concurrency": "replace"})
    cluster.until("2026-03-01T00:04:00Z")
    cluster.sleep_until("2026-03-01T00:11:00Z")

    cluster.pass_over()

    assert told(cluster, Told.SKIPPED) == [
        "the period 2026-03-01T00:05:00Z: skipped: a newer period was due at the same time, and"
        " concurrency is replace"
    ]


@clause("OPERATOR-30")
def test_a_period_without_a_second_that_is_allowed_tells_so() -> None:
    cluster = Cluster(constraints={"only": "hours=9-17"})

    cluster.until("2026-03-01T00:05:01Z")

    assert told(cluster, Told.UNSCHEDULABLE) == [
        "the period 2026-03-01T00:05:00Z: unschedulable: the constraints allow no second of the"
        " window"
    ]
