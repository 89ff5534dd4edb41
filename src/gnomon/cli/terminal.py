"""
How the parts of an answer are drawn in a terminal, with rich: in colours, and as wide as it is.

Only what was drawn here has colours; what a job or another program has said is harmless text. A
text for a pipe needs none of this, so that only what draws in a terminal imports this module.

Spec: CLI-6, CLI-61.
"""

from collections.abc import Iterator, Sequence
from io import StringIO
from shutil import get_terminal_size

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from gnomon.cli.screen import NOTE, NUMBER, FactRows, Part, StyledLine, TextTable
from gnomon.errors.root import harmless

__all__ = ["console", "draw"]

_WIDTH_MIN = 110
"""In a narrower terminal lines run over, which loses nothing; columns cut short would. The same is
done in any terminal for a table that needs more."""
_WIDTH_MAX = 1_000
"""Wide enough to find out what a table needs."""


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


def draw(parts: Sequence[Part]) -> str:
    """The parts below each other."""
    console = _Console(
        file=StringIO(),
        force_terminal=True,
        width=_WIDTH_MAX,
        highlight=False,
        markup=False,
        emoji=False,
    )
    drawn = [_drawn(part) for part in parts]
    needed = max((console.measure(one).minimum for one in drawn), default=0)
    console.width = max(get_terminal_size().columns, _WIDTH_MIN, needed)
    with console.capture() as capture:
        for one in drawn:
            console.print(one)
    return capture.get()


def _drawn(part: Part) -> RenderableType:
    if isinstance(part, StyledLine):
        return Text(part.text, style=part.style).append(part.rest, style="not bold not dim")
    if isinstance(part, FactRows):
        return _facts(part)
    if isinstance(part, TextTable):
        return _table(part.shown())
    return part


def _facts(facts: FactRows) -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.rows:
        grid.add_row(Text(f"  {name}"), Text(harmless(value)))
    return grid


def _table(table: TextTable) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for at, column in enumerate(table.columns):
        is_note = column == NOTE
        widest = max(map(cell_len, (column, *(row[at] for row in table.rows))))
        grid.add_column(
            column,
            min_width=None if is_note else widest,
            justify="right" if column == NUMBER else "left",
            style="yellow" if is_note else "",
            no_wrap=not is_note,
        )
    for row in table.rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid
