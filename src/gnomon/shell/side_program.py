"""
A program that is asked something: text goes in, text comes out.

It runs in a group of its own, which ends when the caller gives up or the program says too much.

Spec: FAIL-20, SEEN-13.
"""

import asyncio
import os
import shlex
import shutil
import signal
from contextlib import suppress

from gnomon.errors import DefinitionError

__all__ = ["OUTPUT_MAX", "ProgramFailedError", "ask_program", "read_program"]

OUTPUT_MAX = 4_000_000
"""The most bytes that a program may answer with."""
_SAID_MAX = 2_000


class ProgramFailedError(Exception):
    """It could not be started, said too much, or ended with another code than 0."""


def read_program(text: str, *, where: str) -> list[str]:
    """A program with its arguments, as a shell reads them; `DefinitionError` if it is not there."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise DefinitionError(
            f"must be a command with its arguments ({error})", where=where, got=text,
            hint="close the quotes",
        ) from None  # fmt: skip
    if not words or shutil.which(words[0]) is None:
        raise DefinitionError(
            "must be a program that is there and can be run", where=where, got=text,
            hint="write its full path, and its arguments behind it",
        )  # fmt: skip
    return words


async def ask_program(words: list[str], text: str) -> str:
    """What the program prints when it was given this text; cancelled, its whole group is ended."""
    process = await _start(words)
    try:
        answer, said, _ = await asyncio.gather(
            _read(process.stdout, OUTPUT_MAX), _read(process.stderr, OUTPUT_MAX),
            _write(process.stdin, text.encode()),
        )  # fmt: skip
        code = await process.wait()
    finally:
        await _end(process)
    if code:
        tail = said.decode("utf-8", "replace").strip()[-_SAID_MAX:]
        raise ProgramFailedError(f"{words[0]} exited with {code}: {tail}")
    try:
        return answer.decode()
    except UnicodeDecodeError:
        raise ProgramFailedError(f"{words[0]} must answer in UTF-8") from None


async def _start(words: list[str]) -> asyncio.subprocess.Process:
    """The program at work; given up meanwhile, it is not left behind."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )
    )  # fmt: skip
    try:
        return await asyncio.shield(starting)
    except OSError as error:
        raise ProgramFailedError(f"{words[0]}: {error.strerror}") from error
    except asyncio.CancelledError:
        with suppress(OSError):
            await _end(await starting)
        raise


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.shield(process.wait())


async def _read(stream: asyncio.StreamReader | None, most: int) -> bytes:
    assert stream is not None
    found = bytearray()
    while part := await stream.read(65_536):
        found += part
        if len(found) > most:
            raise ProgramFailedError(f"must say at most {most} bytes")
    return bytes(found)


async def _write(stream: asyncio.StreamWriter | None, text: bytes) -> None:
    assert stream is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read what it is given
        stream.write(text)
        await stream.drain()
        stream.close()
        await stream.wait_closed()
