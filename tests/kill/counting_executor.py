"""
An executor that counts: `python -m tests.kill.counting_executor FOLDER SEED SECRET`

A process of its own, which shares no code with Gnomon. It takes runs on over HTTP, checks that they
are signed, and makes one effect for each idempotency key: a line in its own file, on the disk
before it answers. Sometimes it is too busy, sometimes it makes the effect and does not answer, or
answers that it failed. It calls back with what became of a run, sometimes twice or in the wrong
order, until the worker accepts. It prints its port and lives until its input is closed.
"""

import heapq
import hmac
import http.client
import json
import os
import random
import sys
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

__all__ = ["KEY_ID"]

KEY_ID = "kill"
AGAIN_S = 0.05
BUSY, SILENT, BROKEN = 0.05, 0.1, 0.15
"""Up to which draw of the dice what goes wrong with a request."""


class Book:
    """The keys that are known, and their effects."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.dice = random.Random(seed)
        self.lock = threading.Lock()
        self._effects = (folder / "effects.txt").open("a")
        self._asked = (folder / "asked.txt").open("a")
        self._known: set[str] = set()

    def draw(self) -> float:
        with self.lock:
            return self.dice.random()

    def take_on(self, meta: dict[str, str]) -> bool:
        """Make the effect of a run, unless it was made; whether it is new."""
        key = meta["idempotency_key"]
        with self.lock:
            _append(self._asked, f"{key} {meta['attempt']}")
            if key in self._known:
                return False
            self._known.add(key)
            _append(self._effects, f"{meta['schedule_id']} {meta['scheduled_for']} ran")
            return True


class Caller(threading.Thread):
    """Calls back when it is time, and again until the worker accepts."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(daemon=True)
        self._secret = secret
        self._some = threading.Condition()
        self._calls: list[tuple[float, int, str, bytes]] = []
        self._count = 0

    def add(self, after_s: float, url: str, key: str, status: str) -> None:
        body = json.dumps({"idempotency_key": key, "status": status, "run_id": f"r-{key[:8]}"})
        with self._some:
            self._count += 1
            call = (time.monotonic() + after_s, self._count, url, body.encode())
            heapq.heappush(self._calls, call)
            self._some.notify()

    def forget(self, key: str) -> None:
        """A run was ended from outside: that is all there is to say about it."""
        with self._some:
            mine = [call for call in self._calls if key.encode() in call[3]]
            self._calls = [call for call in self._calls if call not in mine]
            heapq.heapify(self._calls)
        for *_, url, _ in mine[:1]:
            self.add(0, url, key, "FAILED")

    def run(self) -> None:
        while True:
            with self._some:
                while not self._calls:
                    self._some.wait()
                left = self._calls[0][0] - time.monotonic()
                if left > 0:
                    self._some.wait(left)
                    continue
                _, number, url, body = heapq.heappop(self._calls)
            if not self._call(url, body):
                with self._some:
                    heapq.heappush(self._calls, (time.monotonic() + AGAIN_S, number, url, body))

    def _call(self, url: str, body: bytes) -> bool:
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.netloc, timeout=10)
        try:
            connection.request("POST", place.path, body, _signed(self._secret, "callback", body))
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Counter(ThreadingHTTPServer):
    """Goes on when a caller dies before the answer."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class Desk(BaseHTTPRequestHandler):
    """Answers one request."""

    book: Book
    caller: Caller
    secret: bytes

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        given = {name.lower(): value for name, value in self.headers.items()}
        right = _mac(self.secret, "run", given["gnomon-timestamp"], body)
        meta = json.loads(body)["meta"]
        if (
            given["gnomon-signature"] != right
            or given["idempotency-key"] != meta["idempotency_key"]
        ):
            self.send_error(401)
            return
        draw = self.book.draw()
        if draw < BUSY:
            self._answer(503, {}, retry_after=True)
            return
        if self.book.take_on(meta):
            self._call_back(meta)
        if draw < SILENT:
            self.close_connection = True
        elif draw < BROKEN:
            self.send_error(500)
        else:
            self._answer(202, {"run_id": f"r-{meta['idempotency_key'][:8]}"})

    def do_DELETE(self) -> None:
        """End a run: the executor never calls back with its success."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.caller.forget(self.headers["Idempotency-Key"])
        self._answer(200, {})

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _call_back(self, meta: dict[str, str]) -> None:
        url, key = meta["callback_url"], meta["idempotency_key"]
        length = 1.2 if meta["schedule_id"].startswith("slow") else self.book.draw() * 0.2
        self.caller.add(length * self.book.draw() * 1.5, url, key, "STARTED")
        self.caller.add(length, url, key, "SUCCESS")
        if self.book.draw() < 0.2:
            self.caller.add(length * 2, url, key, "SUCCESS")

    def _answer(self, status: int, said: object, *, retry_after: bool = False) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)


def _append(file: TextIO, line: str) -> None:
    file.write(f"{line}\n")
    file.flush()
    os.fsync(file.fileno())


def _mac(secret: bytes, purpose: str, second: str, body: bytes) -> str:
    text = f"gnomon-1\n{purpose}\n{KEY_ID}\n{second}\n".encode() + body
    return hmac.new(secret, text, sha256).hexdigest()


def _signed(secret: bytes, purpose: str, body: bytes) -> dict[str, str]:
    second = str(int(time.time()))
    return {
        "Gnomon-Key-Id": KEY_ID,
        "Gnomon-Timestamp": second,
        "Gnomon-Signature": _mac(secret, purpose, second, body),
    }


def main(folder: str, seed: str, secret: str) -> None:
    Desk.secret = bytes.fromhex(secret)
    Desk.book = Book(Path(folder), seed)
    Desk.caller = Caller(Desk.secret)
    Desk.caller.start()
    server = Counter(("127.0.0.1", 0), Desk)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:4])
