"""RTAMT: a monitor for signal temporal logic in Python, online, one formula."""

import rtamt  # type: ignore[import-not-found]

from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.theory.cells import Area, Cell
from benchmarks.theory.workload import formula_steps

__all__ = ["RtamtEngine"]

_FORMULA = """
out = historically((start >= 0.5) implies (prev ((not (start >= 0.5)) since (due >= 0.5))))
"""


class RtamtEngine:
    distributions: tuple[str, ...] = ("rtamt",)

    def job(self, cell: Cell) -> Job:
        if cell.area is not Area.FORMULA:
            raise Unsupported("it has no tasks")
        steps = [
            [("due", float(step.kind == "Due")), ("start", float(step.kind == "RunStart"))]
            for step in formula_steps(cell.events)
        ]

        def run() -> None:
            specification = rtamt.StlDiscreteTimeSpecification()
            for name in ("due", "start", "out"):
                specification.declare_var(name, "float")
            specification.spec = _FORMULA
            specification.parse()
            update = specification.update
            found = [number for number, step in enumerate(steps) if update(number, step) < 0]
            assert found == [len(steps) - 1]

        return Job(run=run, operations=len(steps), answers=list)
