"""
Rows that are alike, sent as what they have in common and which row is of which kind.

Of a thousand rows of one turn most differ in their keys only. Sending each value once for each kind
of row spares most of the work of encoding them, and costs little where no two are alike.
"""

from collections.abc import Iterable

__all__ = ["Kinds", "joined"]

Value = str | int | None


def joined(*columns: Iterable[str]) -> list[str]:
    """Each column as one text; no value may have a comma in it."""
    return [",".join(column) for column in columns]


class Kinds:
    """Numbers kinds of rows from 1, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Value, ...], int] = {}

    def number(self, *kind: Value) -> int:
        return self._numbers.setdefault(kind, len(self._numbers) + 1)

    def columns(self) -> list[tuple[Value, ...]]:
        """The values of all kinds, column by column."""
        return list(zip(*self._numbers, strict=True))
