"""
Which schedules, zones and instants are measured: fixed lists, and random ones from fixed seeds.

Every expression means the same to all engines, as far as they agree at all: weekdays are 0-6 with
Sunday 0, days of the month stop at 28 in random expressions, and a random expression never
restricts both day fields, because two of the peers read that as "and". The one typical expression
that does is marked, and those two are not timed on it.
"""

from collections.abc import Iterator
from random import Random

__all__ = [
    "DENSE",
    "POPULATION_SEED",
    "SPARSE",
    "TYPICAL",
    "ZONES",
    "Schedule",
    "draw_instants",
    "draw_population",
    "draw_texts",
    "restricts_both_days",
]

Schedule = tuple[str, str]
"""Cron text and the name of a zone."""

ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe")

TYPICAL = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "0 0 * * *",
    "30 2 * * *",
    "15 3 * * 1-5",
    "*/15 9-17 * * 1-5",
    "0 0 1,15 * *",
    "0 0 1 * 1",
    "0 6 1 1,4,7,10 *",
    "0 12 14 2 *",
    "0 0 29 2 *",
)

DENSE = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "0 0 * * *",
    "15 3 * * 1-5",
    "*/15 9-17 * * 1-5",
)
"""At least 200 occurrences a year, so that 1000 of them are within what every peer searches."""

SPARSE = ("0 12 14 2 *", "0 0 29 2 *", "0 6 1 1,4,7,10 *")

POPULATION_SEED = 18
"""The population of the batch: the same for the table and for the samples."""

_INSTANT_FIRST = 1_577_836_800  # 2020-01-01T00:00:00Z
_INSTANT_END = 2_082_758_400  # 2036-01-01T00:00:00Z
_TYPICAL_SHARE = 0.1


def draw_instants(count: int, *, seed: int) -> list[int]:
    """Random seconds of the years 2020 to 2035."""
    random = Random(seed)
    return [random.randrange(_INSTANT_FIRST, _INSTANT_END) for _ in range(count)]


def draw_texts(count: int, *, seed: int) -> list[str]:
    """Distinct random expressions."""
    random = Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[_draw_text(random)] = None
    return list(texts)


def draw_population(count: int, *, seed: int) -> Iterator[Schedule]:
    """A mixed population: a tenth typical expressions, the rest random, over all zones."""
    random = Random(seed)
    for _ in range(count):
        typical = random.random() < _TYPICAL_SHARE
        text = random.choice(_UNAMBIGUOUS) if typical else _draw_text(random)
        yield text, random.choice(ZONES)


def restricts_both_days(text: str) -> bool:
    """Whether day of month and day of week are both restricted: "or" in cron, "and" to some."""
    _, _, day, _, weekday = text.split()
    return day != "*" and weekday != "*"


_UNAMBIGUOUS = tuple(text for text in TYPICAL if not restricts_both_days(text))


def _draw_text(random: Random) -> str:
    minute = _draw_field(random, 0, 59, star=0.1, step=0.2)
    hour = _draw_field(random, 0, 23, star=0.35, step=0.15)
    month = _draw_field(random, 1, 12, star=0.75, step=0.0)
    day = weekday = "*"
    restriction = random.random()
    if restriction < 0.25:
        day = _draw_field(random, 1, 28, star=0.0, step=0.0)
    elif restriction < 0.55:
        weekday = _draw_field(random, 0, 6, star=0.0, step=0.0)
    return f"{minute} {hour} {day} {month} {weekday}"


def _draw_field(random: Random, low: int, high: int, *, star: float, step: float) -> str:
    """`*` and `*/n` with the given shares; else one value, a list or a range, alike often."""
    kind = random.random()
    if kind < star:
        return "*"
    if kind < star + step:
        return f"*/{random.choice([2, 3, 4, 5, 6, 10, 12])}"
    match random.randrange(3):
        case 0:
            return str(random.randint(low, high))
        case 1:
            size = random.randint(2, 4)
            return ",".join(map(str, sorted(random.sample(range(low, high + 1), size))))
        case _:
            first = random.randint(low, high - 1)
            return f"{first}-{random.randint(first + 1, high)}"
