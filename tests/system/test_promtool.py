"""The pages of metrics, examined by Prometheus's own tool."""

import re
import subprocess
from pathlib import Path
from textwrap import indent

from gnomon.apps.krond.counts import KrondFacts, Tally, krond_families
from gnomon.apps.service.counters import ServiceCounters, service_families
from gnomon.compose.heartbeats import worker_families
from gnomon.shell.http.app import HttpCounts
from gnomon.shell.observe.counts import Telemetry, build_family, runtime_families
from gnomon.shell.observe.notify.rule import Occasion
from gnomon.shell.observe.prometheus import page_text
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause
from tests.compose.test_heartbeats import worker
from tests.shell.observe.notify.happenings import happened
from tests.system.packages import provide


@clause("METRICS-1")
def test_promtool_finds_nothing_wrong_with_the_page() -> None:
    tally, backup = Tally(), job("0 2 * * * name=backup command=true")
    for occasion in Occasion:
        tally.tell(happened(occasion, ""))
    facts = KrondFacts(
        version="0.1", started_ms=1, loaded_ms=2, is_valid=True, active=0, telemetry=Telemetry()
    )
    check(page_text(krond_families([backup], tally, facts, upcoming={backup.schedule_id: 5})))


@clause("METRICS-7", "METRICS-8")
def test_promtool_finds_nothing_wrong_with_the_page_of_a_worker() -> None:
    silent = worker("anna:7:1", silent_ms=90_000)
    families = [
        build_family("gnomon", "Which Gnomon this is.", "0.1", worker=silent.owner),
        *runtime_families("gnomon", Telemetry()),
        *worker_families([silent, worker("boris:7:1")]),
    ]

    check(page_text(families))


@clause("METRICS-9", "HTTP-22")
def test_promtool_finds_nothing_wrong_with_the_page_of_a_service() -> None:
    counters, answers = ServiceCounters(), HttpCounts()
    for drift_ms in (-300, 4, 4_000):
        counters.drift.add(drift_ms)
    answers.add("GET", "/schedules/{schedule_id}", 404, length_ms=3)

    check(page_text([*service_families(counters), *answers.families()]))


_SERIES = """
rule_files: [rules.yml]
tests:
- input_series:
  - {series: 'gnomon_ledger_up{instance="a"}', values: '1x10'}
  - {series: 'gnomon_worker_state{instance="a",worker="anna",state="running"}', values: '1x10'}
  - {series: 'gnomon_worker_state{instance="a",worker="anna",state="silent"}', values: '0x10'}
  - {series: 'gnomon_worker_clock_ahead_seconds{instance="a",worker="anna"}', values: '-3x10'}
  - {series: 'gnomon_worker_heartbeat_age_seconds{instance="a",worker="anna"}', values: '1x10'}
  - {series: 'gnomon_worker_state{instance="a",worker="boris",state="running"}', values: '0x10'}
  - {series: 'gnomon_worker_state{instance="a",worker="boris",state="silent"}', values: '1x10'}
  - {series: 'gnomon_worker_clock_ahead_seconds{instance="a",worker="boris"}', values: '9x10'}
  - {series: 'gnomon_worker_heartbeat_age_seconds{instance="a",worker="boris"}', values: '90x10'}
  alert_rule_test:
  - {eval_time: 5m, alertname: NoWorker}
  - {eval_time: 5m, alertname: LedgerIsAway}
  - {eval_time: 5m, alertname: WorkerFellSilent, exp_alerts: [{exp_labels: {worker: boris}}]}
  - {eval_time: 5m, alertname: ClockIsWrong, exp_alerts: [{exp_labels: {worker: anna}}]}
- input_series:
  - {series: 'gnomon_ledger_up{instance="a"}', values: '0x10'}
  alert_rule_test:
  - {eval_time: 5m, alertname: NoWorker, exp_alerts: [{}]}
  - {eval_time: 5m, alertname: LedgerIsAway, exp_alerts: [{}]}
"""


@clause("METRICS-8")
def test_the_rules_of_the_manual_call_for_whom_they_are_about(tmp_path: Path) -> None:
    page = Path("docs/reference/metrics.md").read_text()
    rules = "".join(re.findall(r"```yaml\n(- alert: .*?)```", page, re.DOTALL))
    text = f"groups:\n- name: gnomon\n  rules:\n{indent(rules, '  ')}"
    (tmp_path / "rules.yml").write_text(text)
    (tmp_path / "series.yml").write_text(_SERIES)

    done = subprocess.run(
        [provide("promtool", "prometheus"), "test", "rules", "series.yml"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def check(text: str) -> None:
    tool = provide("promtool", "prometheus")
    done = subprocess.run(
        [tool, "check", "metrics"], input=text, check=False, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
