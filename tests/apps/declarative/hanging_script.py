"""A script whose function never returns: python -m ... STORE."""

import logging
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


if __name__ == "__main__":
    logging.getLogger("gnomon.scheduler").addHandler(Telling())
    logging.getLogger("gnomon.scheduler").setLevel(logging.INFO)
    gnomon.run(tasks, gnomon.Scheduler(sys.argv[1], zone="UTC"))
