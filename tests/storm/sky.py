"""
What everybody in a storm shares: the time, the names, and the definitions that are drawn.

The time is virtual, so that an hour of periods passes in seconds. It stands still during a gust.
Either all clocks are right, or each is wrong in its own way, by a little or by more than a period,
and only that of the database is right. Each part of a storm draws from a generator of its own, made
from the seed and its name.
"""

from random import Random

from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule

__all__ = ["FIRST_MS", "IDS", "LAST", "Clock", "Sky", "draw_schedule"]

FIRST_MS = 1_772_323_230_000  # 2026-03-01T00:00:30Z
IDS = tuple(f"s{number}" for number in range(8))
LAST = "last"
_STEPS_MS = (1, 999, 20_000, 60_000, 60_000, 60_000, 90_000)
_OVERLAPS = ("allow", "skip", "queue", "queue", "replace")
_CATCHUPS = ("none", "latest", "fire_immediately", "spread", "recent")
_UNCERTAIN = ("restart", "relaunch_same_key", "abandon")
_APART_MS = (0, 0, 700, -700, 5_000, -5_000, 95_000, -95_000)
_TARGETS: tuple[object, ...] = (None, {"start_by_ms": 20_000}, {"finish_by_ms": 90_000})


class Clock:
    """What a worker or a person takes for the time."""

    def __init__(self, sky: "Sky", apart_ms: int) -> None:
        self._sky, self._apart_ms = sky, apart_ms

    @property
    def now_ms(self) -> int:
        return self._sky.now_ms + self._apart_ms


class Sky:
    """The time of a storm, and numbers that it gives out once each."""

    def __init__(self, seed: str, *, apart: bool) -> None:
        self.seed, self.apart = seed, apart
        self.now_ms = FIRST_MS
        self.fashion = 0.0
        """What people prefer at the moment, as a part of one: rare pairs meet more often so."""
        self._number = 0
        self._random = self.random("time")

    def random(self, name: str) -> Random:
        return Random(f"{self.seed}:{name}")

    def clock(self, name: str) -> Clock:
        """The clock of a worker or a person; the last worker has the right one."""
        is_right = not self.apart or name == LAST
        return Clock(self, 0 if is_right else self.random(f"clock {name}").choice(_APART_MS))

    def change(self) -> None:
        """Something else comes into fashion."""
        self.fashion = self._random.random()

    def pass_by(self) -> None:
        """Let some time pass, before the next gust."""
        self.now_ms += self._random.choice(_STEPS_MS)

    def number(self) -> int:
        self._number += 1
        return self._number


def draw_schedule(random: Random, schedule_id: str) -> Schedule:
    """A definition with any policies; its nominal instants are multiples of some minutes."""
    minutes = random.choice((1, 1, 1, 2, 5))
    return read_schedule(
        {
            "schedule_id": schedule_id,
            "cron_expr": f"*/{minutes} * * * *",
            "overlap_policy": random.choice(_OVERLAPS),
            "catchup_policy": random.choice(_CATCHUPS),
            "uncertain": random.choice(_UNCERTAIN),
            "pause_rule": random.choice(("skip", "hold")),
            "deadline": random.choice((None, None, "30s", "10m")),
            "jitter_ms": random.choice((0, 0, 30_000)),
            "launches_max": random.choice((1, 3)),
            "lease": random.choice(("10s", "1m", "10m")),
            "target": random.choice(_TARGETS),
        }
    )
