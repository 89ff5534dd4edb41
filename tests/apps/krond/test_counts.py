"""The figures of krond: right about what happened, and as Prometheus reads them."""

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from gnomon.apps.krond.counts import KrondFacts, Tally, krond_families
from gnomon.apps.krond.job import Job
from gnomon.core.ledger.lifecycle import Outcome, State, Status
from gnomon.ports import RunRow
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.notify.rule import Occasion
from gnomon.shell.observe.prometheus import page_text
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause
from tests.shell.observe.notify.happenings import AT_MS, happened

BACKUP = job("0 2 * * * name=backup command=/bin/backup")


def page(*jobs: Job, tally: Tally, telemetry: Telemetry | None = None) -> list[str]:
    facts = KrondFacts(
        version="0.1", started_ms=1_000, loaded_ms=2_500, is_valid=False, active=3,
        telemetry=telemetry or Telemetry(),
    )  # fmt: skip
    upcoming = {one.schedule_id: 1_772_332_860 for one in jobs}
    return page_text(krond_families(jobs, tally, facts, upcoming=upcoming)).splitlines()


@clause("METRICS-1")
def test_prometheus_reads_the_page() -> None:
    tally = Tally()
    tally.tell(happened(Occasion.FAILURE, ""))

    lines = page(BACKUP, tally=tally)

    found = {
        family.name: family for family in text_string_to_metric_families("\n".join(lines) + "\n")
    }
    assert len(found) == sum(line.startswith("# TYPE") for line in lines)
    assert {family.type for family in found.values()} == {"counter", "gauge", "histogram"}
    assert found["krond_runs"].samples[0].value == 1


@clause("METRICS-2")
def test_periods_and_runs_are_counted() -> None:
    tally = Tally()
    for occasion in (Occasion.SUCCESS, Occasion.SUCCESS, Occasion.FAILURE, Occasion.SKIPPED):
        tally.tell(happened(occasion, ""))
    tally.tell(happened(Occasion.MISSED, "", periods=40))

    lines = page(BACKUP, tally=tally)

    who = 'file="/etc/krond.d/site",job="backup"'
    for line in (
        f'krond_periods_total{{{who},outcome="executed",reason=""}} 3.0',
        f'krond_periods_total{{{who},outcome="missed",reason="deadline"}} 40.0',
        f'krond_periods_total{{{who},outcome="skipped",reason="overlap"}} 1.0',
        f'krond_runs_total{{{who},result="failure"}} 1.0',
        f'krond_runs_total{{{who},result="success"}} 2.0',
        f"krond_job_last_run_duration_seconds{{{who}}} 192.0",
    ):
        assert line in lines


@clause("METRICS-3")
def test_krond_says_how_it_is() -> None:
    telemetry = Telemetry(launches=7)
    for late_ms in (3, 40, 2_000):
        telemetry.lag.add(late_ms)

    lines = page(
        BACKUP, job("0 3 * * * @policy(suspend=true) name=b command=b"), tally=Tally(),
        telemetry=telemetry,
    )  # fmt: skip

    for line in (
        "krond_start_time_seconds 1.0",
        "krond_jobs 2.0",
        "krond_jobs_suspended 1.0",
        "krond_runs_active 3.0",
        "krond_config_loaded_time_seconds 2.5",
        "krond_config_valid 0.0",
        "krond_launches_total 7.0",
        'krond_start_lateness_seconds_bucket{le="0.005"} 1.0',
        'krond_start_lateness_seconds_bucket{le="0.04"} 2.0',
        'krond_start_lateness_seconds_bucket{le="+Inf"} 3.0',
        "krond_start_lateness_seconds_sum 2.043",
        "krond_start_lateness_seconds_count 3.0",
    ):
        assert line in lines


@clause("METRICS-4")
def test_a_suspended_job_has_no_next_run() -> None:
    held = job("0 3 * * * @policy(suspend=true) name=b command=b")

    lines = page(BACKUP, held, tally=Tally())

    assert [line for line in lines if line.startswith("krond_job_next_run")] == [
        'krond_job_next_run_time_seconds{file="/etc/krond.d/site",job="backup"} 1.77233286e+09'
    ]


@clause("METRICS-4")
def test_what_came_last_is_recalled_from_before_the_start() -> None:
    tally = Tally()
    row = RunRow(
        key="k", schedule_id=BACKUP.schedule_id, nominal=0, last_nominal=0, periods=1,
        fire_ms=AT_MS, state=State.DONE, outcome=Outcome.EXECUTED, reason=None,
        status=Status.SUCCESS, launches=1, fence=1, owner=None, lease_ms=None, run_id=None,
        detail="exit 0", revision=1, started_ms=AT_MS, ended_ms=AT_MS + 5_000, created_ms=0,
        updated_ms=0,
    )  # fmt: skip
    failed = replace(row, status=Status.FAILED, ended_ms=AT_MS + 9_000)

    tally.recall([row, failed, replace(row, outcome=Outcome.MISSED)])

    lines = page(BACKUP, tally=tally)
    who = 'file="/etc/krond.d/site",job="backup"'
    assert f"krond_job_last_success_time_seconds{{{who}}} 1.772332865e+09" in lines
    assert f"krond_job_last_failure_time_seconds{{{who}}} 1.772332869e+09" in lines
    assert not any(line.startswith("krond_periods_total") for line in lines)
