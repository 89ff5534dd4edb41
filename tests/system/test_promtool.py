"""The pages of metrics, examined by Prometheus's own tool."""

import subprocess

from gnomon.apps.daemon.metrics import Surroundings, Tally, metrics_text
from gnomon.apps.daemon.notice import Occasion
from gnomon.shell.metrics.exposition import render_families
from gnomon.shell.metrics.figures import build_family, runtime_families, worker_families
from gnomon.shell.telemetry import Telemetry
from tests.apps.daemon.krontab.reading import job
from tests.apps.daemon.notification.happenings import happened
from tests.clauses import clause
from tests.shell.metrics.test_figures import worker
from tests.system.packages import provide


@clause("METRICS-1")
def test_promtool_finds_nothing_wrong_with_the_page() -> None:
    tally, backup = Tally(), job("0 2 * * * name=backup command=true")
    for occasion in Occasion:
        tally.tell(happened(occasion, ""))
    about = Surroundings(
        version="0.1", started_ms=1, loaded_ms=2, is_valid=True, active=0, telemetry=Telemetry()
    )
    check(metrics_text([backup], tally, about, upcoming={backup.schedule_id: 5}))


@clause("METRICS-7", "METRICS-8")
def test_promtool_finds_nothing_wrong_with_the_page_of_a_worker() -> None:
    silent = worker("anna:7:1", silent_ms=90_000)
    families = [
        build_family("gnomon", "Which Gnomon this is.", "0.1", worker=silent.owner),
        *runtime_families("gnomon", Telemetry()),
        *worker_families([silent, worker("boris:7:1")]),
    ]

    check(render_families(families))


def check(text: str) -> None:
    tool = provide("promtool", "prometheus")
    done = subprocess.run(
        [tool, "check", "metrics"], input=text, check=False, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
