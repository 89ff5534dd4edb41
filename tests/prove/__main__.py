"""
Prove what is promised: `python -m tests.prove KIND... [--sample N]`.

Without a kind, all of them: every transition of every zone, a million random questions and a
million fuzzed texts against the minute scan; 50,000 simulated worlds of crashes and 50,000 of three
workers in trouble; 60,000 of the declarative scheduler, with years of it; 63,200 of workflows;
10,000 of the operator, and all states of its protocol; 1,000 real kills each of `gnomon run`, of
krond, of a scheduler, of a worker of the service and of a workflow, 400 of a worker whose runs are
Jobs on a real Kubernetes, 1,000 faults that happen to
workers on PostgreSQL, as many to operators on a real Kubernetes (`make kube`), and 60 storms of
everything at once on PostgreSQL; 100,000 traces judged by the theory's monitor and by its formulas.
Runs on all cores, can be resumed, and writes docs/evidence when a report's part was run as a whole.
Exits with 1 on any finding, and prints the line that shows it again.
"""

import argparse
import os
import sys
from pathlib import Path

from tests.prove import (
    crash,
    declarative,
    fleet,
    killing,
    operator,
    operator_worlds,
    protocol,
    storm,
    theory,
    time_core,
    workflow,
)
from tests.prove.chunk import ChunkResult, fill
from tests.prove.replay import replay
from tests.prove.runner import Run

_KINDS = (
    *time_core.KINDS, "crash", "kill", "workers-kill", "theory", "declarative", "kill-scheduler",
    "kill-krond", "kill-service", "kill-jobs", "workflow", "kill-workflow", "ledger-storm",
    "operator-worlds", "protocol", "kill-operator",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["replay"]:
        return replay(arguments[1:])
    if arguments[:1] == ["chunk"]:
        return _run_chunk(arguments[1], int(arguments[2]))
    options = _parser().parse_intermixed_args(arguments)
    if unknown := set(options.kinds) - set(_KINDS):
        print(f"unknown: {', '.join(sorted(unknown))}; write any of {', '.join(_KINDS)}")
        return 2
    kinds = tuple(kind for kind in _KINDS if kind in (options.kinds or _KINDS))
    how = Run(sample=options.sample, resume=options.resume, reports=options.reports)
    try:
        return _prove(kinds, options, how)
    except KeyboardInterrupt:
        again = [one for one in arguments if one != "--resume"]
        print(f"interrupted; go on with: python -m tests.prove {' '.join([*again, '--resume'])}")
        return 130


def _prove(kinds: tuple[str, ...], options: argparse.Namespace, how: Run) -> int:
    """Everything that was asked for, whatever is found on the way."""
    well, cores = True, options.workers or os.cpu_count() or 1
    if chosen := tuple(kind for kind in kinds if kind in time_core.KINDS):
        well &= time_core.prove(
            chosen, how, random_cases=options.random, fuzz_texts=options.fuzz, workers=cores
        )
    if "crash" in kinds:
        well &= crash.prove(how, worlds=options.worlds, workers=cores)
    for kind in (kind for kind in kinds if kind in killing.KILLINGS):
        well &= killing.prove(kind, how, kills=options.kills, workers=options.workers)
    if "workers-kill" in kinds:
        fleets = options.workers or fleet.FLEETS
        well &= fleet.prove(how, faults=options.faults, workers=fleets)
    if "theory" in kinds:
        well &= theory.prove(how, traces=options.traces, workers=cores)
    if "declarative" in kinds:
        well &= declarative.prove(how, worlds=options.worlds, workers=cores)
    if "workflow" in kinds:
        well &= workflow.prove(how, worlds=options.worlds, workers=cores)
    if "ledger-storm" in kinds:
        well &= storm.prove(how, storms=options.storms, workers=cores)
    if "operator-worlds" in kinds:
        operator_most = min(options.worlds, operator_worlds.WORLDS)
        well &= operator_worlds.prove(how, worlds=operator_most, workers=cores)
    if "protocol" in kinds:
        well &= protocol.prove(how, workers=cores)
    if "kill-operator" in kinds:
        well &= operator.prove(how, faults=options.faults)
    return 0 if well else 1


def _run_chunk(kind: str, index: int) -> int:
    """One chunk alone, as the line of a chunk that raised says."""
    result = ChunkResult(kind=kind, index=index)
    fill(result)
    print(result)
    return 1 if result.differences else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove")
    parser.add_argument("kinds", nargs="*", metavar="|".join(_KINDS), help="default: all of them")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every n-th chunk")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--workers", type=int, metavar="N", help="default: one for each core")
    parser.add_argument("--random", type=int, default=1_000_000, metavar="N", help="questions")
    parser.add_argument("--fuzz", type=int, default=1_000_000, metavar="N", help="texts")
    parser.add_argument(
        "--worlds", type=int, default=crash.WORLDS, metavar="N", help="of each kind of crash"
    )
    parser.add_argument("--kills", type=int, default=killing.KILLS, metavar="N")
    parser.add_argument("--faults", type=int, default=fleet.FAULTS, metavar="N")
    parser.add_argument("--storms", type=int, default=storm.STORMS, metavar="N")
    parser.add_argument("--traces", type=int, default=theory.TRACES, metavar="N")
    parser.add_argument(
        "--reports", type=Path, metavar="DIR", help="default: docs/evidence, for what is run whole"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
