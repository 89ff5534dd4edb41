"""Gnomon: the monitor, with all its axioms, from values in memory and from JSON lines."""

from benchmarks.harness.timing import Job
from benchmarks.theory.cells import Area, Cell
from benchmarks.theory.workload import Step, formula_steps, minutes
from gnomon.theory import Monitor
from gnomon.trace import Event, Header, Kind, Registration, parse_trace, render_event, render_header

__all__ = ["GnomonEngine"]


class GnomonEngine:
    distributions: tuple[str, ...] = ("gnomon",)

    def job(self, cell: Cell) -> Job:
        match cell.area:
            case Area.FORMULA:
                return _formula_job(cell)
            case Area.TASKS:
                return _tasks_job(cell)
            case Area.CHECK:
                return _check_job(cell)


def _formula_job(cell: Cell) -> Job:
    events = _events(1, formula_steps(cell.events))

    def run() -> None:
        monitor = Monitor()
        found = [violation for event in events for violation in monitor.see(event)]
        assert [one.axiom for one in found] == ["S1"], found
        assert found[0].position == len(events) - 1

    return Job(run=run, operations=len(events), answers=list)


def _tasks_job(cell: Cell) -> Job:
    events = _events(cell.tasks, minutes(cell.tasks, cell.events))

    def run() -> None:
        monitor = Monitor()
        monitor.see_all(events)
        assert monitor.verdicts().is_fine

    return Job(run=run, operations=len(events), answers=list)


def _check_job(cell: Cell) -> Job:
    events = _events(cell.tasks, minutes(cell.tasks, cell.events))
    lines = [f"{line}\n" for line in (render_header(Header()), *map(render_event, events))]

    def run() -> None:
        header, read = parse_trace(lines)
        monitor = Monitor(header)
        monitor.see_all(read)
        assert monitor.verdicts().is_fine

    return Job(run=run, operations=len(events), answers=list)


def _events(tasks: int, steps: list[Step]) -> list[Event]:
    listed = tuple(Registration(f"task-{number}", "* * * * *", 60_000) for number in range(tasks))
    return [
        Event(Kind.INIT_START, 0, call=1, registrations=listed),
        Event(Kind.INIT_SUCCESS, 0, call=1),
        *(Event(Kind(step.kind), step.t, step.task) for step in steps),
    ]
