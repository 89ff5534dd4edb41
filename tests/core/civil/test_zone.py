"""Zones, against `zoneinfo` on the same data."""

import subprocess
import sys
from datetime import UTC, datetime
from importlib import resources
from zoneinfo import ZoneInfo

import pytest
import tzdata
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.civil.tzif import transitions
from gnomon.core.civil.zone import load_zone, tzdata_version, zone_names
from gnomon.errors import DefinitionError
from tests.clauses import clause

NAMES = sorted(zone_names())


def reference(name: str) -> ZoneInfo:
    path = (resources.files("tzdata") / "zoneinfo").joinpath(*name.split("/"))
    with path.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def reference_offset(zone: ZoneInfo, epoch: int) -> int:
    offset = datetime.fromtimestamp(epoch, UTC).astimezone(zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


@clause("ZONE-3")
def test_on_both_sides_of_every_change_the_offset_is_the_references() -> None:
    checked = 0
    for name in NAMES:
        zone, expected = load_zone(name), reference(name)
        for at, _, _ in zone.changes(0, HORIZON_END):
            for epoch in (at - 1, at):
                assert zone.offset_at(epoch) == reference_offset(expected, epoch), (name, epoch)
                checked += 1
    assert checked > 100_000


@clause("ZONE-3")
@given(st.sampled_from(NAMES), st.integers(0, HORIZON_END - 1))
def test_at_any_instant_the_offset_is_the_references(name: str, epoch: int) -> None:
    assert load_zone(name).offset_at(epoch) == reference_offset(reference(name), epoch)


@clause("ZONE-1")
def test_the_hosts_own_zone_data_is_not_used() -> None:
    code = (
        "import sys, gnomon; assert 'zoneinfo' not in sys.modules;"
        "print(gnomon.cron('0 0 * * *', zone='Europe/Berlin').next_epoch(0))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONTZPATH": "/nowhere", "TZDIR": "/nowhere", "TZ": "Asia/Tokyo"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert result.stdout == "82800\n"


@clause("ZONE-2")
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Europe/Berlinn", "did you mean Europe/Berlin?"),
        ("Europe/Bergin", "did you mean Europe/Berlin?"),
        ("Eruope/Berlin", "did you mean Europe/Berlin?"),
        ("america/new york", "did you mean America/New_York?"),
        ("America/NewYork", "did you mean America/New_York?"),
        ("utc", "did you mean UTC?"),
        ("Europe", "write e.g. Europe/Berlin or UTC"),
        ("Europe/Bern", "write e.g. Europe/Berlin or UTC"),
        ("Etc/GMT+15", "write e.g. Europe/Berlin or UTC"),
        ("Z", "write e.g. Europe/Berlin or UTC"),
        ("PST", "abbreviations are ambiguous; write e.g. America/Los_Angeles"),
        ("CEST", "abbreviations are ambiguous; write e.g. America/Los_Angeles"),
        ("../../etc/passwd", "write e.g. Europe/Berlin or UTC"),
        ("", "write e.g. Europe/Berlin or UTC"),
        ("x" * 10_000, "write e.g. Europe/Berlin or UTC"),
        (None, "write e.g. Europe/Berlin or UTC"),
    ],
)
def test_an_unknown_name_is_refused(name: str, hint: str) -> None:
    with pytest.raises(
        DefinitionError, match="zone: must be a zone of the IANA database"
    ) as caught:
        load_zone(name)

    assert caught.value.hint == hint


@clause("ZONE-4")
def test_the_version_is_the_packages() -> None:
    assert tzdata_version() == tzdata.IANA_VERSION


@clause("ZONE-3")
@pytest.mark.parametrize("name", NAMES)
def test_the_timeline_without_repetition_never_goes_back(name: str) -> None:
    line = load_zone(name).first

    for piece in range(1, len(line)):
        assert line.local_starts[piece] >= line.local_ends[piece - 1]


@clause("ZONE-3")
@pytest.mark.parametrize("name", NAMES)
def test_pieces_outlast_the_change_that_begins_them(name: str) -> None:
    """What the search relies on: local ends increase on both timelines."""
    zone = load_zone(name)

    for line in (zone.both, zone.first):
        assert list(line.local_ends) == sorted(set(line.local_ends))


def tzif(rule: str) -> bytes:
    """A zone file with one local time type and a rule for all years."""
    header = b"TZif2" + b"\0" * 15
    old = header + b"".join(n.to_bytes(4, "big") for n in (0, 0, 0, 0, 1, 1)) + b"\0" * 6 + b"\0"
    return old + old + b"\n" + rule.encode() + b"\n"


@clause("ZONE-3")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("AAA0BBB,J60/0,J300/0", "1970-03-01T00:00:00 1970-10-26T23:00:00"),
        ("AAA0BBB,59/0,299/0", "1970-03-01T00:00:00 1970-10-26T23:00:00"),
        ("AAA-1BBB-3:30:15,M3.5.0/2,M10.1.6/-1:30", "1970-03-29T01:00:00 1970-10-02T18:59:45"),
    ],
)
def test_all_forms_of_a_rule_are_understood(rule: str, expected: str) -> None:
    changes = [at for at, _ in transitions(tzif(rule))[1] if at >= 0]
    texts = [datetime.fromtimestamp(at, UTC).isoformat()[:19] for at in changes[:2]]

    assert " ".join(texts) == expected


@clause("ZONE-3")
def test_in_a_leap_year_only_the_rule_without_j_counts_the_leap_day() -> None:
    def march_of_1972(rule: str) -> str:
        changes = [at for at, _ in transitions(tzif(rule))[1] if at >= 63_072_000]
        return datetime.fromtimestamp(changes[0], UTC).isoformat()[:10]

    assert march_of_1972("AAA0BBB,J60/0,J300/0") == "1972-03-01"
    assert march_of_1972("AAA0BBB,59/0,299/0") == "1972-02-29"
