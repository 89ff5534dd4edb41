"""Zones as POSIX writes them: the name of a zone with the same local times, or none."""

from datetime import UTC, datetime, timedelta

import pytest

from gnomon.core.civil.tz_text import TZ_TEXT_MAX, zone_of_tz_text
from gnomon.core.civil.tzif import last_rule, read_zone, zone_names
from gnomon.simulation.kit.matcher import zone_info
from tests.clauses import clause

NOW = 1_795_000_000  # 2026-11-18


@clause("ZONE-5")
@pytest.mark.parametrize(("text", "zone"), [
    ("EST5EDT", "EST5EDT"),
    ("EST5EDT,M3.2.0,M11.1.0", "EST5EDT"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "CET"),
    ("CET-1CEST,M3.5.0/02:00:00,M10.5.0/03:00", "CET"),
    ("GMT0BST,M3.5.0/1,M10.5.0", "GB"),
    ("<+03>-3", "Etc/GMT-3"),
    ("<-03>3", "Etc/GMT+3"),
    ("IST-5:30", "Asia/Kolkata"),
    ("UTC0", "UTC"),
    ("IST-1GMT0,M10.5.0,M3.5.0/1", "Eire"),
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", "Australia/ACT"),
])  # fmt: skip
def test_a_rule_names_a_zone_that_goes_by_it(text: str, zone: str) -> None:
    assert zone_of_tz_text(text, NOW) == zone


@clause("ZONE-5")
@pytest.mark.parametrize("text", [
    "CET-1CEST", "XYZ-5:17", "EST5EDT,J60,J300", "EST", "Mars/Olympus", "",
    "EST5EDT,M13.1.0,M11.1.0", "CET-1CEST,M3.5.0", "<x" + "y" * TZ_TEXT_MAX,
])  # fmt: skip
def test_what_no_zone_goes_by_is_not_guessed(text: str) -> None:
    assert zone_of_tz_text(text, NOW) is None


@clause("ZONE-5")
def test_the_rule_of_any_zone_names_one_with_its_local_times() -> None:
    begin, unnamed = datetime.fromtimestamp(NOW, UTC), []
    instants = [begin + timedelta(days=5 * day, hours=day % 24) for day in range(400)]
    for name in sorted(zone_names()):
        found = zone_of_tz_text(last_rule(read_zone(name)), NOW)
        if found is None:
            unnamed.append(name)
            continue
        theirs, ours = zone_info(name), zone_info(found)
        told = [at for at in instants if theirs.fromutc(at.replace(tzinfo=theirs)).utcoffset()
                != ours.fromutc(at.replace(tzinfo=ours)).utcoffset()]  # fmt: skip
        assert told == [] or name in CHANGING, (name, found)
    assert len(unnamed) < 10  # those whose rule is new, or is to be another one


CHANGING = {"Africa/Casablanca", "Africa/El_Aaiun", "Africa/Cairo"}
"""These list changes of their own for years to come, and go by their last rule afterwards."""
