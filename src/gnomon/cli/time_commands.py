"""
The commands that ask about time, and what they show: next, describe, decide, preview.

The text of `gnomon decide` draws the window as a bar, with the nominal and the chosen instant on
it; its JSON is the decision's own record, from which it can be computed again. A file of schedules
is read by what runs one, which is imported when it is needed: a user who asks for the next
occurrence does not wait for it.

Spec: CLI-6 to CLI-16.
"""

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, assert_never

import click

from gnomon.cli.click_parts import CliCommand
from gnomon.cli.local_time import distance, local_text, note_of, weekday_text
from gnomon.cli.options import (
    after_option,
    count_option,
    dialect_option,
    dst_option,
    expression_argument,
    file_argument,
    json_option,
    read_after,
    read_count,
    read_file,
    zone_option,
)
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, Part, StyledLine, TextTable, render, render_json
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.civil.zone import load_zone, tzdata_version
from gnomon.core.decision import Chosen, Decision, Unschedulable, decide, render_constraint
from gnomon.core.decision.distribution_text import name_of, params_of
from gnomon.core.reading import Reading, read
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.apps.run.schedule_file import Entry

__all__ = ["decide_command", "describe_command", "next_command", "preview_command", "window_bar"]


_NO_OCCURRENCE = "There is no occurrence after {after} up to the end of 2200."
_OCCURRENCE_COLUMNS: tuple[str, ...] = ("#", "local time", "day", "UTC", "distance", "note")
_UNSCHEDULABLE = "unschedulable"
_BAR_WIDTH = 61
_CHOSEN, _NOMINAL, _BOTH = "*", "N", "#"


@click.command("next", cls=CliCommand)
@expression_argument
@zone_option
@dialect_option
@dst_option
@after_option
@count_option("5")
@json_option
@click.pass_context
def next_command(
    context: click.Context, expression: str, zone: str, dialect: str | None, dst: str | None,
    after: str | None, count: str, as_json: bool,
) -> str:  # fmt: skip
    """Show the next occurrences of an expression."""
    reading = read(expression, zone=zone, dialect=dialect, dst=dst)
    return _next_text(
        reading, after=read_after(after, context), count=read_count(count), as_json=as_json
    )


@click.command("describe", cls=CliCommand)
@expression_argument
@zone_option
@dialect_option
@dst_option
@json_option
def describe_command(
    expression: str, zone: str, dialect: str | None, dst: str | None, as_json: bool
) -> str:
    """Say in English what an expression means."""
    return _describe_text(read(expression, zone=zone, dialect=dialect, dst=dst), as_json=as_json)


@click.command("decide", cls=CliCommand)
@click.option("--identity", required=True, metavar="TEXT", help="The stable name of the schedule.")
@click.option("--nominal", required=True, metavar="INSTANT", help="The nominal instant, RFC 3339.")
@zone_option
@click.option(
    "--window", default="after,0s", metavar="MODE,DURATION",
    help="after, around or before, and a length.",
)  # fmt: skip
@click.option(
    "--dist", default="uniform", metavar="NAME[,KEY=VALUE...]",
    help="uniform, skewEarly, skewLate, normal or exponential.",
)  # fmt: skip
@click.option("--seed", default="stable", metavar="STRATEGY", help="stable, daily or weekly.")
@click.option("--salt", default="", show_default=False, metavar="TEXT", help="Changes every draw.")
@click.option(
    "--only", multiple=True, metavar="SPEC",
    help="What is allowed, e.g. hours=9-17; may be repeated.",
)  # fmt: skip
@click.option(
    "--avoid", multiple=True, metavar="SPEC",
    help="What is not allowed, e.g. dow=sat,sun; may be repeated.",
)  # fmt: skip
@json_option
def decide_command(
    identity: str, nominal: str, zone: str, window: str, dist: str, seed: str, salt: str,
    only: tuple[str, ...], avoid: tuple[str, ...], as_json: bool,
) -> str:  # fmt: skip
    """Show which second of its window a period runs at, and why."""
    decision = decide(
        identity=identity,
        nominal_at=_nominal(nominal),
        zone=zone,
        window=window,
        distribution=dist,
        seed=seed,
        salt=salt,
        only=";".join(only) if only else None,
        avoid=";".join(avoid) if avoid else None,
    )
    return _decision_text(decision, as_json=as_json)


@click.command("preview", cls=CliCommand)
@file_argument
@after_option
@count_option("3")
@json_option
@click.pass_context
def preview_command(
    context: click.Context, file: str, after: str | None, count: str, as_json: bool
) -> str:
    """Show every schedule of a file with its next occurrences."""
    from gnomon.apps.run.schedule_file import load_schedules

    entries, number = load_schedules(read_file(file)), read_count(count)
    return _preview_text(entries, after=read_after(after, context), count=number, as_json=as_json)


def _nominal(text: str) -> datetime:
    at = parse_instant(text, where="nominal")
    if not HORIZON_START <= to_epoch(at) < HORIZON_END:
        raise DefinitionError(
            "must lie from 1970 to 2200", where="nominal", got=text,
            hint="write e.g. 2026-03-01T00:00:00Z",
        )  # fmt: skip
    return at


def _next_text(reading: Reading, *, after: datetime, count: int, as_json: bool) -> str:
    """The next occurrences, with the reading above them."""
    start = to_epoch(after, where="after")
    found = list(islice(reading.recurrence.iterate_epochs(start), count))
    if as_json:
        instants = [format_instant(epoch) for epoch in found]
        return render_json({**reading.to_json(), "after": format_instant(start), "next": instants})
    title, rows = StyledLine(reading.recurrence.describe(), "bold"), FactRows(reading.to_rows())
    if not found:
        return render(title, rows, "", _NO_OCCURRENCE.format(after=format_instant(start)))
    return render(
        title,
        rows,
        "",
        TextTable(_OCCURRENCE_COLUMNS, _occurrence_rows(reading, found, start)),
    )


