"""
How a judged trace is shown: a line for each axiom, who is to blame, and for what.

Spec: CHECK-1, CHECK-2.
"""

from gnomon.cli.problem import printable
from gnomon.cli.screen import Facts, Json, Line, Table, render, render_json
from gnomon.theory import Judgement, Report
from gnomon.trace import Event, Witnesses, render_event

__all__ = ["check_text"]


def check_text(place: str, report: Report, event: Event | None, *, as_json: bool) -> str:
    """The report on a trace; `event` is where the earliest violation came to light."""
    if as_json:
        return _json(report, event)
    title = "No axiom is broken." if report.is_fine else _broken(report)
    columns = ("axiom", "verdict", "exercised", "position", "note")
    rows = [_row(one) for one in report.verdicts.values()]
    about = [
        ("trace", f"{printable(place)}, {report.positions:,} positions"),
        ("blame", str(report.blame)),
        ("witnesses", f"{_spelled(report.witnesses)}; judged with {_spelled(report.judged_with)}"),
        ("environment", str(report.environment.kind)),
    ]
    if report.first is not None:
        where = f"{report.first.axiom} at position {report.first.position}"
        about.insert(2, ("first", printable(f"{where}: {report.first.explanation}")))
        if event is not None:
            about.insert(3, ("event", printable(render_event(event))))
    style = "bold green" if report.is_fine else "bold red"
    return render(Line(title, style), Facts(about), "", Table(columns, rows))


def _broken(report: Report) -> str:
    names = [one.axiom for one in report.verdicts.values() if one.verdict == "false"]
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} broken."


def _row(one: Judgement) -> tuple[str, ...]:
    position = "" if one.position is None else str(one.position)
    return one.axiom, str(one.verdict), str(one.exercised), position, printable(one.explanation)


def _spelled(witnesses: Witnesses) -> str:
    return f"a {witnesses.a:g}, b {witnesses.b:g}, lag {witnesses.lag_ms} ms"


def _json(report: Report, event: Event | None) -> str:
    first: Json = None
    if report.first is not None:
        first = {
            "axiom": report.first.axiom,
            "position": report.first.position,
            "t": report.first.t,
            "explanation": report.first.explanation,
            "event": None if event is None else render_event(event),
        }
    return render_json(
        {
            "positions": report.positions,
            "verdicts": {axiom: _verdict(one) for axiom, one in report.verdicts.items()},
            "blame": str(report.blame),
            "first": first,
            "witnesses": report.witnesses._asdict(),
            "judged_with": report.judged_with._asdict(),
            "environment": {
                "class": str(report.environment.kind),
                "compute": report.environment.compute,
                "longest_freeze_ms": report.environment.longest_freeze_ms,
            },
        }
    )


def _verdict(one: Judgement) -> dict[str, Json]:
    return {
        "verdict": str(one.verdict),
        "exercised": one.exercised,
        "position": one.position,
        "explanation": one.explanation,
    }
