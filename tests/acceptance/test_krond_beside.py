"""krond with everything beside it: mail, calls, a heartbeat, metrics, and a table to watch."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue

import pytest

from tests.acceptance.command_line import gnomon
from tests.acceptance.krond_process import TICK, ask_krond, krond, write_krontab
from tests.clauses import clause


class Site:
    """A web server that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: Queue[tuple[str, bytes]] = Queue()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes) -> None:
                self.send_response(204)
                self.end_headers()
                site.asked.put((self.path, body))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def until(self, path: str) -> bytes:
        """Wait for a call of this path, and give its body."""
        while True:
            found, body = self.asked.get(timeout=60)
            if found == path:
                return body

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.close()


@clause("NOTIFY-1", "NOTIFY-2", "NOTIFY-3", "NOTIFY-6", "NOTIFY-9", "METRICS-2", "METRICS-5")
def test_everybody_who_was_named_is_told(tmp_path: Path, site: Site) -> None:
    program = tmp_path / "sendmail"
    program.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/mail.new\nmv {tmp_path}/mail.new {tmp_path}/mail\n"
    )
    program.chmod(0o700)
    file = write_krontab(
        tmp_path,
        f"* * * * * * name=good command=true ping={site.url}/good\n"
        f'* * * * * * name=bad command="echo no room; exit 2" shell=true mail=root '
        f"webhook={site.url}/hook ping={site.url}/bad\n",
    )
    metrics = tmp_path / "krond.prom"

    with krond(
        file, tmp_path / "state", "--mail-by", str(program), "--mail-from", "krond@here",
        "--heartbeat", f"{site.url}/heart", "--metrics-file", str(metrics),
    ) as running:  # fmt: skip
        site.until("/heart")
        site.until("/good")
        body = site.until("/hook")
        site.until("/bad/fail")
        running.signal(signal.SIGTERM)
        assert running.end() == 0

    told = json.loads(body)
    assert (told["event"], told["job"], told["outcome"]) == ("failure", "bad", "executed")
    mail = (tmp_path / "mail").read_text()
    assert "bad failed: exit 2" in mail
    assert "no room" in mail
    assert "From: krond@here" in mail
    assert "krond_jobs 2.0" in metrics.read_text().splitlines()


@clause("NOTIFY-7", "NOTIFY-9")
@pytest.mark.parametrize(
    "options", [("--mail-by", "sendmail"), ("--mail-by", "ftp://x"), ("--heartbeat", "x")]
)
def test_what_leads_nowhere_is_refused_at_the_start(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = write_krontab(tmp_path, "0 2 * * * name=a command=true\n")

    done = gnomon("krond", "start", str(file), "--state-dir", str(tmp_path / "state"), *options)

    assert done.code == 1
    assert done.err.startswith("error: ")
    assert not (tmp_path / "state").exists()


@clause("WATCH-1", "WATCH-3")
def test_the_table_is_drawn_in_a_terminal_until_one_has_seen_enough(tmp_path: Path) -> None:
    file, state = tmp_path / "jobs", tmp_path / "state"
    file = write_krontab(tmp_path, "0 0 1 1 * @win(after,1h) name=yearly command=true\n")
    with krond(file, state) as running:
        running.signal(signal.SIGTERM)
        running.end()
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon", "krond", "status", "--watch", "--state-dir", str(state)],
        stdin=terminal, stdout=terminal, stderr=terminal,
        env=os.environ | {"COLUMNS": "120", "LINES": "24", "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while b"yearly" not in seen:
            seen += os.read(screen, 4096)
        process.send_signal(signal.SIGINT)
        while _read(screen):
            pass
        code = process.wait(timeout=60)
    os.close(screen)

    assert code == 0
    assert b"krond does not run" in seen


@clause("KROND-35")
def test_a_narrow_terminal_loses_nothing_of_the_history(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with krond(write_krontab(tmp_path, TICK), state) as running:
        running.until("job_finished")
        running.signal(signal.SIGTERM)
        running.end()
    plain = ask_krond(state, "history", "tick").out
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon", "krond", "history", "tick", "--state-dir", str(state)],
        stdin=terminal, stdout=terminal, stderr=terminal,
        env=os.environ | {"COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while found := _read(screen):
            seen += found
        process.wait(timeout=60)
    os.close(screen)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode())

    assert "…" not in shown
    assert [line.split() for line in shown.splitlines()] == [
        line.split() for line in plain.splitlines()
    ]
    assert [plain.splitlines()[1].split()[:4]] == [["period", "outcome", "reason", "exit"]]
    assert all("exit 0" in line[:80] for line in plain.splitlines()[2:])


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 4096)
    except OSError:  # the other end is closed
        return b""


@clause("WATCH-3")
def test_without_a_terminal_there_is_nothing_to_watch(tmp_path: Path) -> None:
    done = ask_krond(tmp_path, "status", "--watch")

    assert done.code == 1
    assert done.err.startswith("error: watch: needs a terminal")
