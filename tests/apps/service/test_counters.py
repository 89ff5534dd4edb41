"""What a service counts, under the names of the seed, and how drift is told apart by its sign."""

from gnomon.apps.service.counters import ServiceCounters, service_families
from tests.clauses import clause


@clause("SERVICE-31")
def test_a_run_that_begins_early_is_not_one_that_begins_late() -> None:
    drift = ServiceCounters().drift
    for drift_ms in (-500, 0, 3, 70_000):
        drift.add(drift_ms)

    found = drift.buckets()

    assert (found[-1_000], found[-100], found[0], found[5], found[60_000]) == (0, 1, 2, 3, 3)
    assert drift.count == 4


@clause("SERVICE-31")
def test_the_counters_have_the_names_of_the_seed() -> None:
    counters = ServiceCounters(schedules_due=4, runs_emitted=3, runs_skipped_overlap=1)

    families = {family.name: family.samples[0].value for family in service_families(counters)}

    assert families.pop("scheduling_drift_seconds") is counters.drift
    assert families == {
        "schedules_due_total": 4, "runs_emitted_total": 3, "runs_skipped_overlap_total": 1,
        "runs_failed_launch_total": 0,
    }  # fmt: skip
