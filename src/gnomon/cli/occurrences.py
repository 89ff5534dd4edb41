"""
The commands that show a recurrence: `gnomon next` and `gnomon describe`.

Spec: CLI-6 to CLI-11.
"""

from datetime import datetime
from itertools import islice

from gnomon.cli.local_time import distance, local_text, note_of, weekday_text
from gnomon.cli.screen import Facts, Line, Table, render, render_json
from gnomon.core.civil.instant import format_instant, to_epoch
from gnomon.core.reading import Reading

__all__ = ["NO_OCCURRENCE", "OCCURRENCE_COLUMNS", "describe_text", "next_text", "occurrence_rows"]

NO_OCCURRENCE = "There is no occurrence after {after} up to the end of 2200."

OCCURRENCE_COLUMNS: tuple[str, ...] = ("#", "local time", "day", "UTC", "distance", "note")


def next_text(reading: Reading, *, after: datetime, count: int, as_json: bool) -> str:
    """The next occurrences, with the reading above them."""
    start = to_epoch(after, where="after")
    found = list(islice(reading.recurrence.iterate_epochs(start), count))
    if as_json:
        instants = [format_instant(epoch) for epoch in found]
        return render_json({**reading.to_json(), "after": format_instant(start), "next": instants})
    title, rows = Line(reading.recurrence.describe(), "bold"), Facts(reading.to_rows())
    if not found:
        return render(title, rows, "", NO_OCCURRENCE.format(after=format_instant(start)))
    return render(
        title,
        rows,
        "",
        Table(OCCURRENCE_COLUMNS, occurrence_rows(reading, found, start)),
    )


def describe_text(reading: Reading, *, as_json: bool) -> str:
    """The reading alone."""
    if as_json:
        return render_json(reading.to_json())
    return render(Line(reading.recurrence.describe(), "bold"), Facts(reading.to_rows()))


def occurrence_rows(reading: Reading, found: list[int], start: int) -> list[tuple[str, ...]]:
    """One row for each occurrence, under the headings of the table."""
    rows: list[tuple[str, ...]] = []
    for number, (previous, epoch) in enumerate(zip([start, *found], found, strict=False), 1):
        rows.append(
            (
                str(number),
                local_text(reading.zone, epoch),
                weekday_text(reading.zone, epoch),
                format_instant(epoch),
                distance(epoch - start),
                note_of(reading.cron, reading.zone, epoch, previous=previous),
            )
        )
    return rows
