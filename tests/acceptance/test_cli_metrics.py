"""`gnomon run --metrics`: what Prometheus is told by a worker, on a file and on a database."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.command_line import gnomon
from tests.acceptance.running import EVERY_SECOND, LONG, Running, owe, running, write
from tests.acceptance.test_cli_split import DAG, TOKEN, access_file, started
from tests.clauses import clause

FIGURES = {
    "gnomon_build_info", "gnomon_start_time_seconds", "gnomon_schedules", "gnomon_runs_active",
    "gnomon_stopping", "gnomon_turns", "gnomon_claims_won", "gnomon_claims_lost",
    "gnomon_launches", "gnomon_launches_failed", "gnomon_ends", "gnomon_ends_failed",
    "gnomon_reports_refused", "gnomon_leases_lost", "gnomon_ledger_errors", "gnomon_clock_jumps",
    "gnomon_start_lateness_seconds",
}  # fmt: skip
WORKERS = {
    "gnomon_ledger_up", "gnomon_worker_heartbeat_age_seconds", "gnomon_worker_state",
    "gnomon_worker_holding", "gnomon_worker_clock_ahead_seconds",
    "gnomon_worker_start_time_seconds",
}  # fmt: skip


def address(worker: Running) -> str:
    return str(worker.until("metrics")["url"])


def read(url: str) -> dict[str, Metric]:
    """The families of a page by name."""
    answer = httpx2.get(url, trust_env=False)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {one.name: one for one in text_string_to_metric_families(answer.text)}


def value(found: dict[str, Metric], name: str) -> float:
    return found[name].samples[0].value


@clause("CLI-37", "METRICS-7")
def test_a_worker_on_a_file_tells_what_it_has_counted(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with running(file, "--metrics", "0") as worker:
        url = address(worker)
        before = read(url)
        worker.until("run ended", success=True)
        after = read(url)

    assert url.startswith("http://127.0.0.1:")
    assert set(before) == FIGURES
    assert value(before, "gnomon_schedules") == 1
    assert value(after, "gnomon_launches") >= 1
    counts = {one.name: one.value for one in after["gnomon_start_lateness_seconds"].samples}
    assert counts["gnomon_start_lateness_seconds_count"] >= 1


@clause("CLI-37")
def test_without_the_option_the_process_does_not_listen(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with running(file) as worker:
        worker.until("run ended")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0

    assert not [line for line in worker.lines if line["event"] == "metrics"]


@clause("CLI-37", "METRICS-8")
def test_each_worker_of_a_database_tells_of_all(tmp_path: Path, database: str) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(running(file, "--database", database, "--metrics", "0"))
            for _ in range(2)
        )
        urls = [address(first), address(second)]
        pages = [read(url) for url in urls]
        while [len(page["gnomon_worker_holding"].samples) for page in pages] != [2, 2]:
            pages = [read(url) for url in urls]  # until both have said that they are there

    names = [page["gnomon_build_info"].samples[0].labels["worker"] for page in pages]
    for page in pages:
        assert set(page) == FIGURES | WORKERS
        assert value(page, "gnomon_ledger_up") == 1
        states = {
            one.labels["worker"]: one.labels["state"]
            for one in page["gnomon_worker_state"].samples
            if one.value
        }
        assert states == dict.fromkeys(names, "running")
        ages = [one.value for one in page["gnomon_worker_heartbeat_age_seconds"].samples]
        assert [age < 20 for age in ages] == [True, True]


@clause("CLI-37", "METRICS-7")
def test_a_worker_that_lets_its_runs_end_says_so_and_what_it_holds(tmp_path: Path) -> None:
    file = write(tmp_path, LONG.replace("exec sleep 600", "read x < go"))
    os.mkfifo(tmp_path / "go")
    asyncio.run(owe(file, hours=1))
    with running(file, "--metrics", "0") as worker:
        url = address(worker)
        worker.until("run started")
        worker.signal(signal.SIGTERM)
        worker.until("stopping")
        found = read(url)
        (tmp_path / "go").write_text("now\n")
        assert worker.end() == 0

    assert (value(found, "gnomon_stopping"), value(found, "gnomon_runs_active")) == (1, 1)


@clause("CLI-37")
def test_a_port_that_is_taken_is_said_before_anything_is_done(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        on_file = gnomon("run", str(file), "--metrics", str(port))
        nowhere = "postgresql://127.0.0.1:1/none"  # asked, it would be the error
        on_database = gnomon("run", str(file), "--database", nowhere, "--metrics", str(port))

    for done in (on_file, on_database):
        assert (done.code, done.err) == (
            2,
            f"error: 127.0.0.1:{port}: Address already in use\n"
            "hint: stop what listens there, or choose another port\n",
        )
    assert list(tmp_path.iterdir()) == [file]


@clause("CLI-37", "CLI-4")
@pytest.mark.parametrize("text", ["", "here", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "-1"])
def test_an_address_that_cannot_be_meant_is_refused(tmp_path: Path, text: str) -> None:
    done = gnomon("run", str(write(tmp_path, EVERY_SECOND)), f"--metrics={text}")

    assert (done.code, done.err) == (
        1,
        f"error: metrics: must be an address and a port, got {text!r}\n"
        "hint: write 9464 or 10.0.0.5:9464\n",
    )


@clause("CLI-37")
def test_metrics_need_no_extra(tmp_path: Path) -> None:
    file = write(tmp_path, EVERY_SECOND)
    extras = ("asyncpg", "uvicorn", "fastapi", "starlette", "httpx2")
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({extras!r}));"
        "from gnomon.cli import main;"
        f"sys.exit(main(['run', {str(file)!r}, '--metrics', '0', '--once']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )

    assert (done.returncode, "metrics: url='http://127.0.0.1:" in done.stderr) == (0, True)


@clause("METRICS-8", "HTTP-22")
def test_the_page_of_the_service_has_the_workers_of_its_database(
    tmp_path: Path, database: str
) -> None:
    access = str(access_file(tmp_path))
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started("worker", database) as worker,
    ):
        worker.until("working")
        url = f"http://127.0.0.1:{api.until('serving')['port']}/metrics"
        headers = {"authorization": f"Bearer {TOKEN}"}
        text = httpx2.get(url, headers=headers, trust_env=False).text
        while "gnomon_worker_state" not in text:  # it has not said yet that it is there
            text = httpx2.get(url, headers=headers, trust_env=False).text
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0
        after = httpx2.get(url, headers=headers, trust_env=False).text

    found = {one.name: one for one in text_string_to_metric_families(text)}
    assert {"runs_emitted", *WORKERS} <= set(found)
    (running_one,) = [one for one in found["gnomon_worker_state"].samples if one.value]
    assert running_one.labels["state"] == "running"
    stopped = f'state="stopped",worker="{running_one.labels["worker"]}"'
    assert f"{stopped}}} 1.0" in after


@clause("METRICS-8", "METRICS-9")
def test_a_worker_of_the_service_tells_what_the_api_beside_it_cannot_know(
    tmp_path: Path, database: str
) -> None:
    access, headers = str(access_file(tmp_path)), {"authorization": f"Bearer {TOKEN}"}
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started(
            "worker", database, GNOMON_ALLOW_COMMANDS="true", GNOMON_METRICS="127.0.0.1:0"
        ) as worker,
    ):
        url, port = address(worker), api.until("serving")["port"]
        place = f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=place, headers=headers, trust_env=False) as client:
            schedule_id = client.post("/dags", json=DAG).json()["schedules"][0]
            client.post(f"/schedules/{schedule_id}/trigger")
            worker.until("run.ended")
            told = client.get("/metrics").text
        page = read(url)
        while not page["gnomon_worker_holding"].samples:
            page = read(url)  # until it has said that it is there

    assert value(page, "runs_emitted") == value(page, "gnomon_launches") == 1
    assert "\nruns_emitted_total 0.0\n" in told
    assert {"schedules_due", "scheduling_drift_seconds"} <= set(page)
    assert FIGURES - {"gnomon_schedules"} | WORKERS <= set(page)
    name = page["gnomon_build_info"].samples[0].labels["worker"]
    assert page["gnomon_worker_holding"].samples[0].labels["worker"] == name


@clause("METRICS-9")
def test_a_worker_of_the_service_takes_its_port_before_it_does_anything() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        nowhere = "postgresql://127.0.0.1:1/none"  # asked, it would be the error
        done = gnomon("worker", "--database", nowhere, "--metrics", str(port))

    assert (done.code, done.err) == (
        2,
        f"error: 127.0.0.1:{port}: Address already in use\n"
        "hint: stop what listens there, or choose another port\n",
    )
