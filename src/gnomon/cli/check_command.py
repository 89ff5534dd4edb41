"""
The command that judges a trace or a journal, and what it shows: `gnomon check`.

A trace with its pulses is judged as it is read and may be of any length; one whose pulses are
derived, or that is judged by the axioms as printed, is read as a whole first, and so is a journal.
The report has a line for each axiom, says who is to blame, and for what.

Spec: CHECK-1 to CHECK-7.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from gnomon.cli.click_parts import CliCommand, argument
from gnomon.cli.options import clock_of
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, StyledLine, TextTable, render, render_json, say
from gnomon.cli.trace_pulses import with_pulses
from gnomon.errors import DefinitionError
from gnomon.errors.root import LocatedError
from gnomon.theory import Judgement, Monitor, Report, check
from gnomon.trace import (
    LINE_MAX,
    Event,
    Header,
    Kind,
    Pulses,
    Reinitialize,
    Witnesses,
    parse_trace,
    render_event,
)

__all__ = ["check_command"]

_CHUNK = 1 << 20
_SQLITE = b"SQLite format 3\0"
_SCHEMES = ("postgresql://", "postgres://")
_Judged = tuple[Report, Event | None]
"""The report, and the event at which the earliest violation came to light."""


@click.command("check", cls=CliCommand)
@argument(
    "trace", metavar="TRACE", help="A trace, as JSON lines, or the store of a gnomon.Scheduler."
)
@click.option("--as-printed", is_flag=True, help="Judge by the axioms as they were printed.")
@click.option(
    "--happy", metavar="KINDS", help="The kinds of faults to be coped with, as a,b; left out, all."
)
@click.option(
    "--zone", metavar="ZONE", help="Of a store: the scheduler's zone; left out, the host's."
)
@click.option("--namespace", metavar="NAME", help="Of a store: which journal; left out, default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check_command(
    context: click.Context, trace: str, as_printed: bool, happy: str | None, zone: str | None,
    namespace: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Judge a trace, or the journal of a scheduler, by the axioms of schedulers."""
    kinds = None if happy is None else [kind for kind in happy.split(",") if kind]
    is_shared = trace.startswith(_SCHEMES)
    place = trace
    if is_shared or _is_store(Path(trace)):
        from gnomon.cli.journal_trace import read_journal

        journal = read_journal(trace, namespace=namespace or "default", is_shared=is_shared)
        header = Header(
            zone=zone or _host_zone(context),
            pulses=Pulses.DERIVED,
            reinitialize=Reinitialize.RECONCILE,
        )
        place = journal.place
        if journal.gone:
            say(f"note: the oldest {journal.gone:,} entries are gone, and are not judged", err=True)
        events = with_pulses(header, journal.events, is_cut=journal.gone > 0)
        report, event = _judged(header, events, False, as_printed=as_printed, happy=kinds)
    else:
        _refuse("zone", zone)
        _refuse("namespace", namespace)
        report, event = _judged_file(Path(trace), as_printed=as_printed, happy=kinds)
    say(_check_text(place, report, event, as_json=as_json), nl=False)
    return 0 if report.is_fine else 1


def _is_store(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _host_zone(context: click.Context) -> str:
    from gnomon.shell.host_zone import host_zone
    from gnomon.shell.settings import environment

    return host_zone(environment(), now=clock_of(context).now_ms() // 1000)


def _refuse(name: str, value: str | None) -> None:
    if value is not None:
        raise DefinitionError(
            "goes with the store of a gnomon.Scheduler",
            where=name,
            got=value,
            hint=f"leave --{name} out: a trace in a file says so itself, in its header",
        )


def _judged_file(path: Path, *, as_printed: bool, happy: list[str] | None) -> _Judged:
    try:
        header, events = parse_trace(_lines(path))
        if header.pulses is Pulses.DERIVED:
            events = with_pulses(header, list(events))
        is_metered = not as_printed and _mentions_compute(path)
        return _judged(header, events, is_metered, as_printed=as_printed, happy=happy)
    except DefinitionError as error:
        raise LocatedError(error, place=str(path)) from error


def _judged(
    header: Header, events: Iterable[Event], is_metered: bool, *, as_printed: bool,
    happy: list[str] | None,
) -> _Judged:  # fmt: skip
    if as_printed:
        whole = list(events)
        report = check(header, whole, as_printed=True, happy=happy)
        return report, None if report.first is None else whole[report.first.position]
    return _judged_as_read(header, events, is_metered=is_metered, happy=happy)


def _judged_as_read(
    header: Header, events: Iterable[Event], *, is_metered: bool, happy: list[str] | None
) -> _Judged:
    monitor = Monitor(header, is_metered=is_metered, happy=happy)
    culprits: dict[str, Event] = {}
    for event in events:
        for violation in monitor.see(event):
            culprits.setdefault(violation.axiom, event)
    report = monitor.verdicts()
    return report, None if report.first is None else culprits[report.first.axiom]


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_MAX + 1):
            number += 1
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise DefinitionError(
                    "must be UTF-8", where=f"line {number}", got=line[error.start : error.start + 8]
                ) from error


def _mentions_compute(path: Path) -> bool:
    """Whether compute is recorded anywhere; known before the first event is judged."""
    word, before = f'"{Kind.COMPUTE}"'.encode(), b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if word in before + chunk:
                return True
            before = chunk[-len(word) :]
    return False


def _check_text(place: str, report: Report, event: Event | None, *, as_json: bool) -> str:
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
    return render(StyledLine(title, style), FactRows(about), "", TextTable(columns, rows))


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
