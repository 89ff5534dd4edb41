"""Reelay: a monitor for past temporal logic in C++, through its Python binding, one formula."""

import reelay  # type: ignore[import-not-found]

from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.theory.cells import Area, Cell
from benchmarks.theory.workload import formula_steps

__all__ = ["ReelayEngine"]

_FORMULA = "historically({start} -> pre(not{start} since {due}))"


class ReelayEngine:
    distributions: tuple[str, ...] = ("reelay",)

    def job(self, cell: Cell) -> Job:
        if cell.area is not Area.FORMULA:
            raise Unsupported("it has no tasks")
        steps = [
            {"due": step.kind == "Due", "start": step.kind == "RunStart"}
            for step in formula_steps(cell.events)
        ]

        def run() -> None:
            monitor = reelay.discrete_timed_monitor(
                pattern=_FORMULA, semantics="boolean", condense=False
            )
            update = monitor.update
            values = [update(step)["value"] for step in steps]
            assert values.index(False) == len(steps) - 1

        return Job(run=run, operations=len(steps), answers=list)
