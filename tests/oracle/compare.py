"""
Does the engine give the answers of the minute scan?

Each check asks `gnomon.cron(...)` and the scan the same question and returns the differences; no
difference is an empty list. A difference prints as the one line that asks both again.
"""

import json
import shlex
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile

from gnomon import cron
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError
from tests.oracle.minute_scan import DST_POLICIES, latest_scan, next_scan, occurrences
from tests.oracle.reading import Unreadable
from tests.oracle.transitions import Transition

__all__ = [
    "Case",
    "Difference",
    "Tally",
    "check_case",
    "check_transition",
    "spelled",
    "transition_texts",
]

_DAY = 86_400
_REACH = 3 * _DAY  # how far around a transition the walk goes, for expressions of about daily rate
_PRACTICE = 12  # questions
_DENSE_REACH = 4 * 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question: an expression in a zone under a policy, at an instant."""

    text: str
    dialect: str
    zone: str
    dst: str
    at: int

    def replay(self, question: str) -> str:
        """The command that asks the engine and the scan this question again."""
        return (
            f"python -m tests.prove replay {question} {spelled(self.text)} "
            f"--dialect {self.dialect} --zone {self.zone} --dst {self.dst} --at {self.at}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    question: str  # next | latest | iterate | between
    case: Case
    expected: str
    got: str

    def __str__(self) -> str:
        return f"expected {self.expected}, got {self.got}: {self.case.replay(self.question)}"


def spelled(text: str) -> str:
    """The text as one word of a shell command; in JSON where a terminal would mangle it."""
    plain = text.isascii() and text.isprintable() and not text.startswith('"')
    return shlex.quote(text if plain else json.dumps(text))


@dataclass(slots=True)
class Tally:
    """How many answers were compared."""

    answers: int = 0


def check_case(case: Case, tally: Tally) -> list[Difference]:
    """`next_epoch` and `latest_epoch` at one instant, anywhere from 1970 to 2200."""
    expected: tuple[int | None, int | None] | str
    got: tuple[int | None, int | None] | str
    try:
        expected = _scanned(case)
    except Unreadable:
        expected = "rejected"
    try:
        recurrence = _recurrence(case)
        got = recurrence.next_epoch(case.at), recurrence.latest_epoch(case.at)
        practised = _practise(recurrence, case.at).next_epoch(case.at)
        if practised != got[0]:
            got = f"{got[0]}, but {practised} after practice"
    except DefinitionError:
        got = "rejected"
    except Exception as error:  # whatever it is, it must be reported with its replay line
        got = _raised(error)
    tally.answers += 2
    if expected == got:
        return []
    if isinstance(expected, str) or isinstance(got, str):
        return [Difference(question="next", case=case, expected=str(expected), got=str(got))]
    return [
        Difference(question=question, case=case, expected=str(want), got=str(have))
        for question, want, have in zip(("next", "latest"), expected, got, strict=True)
        if want != have
    ]


def check_transition(transition: Transition, tally: Tally) -> list[Difference]:
    """Every expression that can meet the transition, under every policy, from many instants."""
    return [
        difference
        for text, reach in transition_texts(transition)
        for dst in DST_POLICIES
        for difference in _all_around(transition, text, reach, dst, tally)
    ]


def transition_texts(transition: Transition) -> list[tuple[str, int]]:
    """Expressions placed on the edges and the inside of a gap or fold, with a reach to walk."""
    low = transition.at + min(transition.before, transition.after)
    high = transition.at + max(transition.before, transition.after)
    inside = (low + high) // 2
    size = high - low
    fixed = [low - 60, low, inside, high - 60, high, high + 60]
    hour = inside // 3600 % 24
    texts = [_daily(local) for local in fixed]
    texts += [
        "0 * * * *",
        "0 */2 * * *",
        f"0-59 {hour} * * *",  # fixed by its text: one make-up run for sixty swallowed ones
        f"{inside // 60 % 60},59 0-23 * * *",
        _on_that_day(inside),
    ]
    dense = size + _DENSE_REACH
    return [(text, _REACH) for text in texts] + [
        ("* * * * *", dense),
        (f"* {hour} * * *", _REACH),
    ]


def _all_around(
    transition: Transition, text: str, reach: int, dst: str, tally: Tally
) -> list[Difference]:
    try:
        return list(_around(transition, text, reach, dst, tally))
    except Exception as error:  # whatever it is, it must be reported with its replay line
        case = Case(
            text=text, dialect="standard", zone=transition.zone, dst=dst, at=transition.at - reach
        )
        return [Difference(question="iterate", case=case, expected="answers", got=_raised(error))]


def _around(
    transition: Transition, text: str, reach: int, dst: str, tally: Tally
) -> Iterator[Difference]:
    dialect = "standard" if "/" in text or dst != "strict" else "posix"
    case = Case(text=text, dialect=dialect, zone=transition.zone, dst=dst, at=transition.at)
    start, end = transition.at - reach, transition.at + reach
    scan = occurrences(text, dialect=dialect, zone=case.zone, dst=dst, start=start, end=end)
    recurrence = _recurrence(case)
    for at in _instants(transition, reach):
        tally.answers += 2
        yield from _next_at(at, case, recurrence, scan, end)
        yield from _latest_at(at, case, recurrence, scan, start)
    _practise(recurrence, transition.at)
    for at in _instants(transition, reach):
        tally.answers += 1
        recurrence.next_epoch(at)  # some tables are filled in where they are asked
        yield from _next_at(at, case, recurrence, scan, end)
    tally.answers += 2
    walked = list(takewhile(lambda at: at < end, recurrence.iterate_epochs(start - 1)))
    if walked != scan:
        yield _sequence("iterate", _moved(case, start - 1), scan, walked)
    listed = recurrence.between_epochs(start, end)
    if listed != scan:
        yield _sequence("between", _moved(case, start), scan, listed)


def _next_at(
    at: int, case: Case, recurrence: Recurrence, scan: list[int], end: int
) -> Iterator[Difference]:
    """Outside the walked range, which ends at `end`, the answer is unknown but lies beyond it."""
    got, index = recurrence.next_epoch(at), bisect_right(scan, at)
    if index < len(scan):
        expected = "" if got == scan[index] else str(scan[index])
    else:
        expected = "" if got is None or got >= end else f">= {end}"
    if expected:
        yield Difference(question="next", case=_moved(case, at), expected=expected, got=str(got))


def _latest_at(
    at: int, case: Case, recurrence: Recurrence, scan: list[int], start: int
) -> Iterator[Difference]:
    """The same the other way round, for a range that begins at `start`."""
    got, index = recurrence.latest_epoch(at), bisect_right(scan, at)
    if index > 0:
        expected = "" if got == scan[index - 1] else str(scan[index - 1])
    else:
        expected = "" if got is None or got < start else f"< {start}"
    if expected:
        yield Difference(question="latest", case=_moved(case, at), expected=expected, got=str(got))


def _instants(transition: Transition, reach: int) -> list[int]:
    """Before, at, inside and after: in whole days, in the transition's size, in single seconds."""
    size = abs(transition.after - transition.before)
    marks = [-_DAY, -size - 3600, -size, -size // 2, 0, size // 2, size, size + 3600, _DAY]
    shifts = {mark + nudge for mark in marks for nudge in (-60, -1, 0, 1)}
    return [transition.at + shift for shift in sorted(shifts) if -reach < shift < reach]


def _sequence(question: str, case: Case, scan: list[int], got: list[int]) -> Difference:
    index = next(
        (i for i, pair in enumerate(zip(scan, got, strict=False)) if pair[0] != pair[1]),
        min(len(scan), len(got)),
    )
    return Difference(
        question=question,
        case=case,
        expected=f"item {index} of {len(scan)}: {scan[index : index + 2]}",
        got=f"item {index} of {len(got)}: {got[index : index + 2]}",
    )


def _raised(error: Exception) -> str:
    return f"raises {type(error).__name__}: {error}"


def _scanned(case: Case) -> tuple[int | None, int | None]:
    return (
        next_scan(case.text, dialect=case.dialect, zone=case.zone, dst=case.dst, after=case.at),
        latest_scan(case.text, dialect=case.dialect, zone=case.zone, dst=case.dst, at=case.at),
    )


def _recurrence(case: Case) -> Recurrence:
    return cron(case.text, zone=case.zone, dialect=case.dialect, dst=case.dst)


def _practise(recurrence: Recurrence, at: int) -> Recurrence:
    """A recurrence answers from tables when it has been asked often; this is often enough."""
    for _ in range(_PRACTICE):
        recurrence.next_epoch(at)
    return recurrence


def _moved(case: Case, at: int) -> Case:
    return Case(text=case.text, dialect=case.dialect, zone=case.zone, dst=case.dst, at=at)


def _daily(local: int) -> str:
    return f"{local // 60 % 60} {local // 3600 % 24} * * *"


def _on_that_day(local: int) -> str:
    on = date(1970, 1, 1) + timedelta(days=local // _DAY)
    return f"{local // 60 % 60} {local // 3600 % 24} {on.day} {on.month} *"
