"""
Which recurrences and instants is the batch compared on?

`mix(seed, count)` is a pure function of its arguments, so it can be drawn twice: to pack a table,
and to ask each recurrence by itself. Instants that are easy to get wrong are listed by hand.
"""

from collections.abc import Iterator
from random import Random

from gnomon import cron, every, once
from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.civil.instant import from_epoch
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError
from tests.oracle.random_cases import posix_text, standard_text

__all__ = ["DST", "EDGES", "INSTANTS", "ZONES", "mix"]

ZONES = (
    "UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll",
    "Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca", "America/Nuuk", "Africa/Monrovia",
)  # fmt: skip

DST = (None, "strict", "vixie", "civil")

INSTANTS = (
    "2026-01-15T10:17:42Z",
    "2026-07-01T00:00:00Z",
    "2026-12-31T23:59:59Z",  # year ends
    "2026-12-31T10:30:00Z",
    "2027-12-31T12:59:59Z",
    "1999-12-31T23:59:00Z",
    "2028-02-28T23:59:59Z",  # leap days
    "2028-02-29T12:00:00Z",
    "2096-02-29T00:00:00Z",
    "2099-12-31T23:59:30Z",
    "2026-03-08T05:30:00Z",  # New York: the gap of 2026
    "2026-03-08T06:59:59Z",
    "2026-03-08T07:00:00Z",
    "2026-11-01T04:59:59Z",  # New York: the fold of 2026
    "2026-11-01T05:30:00Z",
    "2026-11-01T05:59:59Z",
    "2026-11-01T06:00:00Z",
    "2026-11-01T06:30:00Z",
    "2026-03-29T00:59:30Z",  # Berlin and Troll: a gap of one hour and one of two
    "2026-10-25T00:10:00Z",  # Berlin and Troll: folds
    "2026-10-25T01:10:00Z",
    "2026-04-04T14:40:00Z",  # Lord Howe: half an hour back
    "2026-04-04T15:00:00Z",
    "2026-04-04T15:20:00Z",
    "2026-10-03T15:29:00Z",  # Lord Howe: half an hour forward
    "2011-12-30T09:59:59Z",  # Apia: the day that did not exist
    "2011-12-29T22:00:00Z",
    "2026-02-15T01:59:00Z",  # Casablanca: back for Ramadan, and forward after it
    "2026-02-15T02:30:00Z",
    "2026-03-22T01:59:59Z",
    "2023-03-26T00:59:59Z",  # Nuuk: a change of the zone's own time
    "1986-01-01T00:00:00Z",  # Kathmandu: a quarter of an hour forward
    "1972-01-07T00:44:29Z",  # Monrovia: a gap that ends inside a minute
    "1972-01-07T00:44:31Z",
    "1972-01-07T00:45:00Z",
)

EDGES = (
    -(10**15), -1, 0, 1, HORIZON_END - 90_000, HORIZON_END - 3_601, HORIZON_END - 61,
    HORIZON_END - 2, HORIZON_END - 1, HORIZON_END, 10**15,
)  # fmt: skip
"""Seconds around and beyond both ends of what Gnomon answers about."""


def mix(seed: int, count: int) -> Iterator[Recurrence]:
    """Recurrences of all kinds, mostly cron, some of them bounded."""
    random = Random(f"mix:{seed}")
    for _ in range(count):
        recurrence = _draw(random)
        while random.random() < 0.12:
            recurrence = _bound(random, recurrence)
        yield recurrence


def _draw(random: Random) -> Recurrence:
    match random.random():
        case roll if roll < 0.05:
            seconds = random.choice([1, 7, 60, 90, 3_600, 86_400, 604_800, 10**8])
            return every(f"{seconds}s", anchor=from_epoch(random.randrange(-(10**9), 10**10)))
        case roll if roll < 0.1:
            return once(from_epoch(random.randrange(HORIZON_END)))
        case roll:
            return _draw_cron(random, "posix" if roll < 0.3 else "standard")


def _draw_cron(random: Random, dialect: str) -> Recurrence:
    text = posix_text if dialect == "posix" else standard_text
    # Half of them in New York, so that the groups of the table differ in size.
    zone = random.choice(ZONES) if random.random() < 0.5 else "America/New_York"
    while True:
        try:
            return cron(text(random), zone=zone, dialect=dialect, dst=random.choice(DST))
        except DefinitionError:
            continue  # a date that never comes


def _bound(random: Random, recurrence: Recurrence) -> Recurrence:
    start = random.randrange(HORIZON_END)
    match random.randrange(3):
        case 0:
            return recurrence.bounded(start_at=from_epoch(start))
        case 1:
            return recurrence.bounded(end_at=from_epoch(start))
        case _:
            end = start + random.choice([0, 3_600, 10**6, 10**9])
            return recurrence.bounded(start_at=from_epoch(start), end_at=from_epoch(end))
