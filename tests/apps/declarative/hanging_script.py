"""
A script whose function never returns: python -m ... STORE [dropped].

`dropped`: it gets a second signal by itself, at a moment at which Python drops the exception of it.
"""

import asyncio
import contextlib
import logging
import signal
import sys
import threading

import gnomon

tasks = gnomon.collect()


@tasks("* * * * *", retry_delay="5m")
def hang() -> None:
    print("hangs", flush=True)
    threading.Event().wait()


class Telling(logging.Handler):
    """Says when the scheduler has begun to wait."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("SchedulerStopRequested"):
            print("waits", flush=True)
            if sys.argv[2:] == ["dropped"]:
                asyncio.get_running_loop().call_soon(interrupt)


def interrupt() -> None:
    """As an interrupt during the callback of a weak reference, whose exceptions Python drops."""
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


if __name__ == "__main__":
    logging.getLogger("gnomon.scheduler").addHandler(Telling())
    logging.getLogger("gnomon.scheduler").setLevel(logging.INFO)
    gnomon.run(tasks, gnomon.Scheduler(sys.argv[1], zone="UTC"))
