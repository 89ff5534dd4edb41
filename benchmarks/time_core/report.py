"""
A result as tables: for the terminal with rich, for a file as Markdown; the same rows in both.

Ratios are peer / Gnomon, so above 1 Gnomon is faster. First the geometric mean over the cells of an
area, then, in brackets, the worst cell. Nothing here measures or judges.
"""

from dataclasses import dataclass

from rich.console import Console

from benchmarks.harness.ratio import compare, geometric_mean
from benchmarks.harness.table import Table, print_tables, short, to_markdown
from benchmarks.time_core.cells import Area, Decision
from benchmarks.time_core.result import Result
from benchmarks.time_core.roster import GNOMON, GNOMON_DATETIME, PEERS, ROSTER
from benchmarks.time_core.targets import TARGETS, Measure, Times, judge

__all__ = ["print_report", "render_markdown", "tables_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of the ratio table: an area, seen from one of Gnomon's two engines."""

    title: str
    area: Area
    subject: str = GNOMON.name


_LINES = (
    _Line(title="parse, no cache", area=Area.PARSE),
    _Line(title="text to first answer, ever new texts", area=Area.FIRST),
    _Line(title="next, integers", area=Area.NEXT),
    _Line(title="next, datetimes in and out", area=Area.NEXT, subject=GNOMON_DATETIME.name),
    _Line(title="next, random distinct schedules", area=Area.DISTINCT),
    _Line(title="latest, integers", area=Area.LATEST),
    _Line(title="iterate 1000, set-up included", area=Area.ITERATE),
    _Line(title="iterate 1000, datetimes", area=Area.ITERATE, subject=GNOMON_DATETIME.name),
    _Line(title="sparse: iterate 15, set-up included", area=Area.SPARSE),
    _Line(title="batch of mixed schedules", area=Area.BATCH),
)


def tables_of(result: Result) -> list[Table]:
    """All tables of a report, in reading order."""
    times = result.times
    return [
        _target_table(times),
        _ratio_table(times),
        _time_table(times),
        _worst_table(times),
        _decision_table(times),
        _fact_table(result),
        _engine_table(result),
        _missing_table(result),
    ]


def print_report(result: Result, console: Console) -> None:
    console.print(_machine_line(result))
    print_tables(tables_of(result), console)


def render_markdown(result: Result) -> str:
    """The report as a page: the machine, the tables, what to know about each engine."""
    parts = ["# Benchmark of the time core", _machine_line(result), _HOW_TO_READ]
    parts += [to_markdown(table) for table in tables_of(result) if table.rows]
    parts.append("## Notes")
    parts.append("\n".join(f"- **{each.name}**: {each.note}" for each in ROSTER))
    return "\n\n".join(parts) + "\n"


_HOW_TO_READ = """\
Ratios are peer / Gnomon in processor time, from one interleaved run, best of the rounds per cell.
Shown are the geometric mean over the cells of an area and, in brackets, the worst cell.
Absolute times are for orientation only.
How each cell is made, and what is unfair about it, is in `docs/reference/benchmarks.md`."""


def _target_table(times: Times) -> Table:
    rows = []
    for judgement in (judge(target, times) for target in TARGETS):
        target = judgement.target
        relation = ">=" if target.measure is Measure.TIMES_FASTER else "<="
        rows.append(
            (
                target.title,
                "-" if judgement.value is None else f"{short(judgement.value)} {target.measure}",
                f"{relation} {target.must:g}",
                f"{relation} {target.aim:g}",
                judgement.verdict.value,
            )
        )
    return Table(title="Targets", header=("target", "measured", "must", "aim", ""), rows=rows)


def _ratio_table(times: Times) -> Table:
    rows = []
    for line in _LINES:
        subject = times.get((line.area, line.subject), {})
        if not subject:
            continue
        rows.append((line.title, *(_ratio(times, line, peer.name) for peer in PEERS)))
    header = ("peer / Gnomon", *(peer.name for peer in PEERS))
    return Table(title="Ratios: geometric mean (worst cell)", header=header, rows=rows)


def _ratio(times: Times, line: _Line, peer: str) -> str:
    subject = times.get((line.area, line.subject), {})
    comparison = compare(subject, times.get((line.area, peer), {}))
    if comparison is None:
        return "-"
    return f"{short(comparison.ratio)} ({short(comparison.worst)})"


def _time_table(times: Times) -> Table:
    engines = [contender.name for contender in ROSTER]
    rows = []
    for area in Area:
        if area is Area.DECIDE or not any((area, engine) in times for engine in engines):
            continue
        rows.append((area.value, *(_mean_time(times, area, engine) for engine in engines)))
    title = "Microseconds per operation, geometric mean"
    return Table(title=title, header=("area", *engines), rows=rows)


def _mean_time(times: Times, area: Area, engine: str) -> str:
    cells = times.get((area, engine), {})
    return short(geometric_mean(cells.values()) / 1000) if cells else "-"


def _worst_table(times: Times) -> Table:
    rows = []
    for line in _LINES:
        subject = times.get((line.area, line.subject), {})
        for peer in PEERS:
            comparison = compare(subject, times.get((line.area, peer.name), {}))
            if comparison is None or comparison.cells < 2:
                continue
            worst = comparison.worst_cell
            rows.append(
                (
                    line.title,
                    peer.name,
                    short(comparison.worst),
                    f"`{worst}`",
                    short(subject[worst] / 1000),
                )
            )
    header = ("area", "peer", "ratio", "cell", "Gnomon, us")
    return Table(title="Worst cells", header=header, rows=rows, only_on_paper=True)


def _decision_table(times: Times) -> Table:
    cells = times.get((Area.DECIDE, GNOMON.name), {})
    floor = cells.get(Decision.HASH)
    if floor is None:
        return Table(title="Decisions", header=(), rows=[])
    rows = [(label, f"{ns:.0f}", f"{ns / floor:.2f}") for label, ns in cells.items()]
    return Table(title="Decisions", header=("cell", "ns", "x one sha256"), rows=rows)


def _fact_table(result: Result) -> Table:
    """What was measured beside a figure and is not in it."""
    rows = [
        (one.engine, one.cell, fact, f"{value:g}")
        for measurements in result.measurements.values()
        for one in measurements
        if one.best is not None
        for fact, value in one.best.facts.items()
    ]
    return Table(title="Not in the figures", header=("engine", "cell", "what", ""), rows=rows)


def _engine_table(result: Result) -> Table:
    agreements = {agreement.engine: agreement for agreement in result.agreements}
    rows = []
    for presence in result.presences:
        agreement = agreements.get(presence.name)
        utc = zoned = "-"
        if agreement is not None:
            utc = _share(agreement.utc_same, agreement.utc_all)
            zoned = _share(agreement.zoned_same, agreement.zoned_all)
        versions = ", ".join(f"{name} {text}" for name, text in presence.versions.items())
        rows.append((presence.name, presence.missing or versions, utc, zoned))
    header = ("engine", "versions", "same answers, UTC", "same answers, other zones")
    return Table(
        title="Engines, and how far their answers to `next` are Gnomon's", header=header, rows=rows
    )


def _missing_table(result: Result) -> Table:
    """Failures by name; an engine without an operation is no failure and shows as a dash above."""
    rows = [
        (one.engine, one.cell, one.missing)
        for measurements in result.measurements.values()
        for one in measurements
        if one.missing is not None and one.missing.startswith("failed")
    ]
    return Table(title="Failures", header=("engine", "cell", "reason"), rows=rows)


def _machine_line(result: Result) -> str:
    machine = result.machine
    return (
        f"{result.extent.capitalize()} run of {result.taken_on}, best of {result.settings.rounds} "
        f"rounds, on {machine.cpu}, {machine.cores} cores, {machine.system}, {machine.python}, "
        f"load {machine.load} at the start."
    )


def _share(same: int, of: int) -> str:
    return f"{100 * same / of:.1f} % of {of}" if of else "-"
