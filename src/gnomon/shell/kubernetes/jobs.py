"""
The Jobs that one process looks after: made once, let run once, waited for, ended.

A Job is made suspended and known by its uid from then on; its maker writes the uid down before it
has the Job released. A name that is taken by a Job with the same key is that Job, made by an
earlier question whose answer did not arrive, or by another worker. What the server does not answer,
or refuses for now, is asked again for as long as it takes; what it refuses for good is said.

A watch tells of ends. That a Job has gone, only the server says.

Spec: EXEC-41 to EXEC-45.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from gnomon.ports import Clock
from gnomon.ports.kubernetes import (
    GROUP,
    Answer,
    ApiServer,
    Create,
    Delete,
    Denial,
    Denied,
    Done,
    Find,
    Get,
    Kind,
    Object,
    Propagation,
)
from gnomon.ports.kubernetes_object import (
    CANDIDATE,
    JobEnd,
    at,
    job_end,
    mapping,
    release_job,
    say,
    text,
)
from gnomon.shell.kubernetes.mirror import Mirror
from gnomon.shell.observe.log import log

__all__ = ["KEY", "RUN_LABEL", "STATE", "JobAt", "Jobs"]

RUN_LABEL = f"{GROUP}/run"
"""The label of every Job that is looked after; its value is in the Job's name too."""
KEY, STATE = f"{GROUP}/key", f"{GROUP}/run-state"
"""Annotations: what the Job was made for, and whether it has been released."""

LOOK_MS = 300_000
"""A Job of which nothing is heard is asked about so often."""

_BACKOFF_MS = (200, 500, 1_000, 2_000, 5_000, 15_000, 30_000)
_FOR_GOOD = frozenset(
    {
        Denial.INVALID,
        Denial.FORBIDDEN,
        Denial.NOT_FOUND,
        Denial.NO_SUCH_KIND,
        Denial.TERMINATING,
        Denial.TOO_LARGE,
    }
)
"""Why a server will not make a Job, however often it is asked."""


class JobAt(NamedTuple):
    """Which Job it is, among all that ever were."""

    name: str
    uid: str


@dataclass(slots=True, eq=False)
class _Waiter:
    """A caller that waits for the end of a Job."""

    told: asyncio.Event = field(default_factory=asyncio.Event)
    end: JobEnd | None = None


