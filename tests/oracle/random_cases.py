"""
Which random questions is the engine asked?

`cases(seed, chunk, count)` is a pure function of its arguments: the same seed gives the same
cases on every machine. Transitions of the zone, rare dates (29 February, the 31st, `L`, a fifth
weekday) and the ends of the horizon come up far more often than chance would have it.
"""

from collections.abc import Iterator
from random import Random

from tests.oracle.compare import Case
from tests.oracle.minute_scan import DST_POLICIES
from tests.oracle.transitions import (
    HORIZON_END,
    Transition,
    all_transitions,
    offset_at,
    zone_names,
)

__all__ = ["SEED", "cases", "posix_text", "standard_text"]

SEED = 20_260_301

_ODD_ZONES = (
    "UTC", "Europe/Riga", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
    "Antarctica/Troll", "Antarctica/Casey", "Africa/Monrovia", "Africa/Casablanca",
    "Africa/Cairo", "America/Nuuk", "America/Caracas", "America/Sao_Paulo", "Asia/Gaza",
    "Asia/Kathmandu", "Asia/Pyongyang", "Asia/Tehran", "Europe/Dublin", "Pacific/Chatham",
    "Pacific/Kiritimati", "Pacific/Kwajalein",
)  # fmt: skip
_RARE_DATES = (
    "0 0 29 2 *", "59 23 31 * *", "0 12 L * *", "30 2 LW * *", "0 6 31W * *", "0 0 * 2 1#5",
    "15 3 * * 5#5", "0 0 * * 0L", "0 0 29 2 5", "* * 31 12 *", "0 0 1 1 *", "30 1 * * 7L",
    "0 0 1W,15W,LW * *", "0 0 L 2 *", "45 23 30W * *", "0 4 29W 2 *", "0 0 * 2 SUN#5",
)  # fmt: skip
_MACROS = {
    "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually",
}  # fmt: skip
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def cases(seed: int, chunk: int, count: int) -> Iterator[Case]:
    """`count` cases of one chunk; chunks are independent, so they can run anywhere."""
    random = Random(f"{seed}:{chunk}")
    for _ in range(count):
        yield _case(random)


def posix_text(random: Random) -> str:
    """A text in the grammar of `posix`; it may name a date that never comes."""
    fields = [_posix_field(random, low, high) for low, high in _POSIX_RANGES]
    if random.random() < 0.5:
        fields[2 if random.random() < 0.5 else 4] = "*"
    return " ".join(fields)


def standard_text(random: Random) -> str:
    """A text in the grammar of `standard`; it may name a date that never comes."""
    roll = random.random()
    if roll < 0.02:
        return random.choice(sorted(_MACROS))
    if roll < 0.12:
        return random.choice(_RARE_DATES)
    fields = [
        _field(random, 0, 59),
        _field(random, 0, 23),
        _days(random),
        _field(random, 1, 12, _MONTHS) if random.random() < 0.4 else "*",
        _weekdays(random),
    ]
    if random.random() < 0.1:
        fields.insert(0, _field(random, 0, 59))
    return " ".join(fields)


_POSIX_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def _case(random: Random) -> Case:
    zone = random.choice(_ODD_ZONES) if random.random() < 0.4 else random.choice(zone_names())
    dialect = random.choices(("posix", "vixie", "standard"), (25, 15, 60))[0]
    text = posix_text(random) if dialect == "posix" else standard_text(random)
    at = _instant(random)
    changes = all_transitions(zone)
    if changes and random.random() < 0.5:
        change = random.choice(changes)
        at = _near(random, change)
        if random.random() < 0.6:
            text = _aimed(random, text, change)
    elif random.random() < 0.1:
        text = _aimed_at(random, text, at + offset_at(zone, min(max(at, 0), HORIZON_END)))
    return Case(text=text, dialect=dialect, zone=zone, dst=random.choice(DST_POLICIES), at=at)


def _instant(random: Random) -> int:
    roll = random.random()
    if roll < 0.03:
        end, span = random.choice([0, HORIZON_END]), _span(random)
        return random.choice([end - 1 - span, end + span])
    if roll < 0.5:
        return random.randrange(HORIZON_END // 60) * 60
    return random.randrange(HORIZON_END)


def _span(random: Random) -> int:
    """A few seconds to a few days, each scale equally likely."""
    return random.randrange(10 ** random.randrange(1, 7))


def _near(random: Random, change: Transition) -> int:
    size = abs(change.after - change.before)
    mark = random.choice([-size, -size // 2, 0, 0, size // 2, size])
    return change.at + mark + random.choice([-1, 1]) * _span(random)


def _aimed(random: Random, text: str, change: Transition) -> str:
    """The text with minute and hour moved onto the gap or fold or just beside it."""
    local = change.at + random.choice([change.before, change.after])
    return _aimed_at(random, text, local + random.choice([-1, 0, 1]) * random.randrange(7200))


def _aimed_at(random: Random, text: str, local: int) -> str:
    fields = text.split()
    if len(fields) < 5:
        return text
    minute = len(fields) - 5
    if random.random() < 0.7:
        fields[minute] = str(local // 60 % 60)
    if random.random() < 0.7:
        fields[minute + 1] = str(local // 3600 % 24)
    return " ".join(fields)


def _posix_field(random: Random, low: int, high: int) -> str:
    if random.random() < 0.4:
        return "*"
    return ",".join(_posix_item(random, low, high) for _ in range(_few(random)))


def _posix_item(random: Random, low: int, high: int) -> str:
    first = random.randint(low, high)
    shown = f"{first:0{random.choice([1, 1, 1, 2, 3])}d}"
    return shown if random.random() < 0.6 else f"{shown}-{random.randint(first, high)}"


def _field(random: Random, low: int, high: int, names: list[str] | None = None) -> str:
    roll = random.random()
    if roll < 0.3:
        return "*"
    if roll < 0.45:
        return f"*/{random.randint(1, high)}"
    return ",".join(_item(random, low, high, names) for _ in range(_few(random)))


def _item(random: Random, low: int, high: int, names: list[str] | None) -> str:
    first = random.randint(low, high)
    last = random.randint(first, high)
    if names and random.random() < 0.4:
        return (
            f"{names[first - low]}-{names[last - low].lower()}"
            if last > first
            else names[first - low]
        )
    roll = random.random()
    if roll < 0.55:
        return str(first)
    if roll < 0.8:
        return f"{first}-{last}"
    step = random.randint(1, high)
    return f"{first}-{last}/{step}" if roll < 0.95 else f"{first}/{step}"


def _days(random: Random) -> str:
    roll = random.random()
    if roll < 0.5:
        return "*"
    if roll < 0.8:
        return _field(random, 1, 31)
    return ",".join(_special_day(random) for _ in range(_few(random)))


def _special_day(random: Random) -> str:
    return random.choice(["L", "LW", f"{random.randint(1, 31)}W", str(random.randint(1, 31)), "31"])


def _weekdays(random: Random) -> str:
    roll = random.random()
    if roll < 0.5:
        return "*"
    if roll < 0.8:
        return _field(random, 0, 6, _WEEKDAYS)
    return ",".join(_special_weekday(random) for _ in range(_few(random)))


def _special_weekday(random: Random) -> str:
    day = random.choice([str(random.randint(0, 7)), random.choice(_WEEKDAYS)])
    return random.choice([f"{day}#{random.randint(1, 5)}", f"{day}L", "7", "5-7", "0-7/3", day])


def _few(random: Random) -> int:
    return random.choice([1, 1, 1, 2, 3])
