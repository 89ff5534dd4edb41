"""
Let one world happen again: `python -m gnomon.simulation crash --seed 7 --faults crash_after@12`.

Prints the schedules, what happened, and what the judges say; exits with 1 when a promise was
broken. `python -m gnomon.simulation declarative ...` does the same for the declarative scheduler,
`python -m gnomon.simulation workflow ...` for workflows, and `python -m gnomon.simulation operator
...` for the operator on Kubernetes.
"""

import argparse
import sys

from gnomon.simulation.declarative.__main__ import main as declarative
from gnomon.simulation.kit.faults import read_fault, read_step
from gnomon.simulation.ledger.campaign import Campaign, spec_of
from gnomon.simulation.ledger.world import run_world
from gnomon.simulation.operator.__main__ import main as operator
from gnomon.simulation.workflow.__main__ import main as workflow

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["declarative"]:
        return declarative(arguments[1:])
    if arguments[:1] == ["workflow"]:
        return workflow(arguments[1:])
    if arguments[:1] == ["operator"]:
        return operator(arguments[1:])
    options = _parser().parse_args(arguments)
    faults = None if options.faults is None else map(read_fault, _parts(options.faults))
    steps = None if options.steps is None else map(read_step, _parts(options.steps))
    spec = spec_of(Campaign(options.campaign), options.seed, faults=faults, steps=steps)
    trial = run_world(spec)
    lines = [
        f"{spec.workload.way}, {spec.workers} workers, {spec.limits}",
        *(str(schedule) for schedule in spec.workload.schedules),
        *(str(pause) for pause in spec.workload.pauses),
        f"faults: {','.join(map(str, spec.faults))}",
        f"clock: {','.join(map(str, spec.steps))}",
        *(trial.record.lines if options.verbose else ()),
        *(str(effect) for effect in trial.record.effects if options.verbose),
        *(str(complaint) for complaint in trial.complaints),
        f"{len(trial.complaints)} complaints; digest {trial.record.digest()}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if trial.complaints else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gnomon.simulation")
    parser.add_argument("campaign", choices=[campaign.value for campaign in Campaign])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--faults", help="instead of those that the seed draws")
    parser.add_argument("--steps", help="of the clock, instead of those that the seed draws")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    return parser


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
