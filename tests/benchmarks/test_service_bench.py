"""The load on the service in small: every period of two seconds is there, and none twice."""

import subprocess
import sys
from pathlib import Path

import httpx2

from benchmarks.service.load import lateness_of

COUNT, INTERVAL = 8, 2


def test_the_service_that_is_measured_runs_what_is_due(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.service.server", str(tmp_path), str(COUNT),
         str(INTERVAL)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        port, begin = map(int, server.stdout.readline().split())
        _follow(port, (tmp_path / "token").read_text())
        server.communicate("", timeout=60)
    finally:
        server.kill()
        server.communicate()

    file = tmp_path / "service.sqlite3"
    assert len(lateness_of(file, begin=begin, seconds=INTERVAL)) == COUNT
    assert server.returncode == 0


def _follow(port: int, token: str) -> None:
    """Listen until every schedule has run once."""
    headers = {"authorization": f"Bearer {token}", "last-event-id": "0"}
    url, ended = f"http://127.0.0.1:{port}/events", 0
    with httpx2.stream("GET", url, headers=headers, timeout=60, trust_env=False) as stream:
        for line in stream.iter_lines():
            ended += line == "event: run.ended"
            if ended == COUNT:
                return
