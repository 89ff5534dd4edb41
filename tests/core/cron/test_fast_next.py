"""The fast way to the next occurrence, against the plain search."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from gnomon import cron
from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.civil.zone import BUCKET_BITS, load_zone, steady, zone_names
from tests.clauses import clause

TEXTS = [
    "* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 * * *", "15 3 * * 1-5", "0 0 1,15 * *",
    "0 0 1 * 1", "30 1 L * *", "30 2 * * 0L", "0 3 * 3,10 0", "0 0 29 2 *", "59 23 31 12 *",
    "0 0 1 1-6 *", "*/10 1-3 * * 0,6",
]  # fmt: skip
ZONES = ["UTC", "Etc/GMT+5", "Europe/Riga", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Gaza"]


def instants(zone: str, random: Random) -> list[int]:
    """Anywhere, around changes of offset, around the edges of buckets, around new year."""
    changes = [at for at, _, _ in load_zone(zone).changes(0, HORIZON_END)] or [0]
    marks = [random.choice(changes) for _ in range(60)]
    marks += [random.randrange(HORIZON_END >> BUCKET_BITS) << BUCKET_BITS for _ in range(20)]
    marks += [random.randrange(231) * 31_556_952 for _ in range(20)]
    near = [mark + random.randrange(-200_000, 200_000) for mark in marks]
    return near + marks + [random.randrange(HORIZON_END) for _ in range(100)]


@clause("REC-1", "DST-7")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("policy", ["strict", "vixie", "civil"])
def test_the_quick_answer_is_the_plain_one(text: str, zone: str, policy: str) -> None:
    recurrence = cron(text, zone=zone, dst=policy)
    asked = instants(zone, Random(f"{text} {zone} {policy}"))

    quick = [recurrence.next_epoch(at) for at in asked * 2]

    assert quick == [recurrence.search.next_epoch(at) for at in asked * 2]


@clause("ZONE-3")
@pytest.mark.parametrize("name", sorted(zone_names())[::20])
def test_a_bucket_is_steady_for_a_day_beyond_itself(name: str) -> None:
    zone = load_zone(name)
    for line in (zone.both, zone.first):
        offsets = steady(line).offsets
        for bucket, code in enumerate(steady(line).codes):
            if code:
                offset = offsets[code]
                start, end = bucket << BUCKET_BITS, (bucket + 1 << BUCKET_BITS) + 86_400
                assert zone.offset_at(start) == zone.offset_at(end - 1) == offset
                assert zone.changes(start + 1, end) == []


@clause("REC-1")
def test_threads_that_ask_at_once_get_the_same_answers() -> None:
    recurrence = cron("15 3 * * 1-5", zone="Europe/Riga")
    asked = instants("Europe/Riga", Random(7)) * 20
    expected = [recurrence.search.next_epoch(at) for at in asked]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: [recurrence.next_epoch(at) for at in asked], range(8)))

    assert answers == [expected] * 8
