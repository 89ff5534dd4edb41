"""
A schedule: what recurs, when in its window, and what to do when that cannot be had.

A `Schedule` is a definition as one value. It says when periods are nominal (`recurrence`), which
second of their window they run at (`decider`, or `jitter_ms` around the nominal instant), how the
policies judge them, and what to start (`target`, text that only a launcher reads). It holds no
state: cursor, pause, revisions and runs are the ledger's.

Spec: SCHED-1 to SCHED-5.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from gnomon.core.civil.duration import format_duration
from gnomon.core.decision.decide import Decider
from gnomon.core.decision.draw import jitter_ms
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError

__all__ = [
    "CONCURRENCY",
    "LAUNCHES_MAX",
    "Catchup",
    "Overlap",
    "PauseRule",
    "Policy",
    "Schedule",
    "Uncertain",
]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
_SECOND = timedelta(seconds=1)
JITTER_MAX_MS = 24 * 3_600_000
LAUNCHES_MAX = 1_000_000
"""Nineteen years at the slowest: as good as until the deadline."""


class Overlap(StrEnum):
    """What a due period does while another run of its schedule is in flight."""

    ALLOW = "allow"
    """It runs beside it."""
    SKIP = "skip"
    """It is dropped."""
    QUEUE = "queue"
    """It waits its turn, first in, first out."""
    REPLACE = "replace"
    """It ends the run in flight and takes its place."""


CONCURRENCY: Mapping[str, Overlap] = {
    "allow": Overlap.ALLOW, "forbid": Overlap.SKIP, "replace": Overlap.REPLACE,
}  # fmt: skip
"""What krontab files and KronJobs call overlap."""


class Catchup(StrEnum):
    """What happens to several periods that became due while no worker was looking."""

    NONE = "none"
    """The newest runs if it is recent; the others are missed."""
    LATEST = "latest"
    """The newest runs, however old; the others are missed."""
    FIRE_IMMEDIATELY = "fire_immediately"
    """All run, oldest first, a bounded number at a time."""
    SPREAD = "spread"
    """All run, spread evenly over the time ahead."""
    RECENT = "recent"
    """The last few run, oldest first; older ones are skipped."""


class PauseRule(StrEnum):
    """What becomes of periods that fall into a pause."""

    SKIP = "skip"
    """They are skipped, in one range, when the pause ends."""
    HOLD = "hold"
    """They have no outcome; when the pause ends they are judged as if they had been overdue."""


class Uncertain(StrEnum):
    """What is done about a run when it is not known whether it was started."""

    RESTART = "restart"
    """Start it again: at least once."""
    RELAUNCH_SAME_KEY = "relaunch_same_key"
    """Start it again under the same key, for a launcher that knows keys: once in effect."""
    ABANDON = "abandon"
    """Leave it: at most once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How the periods of a schedule are judged."""

    overlap: Overlap = Overlap.SKIP
    catchup: Catchup = Catchup.NONE
    deadline: timedelta | None = None
    """How late a period may start, from its chosen instant; None for however late."""
    pause: PauseRule = PauseRule.SKIP
    uncertain: Uncertain = Uncertain.ABANDON
    launches_max: int = 3
    """How often a launch that failed is tried in all."""
    launch_backoff: timedelta = _SECOND
    """How long to wait before the second launch; each further wait is twice as long."""
    lease: timedelta = timedelta(minutes=1)
    """How long a run counts as in flight after its worker was last heard of."""

    def __post_init__(self) -> None:
        _check_duration(self.deadline, where="deadline", zero=True)
        if self.deadline is not None and self.deadline % _SECOND:
            raise DefinitionError(
                "must be whole seconds", where="deadline", got=format_duration(self.deadline),
                hint="write e.g. 90s or 5m",
            )  # fmt: skip
        _check_duration(self.launch_backoff, where="launch_backoff", zero=True)
        _check_duration(self.lease, where="lease", zero=False)
        if not 1 <= self.launches_max <= LAUNCHES_MAX:
            raise DefinitionError(
                f"must lie between 1 and {LAUNCHES_MAX}", where="launches_max",
                got=self.launches_max, hint="write 1 to never try again",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A definition: equal when nothing about it differs."""

    schedule_id: str
    recurrence: Recurrence
    decider: Decider
    jitter_ms: int = 0
    policy: Policy = field(default_factory=Policy)
    target: str = "null"
    """What to start, as canonical JSON that only a launcher reads."""
    starts_ms: int = 0
    """No run starts before this, whatever the window or the jitter says."""
    lead_ms: int = field(init=False, repr=False, compare=False)
    """How long before its nominal instant a period opens."""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.schedule_id):
            raise DefinitionError(
                "must be 1 to 200 letters, digits, dots, underscores or hyphens",
                where="schedule_id", got=self.schedule_id,
                hint="begin with a letter or digit, e.g. billing.nightly",
            )  # fmt: skip
        if not 0 <= self.jitter_ms <= JITTER_MAX_MS:
            raise DefinitionError(
                "must lie between 0 and a day", where="jitter_ms", got=self.jitter_ms,
                hint="write milliseconds, e.g. 5000",
            )  # fmt: skip
        if self.jitter_ms and self.decider.window.length:
            raise DefinitionError(
                "cannot be combined with a window", where="jitter_ms", got=self.jitter_ms,
                hint="write a window of mode around instead",
            )  # fmt: skip
        object.__setattr__(self, "lead_ms", self.decider.window.lead * 1000 + self.jitter_ms)

    @property
    def tail_ms(self) -> int:
        """How long after its nominal instant a period may at the latest be chosen to run."""
        return (self.decider.window.span - self.decider.window.lead) * 1000 + self.jitter_ms

    def chosen_ms(self, nominal: int) -> int | None:
        """The chosen instant of a period; None when no instant of its window is allowed."""
        chosen = self.decider.choose(nominal)
        if chosen is None:
            return None
        chosen_ms = chosen * 1000
        if self.jitter_ms:
            chosen_ms += jitter_ms(f"{self.schedule_id}:{nominal}", self.jitter_ms)
        return chosen_ms if chosen_ms > self.starts_ms else self.starts_ms


def _check_duration(length: timedelta | None, *, where: str, zero: bool) -> None:
    if length is None:
        return
    least = timedelta(0) if zero else timedelta(milliseconds=1)
    if not least <= length <= timedelta(days=366):
        raise DefinitionError(
            f"must lie between {'0s' if zero else '1ms'} and 366 days", where=where,
            got=format_duration(length), hint="write e.g. 5m",
        )  # fmt: skip
