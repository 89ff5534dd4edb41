"""
Let one world of the operator happen again, as the line of a failure says.

`python -m gnomon.simulation operator --world crash --seed 7 --faults dies_after@12` prints what
happened and what the judge says; it exits with 1 when a promise was broken.
"""

import argparse
import sys
from dataclasses import replace

from gnomon.simulation.kit.faults import read_fault
from gnomon.simulation.operator.plan import Strike, World, draw_spec
from gnomon.simulation.operator.world import run_world

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m gnomon.simulation operator")
    parser.add_argument("--world", choices=[world.value for world in World], default="storm")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--faults", help="instead of those that the seed draws")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    options = parser.parse_args(arguments)
    spec = draw_spec(World(options.world), options.seed)
    if options.faults is not None:
        written = [part for part in options.faults.split(",") if part]
        spec = replace(spec, faults=tuple(read_fault(one, Strike) for one in written))
    trial = run_world(spec)
    lines = [
        f"{spec.operators} operators, {spec.length_ms // 1000} s, {spec.lag} % of news late"
        + (", one of them leads" if spec.has_lease else ""),
        *(str(one) for one in spec.kronjobs),
        f"faults: {','.join(map(str, spec.faults))}",
        *(str(errand) for errand in spec.errands),
        *(trial.notes.lines if options.verbose else ()),
        *trial.complaints,
        f"{len(trial.complaints)} complaints; {trial.executions} executions of {trial.due} periods "
        f"that had to run and others; digest {trial.notes.digest()}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if trial.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
