"""
Constraints as text: `hours=9-17;dow=mon-fri;between=22:00-06:00;dates=2026-12-24..2027-01-02`.

Clauses are `kind=value`, joined by `;`, and clauses of one kind add up. Hours, dow, dom and months
take lists of values and ranges; a range never wraps. `render_constraint` writes the one canonical
text of a constraint, which `parse_constraint` reads back.

What the kinds mean is told in `constraint`.

Spec: CON-10 to CON-13.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date
from difflib import get_close_matches

from gnomon.core.decision.constraint import BOUNDS, ITEMS_MAX, YEARS, Between, Constraint, Dates
from gnomon.errors import DefinitionError

__all__ = ["TEXT_MAX", "parse_constraint", "render_constraint"]

TEXT_MAX = 8192  # the canonical text of ITEMS_MAX ranges of dates fits

_DOW = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = {
    "hours": dict[str, int](),
    "dow": {name: number for number, name in enumerate(_DOW)},
    "dom": dict[str, int](),
    "months": {name: number for number, name in enumerate(_MONTHS, start=1)},
}
_KINDS = ("hours", "dow", "dom", "months", "between", "date", "dates")
_KIND_MAX = 32  # what is longer resembles no kind
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_constraint(text: str, *, where: str = "constraint") -> Constraint:
    """The constraint that `text` lists; a text without any clause is an error."""
    if len(text) > TEXT_MAX:
        raise DefinitionError(
            f"is longer than {TEXT_MAX} characters", where=where, got=text,
            hint="write e.g. hours=9-17;dow=mon-fri",
        )  # fmt: skip
    values: dict[str, set[int]] = {kind: set() for kind in BOUNDS}
    between: set[Between] = set()
    dates: set[Dates] = set()
    items = 0
    for clause in filter(None, (part.strip() for part in text.split(";"))):
        kind, value = _split_clause(clause, where=where)
        parts = [part.strip() for part in value.split(",")]
        items += len(parts)
        if items > ITEMS_MAX:
            raise DefinitionError(
                f"lists more than {ITEMS_MAX} values", where=where, got=text, hint="use ranges"
            )
        for part in parts:
            match kind:
                case "between":
                    between.add(_parse_between(part, where=f"{where}.between"))
                case "date" | "dates":
                    dates.add(_parse_dates(part, kind, where=f"{where}.{kind}"))
                case _:
                    values[kind] |= _parse_values(part, kind, where=f"{where}.{kind}")
    if not items:
        raise DefinitionError(
            "must not be empty", where=where, got=text,
            hint="write e.g. hours=9-17;dow=mon-fri, or leave the constraint out",
        )  # fmt: skip
    return Constraint(
        hours=frozenset(values["hours"]),
        dow=frozenset(values["dow"]),
        dom=frozenset(values["dom"]),
        months=frozenset(values["months"]),
        between=frozenset(between),
        dates=frozenset(dates),
    )


def render_constraint(constraint: Constraint) -> str:
    """The canonical text: kinds in a fixed order, values ascending, neighbours joined."""
    clauses = [
        ("hours", _render_values(constraint.hours, str)),
        ("dow", _render_values(constraint.dow, lambda number: _DOW[number])),
        ("dom", _render_values(constraint.dom, str)),
        ("months", _render_values(constraint.months, lambda number: _MONTHS[number - 1])),
    ]
    clauses += [("between", _render_between(span)) for span in sorted(constraint.between)]
    clauses += [_render_dates(span) for span in sorted(constraint.dates)]
    return ";".join(f"{kind}={value}" for kind, value in clauses if value)


def _split_clause(clause: str, *, where: str) -> tuple[str, str]:
    kind, equals, value = (part.strip() for part in clause.partition("="))
    if kind in _KINDS and value:
        return kind, value
    if equals and kind and kind not in _KINDS:
        close = get_close_matches(kind[:_KIND_MAX].lower(), _KINDS, n=1, cutoff=0.8)
        hint = f"did you mean {close[0]}?" if close else f"the kinds are {', '.join(_KINDS)}"
        raise DefinitionError("has a kind that is not known", where=where, got=clause, hint=hint)
    raise DefinitionError(
        "must be clauses of the form kind=value", where=where, got=clause,
        hint=f"the kinds are {', '.join(_KINDS)}; e.g. hours=9-17",
    )  # fmt: skip


def _parse_values(part: str, kind: str, *, where: str) -> set[int]:
    low, dash, high = (end.strip() for end in part.partition("-"))
    least, greatest = BOUNDS[kind]
    first = _parse_value(low, kind, where=where, got=part)
    last = _parse_value(high, kind, where=where, got=part) if dash else first
    if kind == "dow":
        greatest = 7  # Sunday, as the day after Saturday
        if high == "7" or (high.lower() == "sun" and first > 0):
            last = 7
    if not (least <= first and last <= greatest):
        raise DefinitionError(
            f"must be from {least} to {greatest}", where=where, got=part, hint=_hint(kind)
        )
    if first > last:
        raise DefinitionError(
            "must not run backwards", where=where, got=part,
            hint=f"a range does not wrap; write {_unwrapped(first, last, kind, low)}",
        )  # fmt: skip
    return {value % 7 if kind == "dow" else value for value in range(first, last + 1)}


def _unwrapped(first: int, last: int, kind: str, low: str) -> str:
    """`fri-mon` as `fri-sat,sun-mon`, in names when the range begins with one."""
    least, greatest = BOUNDS[kind]
    names = {number: name for name, number in _NAMES[kind].items()} if low.isalpha() else {}
    runs = [(first, greatest), (least, last)] if first <= greatest else [(least, last)]
    return _render_runs(runs, lambda number: names.get(number, str(number)))


def _parse_value(text: str, kind: str, *, where: str, got: str) -> int:
    number = _NAMES[kind].get(text.lower())
    if number is not None:
        return number
    if not _NUMBER.fullmatch(text):
        raise DefinitionError(
            "must be values and ranges of them", where=where, got=got, hint=_hint(kind)
        )
    return int(text)


def _hint(kind: str) -> str:
    least, greatest = BOUNDS[kind]
    names = list(_NAMES[kind])
    also = f", or {names[0]} to {names[-1]}" if names else ""
    example = {"hours": "9-17", "dow": "mon-fri", "dom": "1-7,15", "months": "jan-mar"}[kind]
    return f"write {least} to {greatest}{also}; e.g. {kind}={example}"


def _parse_between(part: str, *, where: str) -> Between:
    ends = [_CLOCK.fullmatch(end.strip()) for end in part.split("-")]
    minutes = [int(end[1]) * 60 + int(end[2]) for end in ends if end and int(end[2]) < 60]
    if len(ends) != 2 or len(minutes) != 2 or max(minutes) >= 24 * 60:
        raise DefinitionError(
            "must be two times of day", where=where, got=part,
            hint="write HH:MM-HH:MM from 00:00 to 23:59, e.g. 22:00-06:00",
        )  # fmt: skip
    return Between(first=minutes[0], last=minutes[1])


def _parse_dates(part: str, kind: str, *, where: str) -> Dates:
    first, dots, last = (end.strip() for end in part.partition(".."))
    if bool(dots) != (kind == "dates"):
        form = "dates=2026-12-24..2027-01-02" if kind == "dates" else "date=2026-12-25"
        raise DefinitionError(
            "must be a range of dates" if kind == "dates" else "must be one date",
            where=where, got=part, hint=f"write e.g. {form}",
        )  # fmt: skip
    start = _parse_date(first, where=where)
    end = _parse_date(last, where=where) if dots else start
    if start > end:
        raise DefinitionError(
            "must not end before it starts", where=where, got=part, hint=f"write {end}..{start}"
        )
    return Dates(first=start, last=end)


def _parse_date(text: str, *, where: str) -> date:
    reason = "must be a date of the calendar"
    if _DATE.fullmatch(text):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            pass
        else:
            if YEARS[0] <= day.year <= YEARS[1]:
                return day
            reason = f"must be a date from {YEARS[0]} to {YEARS[1]}"
    raise DefinitionError(reason, where=where, got=text, hint="write e.g. 2026-12-25")


def _render_values(values: Iterable[int], name: Callable[[int], str]) -> str:
    runs: list[tuple[int, int]] = []
    for value in sorted(values):
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return _render_runs(runs, name)


def _render_runs(runs: Iterable[tuple[int, int]], name: Callable[[int], str]) -> str:
    return ",".join(
        name(first) if first == last else f"{name(first)}-{name(last)}" for first, last in runs
    )


def _render_between(span: Between) -> str:
    first, last = divmod(span.first, 60), divmod(span.last, 60)
    return f"{first[0]:02d}:{first[1]:02d}-{last[0]:02d}:{last[1]:02d}"


def _render_dates(span: Dates) -> tuple[str, str]:
    if span.first == span.last:
        return "date", span.first.isoformat()
    return "dates", f"{span.first}..{span.last}"
