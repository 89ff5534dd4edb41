"""What becomes of periods: due, missed, skipped, over; by edits, suspensions and absences."""

from gnomon.ports.kubernetes_object import at
from tests.apps.operator.lone_operator import Cluster
from tests.clauses import clause


@clause("OPERATOR-10")
def test_a_period_runs_in_its_chosen_second() -> None:
    cluster = Cluster(window={"duration": "4m"})
    cluster.until("2026-03-01T00:00:02Z")
    chosen = str(cluster.status("next", "chosen"))

    cluster.until("2026-03-01T00:10:00Z")

    record = cluster.status("recent")
    assert isinstance(record, list)
    assert record[-1]["period"] == "2026-03-01T00:05:00Z"
    assert record[-1]["chosen"] == record[-1]["at"] == chosen
    assert chosen > "2026-03-01T00:05:00Z"


@clause("OPERATOR-7")
def test_a_new_kronjob_begins_after_the_second_of_its_creation() -> None:
    cluster = Cluster(start="2026-03-01T00:04:58Z")

    cluster.until("2026-03-01T00:10:01Z")

    assert cluster.ran() == ["00:10"]


@clause("OPERATOR-7")
def test_what_a_new_kronjob_owes_counts_from_its_creation_and_not_from_the_first_look() -> None:
    cluster = Cluster(policy={"deadline": "10m"})
    cluster.sleep_until("2026-03-01T00:11:00Z")

    cluster.until("2026-03-01T00:11:40Z")

    assert cluster.ran() == ["00:05"]
    assert cluster.outcomes() == ["00:10 skipped overlap", "00:05 executed Succeeded"]


@clause("OPERATOR-7")
def test_after_an_edit_that_no_operator_saw_the_beginning_is_the_first_look() -> None:
    cluster = Cluster(policy={"deadline": "10m"})
    cluster.edit(salt="a")
    cluster.sleep_until("2026-03-01T00:11:00Z")

    cluster.until("2026-03-01T00:16:00Z")

    assert cluster.ran() == ["00:15"]


@clause("OPERATOR-10")
def test_a_period_past_its_deadline_is_missed() -> None:
    cluster = Cluster(policy={"deadline": "30s"})
    cluster.until("2026-03-01T00:00:05Z")
    cluster.sleep_until("2026-03-01T00:05:31Z")

    cluster.pass_over()

    assert cluster.outcomes() == ["00:05 missed deadline"]
    assert cluster.jobs == []


@clause("OPERATOR-10")
def test_a_period_within_its_deadline_still_runs() -> None:
    cluster = Cluster(policy={"deadline": "30s"})
    cluster.until("2026-03-01T00:00:05Z")
    cluster.sleep_until("2026-03-01T00:05:30Z")

    cluster.pass_over()

    assert cluster.outcomes() == ["00:05 executed"]


@clause("OPERATOR-10")
def test_with_a_deadline_of_zero_only_the_chosen_second_counts() -> None:
    cluster = Cluster(policy={"deadline": "0s"})
    cluster.until("2026-03-01T00:05:00Z")
    cluster.sleep_until("2026-03-01T00:10:01Z")

    cluster.pass_over()

    assert cluster.outcomes() == ["00:10 missed deadline", "00:05 executed Succeeded"]


@clause("OPERATOR-11")
def test_a_long_absence_becomes_one_range_and_what_is_in_time_runs() -> None:
    cluster = Cluster(schedule="* * * * *", policy={"deadline": "90s"})
    cluster.until("2026-03-01T00:02:40Z")
    cluster.sleep_until("2026-03-01T03:00:10Z")

    cluster.until("2026-03-01T03:00:12Z")

    assert cluster.outcomes() == [
        "03:00 skipped overlap", "02:59 executed", "00:03-02:58 x176 missed deadline",
        "00:02 executed Succeeded", "00:01 executed Succeeded",
    ]  # fmt: skip


@clause("OPERATOR-11")
def test_of_what_is_late_and_in_time_the_newest_count() -> None:
    cluster = Cluster(
        schedule="* * * * *", policy={"deadline": "2h", "concurrency": "allow"}, recordsLimit=100
    )
    cluster.until("2026-03-01T00:00:05Z")
    cluster.sleep_until("2026-03-01T01:00:30Z")

    cluster.until("2026-03-01T01:00:31Z")

    assert cluster.outcomes()[-1] == "00:01-00:28 x28 skipped catchup_limit"
    assert len(cluster.ran()) == 32
    assert cluster.ran()[0] == "00:29"


@clause("OPERATOR-12")
def test_a_period_without_an_allowed_second_is_unschedulable_when_its_window_opens() -> None:
    cluster = Cluster(schedule="0 * * * *", constraints={"only": "hours=2"})

    cluster.until("2026-03-01T01:00:05Z")

    assert cluster.outcomes() == ["01:00 unschedulable constraints"]
    assert cluster.status("lastUnschedulable", "at") == "2026-03-01T01:00:00Z"
    assert cluster.jobs == []


@clause("OPERATOR-9")
def test_while_suspended_nothing_starts_and_nothing_is_handled() -> None:
    cluster = Cluster(policy={"suspend": True, "deadline": "7m"})

    cluster.until("2026-03-01T00:16:00Z")

    assert (cluster.outcomes(), cluster.jobs) == ([], [])
    assert cluster.status("next") is None
    conditions = cluster.status("conditions")
    assert isinstance(conditions, list)
    assert {one["type"]: (one["status"], one["message"]) for one in conditions} == {
        "Ready": ("True", "the spec is in force; suspended, so no period is handled"),
        "Suspended": (
            "True", "nothing starts and no period is handled until spec.policy.suspend is false",
        ),
    }  # fmt: skip


