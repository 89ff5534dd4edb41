"""
A result as tables: what was promised, then one table for each area.

Rates and lateness are on the wall clock, the best round of each cell; the processor time beside a
rate shows what is left of a difference when waiting for the disk and for other programs is not
counted. Nothing here measures or judges.
"""

from collections.abc import Sequence

from rich.console import Console

from benchmarks.harness.table import Table, print_tables, short, to_markdown
from benchmarks.ledger.cells import Area
from benchmarks.ledger.result import Result
from benchmarks.ledger.roster import GNOMON, ROSTER
from benchmarks.ledger.targets import TARGETS, Measure, judge

__all__ = ["print_report", "render_markdown", "tables_of"]

_HOW_TO_READ = """\
All engines of one table were measured in one interleaved run, best of the rounds per cell.
A ratio above 1 means that Gnomon is faster; rates are on the wall clock.
How each cell is made, and what is unfair about it, is in `docs/reference/benchmarks.md`."""


def tables_of(result: Result) -> list[Table]:
    """All tables of a report, in reading order."""
    return [
        _target_table(result),
        _fire_table(result),
        _workers_table(result),
        _lateness_table(result),
        _idle_table(result),
        _memory_table(result),
        _engine_table(result),
        _missing_table(result),
    ]


def print_report(result: Result, console: Console) -> None:
    console.print(_machine_line(result))
    print_tables(tables_of(result), console)


def render_markdown(result: Result) -> str:
    """The report as a page: the machine, the tables, what to know about each engine."""
    parts = ["# Benchmark of the ledger", _machine_line(result), _HOW_TO_READ]
    parts += [to_markdown(table) for table in tables_of(result) if table.rows]
    parts.append("## Notes")
    parts.append("\n".join(f"- **{each.name}**: {each.note}" for each in ROSTER))
    return "\n\n".join(parts) + "\n"


def _target_table(result: Result) -> Table:
    rows = []
    for judgement in (judge(target, result.figures) for target in TARGETS):
        target = judgement.target
        relation = ">=" if target.measure is Measure.RATE else "<="
        measured = "-" if judgement.value is None else f"{short(judgement.value)} {target.measure}"
        must, aim = f"{relation} {target.must:g}", f"{relation} {target.aim:g}"
        rows.append((target.title, measured, must, aim, judgement.verdict.value))
    return Table(title="Targets", header=("target", "measured", "must", "aim", ""), rows=rows)


def _fire_table(result: Result) -> Table:
    subject = result.figures.get((Area.FIRE, GNOMON.name), {})
    processor = _processor(result, GNOMON.name)
    rows = []
    for engine, label, ns in _lines(result, Area.FIRE):
        used = _processor(result, engine).get(label)
        rows.append(
            (
                engine,
                label,
                f"{1e9 / ns:,.0f}",
                _quotient(ns, subject.get(label)),
                "-" if used is None else short(used),
                _quotient(used, processor.get(label)),
            )
        )
    header = ("engine", "cell", "periods / s", "to Gnomon", "processor us each", "to Gnomon")
    return Table(title="Full fire: from due to finished", header=header, rows=rows)


def _workers_table(result: Result) -> Table:
    rows = [
        (engine, label, f"{1e9 / ns:,.0f}") for engine, label, ns in _lines(result, Area.WORKERS)
    ]
    title = "Full fire, shared by workers"
    return Table(title=title, header=("engine", "cell", "periods / s"), rows=rows)


def _lateness_table(result: Result) -> Table:
    names = ("p50 ms", "p99 ms", "max ms", "worst p99 ms", "dropped")
    rows = []
    for engine, label, _ in _lines(result, Area.LATENESS):
        facts = result.facts(Area.LATENESS, engine)[label]
        rows.append((engine, label, *(f"{facts[name]:,g}" for name in names)))
    return Table(title="Lateness of callbacks", header=("engine", "cell", *names), rows=rows)


def _idle_table(result: Result) -> Table:
    rows = []
    for engine, label, ns in _lines(result, Area.IDLE):
        facts = result.facts(Area.IDLE, engine)[label]
        size = f"{facts['file MB']:,g}" if "file MB" in facts else "-"
        rows.append((engine, label, short(ns / 1000), size))
    header = ("engine", "cell", "processor us", "file MB")
    return Table(title="Idle tick", header=header, rows=rows)


def _memory_table(result: Result) -> Table:
    rows = [
        (engine, label, f"{size / 1e6:.1f}") for engine, label, size in _lines(result, Area.MEMORY)
    ]
    return Table(title="Memory of a worker", header=("engine", "cell", "resident MB"), rows=rows)


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
        for measurements in result.measurements.values()
        for one in measurements
        if one.missing is not None and one.missing.startswith("failed")
    ]
    return Table(title="Failures", header=("engine", "cell", "reason"), rows=rows)


def _lines(result: Result, area: Area) -> Sequence[tuple[str, str, float]]:
    """Engine, label and figure of every cell of an area that was measured."""
    figures = result.figures
    return [
        (contender.name, label, value)
        for contender in ROSTER
        for label, value in figures.get((area, contender.name), {}).items()
    ]


def _processor(result: Result, engine: str) -> dict[str, float]:
    facts = result.facts(Area.FIRE, engine)
    return {label: found["processor us"] for label, found in facts.items()}


def _quotient(value: float | None, by: float | None) -> str:
    return "-" if value is None or by is None else short(value / by)


def _machine_line(result: Result) -> str:
    machine = result.machine
    return (
        f"{result.extent.capitalize()} run of {result.taken_on} on {machine.cpu}, "
        f"{machine.cores} cores, {machine.system}, {machine.python}, "
        f"load {machine.load} at the start."
    )
