"""
The command that judges a trace: `gnomon check`.

A trace with its pulses is judged as it is read and may be of any length; one whose pulses are
derived, or that is judged by the axioms as printed, is read as a whole first.

Spec: CHECK-1 to CHECK-5.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.check_view import check_text
from gnomon.cli.problem import LocatedError
from gnomon.cli.trace_pulses import with_pulses
from gnomon.errors import DefinitionError
from gnomon.theory import Monitor, Report, check
from gnomon.trace import LINE_MAX, Event, Header, Kind, Pulses, parse_trace

__all__ = ["check_command"]

_CHUNK = 1 << 20


def check_command(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="A trace, as JSON lines.", show_default=False),
    ],
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="Judge by the axioms as they were printed.")
    ] = False,
    happy: Annotated[
        str | None,
        typer.Option(
            "--happy",
            metavar="KINDS",
            help="The kinds of faults to be coped with, as a,b; left out, all.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge a trace by the axioms of schedulers."""
    kinds = None if happy is None else [kind for kind in happy.split(",") if kind]
    try:
        report, event = _judged(trace, as_printed=as_printed, happy=kinds)
    except DefinitionError as error:
        raise LocatedError(error, place=str(trace)) from error
    typer.echo(check_text(trace, report, event, as_json=as_json), nl=False)
    return 0 if report.is_fine else 1


def _judged(
    path: Path, *, as_printed: bool, happy: list[str] | None
) -> tuple[Report, Event | None]:
    """The report, and the event at which the earliest violation came to light."""
    header, events = parse_trace(_lines(path))
    if header.pulses is Pulses.DERIVED:
        events = with_pulses(header, list(events))
    if as_printed:
        whole = list(events)
        report = check(header, whole, as_printed=True, happy=happy)
        return report, None if report.first is None else whole[report.first.position]
    return _judged_as_read(header, events, is_metered=_mentions_compute(path), happy=happy)


def _judged_as_read(
    header: Header, events: Iterable[Event], *, is_metered: bool, happy: list[str] | None
) -> tuple[Report, Event | None]:
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
