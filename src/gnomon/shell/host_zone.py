"""
In which zone is this machine, by a name of the IANA database?

The variable `TZ` comes first, as for every program: a name, a file, or a rule as POSIX writes it,
which is taken for a zone that goes by the same rule. Without it the files of the system are asked.
What cannot be named exactly is refused, and never taken for UTC: a schedule would run hours off.

Spec: ZONE-5.
"""

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfoNotFoundError

from gnomon.core.civil.tz_text import zone_of_tz_text
from gnomon.core.civil.tzif import zone_names
from gnomon.errors import DefinitionError

__all__ = ["host_zone"]

_LOCAL = Path("/etc/localtime")


def host_zone(environment: Mapping[str, str], *, now: int, local: Path = _LOCAL) -> str:
    """The zone of this machine; `DefinitionError` where it has no name."""
    text = environment.get("TZ")
    if text is None:
        return _of_system(now, local)
    name = text.removeprefix(":")
    if name.startswith("/"):
        return _of_file(Path(name), now, where="TZ")
    if not name:  # as POSIX has it
        return "UTC"
    found = name if name in zone_names() else zone_of_tz_text(name, now)
    if found is None:
        raise _nameless("TZ", text)
    return found


def _of_system(now: int, local: Path) -> str:
    from tzlocal import get_localzone_name

    try:
        name: str | None = get_localzone_name()
    except ZoneInfoNotFoundError:  # the files contradict each other
        name = None
    if name in zone_names():
        assert name is not None
        return name
    return _of_file(local, now, where=str(local)) if local.exists() else "UTC"


def _of_file(path: Path, now: int, *, where: str) -> str:
    parts = path.resolve().parts
    for start in range(1, len(parts)):
        if (name := "/".join(parts[start:])) in zone_names():
            return name
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        lines = []
    # The last line of zone data is the rule for the years to come.
    rule = lines[-2] if lines and lines[0].startswith(b"TZif") and len(lines) > 2 else b""
    found = zone_of_tz_text(rule.decode("ascii", "replace"), now)
    if found is None:
        raise _nameless(where, str(path))
    return found


def _nameless(where: str, got: str) -> DefinitionError:
    return DefinitionError(
        "names no zone of the IANA database", where=where, got=got,
        hint="set TZ to a name such as Europe/Berlin, or give the zone where you schedule",
    )  # fmt: skip
