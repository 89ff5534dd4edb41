"""
What `gnomon simulate` reads: a file of tasks, and when the program is down.

A TOML file has a table for each task: `[[task]]` with `name`, `cron` and, if wanted, `retry_delay`.
A Python file is run, as the program would run it when imported, and its lists of registrations are
taken: what `gnomon.collect()` made, or a list of tuples. Its callbacks are not called. An outage is
text such as `01:55..03:10`, read in a zone and on a date.

Spec: SIMULATE-3, SIMULATE-4.
"""

import re
import runpy
import sys
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path

from gnomon.apps.declarative.registration import read_registrations
from gnomon.core.civil.calendar import days_from_civil
from gnomon.core.civil.duration import parse_duration
from gnomon.core.civil.zone import Zone, load_zone
from gnomon.errors import DefinitionError
from gnomon.simulation.declarative.outage import Outage, Planned

__all__ = ["load_tasks", "read_day", "read_outage"]

RETRY_DELAY = timedelta(minutes=1)
_KEYS = {"name", "cron", "retry_delay"}
_TASK = 'write [[task]], name = "backup", cron = "0 3 * * *", retry_delay = "5m"'
LENGTH_MAX_S = 366 * 86_400
_TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d):(\d\d)(?::(\d\d))?", re.ASCII)
_DOWN = "write e.g. 01:55..03:10, or 2026-03-29T01:55..2026-03-30T03:10"


def load_tasks(path: Path, *, zone: str) -> list[Planned]:
    """The tasks of a file; an error names the first that is wrong."""
    found = _python(path) if path.suffix == ".py" else _toml(path.read_bytes())
    if not found:
        raise DefinitionError("must register at least one task", where="file", got="", hint=_TASK)
    read_registrations([(*one[:2], _nothing, one.retry_delay) for one in found], zone=zone)
    return found


def _toml(data: bytes) -> list[Planned]:
    try:
        document: Mapping[str, object] = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DefinitionError(f"must be TOML: {error}", where="file", got="", hint=_TASK) from error
    tables = document.get("task")
    if not isinstance(tables, list) or set(document) != {"task"}:
        got = ", ".join(document)
        raise DefinitionError("must have tables [[task]] only", where="file", got=got, hint=_TASK)
    return [_table(number, table) for number, table in enumerate(tables, 1)]


def _table(number: int, table: object) -> Planned:
    where = f"task {number}"
    if not isinstance(table, dict) or not {"name", "cron"} <= set(table) <= _KEYS:
        raise DefinitionError("must have name and cron", where=where, got=table, hint=_TASK)
    for key, value in table.items():
        if not isinstance(value, str):
            raise DefinitionError("must be text", where=f"{where}, {key}", got=value, hint=_TASK)
    delay = table.get("retry_delay")
    length = RETRY_DELAY if delay is None else parse_duration(delay, where=f"{where}, retry_delay")
    return Planned(table["name"], table["cron"], length)


def _python(path: Path) -> list[Planned]:
    sys.path.insert(0, str(path.parent))
    try:
        names = runpy.run_path(str(path), run_name="gnomon_simulated")
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise DefinitionError(
            "must run when it is imported", where="file", got=text,
            hint='put what starts the program under if __name__ == "__main__":',
        ) from error  # fmt: skip
    finally:
        sys.path.remove(str(path.parent))
    found: dict[int, list[Planned]] = {}
    for value in names.values():
        if _is_list_of_registrations(value):
            found[id(value)] = [Planned(one[0], one[1], one[3]) for one in value]
    return [one for listed in found.values() for one in listed]


def _is_list_of_registrations(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(one, list | tuple)
            and len(one) == 4
            and callable(one[2])
            and isinstance(one[3], timedelta)
            for one in value
        )
    )


def _nothing() -> None:
    """Is registered where a callback belongs, and never called."""


def read_outage(text: str, *, day: date, zone: str, around: timedelta) -> Outage:
    """The outage, and what is looked at before and after it."""
    begin, separator, end = text.partition("..")
    if not separator:
        raise DefinitionError("must be two times", where="down", got=text, hint=_DOWN)
    found = load_zone(zone)
    down = _instant(begin.strip(), text, day, found)
    up = _instant(end.strip(), text, day, found)
    if up <= down and "-" not in end:
        up = _instant(end.strip(), text, day + timedelta(days=1), found)  # over midnight
    if not 0 < up - down <= LENGTH_MAX_S:
        raise DefinitionError(
            "must end after it begins, within a year", where="down", got=text, hint=_DOWN
        )
    margin = int(around.total_seconds())
    return Outage(down - margin, down, up, up + margin)


def read_day(text: str | None, *, now: datetime, zone: str) -> date:
    """The date in the zone; today unless it is given."""
    if text is None:
        offset = load_zone(zone).offset_at(int(now.timestamp()))
        return (now + timedelta(seconds=offset)).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise DefinitionError(
            "must be a date", where="date", got=text, hint="write e.g. 2026-03-29"
        ) from None


def _instant(text: str, whole: str, day: date, zone: Zone) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise DefinitionError("must be two times", where="down", got=whole, hint=_DOWN)
    written, hour, minute, second = match.groups()
    try:
        found = day if written is None else date.fromisoformat(written)
        clock = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second or 0))
        if clock >= timedelta(days=1) or int(minute) > 59 or int(second or 0) > 59:
            raise ValueError
    except ValueError:
        raise DefinitionError(
            "must be a time of a day", where="down", got=whole, hint=_DOWN
        ) from None
    local = days_from_civil(found.year, found.month, found.day) * 86_400
    return _from_local(local + int(clock.total_seconds()), zone)


def _from_local(local: int, zone: Zone) -> int:
    """The first instant at which the clock shows this, or would have in a gap."""
    guess = local - zone.offset_at(local)
    earlier = local - zone.offset_at(guess - 86_400)
    return earlier if zone.offset_at(earlier) + earlier == local else guess