@clause("OPERATOR-9")
def test_after_a_suspension_each_period_follows_its_deadline() -> None:
    cluster = Cluster(policy={"suspend": True, "deadline": "7m"})
    cluster.until("2026-03-01T00:16:00Z")

    cluster.edit(policy={"suspend": False})
    cluster.until("2026-03-01T00:16:01Z")

    assert cluster.outcomes() == [
        "00:15 skipped overlap", "00:10 executed", "00:05 missed deadline",
    ]  # fmt: skip


@clause("OPERATOR-9", "OPERATOR-8")
def test_an_edit_during_a_suspension_handles_nothing_until_it_ends() -> None:
    cluster = Cluster(policy={"suspend": True, "deadline": "7m"})
    cluster.until("2026-03-01T00:16:00Z")
    cluster.edit(schedule="7-59/10 * * * *")
    cluster.until("2026-03-01T00:16:10Z")
    assert cluster.outcomes() == []

    cluster.edit(policy={"suspend": False})
    cluster.until("2026-03-01T00:16:12Z")

    assert cluster.outcomes() == [
        "00:15 skipped overlap", "00:10 executed", "00:05 missed deadline",
    ]  # fmt: skip
    assert cluster.status("next", "period") == "2026-03-01T00:17:00Z"


@clause("OPERATOR-8")
def test_an_edit_makes_no_new_period_due_and_owes_nothing_from_before() -> None:
    cluster = Cluster(schedule="0 12 * * *", policy={"deadline": "1h"})
    cluster.until("2026-03-01T00:10:00Z")

    cluster.edit(schedule="* * * * *")
    cluster.until("2026-03-01T00:10:30Z")
    assert (cluster.outcomes(), cluster.jobs) == ([], [])

    cluster.until("2026-03-01T00:11:00Z")
    assert cluster.outcomes() == ["00:11 executed"]


@clause("OPERATOR-8")
def test_what_had_opened_keeps_its_second_and_runs_from_the_new_template() -> None:
    cluster = Cluster(window={"duration": "4m"})
    cluster.until("2026-03-01T00:05:00Z")
    chosen = str(cluster.status("next", "chosen"))
    assert chosen > "2026-03-01T00:05:05Z"

    template = {"spec": {"template": {"spec": {"containers": [{"name": "other", "image": "i"}]}}}}
    cluster.edit(salt="other", jobTemplate=template)
    cluster.until("2026-03-01T00:09:30Z")

    record = cluster.status("recent")
    assert isinstance(record, list)
    assert [(one["period"], one["chosen"]) for one in record] == [("2026-03-01T00:05:00Z", chosen)]
    (job,) = cluster.jobs
    containers = at(job, "spec", "template", "spec", "containers")
    assert containers == [{"name": "other", "image": "i"}]


@clause("OPERATOR-8")
def test_a_period_handled_ahead_of_its_instant_stays_handled_through_edits() -> None:
    cluster = Cluster(schedule="0 1 * * *", window={"mode": "before", "duration": "30m"}, salt="b")
    cluster.until("2026-03-01T00:58:00Z")
    assert cluster.ran() == ["01:00"]

    cluster.edit(window={"mode": "after", "duration": "0s"}, schedule="*/5 * * * *")
    cluster.until("2026-03-01T00:58:05Z")
    cluster.edit(salt="c")
    cluster.until("2026-03-01T01:05:00Z")

    assert cluster.ran() == ["01:00", "01:05"]


@clause("OPERATOR-8")
def test_a_finer_schedule_owes_what_lies_before_a_period_that_ran_early() -> None:
    early = {"mode": "before", "duration": "2h"}
    cluster = Cluster(start="2026-02-28T23:50:00Z", schedule="0 2 * * *", window=early, salt="a")
    cluster.until("2026-03-01T01:30:00Z")
    assert cluster.ran() == ["02:00"]

    cluster.edit(window={"mode": "after", "duration": "0s"}, schedule="*/10 * * * *")
    cluster.until("2026-03-01T02:10:00Z")

    assert cluster.ran() == ["02:00", "01:40", "01:50", "02:10"]


@clause("OPERATOR-4")
def test_overlapping_windows_are_handled_each_once() -> None:
    cluster = Cluster(
        schedule="* * * * *", window={"duration": "10m"}, recordsLimit=100, lasts_s=1,
        policy={"concurrency": "allow"},
    )  # fmt: skip

    cluster.until("2026-03-01T00:40:00Z")

    ran = cluster.ran()
    assert len(ran) == len(set(ran))
    assert {f"00:{minute:02d}" for minute in range(1, 30)} <= set(ran)
    assert ran != sorted(ran)


@clause("OPERATOR-4", "OPERATOR-5")
def test_records_are_bounded_and_totals_are_not() -> None:
    cluster = Cluster(schedule="* * * * *", recordsLimit=2)

    cluster.until("2026-03-01T00:10:00Z")

    assert cluster.outcomes() == ["00:10 executed", "00:09 executed Succeeded"]
    assert cluster.status("totals", "executed") == 10
    assert cluster.status("cursor") == "2026-03-01T00:10:00Z"
