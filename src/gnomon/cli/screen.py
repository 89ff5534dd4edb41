"""
How answers look: lines, lists of facts and tables, as text for a terminal or for a pipe.

In a terminal there are colours (unless NO_COLOR is set) and its width, and `terminal.py` draws;
anywhere else the text is plain, has no trailing blanks, and does not depend on where it is shown.
JSON is one object, in ASCII, on one line in a pipe.

What is printed goes through `say`. So nothing that a job or another program has said commands the
terminal: only what was drawn here has colours.

Spec: CLI-2, CLI-6, CLI-61.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TextIO

from gnomon.errors.root import harmless

__all__ = [
    "NOTE",
    "NUMBER",
    "Drawn",
    "FactRows",
    "Json",
    "Part",
    "StyledLine",
    "TextTable",
    "is_terminal",
    "output",
    "printed",
    "render",
    "render_json",
    "safe",
    "say",
]

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]

NOTE, NUMBER = "note", "#"
"""The headings of the columns that look different: notes, and numbers, which stand to the right."""
_TAB = 8


class Drawn(str):
    """Text that is printed as it is: what it has of others is harmless already."""

    __slots__ = ()


class StyledLine(NamedTuple):
    """A line that begins in a style of its own."""

    text: str
    style: str = ""
    rest: str = ""
    """What follows in the usual style."""


class FactRows(NamedTuple):
    """Names and what they are, indented under a title."""

    rows: Sequence[tuple[str, str]]


class TextTable(NamedTuple):
    """Rows under headings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    """The last cell of a row holds notes; it is left out when no row has any."""

    def shown(self) -> "TextTable":
        """The table as it is shown, without a column of notes that is empty, and harmless."""
        columns, rows = self.columns, self.rows
        if not any(row[-1] for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        return TextTable(columns, [[harmless(cell) for cell in row] for row in rows])


Part = str | StyledLine | FactRows | TextTable


def say(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print a text, on standard error if asked for."""
    stream = sys.stderr if err else output()
    if stream is not None:
        stream.write(safe(text) + "\n" * nl)
        stream.flush()


def safe(text: str) -> str:
    """The text as it may be printed."""
    return text if isinstance(text, Drawn) else harmless(text)


def printed(text: str) -> str:
    """What a file has, to be printed: word for word where no person looks at it."""
    return text if is_terminal() else Drawn(text)


def output() -> TextIO | None:
    """Where answers are printed; None when the program was started with that closed."""
    return sys.stdout


def is_terminal() -> bool:
    """Whether answers are printed to a terminal."""
    stream = output()
    return stream is not None and stream.isatty()


def render(*parts: Part) -> Drawn:
    """The parts below each other."""
    if is_terminal():
        from gnomon.cli.terminal import draw  # rich takes its time, which a pipe need not wait for

        return Drawn(draw(parts))
    lines = (line for part in parts for line in _plain(part))
    return Drawn("".join(f"{harmless(line).expandtabs(_TAB).rstrip()}\n" for line in lines))


def render_json(value: Json) -> str:
    """The value as JSON; easier to read in a terminal."""
    return json.dumps(value, indent=2 if is_terminal() else None) + "\n"


def _plain(part: Part) -> list[str]:
    """The lines of a part where nothing is wrapped or coloured."""
    if isinstance(part, StyledLine):
        return f"{part.text}{part.rest}".split("\n")
    if isinstance(part, FactRows):
        return list(_fact_lines(part))
    if isinstance(part, TextTable):
        return list(_table_lines(part.shown()))
    return part.split("\n")


def _fact_lines(facts: FactRows) -> Iterator[str]:
    width = max((_cells(name) for name, _ in facts.rows), default=0)
    for name, value in facts.rows:
        first, *others = value.split("\n")
        yield f"  {name}{' ' * (width - _cells(name))}  {first}"
        for line in others:
            yield f"  {' ' * width}  {line}"


def _table_lines(table: TextTable) -> Iterator[str]:
    rows = [table.columns, *table.rows]
    widths = [max(map(_cells, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for column, cell, width in zip(table.columns, row, widths, strict=True):
            blank = " " * (width - _cells(cell))
            cells.append(f"{blank}{cell}" if column == NUMBER else f"{cell}{blank}")
        yield "  ".join(cells)


def _cells(text: str) -> int:
    """How many columns of a screen a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(one) in ("Mn", "Me", "Cf") else 2 if east_asian_width(one) in "WF" else 1
        for one in text
    )
