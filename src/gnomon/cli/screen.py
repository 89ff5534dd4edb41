"""
How answers look: tables and lists of facts, as text for a terminal or for a pipe.

In a terminal there are colours (unless NO_COLOR is set) and its width; anywhere else the text is
plain, has no trailing blanks, and does not depend on where it is shown. JSON is one object, in
ASCII, on one line in a pipe.

What is printed goes through `say`, and what is drawn through a console from here. So nothing that a
job or another program has said commands the terminal: only what was drawn here has colours.

Spec: CLI-2, CLI-6, CLI-61.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from shutil import get_terminal_size
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from gnomon.errors.root import harmless

__all__ = [
    "Drawn",
    "Json",
    "console",
    "facts",
    "output",
    "printed",
    "render",
    "render_json",
    "safe",
    "say",
    "table",
]

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]

_NOTE, _NUMBER = "note", "#"

_WIDTH_MIN = 110
"""In a narrower terminal lines run over, which loses nothing; columns cut short would. The same is
done in any terminal for a table that needs more."""
_PLAIN_WIDTH = 1_000
"""Wide enough that nothing is wrapped outside a terminal."""


class Drawn(str):
    """Text that is printed as it is: what it has of others is harmless already."""

    __slots__ = ()


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
    return text if _is_terminal() else Drawn(text)


class _Console(Console):
    """A console on which only styles make escapes."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            is_ours = bool(segment.control)
            yield segment if is_ours else Segment(harmless(segment.text), segment.style)


def console() -> Console:
    """What is drawn on standard output, again and again."""
    return _Console(highlight=False, markup=False, emoji=False)


def output() -> TextIO | None:
    """Where answers are printed; None when the program was started with that closed."""
    return sys.stdout


def render(*parts: RenderableType) -> Drawn:
    """The parts below each other."""
    in_terminal = _is_terminal()
    console = _Console(
        file=StringIO(),
        force_terminal=in_terminal,
        no_color=None if in_terminal else True,
        width=_PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
    if in_terminal:
        needed = max((console.measure(part).minimum for part in parts), default=0)
        console.width = max(get_terminal_size().columns, _WIDTH_MIN, needed)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    text = capture.get()
    if not in_terminal:
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return Drawn(text)


def render_json(value: Json) -> str:
    """The value as JSON; easier to read in a terminal."""
    return json.dumps(value, indent=2 if _is_terminal() else None) + "\n"


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and what they are, indented under a title."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(f"  {name}"), Text(harmless(value)))
    return grid


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | Text:
    """Rows under headings; the last column holds notes, and is left out when there are none."""
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    rows = [[harmless(cell) for cell in row] for row in rows]
    if not _is_terminal():
        return _plain_table(columns, rows)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for at, column in enumerate(columns):
        is_note = column == _NOTE
        widest = max(map(cell_len, (column, *(row[at] for row in rows))))
        grid.add_column(
            column,
            min_width=None if is_note else widest,
            justify="right" if column == _NUMBER else "left",
            style="yellow" if is_note else "",
            no_wrap=not is_note,
        )
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Text:
    """The same table where nothing is wrapped or coloured, for which rich takes its time."""
    widths = [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]
    lines = []
    for row in (columns, *rows):
        cells = []
        for column, cell, width in zip(columns, row, widths, strict=True):
            blank = " " * (width - cell_len(cell))
            cells.append(f"{blank}{cell}" if column == _NUMBER else f"{cell}{blank}")
        lines.append("  ".join(cells).rstrip())
    return Text("\n".join(lines))


def _is_terminal() -> bool:
    stream = output()
    return stream is not None and stream.isatty()
