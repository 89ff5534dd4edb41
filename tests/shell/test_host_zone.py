"""The zone of this machine, as its environment and its files say."""

from pathlib import Path

import pytest

from gnomon.core.civil.tzif import read_zone
from gnomon.errors import DefinitionError
from gnomon.shell.host_zone import host_zone
from tests.clauses import clause

NOW = 1_795_000_000


@clause("ZONE-5")
@pytest.mark.parametrize(("text", "zone"), [
    ("Asia/Kathmandu", "Asia/Kathmandu"),
    (":Europe/Berlin", "Europe/Berlin"),
    ("EST5EDT", "EST5EDT"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "CET"),
    ("<+03>-3", "Etc/GMT-3"),
    ("", "UTC"),
    ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
])  # fmt: skip
def test_the_variable_says_in_which_zone_a_machine_is(text: str, zone: str) -> None:
    assert host_zone({"TZ": text}, now=NOW) == zone


@clause("ZONE-5")
@pytest.mark.parametrize("text", ["CET-1CEST", "XYZ-5:17", "Mars/Olympus", "/dev/null", "/no/file"])
def test_a_variable_that_names_no_zone_is_refused_and_not_taken_for_utc(text: str) -> None:
    with pytest.raises(DefinitionError, match="names no zone of the IANA database") as refusal:
        host_zone({"TZ": text}, now=NOW)

    assert "set TZ to a name such as Europe/Berlin" in str(refusal.value)


@clause("ZONE-5")
@pytest.mark.parametrize(
    ("data", "zone"), [("Europe/Paris", "CET"), ("Asia/Kolkata", "Asia/Kolkata")]
)
def test_a_file_without_a_name_is_known_by_its_rule(tmp_path: Path, data: str, zone: str) -> None:
    (tmp_path / "localtime").write_bytes(read_zone(data))

    assert host_zone({"TZ": str(tmp_path / "localtime")}, now=NOW) == zone
