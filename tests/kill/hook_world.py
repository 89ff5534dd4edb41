"""
One world: the web hook example as a real process, a real HTTP server, and SIGKILL.

The server is in this process and does the killing, because it knows the moments that matter: while
a request is on its way, after it was taken and before its answer, while it is asked what became of
one, and from outside between two of them. A request that was on its way when its sender died is
taken or dropped. The server writes down what it took; that file, and the tables read with plain
SQL, are what is judged.

`python -m tests.kill.hook_world SEED [KILLS]` runs one world and prints what came of it.
"""

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

__all__ = ["Outcome", "judge", "run_world"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "workflows" / "webhook.py"
MOMENTS = ("on its way, taken", "on its way, dropped", "taken, not answered", "asked", "answered")
PATIENCE_S = 240
"""Only a hang takes longer, and a hang is a failure."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What happened in a world."""

    seed: str
    kills: int = 0
    died: Counter[str] = field(default_factory=Counter)
    taken: int = 0
    asked: int = 0
    problems: list[str] = field(default_factory=list)

    def notes(self) -> dict[str, int]:
        """The figures by name."""
        died = {f"died {where}": count for where, count in self.died.items()}
        return {"taken": self.taken, "asked": self.asked, **died}


class _Hook:
    """The server's side: what it took, and when it kills."""

    def __init__(self, folder: Path, dice: random.Random, kills: int, outcome: Outcome) -> None:
        self.log = folder / "taken.jsonl"
        self.process: subprocess.Popen[str] | None = None
        self._dice = dice
        self._left = kills
        self._outcome = outcome
        self._lock = threading.Lock()
        self._moment = self._next_moment()

    def post(self, key: str, body: str) -> bool:
        """Take a request; False when its sender is not there to hear the answer."""
        with self._lock:
            if self._moment.startswith("on its way"):
                drops = self._moment.endswith("dropped")
                self._kill()
                if not drops:
                    self._take(key, body)
                return False
            self._take(key, body)
            if self._moment == "taken, not answered":
                self._kill()
                return False
            return True

    def answered(self) -> None:
        with self._lock:
            if self._moment == "answered":
                self._kill()

    def get(self, key: str) -> bool:
        with self._lock:
            self._outcome.asked += 1
            if self._moment == "asked":
                self._kill()
            return any(json.loads(line)["key"] == key for line in self._lines())

    def orders(self) -> list[str]:
        return [json.loads(line)["order"]["id"] for line in self._lines()]

    def _take(self, key: str, body: str) -> None:
        with self.log.open("a") as file:
            file.write(json.dumps({"key": key, "order": json.loads(body)}) + "\n")
        self._outcome.taken += 1

    def _lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def _kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._outcome.kills += 1
        self._outcome.died[self._moment] += 1
        self._left -= 1
        self._moment = self._next_moment()

    def _next_moment(self) -> str:
        if not self._left:
            return ""
        # Only who died on the way, or unanswered, is asked about.
        last = getattr(self, "_moment", "")
        open_ended = last.startswith(("on its way", "taken"))
        return self._dice.choice(
            MOMENTS if open_ended else [one for one in MOMENTS if one != "asked"]
        )


def run_world(seed: str, kills: int) -> Outcome:
    """Live and die `kills` times, deliver everything, and judge."""
    outcome, dice = Outcome(seed=seed), random.Random(seed)
    orders = [f"o{number:04d}" for number in range(kills + 3)]
    with tempfile.TemporaryDirectory(prefix="gnomon-hook-") as name:
        folder = Path(name)
        (folder / "orders").mkdir()
        for order in orders:
            (folder / "orders" / f"{order}.json").write_text(json.dumps({"n": dice.randint(1, 9)}))
        shutil.copy(EXAMPLE, folder)
        hook = _Hook(folder, dice, kills, outcome)
        with _server(hook) as server:
            (folder / "webhook.url").write_text(f"http://127.0.0.1:{server.server_port}/hook")
            _live(folder, hook, outcome, len(orders))
        outcome.problems += judge(folder, orders, hook.orders())
    return outcome


def judge(folder: Path, orders: list[str], taken: list[str]) -> list[str]:
    """Each order was taken once, and the tables know it."""
    counted = Counter(taken)
    found = [f"{order} was taken {counted[order]} times" for order in orders if counted[order] != 1]
    with sqlite3.connect(folder / "workflows.sqlite3") as database:
        for order, status in database.execute(
            "SELECT id, status FROM events WHERE topic = 'orders' AND status <> 'consumed'"
        ):
            found.append(f"{order} is {status}")
        applied = database.execute(
            "SELECT count(*) FROM runs WHERE status = 'committed'"
            " AND mutation_result LIKE '%applied%'"
        ).fetchone()[0]
    database.close()
    if applied != len(orders):
        found.append(f"{applied} runs were committed with a mutation, for {len(orders)} orders")
    return found


def _live(folder: Path, hook: _Hook, outcome: Outcome, orders: int) -> None:
    """Start the process again whenever it was killed, until everything was delivered."""
    while True:
        with hook._lock:
            process = hook.process = subprocess.Popen(
                [sys.executable, "-m", "gnomon", "workflow", "run", "webhook.py"],
                cwd=folder, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        alarm = threading.Timer(PATIENCE_S, process.kill)
        alarm.start()
        said = _watch(process, hook, orders)
        process.wait()
        hangs = not alarm.is_alive()
        alarm.cancel()
        if process.returncode == 0:
            return
        if hangs or process.returncode != -signal.SIGKILL:
            outcome.problems.append(f"ended with {process.returncode}: {said[-800:]}")
            return


def _watch(process: "subprocess.Popen[str]", hook: _Hook, orders: int) -> str:
    """Read what it says; when every order was concluded, tell it to stop."""
    assert process.stderr is not None
    said, is_told = "", False
    for line in process.stderr:
        said += line
        if not is_told and "delivered" in line and len(set(hook.orders())) == orders:
            is_told = True  # to be told twice means not to wait for runs at work
            process.send_signal(signal.SIGTERM)
    process.stderr.close()
    return said


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hook: _Hook


def _server(hook: _Hook) -> "_Running":
    return _Running(hook)


class _Running:
    """The server in a thread, as long as the block lasts."""

    def __init__(self, hook: _Hook) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hook = hook

    def __enter__(self) -> _Server:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.server.hook.post(self.headers["Idempotency-Key"], body):
            self._answer(200)
            self.server.hook.answered()

    def do_GET(self) -> None:
        key = unquote(self.path.rpartition("/hook/")[2])
        self._answer(200 if self.server.hook.get(key) else 404)

    def log_message(self, format: str, *arguments: object) -> None:
        """The file says what was taken."""

    def _answer(self, code: int) -> None:
        try:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(b'{"taken": true}')
            self.wfile.flush()
        except OSError:
            pass  # the caller is gone


if __name__ == "__main__":
    result = run_world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