def _describe_text(reading: Reading, *, as_json: bool) -> str:
    """The reading alone."""
    if as_json:
        return render_json(reading.to_json())
    return render(StyledLine(reading.recurrence.describe(), "bold"), FactRows(reading.to_rows()))


def _occurrence_rows(reading: Reading, found: list[int], start: int) -> list[tuple[str, ...]]:
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


def _preview_text(entries: "list[Entry]", *, after: datetime, count: int, as_json: bool) -> str:
    """Every schedule with its next occurrences."""
    start = to_epoch(after, where="after")
    found = [
        list(islice(entry.reading.recurrence.iterate_epochs(start), count)) for entry in entries
    ]
    if as_json:
        schedules = [
            _entry_json(entry, epochs) for entry, epochs in zip(entries, found, strict=True)
        ]
        return render_json(
            {"after": format_instant(start), "tzdata": tzdata_version(), "schedules": schedules}
        )
    number = "1 schedule" if len(entries) == 1 else f"{len(entries)} schedules"
    parts: list[Part] = [
        StyledLine(f"{number} after {format_instant(start)} (tzdata {tzdata_version()})")
    ]
    for entry, epochs in zip(entries, found, strict=True):
        parts += ["", *_section(entry, epochs, start)]
    return render(*parts)


def _section(entry: "Entry", epochs: list[int], start: int) -> list[Part]:
    reading = entry.reading
    title = StyledLine(entry.name, "bold", f": {reading.recurrence.describe()}")
    subtitle = StyledLine(f"  {reading.to_line()}", "dim")
    if not epochs:
        return [title, subtitle, f"  {_NO_OCCURRENCE.format(after=format_instant(start))}"]
    columns, rows = _OCCURRENCE_COLUMNS, _occurrence_rows(reading, epochs, start)
    if entry.decides:
        chosen = [_chosen(entry, epoch) for epoch in epochs]
        columns = (*columns[:-1], "chosen", columns[-1])
        rows = [(*row[:-1], at, row[-1]) for row, at in zip(rows, chosen, strict=True)]
    return [title, subtitle, TextTable(columns, rows)]


def _chosen(entry: "Entry", epoch: int) -> str:
    at_ms = entry.schedule.chosen_ms(epoch)
    return _UNSCHEDULABLE if at_ms is None else local_text(entry.reading.zone, at_ms // 1000)


def _entry_json(entry: "Entry", epochs: list[int]) -> dict[str, Json]:
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


def _decision_text(decision: Decision, *, as_json: bool) -> str:
    """A decision, for a person or as its record."""
    if as_json:
        return render_json(decision.to_json())
    match decision.outcome:
        case Chosen(at=at):
            zone = load_zone(decision.zone)
            local = f"{weekday_text(zone, at)} {local_text(zone, at)}"
            title = StyledLine(f"Chosen: {format_instant(at)} ({local})", "bold")
        case Unschedulable(attempts=attempts):
            title = StyledLine(f"Unschedulable: {_why_not(attempts)}", "bold red")
        case _:
            assert_never(decision.outcome)
    return render(title, FactRows(_decision_rows(decision)), "", *window_bar(decision))


def window_bar(decision: Decision) -> list[str]:
    """The window as a line of text, and below it what the marks mean."""
    window = decision.window
    cells = ["-"] * (_BAR_WIDTH if window.span else 1)
    marks = [(decision.nominal, _NOMINAL, "nominal")]
    if isinstance(decision.outcome, Chosen):
        marks.append((decision.outcome.at, _CHOSEN, "chosen"))
    legend: dict[str, str] = {}
    for at, mark, name in marks:
        cell = (at - window.start) * (len(cells) - 1) // window.span if window.span else 0
        if cells[cell] != "-":
            mark, name = _BOTH, f"{legend.pop(cells[cell])} and {name}"
        cells[cell] = mark
        legend[mark] = name
    start, end = format_instant(window.start), format_instant(window.end)
    meanings = "  ".join(f"{mark} {name}" for mark, name in legend.items())
    return [f"{start} |{''.join(cells)}| {end}", f"{' ' * (len(start) + 2)}{meanings}"]


def _why_not(attempts: int) -> str:
    if not attempts:
        return "the only second of the window is not allowed"
    return f"none of {attempts} candidates is allowed"


def _decision_rows(decision: Decision) -> list[tuple[str, str]]:
    zone = load_zone(decision.zone)
    params = "".join(f", {key} {value}" for key, value in params_of(decision.distribution).items())
    rows = [
        ("identity", printable(decision.identity)),
        ("nominal", f"{decision.period_id} ({local_text(zone, decision.nominal)})"),
        ("zone", f"{decision.zone} (tzdata {decision.tzdata_version})"),
        ("window", f"{decision.rule.placement.value}, {format_duration(decision.rule.length)}"),
        ("distribution", f"{name_of(decision.distribution)}{params}"),
        ("seed", f"{decision.seed.value}, period key {decision.period_key}"),
        ("salt", printable(decision.salt) if decision.salt else "(none)"),
        ("seed hash", decision.seed_hash),
    ]
    if decision.only is not None:
        rows.append(("only", render_constraint(decision.only)))
    if decision.avoid is not None:
        rows.append(("avoid", render_constraint(decision.avoid)))
    rows.append(("attempts", f"{decision.attempt_count} of at most {decision.attempts_max}"))
    return rows
