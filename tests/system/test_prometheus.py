"""A real Prometheus scrapes a real service, and answers with the names of seed 002."""

import json
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.serving import Up, up
from tests.clauses import clause

NAMES = ("schedules_due_total", "runs_emitted_total", "runs_skipped_overlap_total",
         "runs_failed_launch_total", "scheduling_drift_seconds_bucket")  # fmt: skip
TRIES = 60


@pytest.fixture(scope="module")
def prometheus() -> str:
    """The program, installed when it is not there."""
    if shutil.which("prometheus") is None:
        subprocess.run(["apt-get", "update"], check=True, capture_output=True)
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", "prometheus"],
            check=True, capture_output=True,
        )  # fmt: skip
    found = shutil.which("prometheus")
    assert found is not None
    return found


@contextmanager
def scraping(program: str, folder: Path, service: Up, port: int) -> Iterator[None]:
    """Prometheus, which reads the metrics of the service every second with its token."""
    target = service.url.removeprefix("http://")
    (folder / "prometheus.yml").write_text(
        f"""
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: gnomon
    authorization: {{credentials_file: {service.token_file}}}
    static_configs: [{{targets: ["{target}"]}}]
"""
    )
    process = subprocess.Popen(
        [program, f"--config.file={folder / 'prometheus.yml'}",
         f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.kill()
        process.wait()


def query(port: int, text: str) -> list[dict[str, object]]:
    """What Prometheus answers; nothing while it is not ready."""
    address = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(text)}"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            found: list[dict[str, object]] = json.load(answer)["data"]["result"]
            return found
    except OSError:
        return []


def eventually(port: int, text: str) -> list[dict[str, object]]:
    """What Prometheus answers once it has scraped."""
    pause = threading.Event()
    for _ in range(TRIES):
        found = query(port, text)
        if found:
            return found
        pause.wait(1)
    raise AssertionError(f"Prometheus knows nothing of {text}")


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@clause("HTTP-22")
def test_prometheus_reads_the_metrics_of_a_service(tmp_path: Path, prometheus: str) -> None:
    port = free_port()
    with up(tmp_path) as service, scraping(prometheus, tmp_path, service, port):
        items = service.schedule("list", "--text", "report", "--json").json["items"]
        assert isinstance(items, list)
        schedule_id = items[0]["schedule_id"]
        service.schedule("trigger", schedule_id, "--key", "one")
        service.until("run.ended", key=f"manual:{schedule_id}:one")

        well = eventually(port, 'up{job="gnomon"} == 1')
        emitted = eventually(port, "runs_emitted_total > 0")
        found = {name: eventually(port, name) for name in NAMES}
        early = eventually(port, 'scheduling_drift_seconds_bucket{le="-1.0"}')
        types = urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/v1/metadata?metric=scheduling_drift_seconds", timeout=5
        )
        kind = json.load(types)["data"]["scheduling_drift_seconds"][0]["type"]

    assert len(well) == len(emitted) == 1
    assert all(found.values())
    assert early[0]["value"] is not None
    assert kind == "histogram"
