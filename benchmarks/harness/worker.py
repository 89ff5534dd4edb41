"""
The worker's side: read an ask, run the cell, write the reply, until the parent closes the pipe.

A cell is prepared once, on its first ask, with one untimed pass; later asks find it warm. What the
measured library prints goes to standard error, so that it cannot break a line of the protocol.
"""

import os
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TextIO

from benchmarks.harness.protocol import (
    Absent,
    Answers,
    Ask,
    Failed,
    Greeting,
    Reply,
    Wish,
    decode_ask,
    encode_greeting,
    encode_reply,
)
from benchmarks.harness.timing import Job, time_job

__all__ = ["Unsupported", "serve", "serve_standard_streams", "versions_of"]


class Unsupported(Exception):  # noqa: N818 - a fact about an engine, not an error
    """Raised while a cell is prepared: the engine does not offer this operation."""


def serve(
    asks: Iterable[str], replies: TextIO, *, greeting: Greeting, prepare: Callable[[str], Job]
) -> None:
    """Answer every ask in turn; `prepare` turns a cell's name into a job."""
    _write(replies, encode_greeting(greeting))
    jobs: dict[str, Job] = {}
    for line in asks:
        _write(replies, encode_reply(_reply(decode_ask(line), jobs, prepare)))


def serve_standard_streams(*, greeting: Greeting, prepare: Callable[[str], Job]) -> None:
    """`serve` over the process's own pipes, with stray prints kept out of the protocol."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as replies:
        sys.stdout = sys.stderr
        serve(sys.stdin, replies, greeting=greeting, prepare=prepare)


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """The installed versions; a distribution that is not there is left out."""
    found: dict[str, str] = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _reply(ask: Ask, jobs: dict[str, Job], prepare: Callable[[str], Job]) -> Reply:
    try:
        job = jobs.get(ask.cell)
        if job is None:
            job = prepare(ask.cell)
            job.run()
            jobs[ask.cell] = job
        if ask.wish is Wish.ANSWERS:
            return Answers(values=job.answers())
        return time_job(job, seconds=ask.seconds)
    except Unsupported as reason:
        return Absent(reason=str(reason))
    except Exception as error:  # whatever a measured library raises is a result
        return Failed(reason=f"{type(error).__name__}: {error}")


def _write(stream: TextIO, line: str) -> None:
    stream.write(line)
    stream.flush()
