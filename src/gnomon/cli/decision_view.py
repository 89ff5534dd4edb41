"""
The command that shows one decision: `gnomon decide`.

The text draws the window as a bar, with the nominal and the chosen instant on it; the JSON is the
decision's own record, from which it can be computed again.

Spec: CLI-12, CLI-13.
"""

from typing import assert_never

from gnomon.cli.local_time import local_text, weekday_text
from gnomon.cli.problem import printable
from gnomon.cli.screen import Facts, Line, render, render_json
from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision, Unschedulable, render_constraint
from gnomon.core.decision.distribution_text import name_of, params_of

__all__ = ["decision_text", "window_bar"]

_BAR_WIDTH = 61
_CHOSEN, _NOMINAL, _BOTH = "*", "N", "#"


def decision_text(decision: Decision, *, as_json: bool) -> str:
    """A decision, for a person or as its record."""
    if as_json:
        return render_json(decision.to_json())
    match decision.outcome:
        case Chosen(at=at):
            zone = load_zone(decision.zone)
            local = f"{weekday_text(zone, at)} {local_text(zone, at)}"
            title = Line(f"Chosen: {format_instant(at)} ({local})", "bold")
        case Unschedulable(attempts=attempts):
            title = Line(f"Unschedulable: {_why_not(attempts)}", "bold red")
        case _:
            assert_never(decision.outcome)
    return render(title, Facts(_rows(decision)), "", *window_bar(decision))


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


def _rows(decision: Decision) -> list[tuple[str, str]]:
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
