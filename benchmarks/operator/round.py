"""One contender on a cluster of its own: what is made, what is waited for, what is read."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.operator.contender import Contender, Start, instant
from gnomon.simulation.operator.duty import text
from tests.kube.caller import Caller
from tests.kube.cluster import Cluster
from tests.kube.process import Process, until

__all__ = ["Dose", "Figures", "play"]

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_LIMIT_S = 900.0
_QUIET_S = 10.0
_AHEAD_S = 30.0
"""So long before their minute all that are due in it have been made, at least."""
_MADE_A_SECOND = 50
"""Slower than any machine makes objects, to know which minute is late enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dose:
    objects: int
    due: int
    idle_s: float


@dataclass(slots=True, kw_only=True)
class Figures:
    """What one round measured."""

    contender: str
    objects: int
    due: int
    ready_s: float = 0.0
    settled_s: float = 0.0
    """From its start to the last request before it was quiet."""
    memory_mb: float = 0.0
    idle_requests_a_minute: float = 0.0
    idle_processor: float = 0.0
    """Share of a core."""
    started: int = 0
    late_p50_s: float = 0.0
    late_p99_s: float = 0.0
    late_max_s: float = 0.0
    busy_processor_s: float = 0.0
    busy_requests: int = 0
    twice: int = 0
    """Objects that were started more than once for their minute."""


def play(contender: Contender, dose: Dose, progress: Callable[[str], None]) -> Figures:
    figures = Figures(contender=contender.name, objects=dose.objects, due=dose.due)
    with Cluster(controller_options=contender.controller_options) as cluster:
        one = _Round(cluster, contender, progress)
        try:
            one.rest(dose, figures)
            one.rush(dose, figures)
        finally:
            one.close()
    return figures


class _Round:
    def __init__(
        self, cluster: Cluster, contender: Contender, progress: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._contender = contender
        self._progress = progress
        self._caller = Caller(cluster.kubeconfig())
        self._process: Process | None = None

    def close(self) -> None:
        self._caller.close()
        if self._process is not None:
            self._process.kill()

    def rest(self, dose: Dose, figures: Figures) -> None:
        """Start it over objects that are due once a year, and leave it alone."""
        self._contender.prepare(self._cluster)
        self._make("rest", dose.objects, lambda number: f"{number % 60} 3 1 {_far_month()} *")
        self._progress("starting the controller")
        began, began_wall = time.monotonic(), time.time()
        self._process = self._contender.start(self._cluster)
        self._process.wait_until(lambda: self._contender.complaint(self._cluster), limit_s=_LIMIT_S)
        figures.ready_s = time.monotonic() - began
        until(self._noise, limit_s=_LIMIT_S)
        figures.settled_s = max((at for at, _ in self._requests()), default=began_wall) - began_wall
        self._progress(f"settled after {figures.settled_s:.1f} s; resting {dose.idle_s:.0f} s")
        since, processor = time.time(), _processor_s(self._process.pid)
        time.sleep(dose.idle_s)
        passed = time.time() - since
        asked = sum(at >= since for at, _ in self._requests())
        figures.idle_requests_a_minute = 60 * asked / passed
        figures.idle_processor = (_processor_s(self._process.pid) - processor) / passed
        figures.memory_mb = _memory_mb(self._process.pid)

    def rush(self, dose: Dose, figures: Figures) -> None:
        """Make more, all of them due in one minute, and see when each may run."""
        assert self._process is not None
        ready = time.time() + _AHEAD_S + dose.due / _MADE_A_SECOND
        minute = int(ready) // 60 * 60 + 60
        when = time.gmtime(minute)
        schedule = f"{when.tm_min} {when.tm_hour} {when.tm_mday} {when.tm_mon} *"
        self._make("rush", dose.due, lambda _: schedule)
        assert time.time() < minute - _AHEAD_S / 2, "the objects were made too slowly"
        self._progress(f"waiting for {schedule}")
        time.sleep(max(minute - 5 - time.time(), 0))
        since, processor = time.time(), _processor_s(self._process.pid)
        found: list[Start] = []

        def missing() -> str | None:
            found[:] = self._starts()
            return None if len({one.owner for one in found}) >= dose.due else f"{len(found)} ran"

        try:
            until(missing, limit_s=_LIMIT_S)
        except TimeoutError as error:
            self._progress(f"not all ran: {error}")
        figures.busy_processor_s = _processor_s(self._process.pid) - processor
        figures.busy_requests = sum(at >= since for at, _ in self._requests())
        late = sorted(one.late_s for one in found)
        figures.started = len({one.owner for one in found})
        figures.twice = len(found) - figures.started
        if late:
            figures.late_p50_s = late[len(late) // 2]
            figures.late_p99_s = late[min(len(late) * 99 // 100, len(late) - 1)]
            figures.late_max_s = late[-1]

    def _make(self, stem: str, count: int, schedule: Callable[[int], str]) -> None:
        self._caller.close()  # the server gives up a line that rested, and a request opens another
        for number in range(count):
            if number % 1000 == 0:
                self._progress(f"making {self._contender.kind}s: {number:,} of {count:,}")
            self._caller.done("POST", self._contender.path, {
                "apiVersion": self._contender.version, "kind": self._contender.kind,
                "metadata": {"name": f"{stem}-{number:05d}"},
                "spec": self._contender.spec(schedule(number)),
            })  # fmt: skip

    def _noise(self) -> str | None:
        """Why it is not quiet: it wrote something a moment ago."""
        latest = max((at for at, verb in self._requests() if verb not in _READS), default=0.0)
        return "it still writes" if time.time() - latest < _QUIET_S else None

    def _requests(self) -> list[tuple[float, str]]:
        """When the controller asked for something, and the verb."""
        return [
            (instant(text(event, "requestReceivedTimestamp")), text(event, "verb"))
            for event in self._cluster.audit()
            if text(event, "stage") == "RequestReceived"
            and text(event, "user", "username") == self._contender.user
            and text(event, "objectRef", "resource") != "leases"
        ]

    def _starts(self) -> list[Start]:
        found = (
            self._contender.start_of(event)
            for event in self._cluster.audit()
            if text(event, "stage") == "ResponseComplete"
            and text(event, "objectRef", "resource") == "jobs"
            and text(event, "user", "username") == self._contender.user
        )
        return [one for one in found if one is not None and one.owner.startswith("rush-")]


_READS = {"get", "list", "watch"}


def _far_month() -> int:
    """A month that does not begin while this runs."""
    return (time.gmtime().tm_mon + 5) % 12 + 1


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND


def _memory_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("a process without memory")
