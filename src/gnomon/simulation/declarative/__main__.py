"""
Let one world of the declarative scheduler happen again, as the line of a failure says.

`python -m gnomon.simulation declarative --world crash --seed 7 --faults crash_after@12` prints the
lists, what happened and what the judges say; it exits with 1 when a promise was broken.
"""

import argparse
import sys
from dataclasses import replace

from gnomon.simulation.declarative.plan import Spec, World, draw_spec
from gnomon.simulation.declarative.world import run_world
from gnomon.simulation.kit.faults import read_fault, read_step

__all__ = ["main"]

_HOUR_MS = 3_600_000


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    spec = _spec(options)
    trial = run_world(spec)
    lines = [
        f"{spec.zone}, {spec.reinitialize}, {spec.length_ms} ms from {spec.start_ms}",
        *(str(listed) for listed in spec.lists),
        f"faults: {','.join(map(str, spec.faults))}",
        f"clock: {','.join(map(str, spec.steps))}",
        *(str(errand) for errand in spec.errands),
        *(trial.notes.lines if options.verbose else ()),
        *(str(complaint) for complaint in trial.complaints),
        f"{len(trial.complaints)} complaints; {trial.starts} starts, {trial.events} events; "
        f"digest {trial.notes.digest()}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if trial.complaints else 0


def _spec(options: argparse.Namespace) -> Spec:
    spec = draw_spec(
        World(options.world), options.seed, tasks=options.tasks, length_ms=options.hours * _HOUR_MS
    )
    if options.faults is not None:
        spec = replace(spec, faults=tuple(map(read_fault, _parts(options.faults))))
    if options.steps is not None:
        spec = replace(spec, steps=tuple(map(read_step, _parts(options.steps))))
    return spec


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gnomon.simulation declarative")
    parser.add_argument("--world", choices=[world.value for world in World], default="storm")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tasks", type=int, default=0, help="instead of what the seed draws")
    parser.add_argument("--hours", type=int, default=0, help="instead of what the seed draws")
    parser.add_argument("--faults", help="instead of those that the seed draws")
    parser.add_argument("--steps", help="of the clock, instead of those that the seed draws")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    return parser


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
