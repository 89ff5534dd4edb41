"""The figures of a runtime and of workers, the same for every page that shows them."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gnomon.shell.observe.exposition import render_families
from gnomon.shell.observe.figures import (
    COUNTERS,
    GOODBYE_MS,
    runtime_families,
    worker_families,
)
from gnomon.shell.observe.telemetry import Telemetry
from gnomon.shell.store.postgres.presence import SILENT_MS, WorkerRow
from tests.clauses import clause


def worker(
    owner: str = "anna:7:1", *, state: str = "running", silent_ms: int = 1_500, ahead_ms: int = 0
) -> WorkerRow:
    return WorkerRow(
        owner=owner, host="anna", pid=7, state=state, started_ms=1_000, seen_ms=9_000,
        ahead_ms=ahead_ms, holding=3, counters={}, silent_ms=silent_ms,
    )  # fmt: skip


def lines(*workers: WorkerRow) -> list[str]:
    return render_families(worker_families(workers)).splitlines()


@clause("METRICS-7")
def test_everything_that_a_runtime_counts_is_told() -> None:
    telemetry = Telemetry(claims_lost=4, ends_failed=2)
    telemetry.lag.add(1_500)

    text = render_families(runtime_families("gnomon", telemetry))

    assert set(COUNTERS) == set(telemetry.counters())
    for line in (
        "gnomon_claims_lost_total 4",
        "gnomon_ends_failed_total 2",
        "gnomon_turns_total 0",
        'gnomon_start_lateness_seconds_bucket{le="1"} 0',
        'gnomon_start_lateness_seconds_bucket{le="2"} 1',
        "gnomon_start_lateness_seconds_sum 1.5",
    ):
        assert line in text.splitlines()


@clause("METRICS-8")
def test_a_worker_is_told_with_its_age_its_state_and_what_it_holds() -> None:
    found = lines(worker(ahead_ms=-250))

    who = 'worker="anna:7:1",host="anna"'
    for line in (
        "gnomon_ledger_up 1",
        f"gnomon_worker_heartbeat_age_seconds{{{who}}} 1.5",
        f'gnomon_worker_state{{{who},state="running"}} 1',
        f'gnomon_worker_state{{{who},state="draining"}} 0',
        f'gnomon_worker_state{{{who},state="stopped"}} 0',
        f'gnomon_worker_state{{{who},state="silent"}} 0',
        f"gnomon_worker_holding{{{who}}} 3",
        f"gnomon_worker_clock_ahead_seconds{{{who}}} -0.25",
        f"gnomon_worker_start_time_seconds{{{who}}} 1",
    ):
        assert line in found


@clause("METRICS-8")
def test_who_has_not_been_heard_of_for_long_is_silent_and_nothing_else() -> None:
    found = lines(worker(state="draining", silent_ms=SILENT_MS + 1))

    states = [line for line in found if line.startswith("gnomon_worker_state{")]
    assert [line.partition("state=")[2] for line in states] == [
        '"running"} 0', '"draining"} 0', '"stopped"} 0', '"silent"} 1',
    ]  # fmt: skip


@clause("METRICS-8")
def test_who_said_good_bye_is_shown_for_five_minutes() -> None:
    just_now = worker("anna", state="stopped", silent_ms=GOODBYE_MS)
    long_ago = worker("boris", state="stopped", silent_ms=GOODBYE_MS + 1)

    found = "\n".join(lines(just_now, long_ago))

    assert 'gnomon_worker_state{worker="anna",host="anna",state="stopped"} 1' in found
    assert "boris" not in found


@clause("METRICS-8")
def test_workers_that_cannot_be_read_leave_a_figure_that_says_so() -> None:
    assert render_families(worker_families(None)) == (
        "# HELP gnomon_ledger_up Whether the database answered when it was asked just now.\n"
        "# TYPE gnomon_ledger_up gauge\n"
        "gnomon_ledger_up 0\n"
    )


@clause("METRICS-1")
@given(st.text(), st.text())
def test_a_page_is_valid_whatever_workers_and_hosts_are_called(owner: str, host: str) -> None:
    text = render_families(worker_families([worker(owner)._replace(host=host)]))

    found = {family.name: family for family in text_string_to_metric_families(text)}

    (sample,) = found["gnomon_worker_holding"].samples
    assert (sample.labels, sample.value) == ({"worker": owner, "host": host}, 3)
