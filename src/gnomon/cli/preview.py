"""
The command that shows a file of schedules: `gnomon preview`.

Each schedule is shown with its sentence and its next occurrences; where it has a window, with the
instant that is chosen for each of them.

Spec: CLI-14, CLI-16.
"""

from datetime import datetime
from itertools import islice

from gnomon.apps.run.schedule_file import Entry
from gnomon.cli.local_time import local_text
from gnomon.cli.occurrences import NO_OCCURRENCE, OCCURRENCE_COLUMNS, occurrence_rows
from gnomon.cli.screen import Json, Line, Part, Table, render, render_json
from gnomon.core.civil.instant import format_instant, to_epoch
from gnomon.core.civil.zone import tzdata_version

__all__ = ["preview_text"]

_UNSCHEDULABLE = "unschedulable"


def preview_text(entries: list[Entry], *, after: datetime, count: int, as_json: bool) -> str:
    """Every schedule with its next occurrences."""
    start = to_epoch(after, where="after")
    found = [
        list(islice(entry.reading.recurrence.iterate_epochs(start), count)) for entry in entries
    ]
    if as_json:
        schedules = [_json(entry, epochs) for entry, epochs in zip(entries, found, strict=True)]
        return render_json(
            {"after": format_instant(start), "tzdata": tzdata_version(), "schedules": schedules}
        )
    number = "1 schedule" if len(entries) == 1 else f"{len(entries)} schedules"
    parts: list[Part] = [
        Line(f"{number} after {format_instant(start)} (tzdata {tzdata_version()})")
    ]
    for entry, epochs in zip(entries, found, strict=True):
        parts += ["", *_section(entry, epochs, start)]
    return render(*parts)


def _section(entry: Entry, epochs: list[int], start: int) -> list[Part]:
    reading = entry.reading
    title = Line(entry.name, "bold", f": {reading.recurrence.describe()}")
    subtitle = Line(f"  {reading.to_line()}", "dim")
    if not epochs:
        return [title, subtitle, f"  {NO_OCCURRENCE.format(after=format_instant(start))}"]
    columns, rows = OCCURRENCE_COLUMNS, occurrence_rows(reading, epochs, start)
    if entry.decides:
        chosen = [_chosen(entry, epoch) for epoch in epochs]
        columns = (*columns[:-1], "chosen", columns[-1])
        rows = [(*row[:-1], at, row[-1]) for row, at in zip(rows, chosen, strict=True)]
    return [title, subtitle, Table(columns, rows)]


def _chosen(entry: Entry, epoch: int) -> str:
    at_ms = entry.schedule.chosen_ms(epoch)
    return _UNSCHEDULABLE if at_ms is None else local_text(entry.reading.zone, at_ms // 1000)


def _json(entry: Entry, epochs: list[int]) -> dict[str, Json]:
    found: dict[str, Json] = {
        "name": entry.name,
        **entry.reading.to_json(),
        "next": [format_instant(epoch) for epoch in epochs],
    }
    if entry.decides:
        chosen = [entry.schedule.chosen_ms(epoch) for epoch in epochs]
        found["chosen"] = [None if at is None else _instant_text(at) for at in chosen]
    return found


def _instant_text(at_ms: int) -> str:
    """RFC 3339, with milliseconds where jitter has given it some."""
    text = format_instant(at_ms // 1000)
    return f"{text[:-1]}.{at_ms % 1000:03d}Z" if at_ms % 1000 else text