class Jobs:
    """The Jobs of one namespace that have the label."""

    def __init__(self, api: ApiServer, clock: Clock, namespace: str) -> None:
        self._api, self._clock, self._namespace = api, clock, namespace
        self._waiters: dict[str, set[_Waiter]] = {}
        self._watching: asyncio.Task[None] | None = None
        self._seen = Mirror(
            api,
            clock,
            Find(Kind.JOB, namespace, {RUN_LABEL: None}),
            group_of=lambda job: text(job, "metadata", "uid"),
            slim=self._read,
            changed=self._changed,
        )

    async def make(self, job: Object) -> JobAt | str:
        """The Job of this name and key, suspended when it is new; else why there can be none."""
        name, failures = text(job, "metadata", "name"), 0
        while True:
            answer = await self._api.send(Create(Kind.JOB, self._namespace, job))
            if isinstance(answer, Denied) and answer.why is Denial.EXISTS:
                found = await self._get(name)
                if isinstance(found, Done):
                    if text(found.object, *_KEY) != text(job, *_KEY):
                        return f"the name {name} is taken by another Job"
                    if not _is_dying_candidate(found.object):
                        return _at(found.object)
            elif isinstance(answer, Done):
                return _at(answer.object)
            elif isinstance(answer, Denied) and answer.why in _FOR_GOOD:
                return f"no Job can be made: {say(answer)}"
            failures = await self._rest("a Job cannot be made yet", name, answer, failures)

    async def release(self, job: JobAt, template: Object) -> None:
        """Let it run, if nothing has before; one that has gone meanwhile is left to `ended`."""
        failures = 0
        call = release_job(self._namespace, job.name, job.uid, state=STATE, template=template)
        while True:
            answer = await self._api.send(call)
            if isinstance(answer, Done) or _says(answer, Denial.NOT_FOUND):
                return
            if _says(answer, Denial.INVALID) and not await self._is_candidate(job):
                return
            failures = await self._rest("a Job cannot be released yet", job.name, answer, failures)

    async def ended(self, job: JobAt) -> JobEnd | None:
        """How it ends; None when it has gone, and its end was not seen."""
        with self._waits_for(job) as waiter:
            while await self._is_there(job, waiter):
                if waiter.end is None:
                    await self._rest_until(waiter)
                if waiter.end is not None:
                    break
            return waiter.end

    async def end(self, job: JobAt) -> None:
        """Delete it, and come back when it has gone with its pods."""
        failures = 0
        call = Delete(Kind.JOB, self._namespace, job.name, job.uid, Propagation.FOREGROUND)
        with self._waits_for(job) as waiter:
            while True:
                answer = await self._api.send(call)
                if isinstance(answer, Done) or _says(answer, Denial.NOT_FOUND, Denial.CONFLICT):
                    break
                failures = await self._rest("a Job cannot be ended", job.name, answer, failures)
            while await self._is_there(job, waiter):
                await self._rest_until(waiter)

    async def discard(self, job: Object) -> None:
        """End what may have come of making a Job whose uid is not known."""
        found = await self._get(text(job, "metadata", "name"))
        if isinstance(found, Done) and text(found.object, *_KEY) == text(job, *_KEY):
            await self.end(_at(found.object))

    async def close(self) -> None:
        """Stop watching; the Jobs go on."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    async def _get(self, name: str) -> Answer:
        return await self._api.send(Get(Kind.JOB, self._namespace, name))

    async def _is_candidate(self, job: JobAt) -> bool:
        found = await self._get(job.name)
        return not isinstance(found, Done) or (
            _at(found.object) == job and text(found.object, *_STATE) == CANDIDATE
        )

    async def _is_there(self, job: JobAt, waiter: _Waiter) -> bool:
        """Ask the server, however long that takes; an end that it shows is kept."""
        failures = 0
        while True:
            waiter.told.clear()
            answer = await self._get(job.name)
            if isinstance(answer, Done):
                if text(answer.object, "metadata", "uid") != job.uid:
                    return False
                waiter.end = waiter.end or job_end(answer.object)
                return True
            if _says(answer, Denial.NOT_FOUND):
                return False
            failures = await self._rest("a Job cannot be seen", job.name, answer, failures)

    async def _rest(self, trouble: str, name: str, answer: Answer, failures: int) -> int:
        """Wait before the next try; how many there were."""
        wait_ms = _BACKOFF_MS[min(failures, len(_BACKOFF_MS) - 1)]
        if isinstance(answer, Denied) and answer.retry_after_ms is not None:
            wait_ms = max(wait_ms, answer.retry_after_ms)
        log(logging.WARNING, trouble, job=name, answer=say(answer), wait_ms=wait_ms)
        await self._clock.sleep_ms(wait_ms)
        return failures + 1

    async def _rest_until(self, waiter: _Waiter) -> None:
        """Until the watch tells something, or for long enough to ask once more."""
        telling = asyncio.ensure_future(waiter.told.wait())
        alarm = asyncio.ensure_future(self._clock.sleep_ms(LOOK_MS))
        try:
            await asyncio.wait({telling, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            telling.cancel()
            alarm.cancel()
            await asyncio.gather(telling, alarm, return_exceptions=True)

    @contextmanager
    def _waits_for(self, job: JobAt) -> Iterator[_Waiter]:
        if self._watching is None:
            self._watching = asyncio.create_task(self._seen.run())
        waiter = _Waiter()
        self._waiters.setdefault(job.uid, set()).add(waiter)
        try:
            yield waiter
        finally:
            self._waiters[job.uid].discard(waiter)
            if not self._waiters[job.uid]:
                del self._waiters[job.uid]

    def _read(self, job: Object) -> Object:
        """Tell of an end; little of the Job need be kept."""
        metadata = mapping(job, "metadata")
        end = job_end(job)
        if end is not None:
            for waiter in self._waiters.get(text(metadata, "uid"), ()):
                waiter.end = end
                waiter.told.set()
        return {"metadata": {key: metadata.get(key) for key in ("uid", "resourceVersion")}}

    def _changed(self, uid: str) -> None:
        if not self._seen.of(uid):
            for waiter in self._waiters.get(uid, ()):
                waiter.told.set()


_KEY, _STATE = ("metadata", "annotations", KEY), ("metadata", "annotations", STATE)


def _at(job: Object) -> JobAt:
    return JobAt(text(job, "metadata", "name"), text(job, "metadata", "uid"))


def _is_dying_candidate(job: Object) -> bool:
    """Whether it is being deleted and was never let run: another one may take its place."""
    is_deleting = at(job, "metadata", "deletionTimestamp") is not None
    return is_deleting and text(job, *_STATE) == CANDIDATE


def _says(answer: Answer, *why: Denial) -> bool:
    return isinstance(answer, Denied) and answer.why in why
