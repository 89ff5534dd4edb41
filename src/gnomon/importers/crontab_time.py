"""
When does a line of a crontab run? Its five fields, or its macro, in words that krond reads alike.

Cron reads a number with a step, `0/5`, as the number alone, or refuses it; other schedulers read
every fifth. `a~b` for the minute, which some crons have, is a window. What cron does not know, such
as `L`, is an error here, also where krond would know it.

Spec: KRONTAB-28, KRONTAB-39.
"""

import re
from typing import NamedTuple

from gnomon.apps.krond.krontab.draft import AT_BOOT, Piece
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.core.cron.dialect import VIXIE
from gnomon.core.recurrence import cron
from gnomon.errors import InvalidCronExpressionError

__all__ = ["When", "looks_like_a_field", "read_when"]

_MACROS = {"@annually": "@yearly", "@midnight": "@daily"}
_BARE_STEP = re.compile(r"([0-9]{1,2}|[A-Za-z]{3})/([0-9]{1,2})", re.ASCII)
_DRAWN = re.compile(r"([0-9]{1,2})~([0-9]{1,2})", re.ASCII)
_FIELD = re.compile(r"[0-9*][0-9*/,~-]*", re.ASCII)
_DAY, _WEEKDAY = 2, 4
_HOUR_MINUTES = 60


class When(NamedTuple):
    """When a line runs."""

    schedule: str
    dialect: str = ""
    """Empty for krond's own."""
    window_minutes: int = 0
    notes: tuple[str, ...] = ()
    """What is to be said about it."""


def looks_like_a_field(word: str) -> bool:
    """Whether a word is one more field of time, and no command."""
    return _FIELD.fullmatch(word) is not None


def read_when(piece: Piece, problems: Problems) -> When | None:
    """When a line runs whose fields or macro these are; None when cron could not read it."""
    if piece.text.startswith("@"):
        return _read_macro(piece, problems)
    found = list(re.finditer(r"\S+", piece.text))
    notes: list[str] = []
    fields = [_without_bare_steps(match[0], notes) for match in found]
    minutes = 0
    if (drawn := _DRAWN.fullmatch(fields[0])) and int(drawn[1]) <= int(drawn[2]) < _HOUR_MINUTES:
        fields[0], minutes = drawn[1], int(drawn[2]) - int(drawn[1])
        notes.append(f"the minute that cron draws from {drawn[0]} is a window, drawn for each run")
    text = " ".join(fields)
    try:
        cron(text, dialect=VIXIE.name)
    except InvalidCronExpressionError as error:
        index = text[: error.position].count(" ")
        inside = error.position - len(" ".join(fields[:index])) - (index > 0)
        offset = found[index].start() + min(max(inside, 0), len(found[index][0]) - 1)
        field = "" if error.field == "expression" else f"{error.field} field "
        problems.error(
            Piece(piece.text, piece.line, piece.column + offset), "schedule",
            f"{field}{error.reason}", hint=error.hint,
        )  # fmt: skip
        return None
    both = any(
        fields[one].startswith("*") and fields[one] != "*" and fields[other] != "*"
        for one, other in ((_DAY, _WEEKDAY), (_WEEKDAY, _DAY))
    )
    return When(text, VIXIE.name if both else "", minutes, tuple(notes))


def _read_macro(piece: Piece, problems: Problems) -> When | None:
    text = piece.text.lower()
    if text in VIXIE.macros:
        return When(_MACROS.get(text, text))
    if text == AT_BOOT:
        return When(text, notes=("a restart of a container is no boot; krond goes by the kernel",))
    hint = f"write five fields, or one of {', '.join(VIXIE.macros)}, {AT_BOOT}"
    problems.error(piece, "schedule", "is not a known macro", got=piece.text, hint=hint)
    return None


def _without_bare_steps(field: str, notes: list[str]) -> str:
    elements = field.split(",")
    for at, element in enumerate(elements):
        if found := _BARE_STEP.fullmatch(element):
            elements[at] = found[1]
            rest = field.partition(element)[2]
            notes.append(
                f"{element}{rest} is {found[1]} to cron, and some crons refuse it;"
                f" write */{found[2]}{rest} if a step was meant"
            )
            return ",".join(elements[: at + 1])  # cron passes over what follows in the field
    return field
