"""
How is the runtime doing? Counters and lag as plain values, and log lines with fields.

A live table, a metrics page or a test shows the values. Log lines go through the standard
`logging`, because a library does not choose for its host: the text is a sentence, and the record
carries the same facts as `fields`, which `JsonLines` prints as JSON.

Spec: RUN-11, RUN-12.
"""

import dataclasses
import json
import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

__all__ = ["LOGGER", "JsonLines", "Lag", "Telemetry", "log", "log_facts", "logs_to"]

LOGGER = logging.getLogger("gnomon.runtime")
JUMP_MS = 2_000
_BOUNDS_MS = (
    1, 2, 5, 10, 20, 40, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000,
)  # fmt: skip


@dataclass(slots=True)
class Lag:
    """How long after their chosen instants runs were launched, as a histogram."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS_MS) + 1))
    count: int = 0
    total_ms: int = 0
    max_ms: int = 0

    def add(self, lag_ms: int, times: int = 1) -> None:
        lag_ms = max(lag_ms, 0)
        self.counts[bisect_left(_BOUNDS_MS, lag_ms)] += times
        self.count += times
        self.total_ms += lag_ms * times
        self.max_ms = max(self.max_ms, lag_ms)

    def add_all(self, now_ms: int, chosen_ms: Iterable[int]) -> None:
        """Launches at `now_ms`, by their chosen instants, of which many are the same."""
        for at_ms, times in Counter(chosen_ms).items():
            self.add(now_ms - at_ms, times)

    def buckets(self) -> dict[int, int]:
        """For each bound in milliseconds, how many were not later than that."""
        total, found = 0, {}
        for bound, count in zip(_BOUNDS_MS, self.counts, strict=False):
            total += count
            found[bound] = total
        return found

    def within_ms(self, share: float) -> int:
        """A bound that at least this share of the launches kept; 0 when there were none."""
        for bound, count in self.buckets().items():
            if count >= share * self.count:
                return min(bound, self.max_ms)
        return self.max_ms


@dataclass(slots=True)
class Telemetry:
    """What a runtime has done since it began."""

    turns: int = 0
    claims_won: int = 0
    claims_lost: int = 0
    """Starts that were planned and not granted, because another writer was faster."""
    launches: int = 0
    launches_failed: int = 0
    ends: int = 0
    ends_failed: int = 0
    reports_refused: int = 0
    leases_lost: int = 0
    ledger_errors: int = 0
    clock_jumps: int = 0
    lag: Lag = field(default_factory=Lag)
    set_back: Callable[[], None] | None = None
    """Called when the clock was set back."""
    _last: tuple[int, int] | None = None

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        found = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, int)}

    def see_clock(self, now_ms: int, monotonic_ms: int) -> None:
        """Compare what two readings of the two clocks say has passed; a difference is a jump."""
        last, self._last = self._last, (now_ms, monotonic_ms)
        if last is None:
            return
        step_ms = (now_ms - last[0]) - (monotonic_ms - last[1])
        if abs(step_ms) > JUMP_MS:
            self.clock_jumps += 1
            log(logging.WARNING, "the clock was set", step_ms=step_ms)
            if step_ms < 0 and self.set_back is not None:
                self.set_back()


class JsonLines(logging.Formatter):
    """One JSON object a line; control characters cannot break out of it."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "at": at.replace("+00:00", "Z"), "level": record.levelname.lower(),
        }  # fmt: skip
        found = getattr(record, "fields", None)
        if isinstance(found, dict):
            line |= found
        else:
            line["event"] = record.getMessage()
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log(level: int, event: str, *, failure: BaseException | None = None, **facts: object) -> None:
    """One line about the runtime: a sentence and its facts."""
    log_facts(level, event, facts, failure=failure)


def log_facts(
    level: int, event: str, facts: Mapping[str, object], *, failure: BaseException | None = None
) -> None:
    """The same, for facts under any names."""
    if LOGGER.isEnabledFor(level):
        text = "".join(f" {name}={fact!r}" for name, fact in facts.items())
        line = f"{event}:{text}" if facts else event
        fields = {"event": event, **facts}
        LOGGER.log(level, "%s", line, exc_info=failure, extra={"fields": fields})


@contextmanager
def logs_to(handler: logging.Handler, *, level: int = logging.INFO) -> Iterator[None]:
    """Within this block the lines about the runtime go to this handler, and nowhere else."""
    former, propagates = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(former)
        LOGGER.propagate = propagates
