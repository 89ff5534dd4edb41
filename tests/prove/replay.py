"""
What do the engine and the minute scan say to one question? `python -m tests.prove replay ...`

The line that a difference prints; exits with 1 when they disagree.
"""

import argparse
import json
from datetime import datetime
from itertools import islice

from gnomon import cron
from gnomon.errors import DefinitionError
from tests.oracle.fuzz_cases import complaint, steps_max, steps_of
from tests.oracle.minute_scan import latest_scan, next_scan, occurrences
from tests.oracle.reading import Unreadable
from tests.oracle.transitions import HORIZON_END, zone_info

__all__ = ["replay"]


def replay(arguments: list[str]) -> int:
    """Ask both again and show their answers side by side, in UTC seconds and in local time."""
    options = _parser().parse_args(arguments)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.prove replay")
    parser.add_argument("question", choices=["next", "latest", "iterate", "between", "parse"])
    parser.add_argument("text", help="a cron text, or a JSON string that holds one")
    parser.add_argument("--dialect", default="standard")
    parser.add_argument("--zone", default="UTC")
    parser.add_argument("--dst", default="vixie")
    parser.add_argument("--at", type=int, default=0)
    return parser


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
