"""
Let one world of workflows happen again, as the line of a failure says.

`python -m gnomon.simulation workflow --world crash --seed 7 --faults crash_after@12` prints what
happened and what the audit says; it exits with 1 when a promise was broken.
"""

import argparse
import sys
from dataclasses import replace

from gnomon.simulation.kit.faults import read_fault
from gnomon.simulation.workflow.plan import World, draw_spec
from gnomon.simulation.workflow.world import run_world

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m gnomon.simulation workflow")
    parser.add_argument("--world", choices=[world.value for world in World], default="storm")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--faults", help="instead of those that the seed draws")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    options = parser.parse_args(arguments)
    spec = draw_spec(World(options.world), options.seed)
    if options.faults is not None:
        texts = [part for part in options.faults.split(",") if part]
        spec = replace(spec, faults=tuple(map(read_fault, texts)))
    trial = run_world(spec)
    lines = [
        str(spec),
        *(trial.notes.lines if options.verbose else ()),
        *trial.complaints,
        f"{len(trial.complaints)} complaints; {trial.runs} runs, {trial.applications} mutations; "
        f"digest {trial.notes.digest()}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if trial.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
