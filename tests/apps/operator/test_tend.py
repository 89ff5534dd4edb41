"""What becomes of Jobs: beside each other, replaced, deleted by hand, ended, swept away."""

import pytest

from gnomon.apps.operator.definition import RESERVED
from gnomon.apps.operator.notice import Told
from gnomon.ports.kubernetes import Create, Delete, Denial, Denied, Kind, Propagation
from gnomon.ports.kubernetes_object import at, text
from gnomon.simulation.kubernetes.controllers import run_jobs
from tests.apps.operator.lone_operator import Cluster, epoch
from tests.clauses import clause

FIVE = "2026-03-01T00:05:00Z"


def delete(cluster: Cluster, job: object, propagation: Propagation) -> None:
    name, uid = text(job, "metadata", "name"), text(job, "metadata", "uid")
    cluster.server.send(Delete(Kind.JOB, "prod", name, uid, propagation))


@clause("OPERATOR-24")
def test_a_candidate_made_from_an_old_view_never_runs_and_is_swept() -> None:
    cluster = Cluster(lasts_s=2, successfulJobsHistoryLimit=0)
    cluster.until("2026-03-01T00:04:00Z")
    old = cluster.kronjob
    cluster.until("2026-03-01T00:05:10Z")
    assert cluster.jobs == []

    cluster.pass_over(seeing=old, jobs=[], questions=1)
    (junk,) = cluster.jobs
    assert text(junk, "metadata", "annotations", f"{RESERVED}state") == "candidate"
    cluster.until("2026-03-01T00:05:12Z")

    assert cluster.jobs == []
    assert cluster.ran() == ["00:05"]


@clause("OPERATOR-24")
def test_an_old_view_sweeps_no_candidate_that_a_newer_one_claims() -> None:
    early = {"mode": "before", "duration": "2h"}
    cluster = Cluster(start="2026-02-28T23:50:00Z", schedule="0 2 * * *", window=early, salt="a")
    cluster.until("2026-03-01T01:30:00Z")
    old = cluster.kronjob  # its cursor is at 02:00
    cluster.edit(window={"mode": "after", "duration": "0s"}, schedule="*/10 * * * *")
    cluster.until("2026-03-01T01:39:59Z")
    cluster.now_ms += 1000
    cluster.pass_over(questions=1)  # a candidate for 01:40

    cluster.pass_over(seeing=old)
    cluster.pass_over()

    assert cluster.ran() == ["02:00", "01:40"]


@clause("OPERATOR-24")
def test_finished_jobs_are_kept_up_to_the_limit() -> None:
    cluster = Cluster(schedule="* * * * *", successfulJobsHistoryLimit=2)

    cluster.until("2026-03-01T00:06:00Z")

    periods = [text(job, "metadata", "annotations", f"{RESERVED}period")[11:16]
               for job in cluster.jobs]  # fmt: skip
    assert periods == ["00:04", "00:05", "00:06"]


@clause("OPERATOR-51", "OPERATOR-26")
def test_a_finished_job_beyond_the_limit_makes_room_for_the_next() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:05:40Z")
    assert len(cluster.jobs) == 1
    full = Denied(Denial.QUOTA, "exceeded quota: jobs", cluster.server.at)
    cluster.deny = lambda asked: full if isinstance(asked, Create) and cluster.jobs else None

    cluster.now_ms = epoch("2026-03-01T00:10:00Z") * 1000
    cluster.edit(successfulJobsHistoryLimit=0)
    cluster.pass_over()
    assert (cluster.jobs, cluster.outcomes()[0]) == ([], "00:05 executed Succeeded")
    cluster.until("2026-03-01T00:10:01Z")

    assert cluster.outcomes()[0] == "00:10 executed"


@clause("OPERATOR-19")
def test_allow_starts_beside_what_is_active() -> None:
    cluster = Cluster(schedule="* * * * *", policy={"concurrency": "allow"}, lasts_s=500)

    cluster.until("2026-03-01T00:03:00Z")

    assert cluster.ran() == ["00:01", "00:02", "00:03"]
    assert cluster.status("activeCount") == 3


