"""
How a simulation is shown: what became of every occurrence, and a picture of it along the time.

Spec: SIMULATE-1, SIMULATE-2, SIMULATE-5.
"""

from collections import Counter
from collections.abc import Sequence

from gnomon.cli.local_time import local_text
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, StyledLine, TextTable, render, render_json
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import Zone, load_zone
from gnomon.simulation.declarative.outage import Fate, Occurrence, Outage, Start
from gnomon.simulation.kit.campaign import Tally

__all__ = ["outage_text", "worlds_text"]

WIDTH = 60
ROWS_MAX = 60
_MARKS = {Fate.ON_TIME: "o", Fate.MERGED: "x", Fate.PENDING: "?"}


def outage_text(
    found: Sequence[Occurrence], starts: Sequence[Start], outage: Outage, *, zone: str,
    as_json: bool,
) -> str:  # fmt: skip
    """What an outage does to tasks."""
    if as_json:
        return render_json(_json(found, starts, outage, zone))
    place, counts = load_zone(zone), Counter(one.fate for one in found)
    about = [
        ("down", f"{local_text(place, outage.down)} to {local_text(place, outage.up)}, {zone}"),
        ("occurrences", ", ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])),
        ("starts", f"{len(starts)}, {sum(one.reason == 'interrupted' for one in starts)} of them "
                   "again after the crash"),
    ]  # fmt: skip
    told = [one for one in found if one.fate is not Fate.ON_TIME or _is_near(one, outage)]
    rows = [_row(one, place) for one in told[:ROWS_MAX]]
    if len(told) > ROWS_MAX:
        rows.append(("", "", f"and {len(told) - ROWS_MAX} more", "--json has all of them"))
    return render(
        FactRows(about), "", TextTable(("occurrence", "task", "run", "note"), rows), "",
        StyledLine(_picture(found, outage, place)),
    )  # fmt: skip


def worlds_text(found: Tally, *, as_json: bool) -> str:
    """What many worlds came to."""
    hours = round(found.simulated_s / 3600)
    if as_json:
        return render_json({
            "worlds": found.worlds, "simulatedHours": hours, "starts": found.figures["starts"],
            "events": found.figures["events"], "met": dict(sorted(found.counters.items())),
            "broken": list(found.troubles),
        })  # fmt: skip
    kept = not found.troubles
    title = "Every axiom was kept." if kept else f"{len(found.troubles)} worlds broke an axiom."
    about = [
        ("worlds", f"{found.worlds:,}, {hours:,} simulated hours"),
        ("judged", f"{found.figures['starts']:,} starts, {found.figures['events']:,} events"),
        *(("broken", printable(line)) for line in found.troubles),
    ]
    rows = [(name, f"{count:,}") for name, count in sorted(found.counters.items())]
    style = "bold green" if kept else "bold red"
    return render(StyledLine(title, style), FactRows(about), "", TextTable(("met", "times"), rows))


def _is_near(one: Occurrence, outage: Outage) -> bool:
    return outage.down <= one.nominal <= outage.up


def _row(one: Occurrence, zone: Zone) -> tuple[str, str, str, str]:
    note = ""
    if one.fate is Fate.LATE and one.at is not None:
        note = f"at {local_text(zone, one.at)}, {_length(one.at - one.nominal)} late"
    elif one.fate is Fate.MERGED and one.at is not None:
        note = f"the run at {local_text(zone, one.at)} stands for it"
    return local_text(zone, one.nominal), printable(one.task), one.fate.value, note


def _length(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60}h{minutes % 60:02d}m{rest:02d}s" if minutes else f"{rest}s"


def _picture(found: Sequence[Occurrence], outage: Outage, zone: Zone) -> str:
    """A line for each task: o on time, L late, x not at all; = while the program is down."""
    names = list(dict.fromkeys(one.task for one in found))
    width = max((len(printable(name)) for name in names), default=0)
    ground = [
        "=" if outage.down <= _instant(cell, outage) < outage.up else "." for cell in range(WIDTH)
    ]
    lines = []
    for name in names:
        cells = list(ground)
        for one in found:
            if one.task == name:
                at = one.at if one.fate is Fate.LATE and one.at is not None else one.nominal
                cells[_cell(at, outage)] = _MARKS.get(one.fate, "L")
        lines.append(f"{printable(name):{width}}  {''.join(cells)}")
    first, last = local_text(zone, outage.first), local_text(zone, outage.last)
    lines.append(f"{'':{width}}  {first[11:16]}{last[11:16]:>{WIDTH - 5}}")
    lines.append("o on time, L late, x not at all, = down")
    return "\n".join(lines)


def _cell(at: int, outage: Outage) -> int:
    cell = (at - outage.first) * WIDTH // max(outage.last - outage.first, 1)
    return min(max(cell, 0), WIDTH - 1)


def _instant(cell: int, outage: Outage) -> int:
    return outage.first + (outage.last - outage.first) * cell // WIDTH


def _json(
    found: Sequence[Occurrence], starts: Sequence[Start], outage: Outage, zone: str
) -> dict[str, Json]:
    return {
        "zone": zone,
        "down": [format_instant(outage.down), format_instant(outage.up)],
        "occurrences": [
            {
                "task": one.task, "nominal": format_instant(one.nominal), "fate": one.fate.value,
                "startedAt": None if one.at is None else format_instant(one.at),
            }
            for one in found
        ],
        "starts": [
            {
                "task": one.task, "at": format_instant(one.at), "reason": one.reason,
                "nominal": format_instant(one.nominal),
            }
            for one in starts
        ],
    }  # fmt: skip
