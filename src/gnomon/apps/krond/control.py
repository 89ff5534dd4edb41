"""
How a running krond is spoken to: over a socket in its state directory, a line of JSON each way.

`{"command": "status"}` is answered with `{"ok": true, ...}`, or `{"ok": false, "error": "..."}`.
Only the user of the directory may enter it, and so open the socket. A path in a deep directory can
be too long for a socket; it is then reached through a descriptor of the directory.

The socket says nothing about which krond is in charge, the lock of the ledger does. A socket that a
krond left behind gives no answer, and the next krond replaces it.

Spec: KROND-31.
"""

import asyncio
import contextlib
import json
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

from gnomon.apps.krond.state import StateDirectory
from gnomon.errors import StoreError
from gnomon.shell.observe.log import log

__all__ = ["Answer", "ask", "serving"]

Answer = dict[str, object]
LINE_MAX = 1_000_000
"""The longest line that is read."""
PATIENCE_S = 60.0
"""How long an answer may take."""
_UNHURRIED = ("stop", "run-now", "replan")
"""What is answered when it is done, however long that takes."""


@contextlib.asynccontextmanager
async def serving(
    state: StateDirectory, answer: Callable[[Mapping[str, object]], Awaitable[Answer]]
) -> AsyncIterator[None]:
    """Answer on the socket while this lasts; a caller that waits then hears that it is over."""
    talking: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.add(task)
        with contextlib.suppress(asyncio.CancelledError):  # it is over, and that is no failure
            await _talk(reader, writer, answer)
        talking.discard(task)
        writer.close()

    with _bound(state.socket) as listener:
        server = await asyncio.start_unix_server(talk, sock=listener, limit=LINE_MAX)
        try:
            yield
        finally:
            server.close()
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)
            state.socket.unlink(missing_ok=True)


def ask(state: StateDirectory, command: str, **arguments: object) -> Answer | None:
    """Ask a running krond; None when none is running."""
    with contextlib.ExitStack() as closing:
        try:
            folder = closing.enter_context(_folder(state.socket.parent))
            speaker = closing.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            speaker.settimeout(None if command in _UNHURRIED else PATIENCE_S)
            speaker.connect(f"{folder}/{state.socket.name}")
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(
                f"cannot be spoken to ({error.strerror})", where=str(state.socket),
                hint="be the user that krond runs as",
            ) from error  # fmt: skip
        try:
            speaker.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            with speaker.makefile("rb") as lines:
                line = lines.readline(LINE_MAX)
                if command == "stop":
                    lines.read()  # until it is over
        except TimeoutError as error:
            raise StoreError(
                "does not answer", where=str(state.socket), hint="is krond stopped, or swapped out?"
            ) from error
        except ConnectionError:  # it died at this very moment
            line = b""
        answer = json.loads(line) if line else {"ok": False, "error": "krond is gone"}
    assert isinstance(answer, dict)
    return answer


async def _talk(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
    answer: Callable[[Mapping[str, object]], Awaitable[Answer]],
) -> None:  # fmt: skip
    with contextlib.suppress(ConnectionError, ValueError):  # a line that is too long, too
        while line := await reader.readline():
            try:
                request = json.loads(line)
            except ValueError:
                request = None
            if isinstance(request, dict):
                reply = await _answered(request, answer)
            else:
                reply = {"ok": False, "error": "a line must be a JSON object"}
            writer.write(json.dumps(reply, default=str).encode() + b"\n")
            await writer.drain()


async def _answered(
    request: Mapping[str, object], answer: Callable[[Mapping[str, object]], Awaitable[Answer]]
) -> Answer:
    try:
        return await answer(request)
    except Exception as error:
        log(logging.ERROR, "error", failure=error, message="a request could not be answered")
        return {"ok": False, "error": str(error)}


@contextlib.contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    """A socket that only this user can open; by the lock, no other krond listens on it."""
    with contextlib.ExitStack() as closing:
        folder = closing.enter_context(_folder(path.parent))
        listener = closing.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        path.unlink(missing_ok=True)
        try:
            listener.bind(f"{folder}/{path.name}")
            path.chmod(0o600)
        except OSError as error:
            raise StoreError(
                f"cannot be made ({error.strerror})", where=str(path),
                hint="name another directory with --state-dir",
            ) from error  # fmt: skip
        yield listener


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[str]:
    """A short name for a directory, however deep it lies."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
