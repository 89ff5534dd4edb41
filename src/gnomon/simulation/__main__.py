"""
Let one world happen again, as the line of a failure says.

`python -m gnomon.simulation ledger --world crash --seed 7 --faults crash_after@12` prints what was
drawn, what happened and what the judges say; it exits with 1 when a promise was broken. The other
scenarios are `declarative`, `workflow` and `operator`.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from gnomon.simulation.declarative.plan import draw_spec
from gnomon.simulation.declarative.world import SCENARIO as DECLARATIVE
from gnomon.simulation.kit.campaign import Scenario, SteppedSpec, WorldSpec
from gnomon.simulation.kit.faults import read_fault, read_step
from gnomon.simulation.ledger.world import SCENARIO as LEDGER
from gnomon.simulation.operator.world import SCENARIO as OPERATOR
from gnomon.simulation.workflow.world import SCENARIO as WORKFLOW

__all__ = ["main"]

_HOUR_MS = 3_600_000
_W = TypeVar("_W", bound=StrEnum)
_D = TypeVar("_D", bound=WorldSpec)


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return _REPLAYS[options.scenario](options)


def _declarative(options: argparse.Namespace) -> int:
    draw = partial(draw_spec, tasks=options.tasks, length_ms=options.hours * _HOUR_MS)
    return _replay(replace(DECLARATIVE, draw=draw), options)


def _replay(scenario: Scenario[_W, _D], options: argparse.Namespace) -> int:
    """Draw a world, with what is given instead, let it happen, and print what came of it."""
    kinds = [kind.value for kind in scenario.kinds]
    if options.world not in kinds:
        _parser().error(f"argument --world: choose from {', '.join(kinds)}")
    spec = scenario.draw(scenario.kinds(options.world), options.seed)
    if options.faults is not None:
        faults = tuple(read_fault(one, scenario.strikes) for one in _parts(options.faults))
        spec = replace(spec, faults=faults)
    if options.steps is not None:
        if not isinstance(spec, SteppedSpec):
            _parser().error("argument --steps: no clock is set in these worlds")
        spec = replace(spec, steps=tuple(map(read_step, _parts(options.steps))))
    trial = scenario.run(spec)
    figures = ", ".join(f"{count} {name}" for name, count in trial.figures.items())
    lines = [
        *spec.lines(),
        *(trial.notes.everything() if options.verbose else ()),
        *map(str, trial.complaints),
        f"{len(trial.complaints)} complaints; {figures}; digest {trial.notes.digest()}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if trial.complaints else 0


_REPLAYS: dict[str, Callable[[argparse.Namespace], int]] = {
    LEDGER.name: partial(_replay, LEDGER),
    DECLARATIVE.name: _declarative,
    WORKFLOW.name: partial(_replay, WORKFLOW),
    OPERATOR.name: partial(_replay, OPERATOR),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gnomon.simulation")
    parser.add_argument("scenario", choices=list(_REPLAYS))
    parser.add_argument("--world", required=True, help="its kind, such as crash")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--faults", help="instead of those that the seed draws")
    parser.add_argument("--steps", help="of the clock, instead of those that the seed draws")
    parser.add_argument("--tasks", type=int, default=0, help="of a declarative world")
    parser.add_argument("--hours", type=int, default=0, help="of a declarative world")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    return parser


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
