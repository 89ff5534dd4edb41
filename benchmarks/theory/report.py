"""A result as tables: what was promised, then the events a second of every cell."""

from rich.console import Console

from benchmarks.harness.table import Table, print_tables, short, to_markdown
from benchmarks.theory.cells import Area
from benchmarks.theory.roster import GNOMON, ROSTER
from benchmarks.theory.run import Result
from benchmarks.theory.targets import TARGETS, judge

__all__ = ["print_report", "render_markdown", "tables_of"]

_TITLES = {
    Area.FORMULA: "One formula on one task; Gnomon judges all axioms",
    Area.TASKS: "All axioms on many tasks, in process",
    Area.CHECK: "All axioms from JSON lines",
}
_HOW_TO_READ = """\
All engines were measured in one interleaved run, best of the rounds per cell, in processor time.
A ratio above 1 means that Gnomon is faster.
How each cell is made, and what is unfair about it, is in `docs/reference/benchmarks.md`."""


def tables_of(result: Result) -> list[Table]:
    """All tables of a report, in reading order."""
    return [
        _target_table(result),
        *(_area_table(result, area) for area in Area),
        _engine_table(result),
        _missing_table(result),
    ]


def print_report(result: Result, console: Console) -> None:
    console.print(_machine_line(result))
    print_tables(tables_of(result), console)


def render_markdown(result: Result) -> str:
    """The report as a page: the machine, the tables, what to know about each engine."""
    parts = ["# Benchmark of the theory", _machine_line(result), _HOW_TO_READ]
    parts += [to_markdown(table) for table in tables_of(result) if table.rows]
    parts.append("## Notes")
    parts.append("\n".join(f"- **{each.name}**: {each.note}" for each in ROSTER))
    return "\n\n".join(parts) + "\n"


def _target_table(result: Result) -> Table:
    rows = []
    for found in (judge(target, result.figures) for target in TARGETS):
        measured = "-" if found.value is None else f"{found.value:,.0f}"
        must, aim = f">= {found.target.must:,.0f}", f">= {found.target.aim:,.0f}"
        rows.append((found.target.title, measured, must, aim, found.verdict.value))
    header = ("target", "events / s", "must", "aim", "")
    return Table(title="Targets", header=header, rows=rows)


def _area_table(result: Result, area: Area) -> Table:
    figures = result.figures
    subject = figures.get((area, GNOMON.name), {})
    rows = [
        (contender.name, label, f"{1e9 / ns:,.0f}", _quotient(ns, subject.get(label)))
        for contender in ROSTER
        for label, ns in figures.get((area, contender.name), {}).items()
    ]
    header = ("engine", "cell", "events / s", "to Gnomon")
    return Table(title=_TITLES[area], header=header, rows=rows)


def _quotient(value: float, by: float | None) -> str:
    return "-" if by is None else short(value / by)


def _engine_table(result: Result) -> Table:
    rows = []
    for presence in result.presences:
        versions = ", ".join(f"{name} {text}" for name, text in presence.versions.items())
        rows.append((presence.name, presence.missing or versions or "-"))
    return Table(title="Engines", header=("engine", "versions"), rows=rows)


def _missing_table(result: Result) -> Table:
    """Failures by name; an engine without an operation is no failure and has no line above."""
    rows = [
        (one.engine, one.cell, one.missing)
        for one in result.measurements
        if one.missing is not None and one.missing.startswith("failed")
    ]
    return Table(title="Failures", header=("engine", "cell", "reason"), rows=rows)


def _machine_line(result: Result) -> str:
    machine = result.machine
    return (
        f"{result.extent.capitalize()} run of {result.taken_on} on {machine.cpu}, "
        f"{machine.cores} cores, {machine.system}, {machine.python}, "
        f"load {machine.load} at the start."
    )