@clause("OPERATOR-19", "OPERATOR-4")
def test_allow_has_a_limit() -> None:
    cluster = Cluster(
        schedule="* * * * * *", policy={"concurrency": "allow"}, lasts_s=5000, recordsLimit=1
    )

    cluster.until("2026-03-01T00:01:50Z")

    assert cluster.status("activeCount") == 100
    assert cluster.outcomes()[0].endswith("skipped too_many_active")


@clause("OPERATOR-20")
def test_forbid_skips_while_an_earlier_job_runs() -> None:
    cluster = Cluster(schedule="* * * * *", lasts_s=90)

    cluster.until("2026-03-01T00:03:00Z")

    assert cluster.outcomes() == [
        "00:03 executed", "00:02 skipped overlap", "00:01 executed Succeeded",
    ]  # fmt: skip


@clause("OPERATOR-20")
def test_forbid_asks_before_it_skips() -> None:
    cluster = Cluster(schedule="* * * * *", lasts_s=30)
    cluster.until("2026-03-01T00:01:10Z")
    running = cluster.jobs
    cluster.sleep_until("2026-03-01T00:02:00Z")

    cluster.pass_over(jobs=running)  # a view in which the Job still runs

    assert cluster.outcomes() == ["00:02 executed", "00:01 executed Succeeded"]


@clause("OPERATOR-21", "OPERATOR-23")
def test_replace_waits_for_the_end_of_the_older_job() -> None:
    cluster = Cluster(schedule="* * * * *", policy={"concurrency": "replace"}, lasts_s=500)
    cluster.until("2026-03-01T00:01:59Z")

    cluster.until("2026-03-01T00:02:01Z")
    held = [job for job in cluster.jobs if at(job, "spec", "suspend") is True]
    assert len(held) == 1
    assert cluster.ran() == ["00:01"]

    cluster.until("2026-03-01T00:02:05Z")
    assert cluster.ran() == ["00:01", "00:02"]
    assert cluster.outcomes() == ["00:02 executed", "00:01 executed Replaced"]
    assert [one.told for one in cluster.notices].count(Told.REPLACING) == 1


@clause("OPERATOR-21")
def test_of_several_periods_due_at_once_replace_runs_the_newest() -> None:
    cluster = Cluster(
        schedule="* * * * *", policy={"concurrency": "replace", "deadline": "10m"}, lasts_s=5
    )
    cluster.until("2026-03-01T00:00:30Z")
    cluster.sleep_until("2026-03-01T00:03:10Z")

    cluster.until("2026-03-01T00:03:11Z")

    assert cluster.outcomes() == [
        "00:03 executed", "00:02 skipped superseded", "00:01 skipped superseded",
    ]  # fmt: skip


@clause("OPERATOR-22", "OPERATOR-23")
@pytest.mark.parametrize("propagation", list(Propagation))
def test_a_job_that_is_deleted_by_hand_does_not_come_back(propagation: Propagation) -> None:
    cluster = Cluster(lasts_s=60)
    cluster.until("2026-03-01T00:05:05Z")

    delete(cluster, cluster.jobs[0], propagation)
    cluster.until("2026-03-01T00:05:30Z")

    assert cluster.ran() == ["00:05"]
    assert cluster.jobs == []
    assert cluster.outcomes() == ["00:05 executed Deleted"]


@clause("OPERATOR-22")
def test_a_job_that_a_view_does_not_show_is_not_gone() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:05:05Z")

    cluster.pass_over(jobs=[])

    assert cluster.outcomes() == ["00:05 executed"]


@clause("OPERATOR-23")
def test_a_job_that_failed_is_recorded_with_its_reason() -> None:
    cluster = Cluster()
    cluster.until("2026-03-01T00:05:05Z")
    cluster.now_ms += 60_000
    run_jobs(cluster.server, lambda job: 30, fails=lambda job: True)

    cluster.pass_over()

    assert cluster.outcomes() == ["00:05 executed Failed"]
    assert cluster.notices[-1].is_warning
