"""
Tables of a report: for the terminal with rich, for a file as Markdown; the same rows in both.

A row whose last cell is `short`, the verdict, is shown in red. Nothing here measures or judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.harness.verdict import Verdict

__all__ = ["Table", "print_tables", "short", "to_markdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    only_on_paper: bool = False  # too long for a terminal


def print_tables(tables: Sequence[Table], console: Console) -> None:
    for table in tables:
        if table.rows and not table.only_on_paper:
            console.print(_rich(table))


def to_markdown(table: Table) -> str:
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    body = "\n".join(f"| {' | '.join(_escape(text) for text in line)} |" for line in lines)
    return f"## {table.title}\n\n{body}"


def short(value: float) -> str:
    """Three digits that matter."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _rich(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left", title_style="bold")
    for index, name in enumerate(table.header):
        shown.add_column(name, justify="left" if index == 0 else "right")
    for row in table.rows:
        shown.add_row(*row, style="red" if row[-1] == Verdict.SHORT else None)
    return shown
