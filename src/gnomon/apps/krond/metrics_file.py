"""
The file of metrics: written when something has changed, and touched when nothing has.

A reader sees a whole page, never a part of one, and by its age whether krond still lives.
An idle krond with many jobs writes nothing: the next second of a job is computed again only when it
has passed, and the page only when a figure is another.

Spec: METRICS-5.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gnomon.apps.krond.counts import KrondFacts, Tally, krond_families
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.status import next_chosen
from gnomon.ports import Clock
from gnomon.shell.observe.log import log
from gnomon.shell.observe.prometheus import page_text

__all__ = ["EVERY_MS", "MetricsFile"]

EVERY_MS = 30_000
_MODE = 0o644


class MetricsFile:
    """Keeps a file of metrics up to date."""

    def __init__(
        self, path: Path, clock: Clock, tally: Tally, *,
        jobs: Callable[[], Sequence[Job]], facts: Callable[[], KrondFacts],
    ) -> None:  # fmt: skip
        self._path = path
        self._clock = clock
        self._tally = tally
        self._jobs = jobs
        self._facts = facts
        self._upcoming: dict[str, tuple[Job, int | None]] = {}
        self._written: tuple[int, Sequence[Job], bool, int] | None = None

    async def work(self) -> None:
        """Keep it up to date until cancelled; a file that cannot be written is logged."""
        while True:
            try:
                self.update()
            except OSError as error:
                log(logging.WARNING, "metrics cannot be written", message=str(error))
            await self._clock.sleep_ms(EVERY_MS)

    def update(self) -> None:
        """Write the page if it is another, else say that it still holds."""
        now, jobs, facts = self._clock.now_ms() // 1000, self._jobs(), self._facts()
        moved = self._look_ahead(jobs, now)
        state = (self._tally.version, jobs, facts.is_valid, facts.active)
        if moved or state != self._written or not self._path.exists():
            found = {key: at for key, (_, at) in self._upcoming.items() if at is not None}
            self._write(page_text(krond_families(jobs, self._tally, facts, upcoming=found)))
            self._written = state
        else:
            os.utime(self._path)

    def _look_ahead(self, jobs: Sequence[Job], now: int) -> bool:
        """Find the next second of jobs whose last one has passed; whether there were any."""
        before = self._upcoming
        self._upcoming = {}
        moved = len(before) != len(jobs)
        for job in jobs:
            known = before.get(job.schedule_id)
            if known is None or known[0] is not job or (known[1] is not None and known[1] <= now):
                known, moved = (job, next_chosen(job.schedule, now)), True
            self._upcoming[job.schedule_id] = known
        return moved

    def _write(self, text: str) -> None:
        beside = self._path.with_name(f".{self._path.name}.new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _MODE)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), _MODE)  # another user's exporter reads it
                file.write(text)
            os.replace(beside, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
