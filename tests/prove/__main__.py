"""
Prove the time core: `python -m tests.prove [sweep] [random] [fuzz] [--resume]`; without a kind, the
simulated crashes of `tests.prove.crash`, the kills of `tests.prove.kill` and the fleets of
`tests.prove.fleet` too, which `python -m tests.prove crash`, `kill` and `workers-kill` run alone.

Runs every transition of every zone, a million random questions and a million fuzzed texts, on all
cores, and writes docs/evidence/time-core.md with the figures. Exits with 1 on any difference, and
prints the line that replays it: `python -m tests.prove replay next '30 2 * * *' --zone ...`.
"""

import argparse
import json
import os
import sys
from datetime import datetime
from itertools import islice
from pathlib import Path

from gnomon import cron
from gnomon.errors import DefinitionError
from tests.oracle.fuzz_cases import complaint, steps_max, steps_of
from tests.oracle.minute_scan import latest_scan, next_scan, occurrences
from tests.oracle.random_cases import SEED
from tests.oracle.reading import Unreadable
from tests.oracle.transitions import HORIZON_END, tzdata_version, zone_info
from tests.prove import crash, fleet, kill
from tests.prove.chunk import KINDS, plan
from tests.prove.report import figures, write
from tests.prove.runner import ROOT, State, run_all

_REPORT = ROOT / "docs" / "evidence" / "time-core.md"
_SHOWN_MAX = 20


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["replay"]:
        return _replay(_replay_parser().parse_args(arguments[1:]))
    if arguments[:1] == ["crash"]:
        return crash.main(arguments[1:])
    if arguments[:1] == ["kill"]:
        return kill.main(arguments[1:])
    if arguments[:1] == ["workers-kill"]:
        return fleet.main(arguments[1:])
    options = _parser().parse_intermixed_args(arguments)
    code = _prove(options)
    if code or options.kinds:
        return code
    code = crash.prove(
        runs=crash.RUNS, sample=options.sample, resume=options.resume, workers=options.workers
    )
    code = code or kill.prove(kills=kill.KILLS, sample=options.sample, resume=options.resume)
    return code or fleet.prove(faults=fleet.FAULTS, sample=options.sample, resume=options.resume)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove")
    parser.add_argument("kinds", nargs="*", metavar="|".join(KINDS), help="default: all three")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--random", type=int, default=1_000_000, help="how many questions")
    parser.add_argument("--fuzz", type=int, default=1_000_000, help="how many texts")
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th chunk")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=Path, help="default: docs/evidence, if all is run")
    return parser


def _prove(options: argparse.Namespace) -> int:
    kinds = tuple(options.kinds or KINDS)
    if unknown := set(kinds) - set(KINDS):
        print(f"unknown: {', '.join(sorted(unknown))}; write any of {', '.join(KINDS)}")
        return 2
    chunks = plan(
        kinds, random_cases=options.random, fuzz_texts=options.fuzz, sample=options.sample
    )
    print(
        f"seed {SEED}, tzdata {tzdata_version()}, {len(chunks)} chunks, {options.workers} workers"
    )
    state = State(ROOT / ".prove" / "time-core.jsonl", resume=options.resume)
    try:
        run_all(chunks, state, workers=options.workers)
    except KeyboardInterrupt:
        print("interrupted; go on with: python -m tests.prove --resume")
        return 130
    results = [state.results[chunk] for chunk in chunks]
    found = figures(results, wall_s=state.wall_s, workers=options.workers)
    complete = kinds == KINDS and options.sample == 1
    if report := options.report or (_REPORT if complete else None):
        write(found, report)
        print(f"report: {report}")
    return _verdict(found)


def _verdict(found: dict[str, object]) -> int:
    parts, differences = found["parts"], found["differences"]
    assert isinstance(parts, list)
    assert isinstance(differences, list)
    for part in parts:
        if not part["cases"]:
            continue
        print(
            f"{part['kind']}: {part['cases']:,} cases, {part['answers']:,} answers compared, "
            f"{part['differences']:,} differences, {part['busy_s']} s busy"
        )
    for line in differences[:_SHOWN_MAX]:
        print(line)
    return 1 if differences else 0


def _replay_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove replay")
    parser.add_argument("question", choices=["next", "latest", "iterate", "between", "parse"])
    parser.add_argument("text", help="a cron text, or a JSON string that holds one")
    parser.add_argument("--dialect", default="standard")
    parser.add_argument("--zone", default="UTC")
    parser.add_argument("--dst", default="vixie")
    parser.add_argument("--at", type=int, default=0)
    return parser


def _replay(options: argparse.Namespace) -> int:
    """Ask both again and show their answers side by side, in UTC seconds and in local time."""
    if options.text.startswith('"'):
        options.text = json.loads(options.text)
    if options.question == "parse":
        found = complaint(options.text, options.dialect)
        steps, most = steps_of(options.text, options.dialect), steps_max(options.text)
        print(f"{found or 'no complaint'}; {steps} steps of at most {most}")
        return 1 if found or steps > most else 0
    scan, engine = _scan_answers(options), _engine_answers(options)
    print(f"scan:   {_shown(scan, options.zone)}\nengine: {_shown(engine, options.zone)}")
    return 0 if scan == engine else 1


def _scan_answers(options: argparse.Namespace) -> list[int | None] | str:
    text, dialect, zone, dst, at = _question(options)
    try:
        if options.question == "next":
            return [next_scan(text, dialect=dialect, zone=zone, dst=dst, after=at)]
        if options.question == "latest":
            return [latest_scan(text, dialect=dialect, zone=zone, dst=dst, at=at)]
        start = at + 1 if options.question == "iterate" else at
        end = min(start + 7 * 86_400, HORIZON_END)
        return list(occurrences(text, dialect=dialect, zone=zone, dst=dst, start=start, end=end))
    except Unreadable as error:
        return f"rejected: {error}"


def _engine_answers(options: argparse.Namespace) -> list[int | None] | str:
    text, dialect, zone, dst, at = _question(options)
    try:
        recurrence = cron(text, dialect=dialect, zone=zone, dst=dst)
    except DefinitionError as error:
        return f"rejected: {error}"
    if options.question == "next":
        return [recurrence.next_epoch(at)]
    if options.question == "latest":
        return [recurrence.latest_epoch(at)]
    end = min(at + 7 * 86_400, HORIZON_END)
    if options.question == "between":
        return list(recurrence.between_epochs(at, end))
    walked = islice(recurrence.iterate_epochs(at), 7 * 86_400)
    return [instant for instant in walked if instant <= end]


def _question(options: argparse.Namespace) -> tuple[str, str, str, str, int]:
    return options.text, options.dialect, options.zone, options.dst, options.at


def _shown(answers: list[int | None] | str, zone: str) -> str:
    if isinstance(answers, str):
        return answers
    return ", ".join(
        "None"
        if at is None
        else f"{at} = {datetime.fromtimestamp(at, zone_info(zone)).isoformat()}"
        for at in answers
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
